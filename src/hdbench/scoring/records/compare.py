"""Two records compared: the items of their lists paired, and each field judged."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from rapidfuzz import fuzz

from hdbench.scoring.metric import OUTCOMES, Outcome
from hdbench.scoring.records.tree import NO_CHECKS, Check, PathRules, Record, segments_of
from hdbench.scoring.text_equality import check_forms, similarity

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
        if value == reference and (path not in checks or checks[path][0] is None):
            correct.append(path)
            continue
        if value is _ABSENT:
            absent += 1
            if reference != "":  # an empty text counts nothing where the other side has no value
                missing.append(path)
            continue
        if type(value) is not str or not value.isascii() or "\r" in value:
            others.append(value)  # whose form is not sure
        compare, threshold = checks.get(path, usual)
        if compare is None and type(value) is type(reference) is str:
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
