"""Two records compared path by path, as published results of several benchmarks were computed."""

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from hdbench.scoring.equality import similarity
from hdbench.scoring.records.compare import Fields
from hdbench.scoring.records.tree import PathRules, segments_of

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
