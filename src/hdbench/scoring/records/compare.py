"""Two records compared: the items of their lists paired, and each field judged."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rapidfuzz import fuzz

from hdbench.scoring.equality import are_plain, check_form, similarity
from hdbench.scoring.metric import Outcome
from hdbench.scoring.records.tree import Check, PathRules, Record, segments_of

_ABSENT = object()


class Fields(NamedTuple):
    """What became of the fields of a record, or of an item of a list, without its own lists.

    Attributes:
        correct: the paths of values that match.
        substituted: the paths of values that do not.
        missing: the paths of values that the answer lacks.
        spurious: the paths of values that only the answer has.
        alike: path → similarity, for values that were compared and are not equal.
    """

    correct: list[str]
    substituted: list[str]
    missing: list[str]
    spurious: list[str]
    alike: dict[str, float]

    def by_outcome(self) -> dict[Outcome, list[str]]:
        """Outcome → the paths that had it, in the order of `OUTCOMES`."""
        return {
            "correct": self.correct,
            "substituted": self.substituted,
            "missing": self.missing,
            "spurious": self.spurious,
        }


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
    expected: Sequence[Check],
    references: Mapping[str, Any],
    leaves: Mapping[str, Any],
    *,
    canonical: bool,
) -> Fields:
    """Return what became of the fields of a record or item, without those of its lists' items.

    Args:
        expected: what the answer must have: one check for each of `references`, in order.
        references: path → value of what the ground truth has.
        leaves: path → value of what the answer has.
        canonical: whether only what is written in canonical form can be compared, as `references`
            are. What is equal to them is: so most of an answer does not have to be looked at.

    Raises:
        OtherFormError: a value of the answer is written otherwise.
    """
    if leaves == references and all(check.compare is None for check in expected):
        return Fields(list(references), [], [], [], {})
    correct: list[str] = []
    substituted: list[str] = []
    missing: list[str] = []
    spurious: list[str] = []
    alike: dict[str, float] = {}
    others: list[Any] = []
    common, ratio = 0, fuzz.ratio
    for (path, compare, threshold), reference in zip(expected, references.values(), strict=True):
        value = leaves.get(path, _ABSENT)
        if value is _ABSENT:
            if reference != "":  # an empty text counts nothing where the other side has no value
                missing.append(path)
            continue
        common += 1
        if compare is None and value == reference:
            correct.append(path)
            continue
        others.append(value)
        if compare is None and type(value) is type(reference) is str:
            same = ratio(reference, value) / 100  # as `similarity`, whose call costs as much
        else:
            same = (compare or similarity)(reference, value)
        (correct if same >= threshold else substituted).append(path)
        if same != 1.0:
            alike[path] = same
    if len(leaves) > common:
        spurious = [
            path for path, value in leaves.items() if path not in references and value != ""
        ]
        others += [leaves[path] for path in spurious]
    if canonical and others and not are_plain([text for text in others if type(text) is str]):
        for value in others:
            check_form(value)
    return Fields(correct, substituted, missing, spurious, alike)


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
) -> tuple[Fields, dict[str, float], dict[str, Any], dict[str, Any]]:
    """Return what became of the fields of two records.

    Returns:
        The fields; path → similarity of each field that is compared; and path → value of either
        side, as it was compared.
    """
    fields = Fields([], [], [], [], {})
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
                fields.correct.append(path)
                similarities[path] = 1.0
        elif reference is None or prediction is None:
            if (prediction if reference is None else reference) != "":
                (fields.spurious if reference is None else fields.missing).append(path)
                if reference is not None:
                    similarities[path] = 0.0
            if is_compared:
                similarities[path] = 0.0
        else:
            compare, threshold = rules.of_field((), path)
            same = (compare or similarity)(reference, prediction)
            (fields.correct if same >= threshold else fields.substituted).append(path)
            similarities[path] = same
            if same != 1.0:
                fields.alike[path] = same
    return fields, similarities, references, predictions


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
