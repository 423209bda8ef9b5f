"""Statistics of the answers to some items, by which a run is checked."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hdbench.answers.answer import STATUSES, Answer, Kind, Status
from hdbench.answers.violations import Violation
from hdbench.errors import escaped
from hdbench.evaluation.frequent import Seen
from hdbench.evaluation.shared_fields import Names, names_of
from hdbench.results.items import ScoredItem
from hdbench.scoring.metric import FieldMatch

ALL_UNTIL = 5_000
ONE_IN = 50
"""Number of answers up to which all are looked at; of more, so many and one in `ONE_IN` of the
rest: looking at all their values takes longer than scoring, and a share does not need a whole
catalogue."""

SHOWN = 60
"""Maximum number of characters shown of a value."""

VALUE = 200
"""Maximum number of characters in a value or name that is counted: what many items share is
short."""

_INDEX = re.compile(r"\[\d*\]")
_DIGEST = 8


class Content(NamedTuple):
    """Content of one answer.

    Attributes:
        id: its item.
        digests: of its record and its text; of one of them if they are alike.
        prediction: its record, or what it is instead.
        truth: the item's ground truth.
        is_record: whether it is a record.
        names: the names of its fields, while it is not known that answers share any with the
            ground truth.
        wrong: field and value of what is wrong in it.
        unfit: field → value of another type than the schema has.
    """

    id: str
    digests: tuple[bytes, ...]
    prediction: Any
    truth: dict[str, Any]
    is_record: bool
    names: Names | None
    wrong: Iterable[tuple[str, Any]]
    unfit: Mapping[str, Any]


class Looks:
    """Statistics of the answers to some consecutive items.

    This is plain data, which another process can send.

    Args:
        answers: how many answers the run has: if they are many, not all of them are looked at, but
            those whose ids have certain hashes.

    Attributes:
        items: the number of items.
        answered: the number of those with an answer.
        status: what was done to read an answer → where.
        kinds: what an answer is that is not a record → where.
        set_aside: answers with further records.
        long_lists: list → answers in which it has too many items to be compared.
        not_compared: list → how many of its items were not compared.
        tokens: the ids with their input tokens, where these were counted.
        contents: the answers that were looked at.
    """

    def __init__(self, answers: int = 0) -> None:
        self.items = self.answered = 0
        self.status: dict[Status, Seen] = {status: Seen() for status in STATUSES}
        self.kinds: dict[Kind, Seen] = defaultdict(Seen)
        self.set_aside = Seen()
        self.long_lists: dict[str, Seen] = defaultdict(Seen)
        self.not_compared: Counter[str] = Counter()
        self.tokens: list[tuple[str, int]] = []
        self.contents: list[Content] = []
        self._share = _share(answers)
        self._is_shared = False

    def add(
        self,
        answer: Answer,
        scored: ScoredItem,
        violations: Iterable[Violation],
        truth: dict[str, Any],
    ) -> None:
        """Look at one item.

        Args:
            answer: its answer.
            scored: the item with its score.
            violations: where the answer does not conform to the benchmark's schema.
            truth: its ground truth.
        """
        self.items += 1
        coverage = scored.coverage
        self.status[scored.status].add(answer.id)
        if answer.kind:
            self.kinds[answer.kind].add(answer.id)
        if answer.set_aside:
            self.set_aside.add(answer.id)
        for name, number in scored.score.not_compared.items():
            self.long_lists[name].add(answer.id)
            self.not_compared[name] += number
        if answer.tokens and "input" in answer.tokens:
            self.tokens.append((answer.id, answer.tokens["input"]))
        if coverage != "unanswered":
            self.answered += 1
            if self._share is None or _place(answer.id) < self._share:
                self._add_content(answer, scored, violations, truth)

    def count(self, later: "Looks") -> None:
        """Add the counts of later items, without the answers that were looked at."""
        self.items += later.items
        self.answered += later.answered
        for status, seen in later.status.items():
            self.status[status].take(seen)
        for kind, seen in later.kinds.items():
            self.kinds[kind].take(seen)
        self.set_aside.take(later.set_aside)
        for name, seen in later.long_lists.items():
            self.long_lists[name].take(seen)
        self.not_compared.update(later.not_compared)

    def _add_content(
        self,
        answer: Answer,
        scored: ScoredItem,
        violations: Iterable[Violation],
        truth: dict[str, Any],
    ) -> None:
        is_record = scored.coverage == "answered"
        names = None if self._is_shared else names_of(answer, scored)
        self._is_shared = names is not None and names.is_shared
        wrong: dict[tuple[str, Any], None] = {}
        unfit: dict[str, Any] = {}
        if is_record:
            wrong = _wrong(scored.matches)
            unfit = {
                _INDEX.sub("", violation.field): violation.value
                for violation in violations
                if violation.rule == "type" and violation.value not in (None, "")
            }
        # By the record, as a model can think something different each time, and by the text, as a
        # harness can put an item's own id into the record. A hash needs little space.
        record = repr(answer.prediction)
        digests = dict.fromkeys((_digest(record), _digest(answer.text or record)))
        self.contents.append(
            Content(
                answer.id,
                tuple(digests),
                answer.prediction,
                truth,
                is_record,
                names,
                tuple(wrong),
                unfit,
            )
        )


def shown(value: Any, most: int = SHOWN) -> str:
    """Return a value as one short line."""
    text = json.dumps(value, ensure_ascii=False)
    return escaped(text if len(text) <= most else text[: most - 1] + "…")


def _wrong(matches: Iterable[FieldMatch]) -> dict[tuple[str, Any], None]:
    return {
        (_INDEX.sub("", match.field), match.prediction): None
        for match in matches
        if match.outcome in ("substituted", "spurious")
        and len(match.field) <= VALUE
        and _is_counted(match.prediction)
    }


def _is_counted(value: Any) -> bool:
    """Return whether it is a value, not a gap, and short enough to be kept."""
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= VALUE
    return isinstance(value, int | float)


def _digest(text: str) -> bytes:
    data = text.encode("utf-8", errors="surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


def _share(answers: int) -> int | None:
    """Return the place below which an answer is looked at; None if all are."""
    if answers <= ALL_UNTIL:
        return None
    hashes: int = 256**_DIGEST
    return hashes * (ALL_UNTIL * ONE_IN + answers - ALL_UNTIL) // (answers * ONE_IN)


def _place(item_id: str) -> int:
    """Return the place of an id among all possible hashes: the same in any file and any process."""
    return int.from_bytes(_digest(item_id))
