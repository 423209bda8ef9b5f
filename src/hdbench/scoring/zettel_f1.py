"""Zettelkatalog: F1 over the fields of nested records (`hdb/zettel_f1`).

The method is the Zettelkatalog benchmark's (University Library Basel and RISE, University of Basel,
2025). `documented` is its description read literally; `published` is what its published results
were computed with. Wherever the two differ, it is noted.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, ClassVar, NamedTuple

from hdbench.common.bounds import MAX_KEPT_LENGTH, MAX_KEPT_PATHS
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import (
    ANSWERED,
    COUNTED,
    COUNTS,
    EFFORT,
    FIELD_FIGURES,
    OUTCOMES,
    PERFECT,
    REQUESTED,
    Corrected,
    FieldMatch,
    Figure,
    ItemScore,
    Metric,
    Outcome,
    ValueForm,
    f1,
    micro_rates_without,
    plain,
    rates_of_fields,
    ratio,
    truncated,
)
from hdbench.scoring.records.compare import all_missing, compare_fields, read_rules
from hdbench.scoring.records.tree import Leaves, as_written, fields_by_position
from hdbench.scoring.text_equality import OtherFormError, check_forms

# Records as leaf fields with dotted paths


class _Path(dict[str | int, "_Path"]):
    """A path in records, and by key or index those below it, which are kept once they were built.

    Records of a benchmark have the same few paths, and looking one up takes a fraction of the time
    in which it can be put together.

    Attributes:
        text: the path.
        is_plain: whether no key in it contains a dot or bracket.
    """

    __slots__ = ("is_plain", "text")
    numbers: ClassVar = count()

    def __init__(self, text: str, is_plain: bool) -> None:
        self.text, self.is_plain = text, is_plain

    def __missing__(self, key: str | int) -> "_Path":
        if isinstance(key, int):
            path = _Path(f"{self.text}[{key}]", self.is_plain)
        else:
            is_plain = self.is_plain and not any(sign in key for sign in ".[]")
            path = _Path(f"{self.text}.{key}" if self is not _ROOT else key, is_plain)
        if len(path.text) <= MAX_KEPT_LENGTH and next(self.numbers) < MAX_KEPT_PATHS:
            self[key] = path
        return path


_ROOT = _Path("", True)


def flatten(record: dict[str, Any], *, split_keys: bool = False) -> Leaves:
    """The leaf fields of a record: dotted path → value, nulls included.

    List items are `path[0]`, `path[1]`, …. An empty object or list has no leaves. No leaf is the
    parent of another: if a key with a dot or bracket makes it one, it is left out.

    Args:
        record: a JSON object.
        split_keys: how a key that itself contains `.`, `[` or `]` is treated. False: as a key like
            any other, so that `{"a.b": 1}` has the same leaf as `{"a": {"b": 1}}`. True, as in the
            published results: its path is split at those characters to look up its value, so that
            nothing is found and its leaves are null, unless there is a nested field with the same
            path.

    Example:
        >>> flatten({"author": {"last_name": "Müller"}, "subjects": ["Diss", None]})
        {'author.last_name': 'Müller', 'subjects[0]': 'Diss', 'subjects[1]': None}
        >>> flatten({"a": 1, "a.b": 2, "c": 3}, split_keys=True)
        {'a.b': None, 'c': 3}
    """
    leaves: Leaves = {}
    special: Leaves = {}
    _add_object(record, _ROOT, leaves, special)
    if not special:
        return leaves
    if split_keys:
        leaves = dict.fromkeys(special) | leaves
    else:  # again, all in one: of two leaves with the same path, the last one counts
        leaves = {}
        _add_object(record, _ROOT, leaves, leaves)
    ordered = sorted(leaves)
    return {path: value for path, value in leaves.items() if not _has_child(path, ordered)}


def _add_object(record: dict[str, Any], at: _Path, leaves: Leaves, special: Leaves) -> None:
    """Add a record's leaves; those below a key with a dot or bracket to `special` instead."""
    for key, value in record.items():
        path = at[key]
        if type(value) is not str:  # as most are
            if isinstance(value, dict):
                _add_object(value, path, leaves, special)
                continue
            if isinstance(value, list):
                _add_list(value, path, leaves, special)
                continue
        if path.is_plain:
            leaves[path.text] = value
        else:
            special[path.text] = value


