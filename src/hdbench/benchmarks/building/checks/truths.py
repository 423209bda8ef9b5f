"""Checks of the ground truths: against the schema, and against the metric."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from hdbench.answers.schema import AnswerSchema
from hdbench.answers.schema_parts import parts_of, types_of
from hdbench.benchmarks.building.checks.problems import EXAMPLES, Example, Problems, shown
from hdbench.benchmarks.building.checks.values import Path, RowPlace, dotted, is_blank
from hdbench.errors import HdbenchError, Message
from hdbench.scoring.metric import Metric, MissingFieldsError

MAX_UNFIT = 2_000
"""Maximum number of ground truths in which each violation of the schema is found. Others that do
not keep to it are only counted."""

MAX_TRIED = 500
"""Maximum number of fields that are tested for whether the metric scores them."""

ALL_UNTIL = 2_000
ONE_IN = 50
"""This many ground truths are all scored against themselves, then one in this many, and those that
have a new field: scoring takes longer than all else."""

MAX_COST = 50_000_000
"""Maximum of the squares of the numbers of values in the ground truths that are scored: the items
of two lists are compared each with each. It takes some seconds."""

_UNREADABLE = (HdbenchError, LookupError, TypeError, ValueError, AttributeError)
"""Exceptions that a metric may raise if a ground truth does not have the form that it expects."""

_NAMED = 8
"""Maximum number of fields named in a message."""


class AgainstSchema:
    """Comparison of the ground truths with the schema, one at a time.

    An answer that keeps to the schema cannot be right where a value of the ground truth does not
    keep to it. A missing or blank value does not count: an answer may have a blank there.
    """

    def __init__(self, schema: AnswerSchema, problems: Problems) -> None:
        self._schema, self._problems = schema, problems
        self._unfit = 0
        self._first_uncounted: RowPlace | None = None
        self._violations: dict[
            tuple[str, str, str, bool], tuple[int, list[tuple[RowPlace, Any]]]
        ] = {}

    def add(self, truth: dict[str, Any], place: RowPlace) -> None:
        """Look at one ground truth."""
        if self._schema.keeps_to(truth):
            return
        self._unfit += 1
        if self._unfit > MAX_UNFIT:
            self._first_uncounted = self._first_uncounted or place
            return
        for violation in self._schema.violations(truth):
            blank = is_blank(violation.value)
            key = (violation.field, violation.rule, violation.message, blank)
            count, first = self._violations.get(key, (0, []))
            if len(first) < EXAMPLES:
                first.append((place, violation.value))
            self._violations[key] = (count + 1, first)

    def check(self, filled: Iterable[Path], ignored: Collection[Path]) -> None:
        """Add what is wrong with the ground truths seen.

        Args:
            filled: the fields that have a value in some ground truth.
            ignored: those of them that the metric does not score.
        """
        schema_paths, open_ = _paths_of(self._schema)
        truth_paths = {path for path in filled if path not in ignored}
        shared = {
            path
            for path in truth_paths
            if path in schema_paths or any(path[:length] in open_ for length in range(len(path)))
        }
        if truth_paths and schema_paths and not shared:
            self._problems.add(
                "fields_differ", there=_names(truth_paths), known=_names(schema_paths)
            )
            return
        self._check_violations(truth_paths, ignored)
        self._check_fields(truth_paths, truth_paths - shared, schema_paths)

    def _check_violations(self, truth_paths: Collection[Path], ignored: Collection[Path]) -> None:
        """Add the values that do not keep to the schema, in fields that the metric scores."""
        is_scored = {dotted(path[:end]) for path in truth_paths for end in range(1, len(path) + 1)}
        not_scored = {dotted(path[:end]) for path in ignored for end in range(1, len(path) + 1)}
        for (field, rule, message, blank), (count, first) in self._violations.items():
            if field in not_scored - is_scored:
                continue
            is_absent = blank and rule == "required"
            at = (Example(*place, None if is_absent else shown(value)) for place, value in first)
            name = (
                "schema_required.blank"
                if is_absent
                else "schema_blank"
                if blank
                else "schema_{rule}"
            )
            self._problems.add(
                name, *at, field=field, times=count, rule=rule, what=Message(message)
            )
        if self._first_uncounted is not None:
            more = self._unfit - MAX_UNFIT
            self._problems.add("schema_more", Example(*self._first_uncounted), times=more)

    def _check_fields(
        self,
        truth_paths: Collection[Path],
        unknown: Collection[Path],
        schema_paths: Collection[Path],
    ) -> None:
        """Add the fields that only the ground truths have, or only the schema."""
        reported = {field for field, rule, *_ in self._violations if rule == "additionalProperties"}
        for path in sorted(unknown):
            above = (dotted(path[:length]) for length in range(1, len(path) + 1))
            if reported.isdisjoint(above):
                self._problems.add("field_not_in_schema", field=dotted(path))
        touched = {
            names[:end]
            for names in map(_without_lists, truth_paths)
            for end in range(len(names) + 1)
        }
        never = {path for path in schema_paths if _without_lists(path) not in touched}
        if truth_paths and never and len(self._schema.alternatives) == 1:
            self._problems.add("field_never_filled", times=len(never), names=_names(never))


class AgainstMetric:
    """Scores of the ground truths against themselves, one at a time.

    Each must be a perfect answer; a field that makes no difference if it is left out is ignored.

    Args:
        metric: the metric.
        problems: where to add what is wrong.

    Attributes:
        ignored: the fields that are ignored → the first row that has each.
    """

    def __init__(self, metric: Metric, problems: Problems) -> None:
        self._metric = metric
        self._problems = problems
        self._tried: set[Path] = set()
        self._number = 0
        self._budget = MAX_COST
        self.ignored: dict[Path, RowPlace] = {}
        self._missing: list[tuple[RowPlace, MissingFieldsError]] = []

    def right_answer(self, truth: dict[str, Any], place: RowPlace) -> dict[str, Any]:
        """Return an answer with no error; the ground truth itself if the metric cannot read it."""
        try:
            return self._metric.right_answer(truth)
        except _UNREADABLE as error:
            self._cannot_read(place, error)
            return truth

    def add(
        self,
        truth: dict[str, Any],
        right: dict[str, Any],
        nodes: Sequence[tuple[Path, Any]],
        place: RowPlace,
    ) -> None:
        """Look at one ground truth.

        Args:
            truth: the ground truth.
            right: its `right_answer`.
            nodes: the values in that.
            place: the row.
        """
        new: list[Path] = []
        if len(self._tried) < MAX_TRIED:
            new = [
                path
                for path, value in nodes
                if path not in self._tried
                and not isinstance(value, dict | list)
                and not is_blank(value)
            ][: MAX_TRIED - len(self._tried)]
        self._number += 1
        cost = len(nodes) ** 2 * (1 + len(new))
        is_left_out = not new and self._number > ALL_UNTIL and self._number % ONE_IN
        if is_left_out or cost > self._budget:
            return
        self._budget -= cost
        try:
            self._score(truth, right, new, place)
        except MissingFieldsError as error:
            self._missing.append((place, error))
            self._tried.update(new)
            self.ignored.update(dict.fromkeys(new, place))
        except _UNREADABLE as error:
            self._cannot_read(place, error)

    def _score(
        self, truth: dict[str, Any], right: dict[str, Any], new: list[Path], place: RowPlace
    ) -> None:
        metric = self._metric
        prepared = metric.prepare(truth)
        if prepared is None:
            return
        statistics = metric.score(right, prepared).statistics
        if statistics.get("perfect", 1) != 1:
            self._problems.add("truth_not_perfect", Example(*place), metric=metric.name)
        for path in dict.fromkeys(new):
            self._tried.add(path)
            less = metric.score(_without(right, path), prepared).statistics
            if less == statistics:
                self.ignored[path] = place

    def _cannot_read(self, place: RowPlace, error: Exception) -> None:
        at = Example(*place, shown(str(error)))
        self._problems.add("truth_unscorable", at, metric=self._metric.name)

    def check(self) -> None:
        """Add the fields that the metric ignores."""
        metric = self._metric.name
        if self.ignored and len(self.ignored) == len(self._tried):
            has_texts = "texts" in self._metric.option_names
            self._problems.add(
                "nothing_scored.texts" if has_texts else "nothing_scored",
                metric=metric,
                names=_names(self.ignored),
                example=f"documented: {{texts: {{{dotted(next(iter(self.ignored)))}: always}}}}",
            )
            return
        for place, error in self._missing:
            self._cannot_read(place, error)
        for path, place in self.ignored.items():
            at = Example(*place)
            self._problems.add("field_not_scored", at, field=dotted(path), metric=metric)


def _without(value: Any, path: Path) -> Any:
    """Return a value with null in each place of a path."""
    if not path:
        return None
    name, inner = path[0], path[1:]
    if isinstance(value, dict) and name in value:
        return {**value, name: _without(value[name], inner)}
    if isinstance(value, list) and name == "[]":
        return [_without(item, inner) for item in value]
    return value


def _paths_of(schema: AnswerSchema) -> tuple[set[Path], set[Path]]:
    """Return the fields with a single value, and the objects and lists that may hold anything."""
    value_paths: set[Path] = set()
    open_: set[Path] = set()
    for path, part in (part for form in schema.alternatives for part in parts_of(form)):
        types, names = types_of(part), part if isinstance(part, dict) else {}
        if types & {"string", "integer", "number", "boolean"}:
            value_paths.add(path)
        takes_any_field = "object" in types and "properties" not in names
        if "anyOf" not in names and (
            takes_any_field or ("array" in types and "items" not in names)
        ):
            open_.add(path)
    return value_paths - {()}, open_


def _without_lists(path: Path) -> Path:
    return tuple(name for name in path if name != "[]")


def _names(paths: Iterable[Path]) -> str:
    names = [dotted(path) for path in sorted(paths)]
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
