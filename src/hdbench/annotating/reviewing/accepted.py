"""From verdicts to errata: the slips that people found, recorded as one new version."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.annotating.changes import same
from hdbench.annotating.reviewing.looks import ReviewAction, ReviewLog, confirms
from hdbench.annotating.reviewing.review_list import Entry, ReviewList, read_review_list
from hdbench.common.checked import validate
from hdbench.datasets.building.errata import Correction, holders
from hdbench.datasets.building.errata_add import Added, add_corrections
from hdbench.errors import HdbenchError
from hdbench.scoring.analysis.forms import text_of

_NUMBER = re.compile(r"\[\d+\]")

SECOND_LOOKS = "second looks at what the audit listed"
"""Proposer of a correction unless somebody is named: pseudonyms stay with the list."""


class Accepted(NamedTuple):
    """A slip in the ground truth.

    Attributes:
        entry: the entry.
        new: the right value; None for nothing.
        evidence: the evidence of all people who judged it.
        looks: the number of people who judged it.
        blind: whether all of them read the value before any was shown.
    """

    entry: Entry
    new: Any
    evidence: str
    looks: int
    blind: bool


@dataclass(frozen=True)
class ReviewOutcome:
    """Outcome of the reviews of a list.

    Attributes:
        accepted: the slips.
        disagreed: the entries that people judge differently, which are not accepted.
        looked: kind of entry → how many were read and, if necessary, judged.
        slips: kind of entry → how many of these are slips.
        notes: messages about lines of the reviews that are skipped.
    """

    accepted: list[Accepted]
    disagreed: list[Entry]
    looked: Counter[str]
    slips: Counter[str]
    notes: list[str]


@dataclass(frozen=True)
class Recorded:
    """Corrections that were recorded.

    Attributes:
        review: the list.
        outcome: its outcome.
        added: the errata and the new version.
    """

    review: ReviewList
    outcome: ReviewOutcome
    added: Added


def outcome_of(review: ReviewList, looks: ReviewLog) -> ReviewOutcome:
    """Return the outcome of people's verdicts on a list.

    A slip is accepted if everybody who judged it calls it one and gives the same value. A reading
    that is equal to the ground truth confirms it without a verdict.
    """
    by_person = [looks.all_of(annotator) for annotator in looks.people]
    outcome = ReviewOutcome([], [], Counter(), Counter(), looks.notes)
    for entry in review.entries:
        entry_looks = [by_key[entry.key] for by_key in by_person if entry.key in by_key]
        judged = [look for look in entry_looks if look.verdict or confirms(entry, look)]
        if not judged:
            continue
        outcome.looked[entry.kind] += 1
        verdicts = [look.verdict for look in judged if look.verdict]
        slips = [verdict for verdict in verdicts if verdict.verdict == "slip"]
        if not slips:
            continue
        if len(slips) == len(judged) and all(same(slip.new, slips[0].new) for slip in slips):
            outcome.slips[entry.kind] += 1
            blind = all(look.reading.blind for look in judged if look.reading)
            outcome.accepted.append(_accepted(entry, slips, blind=blind))
        else:
            outcome.disagreed.append(entry)
    return outcome


def record_review(
    name: str,
    path: Path,
    *,
    approved_by: str,
    proposed_by: str = SECOND_LOOKS,
    accepted: str | None = None,
    out: Path,
) -> Recorded:
    """Record the accepted slips of a list in a recipe, as one new version.

    They are corrections of values, which people have read again.

    Args:
        name: the benchmark, or the folder of a recipe.
        path: the list; the reviews are beside it.
        approved_by: who approved the corrections.
        proposed_by: who proposed them.
        accepted: where the data's owners accepted them; otherwise they do not count yet.
        out: the namespace folder in which the dataset is built.

    Raises:
        HdbenchError: the list is about another benchmark, there is no slip, or one of them does
            not fit the published ground truth; then nothing is recorded.
    """
    review = read_review_list(path)
    outcome = outcome_of(review, ReviewLog(path))
    if not outcome.accepted:
        raise HdbenchError("{place}: nobody found a slip so far: nothing to record", place=path)

    def corrections(truths: Mapping[str, dict[str, Any]]) -> list[Correction]:
        by = {"proposed_by": proposed_by, "approved_by": approved_by, "accepted": accepted}
        slips = sorted(outcome.accepted, key=lambda slip: (slip.entry.id, slip.entry.field))
        return [_correction(slip, truths, by, path) for slip in slips]

    return Recorded(review, outcome, add_corrections(name, corrections, out=out))


def _accepted(entry: Entry, verdicts: list[ReviewAction], *, blind: bool) -> Accepted:
    texts = (" ".join(verdict.evidence.split()).rstrip(".") for verdict in verdicts)
    evidence = "; ".join(filter(None, dict.fromkeys(texts)))
    return Accepted(entry, verdicts[0].new, evidence, len(verdicts), blind)


def _correction(
    accepted: Accepted,
    truths: Mapping[str, dict[str, Any]],
    by: Mapping[str, str | None],
    path: Path,
) -> Correction:
    entry = accepted.entry
    place = f"{path}: {entry.id} {entry.field}"
    if not accepted.evidence:
        raise HdbenchError(
            "{place}: without evidence: say what shows that the value is right", place=place
        )
    data = {
        "id": entry.id,
        "field": entry.field,
        "kind": "value",
        "evidence": accepted.evidence,
        **by,
        "second_looks": accepted.looks,
        "blind": accepted.blind,
        "old": None,
        "new": accepted.new,
    }
    correction = validate(Correction, data, path)
    if entry.id not in truths:
        raise HdbenchError(
            "{place}: there is no such item: is this list about this benchmark?", place=place
        )
    objects, key = holders(truths[entry.id], entry.field)
    if not objects:
        raise HdbenchError(
            "{place}: there is no such field in the published ground truth", place=place
        )
    old = objects[0].get(key)
    if text_of(old) != text_of(entry.truth):
        raise HdbenchError(
            "{place}: the published value is not the one that was looked at: audit this "
            "version anew, or record it with hdbench errata add",
            place=place,
        )
    if not text_of(old) and not text_of(accepted.new):
        raise HdbenchError(
            "{place}: the value is empty before and after, so nothing would change", place=place
        )
    new = _nothing(truths, entry.field) if accepted.new is None else accepted.new
    return correction.model_copy(update={"old": old, "new": new})


def _nothing(truths: Mapping[str, dict[str, Any]], field: str) -> str | None:
    """Return the empty value of a field: no key, or an empty text where every item has the key.

    A benchmark may require the key; metrics treat both as empty.
    """
    field = _NUMBER.sub("[*]", field)
    by_truth = (holders(truth, field) for truth in truths.values())
    everywhere = all(key in holder for objects, key in by_truth for holder in objects)
    return "" if everywhere else None