def _add_list(values: list[Any], at: _Path, leaves: Leaves, special: Leaves) -> None:
    for index, value in enumerate(values):
        path = at[index]
        if isinstance(value, dict):
            _add_object(value, path, leaves, special)
        elif isinstance(value, list):
            _add_list(value, path, leaves, special)
        else:
            (leaves if path.is_plain else special)[path.text] = value


def without_parents(paths: list[str], leaves: Leaves) -> list[str]:
    """The paths that are not the parent of a leaf.

    Example:
        >>> without_parents(["author", "year"], {"author.last_name": "Müller"})
        ['year']
    """
    # No leaf has another below it, and most requested paths are leaves themselves.
    if not paths or leaves.keys() >= set(paths):
        return paths
    ordered = sorted(leaves)
    return [path for path in paths if not _has_child(path, ordered)]


def _has_child(path: str, ordered: list[str]) -> bool:
    for sign in ".[":
        start = path + sign
        at = bisect_left(ordered, start)
        if at < len(ordered) and ordered[at].startswith(start):
            return True
    return False


_LEFT_OUT = re.compile(
    r"examination($|\.|\[)|publication\.reprint_note$|library_reference\.publication_number$"
)
"""Fields that the published results leave out on both sides."""


class PreparedCard(NamedTuple):
    """A ground truth, flattened once.

    Attributes:
        values: path → value of each field that an answer must have.
        leaves: path → value of every field, absent ones too; only for `published`.
        rewritten: whether it was not written in canonical form.
    """

    values: Leaves
    leaves: Leaves
    rewritten: bool


