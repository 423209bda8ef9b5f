"""Comparing two records field by field, as the options of `hdb/record_f1` say."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, get_args

from rapidfuzz import fuzz

from hdbench.errors import HdbenchError
from hdbench.scoring.metric import OUTCOMES, Outcome, number, one_of, read_digits, read_figures
from hdbench.scoring.records.tree import (
    NO_CHECKS,
    Check,
    ListMode,
    PathRules,
    Patterns,
    Record,
    by_pattern,
    segments_of,
    unwritable_paths,
)
from hdbench.scoring.records.values import Comparator, comparator, has_parameters
from hdbench.scoring.text_equality import OF_VALUES, Normalizer, check_forms, normalizer, similarity

_ABSENT = object()


Fields = dict[Outcome, list[str]]
"""Outcome → the paths of a record's fields that had it, or of those of an item of a list without
its own lists; in the order of `OUTCOMES`."""


class Pair(NamedTuple):
    """A record, or an item of a list, beside its counterpart.

    Attributes:
        prefix: the path of the item, with its place in the ground truth, or in the answer if only
            the answer has it; empty for the record itself.
        truth: the ground truth's; None for an invented item.
        answer: the answer's; None for a missed item.
    """

    prefix: str
    truth: Record | None
    answer: Record | None


def pairs(pair: Pair, rules: PathRules) -> Iterator[Pair]:
    """A pair, and the items of its lists, paired, and so on."""
    yield pair
    truth, answer = pair.truth, pair.answer
    ours = truth.lists if truth is not None else {}
    theirs = answer.lists if answer is not None else {}
    if not (ours or theirs):
        return
    from hdbench.scoring.records.pairing import pair_items  # noqa: PLC0415  numpy is slow to import

    for path in {**ours, **theirs}:
        prefix = joined(pair.prefix, path)
        for one, other in pair_items(ours.get(path, []), theirs.get(path, []), rules):
            index = one.index if one is not None else other.index if other is not None else 0
            yield from pairs(Pair(f"{prefix}[{index}]", one, other), rules)


def compare_fields(
    references: Mapping[str, Any],
    leaves: Mapping[str, Any],
    rules: PathRules,
    checks: Mapping[str, Check] = NO_CHECKS,
) -> tuple[Fields, dict[str, float]]:
    """Return what became of the fields of a record or item, without those of its lists' items.

    Args:
        references: path → value of what the ground truth has.
        leaves: path → value of what the answer has.
        rules: how fields are compared. Where only what is written in canonical form can be, as
            `references` are, what is equal to them is: so most of an answer need not be looked at.
        checks: the fields that are not compared as is usual, with how they are.

    Returns:
        The fields; and path → similarity of the values that were compared and are not equal.

    Raises:
        OtherFormError: a value of the answer is written otherwise.
    """
    correct: list[str] = []
    substituted: list[str] = []
    missing: list[str] = []
    spurious: list[str] = []
    alike: dict[str, float] = {}
    others: list[Any] = []
    absent, get, usual, ratio = 0, leaves.get, rules.usual, fuzz.ratio
    for path, reference in references.items():
        value = get(path, _ABSENT)
        if value == reference and (not checks or checks.get(path, usual)[0] is None):
            correct.append(path)
            continue
        if value is _ABSENT:
            absent += 1
            if reference != "":  # an empty text counts nothing where the other side has no value
                missing.append(path)
            continue
        compare, threshold = checks.get(path, usual)
        is_text = type(value) is str
        if is_text and (not value.isascii() or "\r" in value):
            others.append(value)  # whose form is not sure
        if is_text and compare is None and type(reference) is str:
            same = ratio(reference, value) / 100  # as `similarity`, whose call costs as much
        else:
            same = (compare or similarity)(reference, value)
        (correct if same >= threshold else substituted).append(path)
        if same != 1.0:
            alike[path] = same
    if len(leaves) > len(references) - absent:
        spurious = [path for path in leaves if path not in references and leaves[path] != ""]
        others += [leaves[path] for path in spurious]
    if others and rules.canonical:
        check_forms(others)
    fields: Fields = {
        "correct": correct,
        "substituted": substituted,
        "missing": missing,
        "spurious": spurious,
    }
    return fields, alike


def all_missing(references: Iterable[str]) -> tuple[Fields, dict[str, float]]:
    """Return the same for an item without an answer, which lacks empty texts, too."""
    return {"correct": [], "substituted": [], "missing": [*references], "spurious": []}, {}


def joined(prefix: str, path: str) -> str:
    """The path of a field of an item.

    Example:
        >>> joined("entries[3]", "author.family"), joined("subjects[0]", ""), joined("", "title")
        ('entries[3].author.family', 'subjects[0]', 'title')
    """
    return f"{prefix}.{path}" if prefix and path and path[0] != "[" else prefix + path


# Two records compared path by path, as published results of several benchmarks were computed

_INDEX = re.compile(r"\d{1,9}")  # int() refuses thousands of digits, which a key may have


class ByPath(NamedTuple):
    """How records are compared by path.

    Attributes:
        leaves: the paths of both sides (`union`), or those of the ground truth alone (`truth`).
        parents: whether a path is left out that another goes on from with a dot (`drop`).
        absent: whether two absent values count as alike (`compare`), or not at all (`skip`).
        dotted_keys: whether a path is split at dots and brackets to look up its value (`split`), so
            that a key that has one is not found.
    """

    leaves: Literal["union", "truth"] = "union"
    parents: Literal["keep", "drop"] = "keep"
    absent: Literal["skip", "compare"] = "skip"
    dotted_keys: Literal["plain", "split"] = "plain"


def compare_by_path(
    truth: dict[str, Any], answer: dict[str, Any], how: ByPath, rules: PathRules
) -> tuple[Fields, dict[str, float], dict[str, float], dict[str, Any], dict[str, Any]]:
    """Return what became of the fields of two records.

    Returns:
        As `compare_fields`; path → similarity of each field that is compared; and path → value of
        either side, as it was compared.
    """
    fields: Fields = {outcome: [] for outcome in OUTCOMES}
    alike: dict[str, float] = {}
    similarities: dict[str, float] = {}
    references: dict[str, Any] = {}
    predictions: dict[str, Any] = {}
    expected, predicted = dict(_leaves(truth)), dict(_leaves(answer))
    for path in _paths(expected, predicted, how):
        segments = segments_of(path)
        if rules.ignore[segments]:
            continue
        reference, prediction = expected.get(path), predicted.get(path)
        if how.dotted_keys == "split" or how.parents == "drop":
            reference, prediction = _look_up(truth, path), _look_up(answer, path)
        reference = references[path] = _value(reference, segments, rules)
        prediction = predictions[path] = _value(prediction, segments, rules)
        is_compared = how.absent == "compare" and path in expected
        if reference is None and prediction is None:
            if is_compared:
                fields["correct"].append(path)
                similarities[path] = 1.0
        elif reference is None or prediction is None:
            if (prediction if reference is None else reference) != "":
                fields["spurious" if reference is None else "missing"].append(path)
                if reference is not None:
                    similarities[path] = 0.0
            if is_compared:
                similarities[path] = 0.0
        else:
            compare, threshold = rules.of_field((), path)
            same = (compare or similarity)(reference, prediction)
            fields["correct" if same >= threshold else "substituted"].append(path)
            similarities[path] = same
            if same != 1.0:
                alike[path] = same
    return fields, alike, similarities, references, predictions


def _paths(expected: dict[str, Any], predicted: dict[str, Any], how: ByPath) -> list[str]:
    both = expected | predicted
    paths = list(expected if how.leaves == "truth" else both)
    if how.parents == "drop":
        above = {path[:at] for path in both for at, sign in enumerate(path) if sign == "."}
        paths = [path for path in paths if path not in above]
    return paths


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _leaves(child, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _leaves(child, f"{path}[{index}]")
    else:
        yield path, value


def _look_up(value: Any, path: str) -> Any:
    """What is found by splitting a path: a value, an object or a list; None if nothing is."""
    for step in path.replace("]", "").replace("[", ".").split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _value(value: Any, segments: tuple[str, ...], rules: PathRules) -> Any:
    """A value as it is compared; None if it counts as absent."""
    if rules.is_blank(value):
        return None
    if isinstance(value, str):
        for step in rules.steps[segments]:
            value = step(value)
    return value


DEFAULTS: dict[str, Any] = {
    "lists": "aligned",
    "compare": "similarity",
    "threshold": 0.92,
    "normalize": [],
    "blank": [None],
    "ignore": [],
    "weights": 1,
    "root_list": None,
    "leaves": "union",
    "parents": "keep",
    "absent": "skip",
    "dotted_keys": "plain",
    "unanswered": "failure",
    "round": {},
    "sum": "exact",
    "figures": {},
    "similarity": None,
}
"""Every option with its default."""

_CHOICES: dict[str, tuple[str, ...]] = {
    "leaves": ("union", "truth"),
    "parents": ("keep", "drop"),
    "absent": ("skip", "compare"),
    "dotted_keys": ("plain", "split"),
    "unanswered": ("failure", "empty_object"),
    "sum": ("exact", "plain"),
}

_ROUNDED = ("item", "run")

_MAX_WEIGHT = 1_000_000.0


@dataclass(frozen=True)
class Options:
    """The options of a comparison of records.

    Attributes:
        values: name → value as it was given, or its default.
        rules: what they say about each path.
        weights: what the counts of a field weigh.
        by_path: how records are compared by path; None if they are taken apart.
        root_list: the name of the list as which a bare list is read.
        digits: `item`, `run` → the decimals to which their figures are rounded.
        figures: name → the figure that it repeats, and the factor.
    """

    values: Mapping[str, Any]
    rules: PathRules
    weights: Patterns[float]
    by_path: ByPath | None
    root_list: str | None
    digits: Mapping[str, int]
    figures: Mapping[str, tuple[str, float]]

    @cached_property
    def _of_paths(self) -> list[Patterns[Any]]:
        """The options that have values by path."""
        rules = self.rules
        options: list[Patterns[Any]]
        options = [rules.lists, rules.compare, rules.threshold, rules.steps, rules.ignore]
        return [patterns for patterns in (*options, self.weights) if patterns]

    def check_keys(self, reference: dict[str, Any]) -> None:
        """Reject options with a path that may be meant for a key with a dot; see `_check_key`.

        Raises:
            HdbenchError: an option has such a path, and the ground truth such a key.
        """
        if not self._of_paths or self.by_path is not None:  # by path, keys are split at dots
            return
        for path in unwritable_paths(reference, self.rules.root):
            for option in self._of_paths:
                _check_key(option, path.segments, is_by_text=option is self.weights)

    @property
    def has_weights(self) -> bool:
        """Return whether a field's counts can weigh other than 1."""
        return bool(self.values["weights"] != DEFAULTS["weights"])


