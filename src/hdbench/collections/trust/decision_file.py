"""What a decision says: which values are accepted, with all that this rests on; and its file."""

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field as Checked
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from hdbench.collections.trust.cuts import Billionths, Count, Cut, Share
from hdbench.collections.trust.learning import Expected
from hdbench.collections.trust.outcomes import StageReadings
from hdbench.collections.trust.plan import MAX_LIMIT, MAX_TRIES, RIGHTS, Right
from hdbench.collections.trust.seals import Sha256
from hdbench.common.files import open_regular, read_text
from hdbench.common.jsonio import parse_file
from hdbench.common.validation import Strict, check_file, check_written_by, validate
from hdbench.common.value_text import Case
from hdbench.errors import HdbenchError, Message
from hdbench.statistics.share_of_unread import CONFIDENCE

MOST_EXAMPLES = 5
"""Number of accepted values that were wrong which are shown."""

MOVABLE = {"hdbench", "plan_file", "decided", "benchmark", "benchmark_version"}
"""Keys that may differ when it is decided again."""

_BEGIN = re.compile(rb'\s*\{\s*("decision":|"hdbench":\s*"[^"]*",\s*"finished":)')

MAX_FILE = 64 * 2**20
"""Maximum size in bytes of a decision."""


class ReadCut(Cut):
    """What reading showed at one cut.

    Attributes:
        read: how many of the unread values were read in the second stage.
        wrong: how many of these are wrong, by each criterion.
        upper: the upper bound of the share of wrong values among those that nobody has read, 0.0 to
            1.0.
        accepted: whether the cut passes.
    """

    read: Count
    wrong: Annotated[dict[Right, Count], Checked(min_length=len(RIGHTS))]
    upper: Share
    accepted: bool


class GroupDecision(Strict):
    """The decision about fields that are promised together.

    Attributes:
        fields: their paths.
        cuts: the cuts that were looked at, from strict to loose; only the last one can have failed.
        cut: the loosest that passed; None if nothing is accepted.
    """

    fields: Annotated[tuple[str, ...], Checked(min_length=1)]
    cuts: Annotated[tuple[ReadCut, ...], Checked(min_length=1)]
    cut: Billionths | None

    @property
    def chosen(self) -> ReadCut | None:
        """Return the cut that is used."""
        return next((cut for cut in self.cuts if cut.probability == self.cut), None)


class WrongAccepted(Strict):
    """Wrong values among those that are accepted, by one criterion.

    Attributes:
        count: how many of the values that were read are wrong.
        rate: the share of them, 0.0 to 1.0.
        expected: the rate times the number of accepted values.
        at_most: the upper bound of the number of wrong values among those accepted. By the
            criterion that does not count, it is no promise.
    """

    count: Count
    rate: Share
    expected: Count
    at_most: Count


class AcceptedField(Strict):
    """The accepted values of one field.

    Attributes:
        values: how many values the field has in the collection.
        accepted: how many of them are accepted.
        read: how many values at or below the cut were read in the second stage.
        wrong: how many of these are wrong.
        upper: the upper bound of the share of wrong values among those accepted; all bounds
            together hold with the confidence of the decision.
        promised: whether the field keeps the limit alone.
    """

    values: Count
    accepted: Count
    read: Count
    wrong: Count
    upper: Share
    promised: bool


class WrongExample(Strict):
    """A value that would have been accepted, and is wrong.

    Attributes:
        item: the item's id.
        field: the field's path.
        value: the value that the models gave.
        truth: what people read; None where they could not.
        outcome: what came of their reading.
    """

    item: str
    field: str
    value: str
    truth: str | None
    outcome: Literal["value", "unreadable", "damaged", "unsettled"]


class Warned(Strict):
    """Something to know before the decision is used.

    Attributes:
        key: the key of the text in `texts/trust.yaml`.
        values: the values of its placeholders.
    """

    key: str
    values: dict[str, Any]

    @classmethod
    def of(cls, key: str, /, **values: Any) -> Self:
        """Return a warning with some values."""
        return cls(key=key, values=values)