class ZettelF1(Metric):
    """Field-level precision, recall and F1 of one card, a nested record.

    A field is a leaf of the flattened record. A field in both records is a true positive if the
    similarity of the values reaches the threshold, otherwise one false positive and one false
    negative; a field only in the answer is a false positive, one only in the ground truth is a
    false negative.

    Degenerate cases: a null is an absent field. An empty string is a value like any other, but
    against an absent field it does not count (published: it is an absent field). A key with a dot
    or bracket is a key of its own (published: its value is not found, and absent). No field of the
    ground truth is ever left out: an object or list where it has a value is a miss, and what that
    holds is spurious (published: a path that is the parent of another in the union of both records,
    `author` beside `author.last_name`, is left out). An unanswered card misses every field that its
    ground truth has. A zero denominator gives 0.0.

    Args:
        protocol: `documented` or `published`.
        threshold: the similarity from which two values match, 0.0 to 1.0.
        weights: field or group (`publication.title`, `author`) → weight ≥ 0 of its true and false
            positives and negatives; the longest name that fits a field counts, and 1 if none does.
            None: all 1, as in both protocols.

    Raises:
        HdbenchError: the protocol is unknown, or an option is out of range.

    Example:
        >>> metric = ZettelF1()
        >>> truth = metric.prepare({"title": "Stellingen", "year": 1924, "place": ""})
        >>> metric.score({"title": "Stellingen", "year": 1925}, truth).fields
        {'correct': ['title'], 'substituted': ['year'], 'missing': [], 'spurious': []}
    """

    name: ClassVar[str] = "zettel_f1"
    rules: ClassVar[int] = 4
    statistics: ClassVar[tuple[str, ...]] = (*COUNTS, "f1", "perfect", *EFFORT)
    item_figure: ClassVar[str] = "f1"
    figures: ClassVar[tuple[Figure, ...]] = (
        *Figure.rates("f1_micro", divided_by=(COUNTS,)),
        *Figure.rates("f1_macro"),
        *Figure.rates("precision_micro", divided_by=(ANSWERED,)),
        *Figure.rates("recall_micro", divided_by=(REQUESTED,)),
        *COUNTED,
        *PERFECT,
    )
    field_figures: ClassVar[tuple[Figure, ...]] = FIELD_FIGURES
    value_forms: ClassVar[Mapping[str, ValueForm]] = {
        "publication.format": "book_format",
        "publication.year": "year",
        "publication.pages": "extent",
    }
    has_form_counts: ClassVar[bool] = True
    corrected: ClassVar[Corrected | None] = "field"
    vectorized: ClassVar[bool] = True
    option_names: ClassVar[tuple[str, ...]] = ("threshold", "weights")

    def __init__(
        self,
        protocol: str = "documented",
        *,
        threshold: float = 0.92,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(protocol)
        self.threshold = _check_number("threshold", threshold, 1)
        self.weights = _check_weights(self.canonical(weights))
        self._rules = read_rules(
            {"lists": "position", "threshold": self.threshold}, canonical=not self._published
        )

    @property
    def options(self) -> dict[str, Any]:
        """The options and their values, for the signature."""
        return {"threshold": self.threshold, "weights": self.weights or 1}

    def prepare(self, reference: dict[str, Any]) -> PreparedCard:
        """The fields of a ground truth."""
        if not self._published:
            try:
                leaves = fields_by_position(reference, self._rules)
                check_forms(leaves.values())
            except OtherFormError:
                return self.prepare(self.canonical(reference))._replace(rewritten=True)
            return PreparedCard(leaves, {}, rewritten=False)
        leaves = flatten(reference, split_keys=True)
        return PreparedCard(_kept(leaves), leaves, rewritten=False)

    def score(self, record: dict[str, Any] | None, prepared: PreparedCard) -> ItemScore:
        """The counts of one card.

        Args:
            record: the answer, a JSON object; None counts as a complete failure.
            prepared: the card's ground truth, from `prepare`.

        Returns:
            `true_positives`, `false_positives`, `false_negatives` (weighted), `f1` of the card
            (0.0 to 1.0, higher is better; published: rounded to 2 decimals), `perfect`: 1 if the
            answer needs no edit, that is, if each field is right to the letter, and `EFFORT`: the
            fields that do not match, and all fields, without those of weight 0.
        """
        leaves: Leaves = {}
        if record is None:
            found, alike = all_missing(prepared.values)
        elif self._published:
            leaves = flatten(record, split_keys=True)
            found, alike = compare_fields(prepared.values, _kept(leaves), self._rules)
            found["missing"] = without_parents(found["missing"], leaves)
            found["spurious"] = without_parents(found["spurious"], prepared.leaves)
        else:
            try:
                leaves = fields_by_position(record, self._rules)
                found, alike = compare_fields(prepared.values, leaves, self._rules)
            except OtherFormError:
                return self.score(self.canonical(record), prepared)._replace(rewritten=True)
        fields = found
        if self._rules.has_escaped:
            fields = {outcome: [*map(as_written, paths)] for outcome, paths in found.items()}
        correct, substituted, missing, spurious = map(len, fields.values())
        is_perfect = record is not None and not (alike or substituted or missing or spurious)
        statistics = _statistics(correct, substituted, missing, spurious, is_perfect)
        if self.weights:
            weighed = _statistics(*map(self._weigh, fields.values()), is_perfect)
            counted = _statistics(*map(self._counted, fields.values()), is_perfect)
            statistics = {**weighed, **{name: counted[name] for name in EFFORT}}
        if self._published:
            statistics = {**statistics, "f1": round(statistics["f1"], 2)}
        return ItemScore(
            statistics, fields, (prepared.values, leaves, found, alike), {}, prepared.rewritten
        )

    def explain(self, score: ItemScore) -> list[FieldMatch]:
        """Return what became of each field of one card, errors first."""
        references, leaves, found, alike = score.compared
        matches = []
        for outcome in OUTCOMES[::-1]:
            for path, field in zip(found[outcome], score.fields[outcome], strict=True):
                reference, prediction = references.get(path), leaves.get(path)
                similarity = alike.get(path, float(outcome == "correct"))
                matches.append(FieldMatch(field, outcome, reference, prediction, similarity))
        return matches

    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """Micro and macro figures, from the statistics added up over cards.

        Micro: from the summed counts. Macro F1: the mean of the cards' F1. All are from 0.0 to 1.0,
        higher is better.
        """
        tp, fp, fn = (plain(totals[name]) for name in COUNTS)
        return {
            "f1_micro": f1(tp, fp, fn),
            "f1_macro": ratio(totals["f1"], totals["items"]),
            "precision_micro": ratio(tp, tp + fp),
            "recall_micro": ratio(tp, tp + fn),
            "true_positives": tp,
            "false_positives": fp,
            "false_negatives": fn,
            "items_perfect": truncated(totals["perfect"]),
        }

    def field_rates(
        self, totals: Mapping[str, float], outcomes: Mapping[Outcome, Mapping[str, float]]
    ) -> dict[str, dict[str, Any]]:
        """Field → unweighted counts, precision, recall, F1; a list's items count as one field.

        Raises:
            HdbenchError: a weight is for a field or group that no card has.
        """
        rates = rates_of_fields(outcomes)
        self._check_weights_used(rates)
        return rates

    def rates_without(
        self,
        totals: Mapping[str, float],
        outcomes: Mapping[Outcome, Mapping[str, float]],
        field: str,
    ) -> dict[str, float]:
        """The micro rates without a field; macro F1 would need the cards one by one."""
        return micro_rates_without(outcomes, field, self._weight)

    def _weigh(self, paths: Sequence[str]) -> float:
        """The weights of some fields, added up."""
        return math.fsum(map(self._weight, paths))

    def _counted(self, paths: Sequence[str]) -> int:
        """Return how many of some fields count at all."""
        return sum(self._weight(path) > 0 for path in paths)

    def _weight(self, path: str) -> float:
        """The weight of the longest name that fits a field; 1 if none does."""
        weights = self.weights or {}
        fitting = [name for name in weights if _is_within(path, name)]
        return weights[max(fitting, key=len)] if fitting else 1.0

    def _check_weights_used(self, fields: Iterable[str]) -> None:
        for name in self.weights or ():
            if not any(_is_within(field, name) for field in fields):
                raise HdbenchError(
                    "weights: no field or group {name!r}: there are {names}",
                    name=name,
                    names=", ".join(fields),
                )


def _kept(leaves: Leaves) -> Leaves:
    """The fields that `published` scores."""
    return {
        path: value
        for path, value in leaves.items()
        if value is not None and value != "" and not _is_left_out(path)
    }


@lru_cache(maxsize=4096, typed=True)  # cards have the same few counts again and again
def _statistics(
    correct: float, substituted: float, missing: float, spurious: float, is_perfect: bool
) -> Mapping[str, float]:
    """The statistics of a card, by how many fields had each outcome."""
    tp, fp, fn = correct, substituted + spurious, substituted + missing
    corrections = substituted + missing + spurious
    return {
        "true_positives": tp,
        "false_positives": fp,
        "false_negatives": fn,
        "f1": f1(tp, fp, fn),
        "perfect": int(is_perfect),
        "corrections": corrections,
        "values": correct + corrections,
    }


@lru_cache(maxsize=4096)  # cards have few fields, so the same names come again and again
def _is_left_out(path: str) -> bool:
    return bool(_LEFT_OUT.match(path))


def _is_within(path: str, name: str) -> bool:
    """Return whether a field is the named one or in the named group."""
    return path == name or path.startswith((name + ".", name + "["))


def _check_number(name: str, value: Any, highest: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= highest:
        raise HdbenchError(
            "{name}: {value} is not a number from 0 to {most:g}",
            name=name,
            value=repr(value),
            most=highest,
        )
    return float(value)


def _check_weights(weights: Any) -> dict[str, float] | None:
    if weights is None:
        return None
    if not isinstance(weights, Mapping) or not weights:
        raise HdbenchError(
            "weights: {weights} is not an object of field or group and weight",
            weights=repr(weights),
        )
    return {
        str(name): _check_number(f"weights: {name}", weight, 1_000_000)
        for name, weight in weights.items()
    }
