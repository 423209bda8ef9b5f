"""Why a value is not in a record, and what a record says about how its fields were made.

Which fields a machine filled is said in fields 883, "Metadata Provenance"
(https://www.loc.gov/marc/bibliographic/bd883.html).
"""

from typing import NamedTuple

NO_PLACE = "no place in the mapping"
NO_XML = "has characters that XML cannot have"

PROVENANCE = "883"
FULLY, PARTIALLY = "0", "1"
"""First indicators of field 883: all of a field, or a part of it, was made by a machine."""


class Left(NamedTuple):
    """A value that was not put into the record.

    Attributes:
        name: the field of the ground truth.
        why: why not.
    """

    name: str
    why: str


class Process(NamedTuple):
    """A process by which values were made.

    Attributes:
        name: of the process.
        confidence: 0.0 to 1.0, higher is better; None if it is not known.
        date: as yyyymmdd.
    """

    name: str
    confidence: float | None
    date: str


def provenance(by: Process, link: str) -> list[tuple[str, str]]:
    r"""Return the subfields of a field 883 about a process.

    Args:
        by: the process.
        link: what links a field to it, such as `1\p`.
    """
    sure = [] if by.confidence is None else [("c", f"{by.confidence:g}")]
    return [("8", link), ("a", by.name), *sure, ("d", by.date)]