class Decision(Strict):
    """A decision.

    Attributes:
        hdbench: the version that decided.
        plan: the plan's hash.
        learned: the hash of what it has learned.
        plan_file: the path of the plan.
        created: when the plan was made.
        decided: when the decision was computed.
        benchmark: the benchmark.
        benchmark_version: its version.
        items: how many items it has.
        unanswered: how many of them no run answered.
        values: how many values of the plan's fields there are, those without answer included.
        runs: the runs' names, in order of preference.
        runs_usd: what these cost together, in US dollars; None if that is not known of one.
        limit: see `Plan`.
        confidence: see `Plan`.
        tries: see `Plan`.
        right: see `Plan`.
        case: see `Plan`.
        each_field: see `Plan`.
        source: another benchmark that it learned from, too.
        learned_from: how many values it learned from.
        learned_wrong: how many of these were wrong, to the letter.
        first: what people read in the first stage.
        second: what people read in the second stage.
        readings_sha256: sha256 of the readings of the second stage, which are closed.
        seed: the seed of all draws.
        plans: how many plans had been made for these items.
        groups: the decision about fields that are promised together.
        accepted: how many values are accepted that nobody has read.
        read: how many values people have read in both stages.
        to_look_at: all other values, which a person has to look at, and what is expected of them;
            where no run answered, they count as wrong.
        wrong: wrong values among the accepted ones, by each criterion; empty if nothing is.
        by_field: path → its accepted values; empty if nothing is accepted.
        examples: accepted values that were wrong, drawn at random.
        expected: what was expected of all values.
        expected_by_field: path → what was expected of its values.
        warnings: what to know, the most serious first.
    """

    decision: Literal[1] = 1
    hdbench: str
    plan: Sha256
    learned: Sha256
    plan_file: str
    created: str
    decided: str
    benchmark: str
    benchmark_version: str
    items: Annotated[Count, Checked(ge=1)]
    unanswered: Count
    values: Annotated[Count, Checked(ge=1)]
    runs: tuple[str, ...]
    runs_usd: Annotated[float | None, Checked(ge=0)] = None
    limit: Annotated[float, Checked(gt=0, le=MAX_LIMIT)]
    confidence: Annotated[float, Checked(ge=CONFIDENCE, le=CONFIDENCE)]
    tries: Annotated[int, Checked(ge=1, le=MAX_TRIES)]
    right: Right
    case: Case
    each_field: bool
    source: str | None
    learned_from: Count
    learned_wrong: Count
    first: StageReadings
    second: StageReadings
    readings_sha256: Sha256
    seed: Annotated[int, Checked(ge=0)]
    plans: Annotated[Count, Checked(ge=1)]
    groups: Annotated[tuple[GroupDecision, ...], Checked(min_length=1)]
    accepted: Count
    read: Count
    to_look_at: Expected
    wrong: dict[Right, WrongAccepted]
    by_field: dict[str, AcceptedField]
    examples: Annotated[tuple[WrongExample, ...], Checked(max_length=MOST_EXAMPLES)]
    expected: Expected
    expected_by_field: dict[str, Expected]
    warnings: tuple[Warned, ...]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        passes = any(group.chosen for group in self.groups)
        if self.accepted and not (passes and len(self.wrong) == len(RIGHTS)):
            raise PydanticCustomError("decision", "accepted: does not follow from the cuts", {})
        return self

    @property
    def seconds(self) -> float | None:
        """Return the median of the seconds that a person took for a value; None if unknown."""
        second = self.second.seconds
        return self.first.seconds if second is None else second

    def seal(self) -> str:
        """Return the hash of all but the times and places."""
        return hashlib.sha256(self.model_dump_json(exclude=MOVABLE).encode()).hexdigest()

    @property
    def cuts(self) -> dict[str, int]:
        """Return path → the cut of each field of which values are accepted, in billionths."""
        return {
            name: group.cut
            for group in self.groups
            if group.cut is not None
            for name in group.fields
        }


def is_decision(path: Path) -> bool:
    """Return whether a file begins like a decision, or like the `applied.json` beside one.

    For the latter, the error of `read_decision` says which file is wanted.
    """
    try:
        with open_regular(path) as file:
            return _BEGIN.match(file.read(100)) is not None
    except OSError:
        return False


def read_decision(path: Path) -> Decision:
    """Return the decision in a file that `hdbench trust decide --json` wrote.

    Raises:
        HdbenchError: it cannot be read, or is not a decision; of another file beside one, such as
            `applied.json`, the message says which file is wanted.
    """
    check_file(path, MAX_FILE, Message("a decision"))
    data = parse_file(read_text(path, MAX_FILE), path)
    if not isinstance(data, dict) or "decision" not in data:
        raise HdbenchError(
            "{place}: not a decision: give the file that hdbench trust decide --json wrote, or "
            "decision.json from the folder of hdbench trust apply",
            place=path,
        )
    check_written_by(data.get("hdbench"), path, Message("plan and decide again"))
    return validate(Decision, data, path)
