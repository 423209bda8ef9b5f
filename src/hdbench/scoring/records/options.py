"""The options of `hdb/record_f1`, read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, get_args

from hdbench.errors import HdbenchError
from hdbench.scoring.options import number, one_of, read_digits, read_figures
from hdbench.scoring.records.compare import ByPath
from hdbench.scoring.records.tree import (
    ListMode,
    PathRules,
    Patterns,
    by_pattern,
    segments_of,
    unwritable_paths,
)
from hdbench.scoring.records.values import Comparator, comparator, has_parameters
from hdbench.scoring.text_equality import OF_VALUES, Normalizer, normalizer, similarity

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
