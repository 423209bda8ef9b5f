"""The provenance of an item's ground truth, from all its changes."""

from collections.abc import Iterable, Sequence

from hdbench.annotating.changes import SETTLED, Change
from hdbench.benchmarks.provenance import AUDITED, BLIND, DRAFT, IMPORTED, Provenance

_BY_WEIGHT = (AUDITED, IMPORTED, BLIND)
"""Provenances without a draft; of several, the first one counts."""


def provenance_of(truths: Sequence[Change]) -> Provenance | None:
    """Return how a ground truth was made.

    A record with any value that may come from a draft counts as a draft, however much of it was
    corrected since; of several drafts, the last one counts. A record that several annotators
    settled counts as a draft if one of them had one.

    Args:
        truths: all changes of an item's ground truth, in causal order.

    Returns:
        None if nobody changed an imported record, or if there is none: nothing was entered, or all
        of it was deleted.
    """
    if all(change.is_base and change.how == IMPORTED for change in truths):
        return None
    people = frozenset({BLIND})  # who settle values of unknown provenance
    ways: dict[str, frozenset[str]] = {}  # change → provenances of the record at that point
    models: dict[str, str] = {}
    changes = {change.id: change for change in truths}
    last_of = {change.how: index for index, change in enumerate(truths)}

    def joined(ids: Iterable[str]) -> frozenset[str]:
        """Return the ways of changes, with only the last draft: there can be thousands."""
        union = frozenset[str]().union(*(ways.get(change_id, ()) for change_id in ids))
        drafts = sorted(filter(_is_draft, union), key=last_of.__getitem__)
        return union.difference(drafts[:-1])

    for change in truths:
        if change.model:
            models[change.how] = change.model
        before = joined(change.parents)
        undone = changes.get(change.undoes or "")
        if not change.field and change.to is None:
            ways[change.id] = frozenset()
        elif undone and undone.field:
            ways[change.id] = before
        elif undone:  # the whole record is again what it was
            ways[change.id] = joined((*undone.parents, *change.also))
        elif change.field:
            is_settled = change.how == SETTLED
            ways[change.id] = before or people if is_settled else before | {change.how}
        elif change.how != SETTLED:
            ways[change.id] = frozenset({change.how})
        else:
            ways[change.id] = _of_settled(before) or people
    behind = {parent for change in truths for parent in change.parents}
    last = [change.id for change in truths if change.id not in behind] or list(ways)[-1:]
    final = joined(last)
    drafts = filter(_is_draft, final)
    how = next(iter((*drafts, *(way for way in _BY_WEIGHT if way in final))), None)
    return None if how is None else Provenance(how, models.get(how))


def _of_settled(before: frozenset[str]) -> frozenset[str]:
    """Return the ways of a record settled as a whole: people made it, unless from a draft."""
    drafts = frozenset(filter(_is_draft, before))
    return drafts or (before - {IMPORTED}) or before


def _is_draft(how: str) -> bool:
    return how.startswith(DRAFT)
