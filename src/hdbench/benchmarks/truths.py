"""The ground truths of a row: what counts, what was published, and what is proposed."""

from typing import Literal, get_args

from hdbench.common.names import did_you_mean
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import ProtocolName

TRUTH = "ground_truth"
"""The column with the records that `documented` scores against."""

PUBLISHED = "ground_truth_published"
"""The column with the records as they were published, which `published` scores against."""

PROPOSED = "ground_truth_proposed"
"""The column with the proposed corrections of values too, where a benchmark has any."""

TRUTHS = (TRUTH, PUBLISHED, PROPOSED)

ErrataName = Literal["accepted", "proposed"]
"""Which corrections of values count: those that the data's owners accepted, or all of them."""

ERRATA_NAMES: tuple[ErrataName, ...] = get_args(ErrataName)


def check_errata(errata: str, protocol: ProtocolName) -> ErrataName:
    """Return the choice of corrections of that name.

    Raises:
        HdbenchError: there is none of that name, or the protocol knows no corrections.
    """
    for choice in ERRATA_NAMES:
        if errata != choice:
            continue
        if choice == "proposed" and protocol == "published":
            raise HdbenchError(
                "--errata proposed: the protocol published scores against what was published, "
                "without any correction: use --protocol documented"
            )
        return choice
    raise HdbenchError(
        "no errata {errata!r}: choose one of {choices}{near}",
        errata=errata,
        choices=", ".join(ERRATA_NAMES),
        near=did_you_mean(errata, ERRATA_NAMES),
    )