def read_options(options: Mapping[str, Any], figures: Sequence[str], *, canonical: bool) -> Options:
    """Options with their defaults, checked.

    Args:
        options: the options.
        figures: the keys of `rates`.
        canonical: see `read_rules`.

    Raises:
        HdbenchError: a value is unusable; the message names the option.
    """
    values = DEFAULTS | dict(options)
    for name, choices in _CHOICES.items():
        one_of(name, values[name], choices)
    by_path = ByPath(**{name: values[name] for name in ByPath._fields})
    if by_path != ByPath() and values["lists"] != "position":
        raise HdbenchError("{names}: these need lists: position", names=", ".join(ByPath._fields))
    if not (values["root_list"] is None or isinstance(values["root_list"], str)):
        raise HdbenchError(
            "root_list: {value} is not the name of a list", value=repr(values["root_list"])
        )
    return Options(
        values=values,
        rules=read_rules(options, canonical=canonical),
        weights=by_pattern("weights", values["weights"], 1.0, _weight),
        by_path=None if by_path == ByPath() else by_path,
        root_list=values["root_list"],
        digits=read_digits(values["round"], _ROUNDED),
        figures=read_figures(values["figures"], figures),
    )


def read_rules(options: Mapping[str, Any], *, canonical: bool = False) -> PathRules:
    """Return what options say about each path; those that are not given have their defaults.

    Args:
        options: the options, in canonical form if records are compared in it.
        canonical: whether only what is written in canonical form can be compared.

    Raises:
        HdbenchError: a value is unusable; the message names the option.
    """
    values = DEFAULTS | dict(options)
    compare, alike = values["compare"], _similarity(values["similarity"])

    def read(option: str, value: Any) -> Comparator | None:
        found = comparator(option, value)
        return alike if found is similarity else found

    if has_parameters(compare):
        comparators: Patterns[Comparator | None] = Patterns("compare", {}, read("compare", compare))
    else:
        comparators = by_pattern("compare", compare, alike, read)
    ignore, blank = values["ignore"], values["blank"]
    if not _is_list(ignore) or not all(isinstance(path, str) for path in ignore):
        raise HdbenchError("ignore: {ignore} is not a list of paths", ignore=repr(ignore))
    if not _is_list(blank) or not all(_is_scalar(value) for value in blank):
        raise HdbenchError(
            "blank: {blank} is not a list of values such as null and ''", blank=repr(blank)
        )
    if len(set(ignore)) < len(ignore):
        raise HdbenchError("ignore: a path is given twice")
    return PathRules(
        lists=by_pattern("lists", values["lists"], "aligned", _mode),
        compare=comparators,
        threshold=by_pattern("threshold", values["threshold"], 0.92, _threshold),
        steps=by_pattern("normalize", values["normalize"], (), _steps),
        ignore=Patterns("ignore", dict.fromkeys(ignore, True), False),
        blank=tuple(blank),
        canonical=canonical,
    )


