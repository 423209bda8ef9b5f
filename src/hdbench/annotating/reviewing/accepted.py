"""From verdicts to errata: the slips that people found, as one new version."""

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
"""Proposer of a correction, unless somebody is named: pseudonyms stay with the list."""


class Accepted(NamedTuple):
    """A slip in the ground truth.

    Attributes:
        entry: where.
        new: the right value; None for nothing.
        evidence: what shows it, of everybody who said so.
        looks: how many people looked.
        blind: whether all of them read the value before they were shown any.
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
        disagreed: what people judge differently; none of it is accepted.
        looked: kind of entry → how many were read and, if need be, judged.
        slips: kind of entry → how many of these are slips.
        notes: which lines of the looks are left out.
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
        outcome: what it came to.
        added: the errata and the new version.
    """

    review: ReviewList
    outcome: ReviewOutcome
    added: Added


def outcome_of(review: ReviewList, looks: ReviewLog) -> ReviewOutcome:
    """Return what people's verdicts on a list add up to.

    A slip is accepted if everybody who judged it calls it one and gives the same value. Whoever
    reads what the ground truth has needs no verdict to say that it is right.
    """
    people = [looks.all_of(each) for each in looks.people]
    outcome = ReviewOutcome([], [], Counter(), Counter(), looks.notes)
    for entry in review.entries:
        found = [look[entry.key] for look in people if entry.key in look]
        judged = [look for look in found if look.verdict or confirms(entry, look)]
        if not judged:
            continue
        outcome.looked[entry.kind] += 1
        slips = [each.verdict for each in judged if each.verdict and each.verdict.verdict == "slip"]
        if not slips:
            continue
        if len(slips) == len(judged) and all(same(each.new, slips[0].new) for each in slips):
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
    """Record the slips that a list came to in a recipe, as one new version.

    They are corrections of values, as people read each of them again.

    Args:
        name: the benchmark, or the folder of a recipe.
        path: the list; the looks are beside it.
        approved_by: who approved the corrections.
        proposed_by: who proposed them.
        accepted: where the data's owners accepted them; without it, they do not count yet.
        out: the namespace folder in which the dataset is built.

    Raises:
        HdbenchError: the list is about another benchmark, there is no slip, or one of them does
            not fit the published ground truth; nothing is recorded then.
    """
    review = read_review_list(path)
    outcome = outcome_of(review, ReviewLog(path))
    if not outcome.accepted:
        raise HdbenchError("{place}: nobody found a slip so far: nothing to record", place=path)

    def corrections(truths: Mapping[str, dict[str, Any]]) -> list[Correction]:
        by = {"proposed_by": proposed_by, "approved_by": approved_by, "accepted": accepted}
        slips = sorted(outcome.accepted, key=lambda each: (each.entry.id, each.entry.field))
        return [_correction(each, truths, by, path) for each in slips]

    return Recorded(review, outcome, add_corrections(name, corrections, out=out))


def _accepted(entry: Entry, verdicts: list[ReviewAction], *, blind: bool) -> Accepted:
    said = dict.fromkeys(" ".join(each.evidence.split()).rstrip(".") for each in verdicts)
    evidence = "; ".join(each for each in said if each)
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
    place_in = {"id": entry.id, "field": entry.field, "kind": "value"}
    given = {**place_in, "evidence": accepted.evidence, **by}
    looked = {"second_looks": accepted.looks, "blind": accepted.blind}
    correction = validate(Correction, {**given, **looked, "old": None, "new": accepted.new}, path)
    if entry.id not in truths:
        raise HdbenchError(
            "{place}: there is no such item: is this list about this benchmark?", place=place
        )
    found, key = holders(truths[entry.id], entry.field)
    if not found:
        raise HdbenchError(
            "{place}: there is no such field in the published ground truth", place=place
        )
    old = found[0].get(key)
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
    """Return what stands for nothing: no key, or an empty text where every item has the key.

    A benchmark may require the key; metrics take both for nothing.
    """
    field = _NUMBER.sub("[*]", field)
    places = (holders(truth, field) for truth in truths.values())
    everywhere = all(key in holder for found, key in places for holder in found)
    return "" if everywhere else None