def _check_key(option: Patterns[Any], key: tuple[str, ...], *, is_by_text: bool) -> None:
    """Reject an option with a path that is written like a key with a dot, but does not lead there.

    In a path, a dot goes one key deeper, so only `*` covers a key that has one.

    Args:
        option: the option.
        key: the path of the key, or of what is below it, in segments.
        is_by_text: whether the option goes by the written path of a field. Then nothing that covers
            only the one or the other is unambiguous, not even `*`.
    """
    written = segments_of(".".join(key))
    meant, covering = option.fitting(written), option.fitting(key)
    wrong = {segments for segments in meant - covering if len(segments) == len(written)}
    if is_by_text:
        wrong = meant ^ covering
    if wrong:
        pattern = ".".join(min(wrong)).replace(".[]", "[]")
        raise HdbenchError(
            "{option}: {pattern}: a ground truth has the key {key}, and a path is read at "
            "every dot and bracket, so it cannot name a key that has one: rename the key",
            option=option.option,
            pattern=pattern,
            key=" in ".join(map(repr, reversed(key))),
        )


def _mode(option: str, value: Any) -> ListMode:
    one_of(option, value, get_args(ListMode))
    mode: ListMode = value
    return mode


def _similarity(given: Any) -> Comparator | None:
    """Return what a program compares values by; None for hdbench's own."""
    if given is None:
        return None
    if isinstance(given, str):  # a result that was read names a function, and scores nothing
        return partial(_unknown, given)
    if not callable(given):
        raise HdbenchError("similarity: {value} is not a function", value=repr(given))

    def alike(reference: Any, prediction: Any) -> float:
        number = given(reference, prediction)
        if not isinstance(number, int | float) or not 0 <= number <= 1:
            raise HdbenchError(
                "similarity: {value} of {reference} and {prediction} is not a number from 0 to 1",
                value=repr(number),
                reference=repr(reference)[:100],
                prediction=repr(prediction)[:100],
            )
        return float(number)

    return alike


def _unknown(name: str, _reference: Any, _prediction: Any) -> float:
    raise HdbenchError("similarity: give the function itself, not its name {name!r}", name=name)


def _steps(option: str, value: Any) -> tuple[Normalizer, ...]:
    return normalizer(option, value, OF_VALUES, can_remove=False)


def _threshold(option: str, value: Any) -> float:
    threshold = number(option, value)
    if threshold > 1:
        raise HdbenchError(
            "{option}: {value} is not a number from 0 to 1", option=option, value=repr(value)
        )
    return threshold


def _weight(option: str, value: Any) -> float:
    weight = number(option, value)
    if weight > _MAX_WEIGHT:
        raise HdbenchError(
            "{option}: {value} is not a number from 0 to {most:g}",
            option=option,
            value=repr(value),
            most=_MAX_WEIGHT,
        )
    return weight


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
