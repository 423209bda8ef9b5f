"""Checks of the rows and their ground truths, in one pass over `metadata.jsonl`."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

from hdbench.answers.answers import plain_form
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.building.checks.description import Described
from hdbench.benchmarks.building.checks.problems import (
    EXAMPLES,
    Example,
    Problems,
    is_usable,
    shown,
    without_place,
)
from hdbench.benchmarks.building.checks.values import (
    FieldPath,
    FieldValues,
    RowPlace,
    dotted,
    is_blank,
    nodes_of,
)
from hdbench.benchmarks.building.metadata import COLUMN_TYPES, DateColumns
from hdbench.benchmarks.spec import (
    AUDITED,
    BLIND,
    DRAFT,
    DRAFT_MODEL,
    IMPORTED,
    MEDIA_KEYS,
    PROVENANCE,
    PROVENANCE_COLUMNS,
    PUBLISHED,
    TRUTH,
    is_model,
    is_provenance,
)
from hdbench.common.bounds import MAX_COST, MAX_LINE, MAX_TRIED, MAX_UNFIT
from hdbench.common.json_schema import parts_of, types_of
from hdbench.common.jsonio import EXACT, parse_line
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError, Message
from hdbench.scoring.metric import Metric, MissingFieldsError

# Checks of the ground truths: against the schema, and against the metric


ALL_UNTIL = 2_000
ONE_IN = 50
"""This many ground truths are all scored against themselves, then one in this many, and those that
have a new field: scoring takes longer than all else."""


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

    def check(self, filled: Iterable[FieldPath], ignored: Collection[FieldPath]) -> None:
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

    def _check_violations(
        self, truth_paths: Collection[FieldPath], ignored: Collection[FieldPath]
    ) -> None:
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
        truth_paths: Collection[FieldPath],
        unknown: Collection[FieldPath],
        schema_paths: Collection[FieldPath],
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
        self._tried: set[FieldPath] = set()
        self._number = 0
        self._budget = MAX_COST
        self.ignored: dict[FieldPath, RowPlace] = {}
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
        nodes: Sequence[tuple[FieldPath, Any]],
        place: RowPlace,
    ) -> None:
        """Look at one ground truth.

        Args:
            truth: the ground truth.
            right: its `right_answer`.
            nodes: the values in that.
            place: the row.
        """
        new: list[FieldPath] = []
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
        self, truth: dict[str, Any], right: dict[str, Any], new: list[FieldPath], place: RowPlace
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


def _without(value: Any, path: FieldPath) -> Any:
    """Return a value with null in each place of a path."""
    if not path:
        return None
    name, inner = path[0], path[1:]
    if isinstance(value, dict) and name in value:
        return {**value, name: _without(value[name], inner)}
    if isinstance(value, list) and name == "[]":
        return [_without(item, inner) for item in value]
    return value


def _paths_of(schema: AnswerSchema) -> tuple[set[FieldPath], set[FieldPath]]:
    """Return the fields with a single value, and the objects and lists that may hold anything."""
    value_paths: set[FieldPath] = set()
    open_: set[FieldPath] = set()
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


def _without_lists(path: FieldPath) -> FieldPath:
    return tuple(name for name in path if name != "[]")


def _names(paths: Iterable[FieldPath]) -> str:
    names = [dotted(path) for path in sorted(paths)]
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)

_EXAMPLE = '{"file_name": "images/1.jpg", "id": "1", "ground_truth": {"title": "…"}}'

_BITS = {"int32": 31, "int64": 63}


class RowChecker:
    """Checker of the rows of a folder, one at a time.

    Args:
        described: what `benchmark.yaml` says.
        schema: the schema, if it can be used.
        problems: where to add what is wrong.

    Attributes:
        number: how many rows there are.
        without_truth: how many of them have no ground truth.
        media: path → the rows that name it.
        shown: the media column, guessed from the rows if `benchmark.yaml` does not say.
    """

    def __init__(
        self, described: Described, schema: AnswerSchema | None, problems: Problems
    ) -> None:
        self._described, self._problems = described, problems
        self.number = self.without_truth = 0
        self.media: dict[str, list[RowPlace]] = {}
        self.shown = described.media
        self._ids: dict[str, int] = {}
        self._forms: dict[str, str] = {}
        self._texts: dict[int, RowPlace] = {}
        self._dates = DateColumns()
        self._values = FieldValues(problems)
        self._schema = AgainstSchema(schema, problems) if schema else None
        metric = described.metric
        self._metric = AgainstMetric(metric, problems) if metric else None

    def read(self, path: Path) -> None:
        """Look at every row of a file."""
        if not is_usable(path.parent, path.name, self._problems, METADATA, example=_EXAMPLE):
            return
        for line, row in progress(_rows_of(path, self._problems), "Checking"):
            self._add(line, row)
        if not self.number:
            self._problems.add("no_rows", example=_EXAMPLE)
        self._check_all()

    def _add(self, line: int, row: dict[str, Any]) -> None:
        self.number += 1
        place = self._check_id(line, row)
        columns = dict(row)
        columns.pop("id", None)
        self._check_shown(place, columns)
        if TRUTH not in columns:
            self._problems.add("truth_missing", Example(*place))
        else:
            self._check_truth(place, columns.pop(TRUTH))
        published = columns.pop(PUBLISHED, None)
        if not isinstance(published, dict | None):
            self._problems.add("published_wrong", _example(place, published))
        if self._described.columns is not None:
            self._check_columns(place, columns, self._described.columns)

    def _check_id(self, line: int, row: dict[str, Any]) -> RowPlace:
        item = row.get("id")
        if not isinstance(item, str) or not item.strip():
            place = RowPlace(line, None)
            name = "id_missing" if item is None or item == "" else "id_missing.type"
            self._problems.add(name, _example(place, item))
            return place
        place = RowPlace(line, item[:200])
        if item in self._ids:
            value = Message('"line {line:,} has it too"', line=self._ids[item])
            self._problems.add("id_twice", Example(*place, value))
            return place
        self._ids[item] = line
        other = self._forms.setdefault(plain_form(item), item)
        if other != item:
            self._problems.add("id_nearly_same", _example(place, other))
        self._dates.add("id", item)
        return place

    def _check_shown(self, place: RowPlace, columns: dict[str, Any]) -> None:
        """Check what a model is shown of a row."""
        media = self.shown = self._described.media or self.shown or _guessed(columns)
        key = MEDIA_KEYS[media]
        if key not in columns:
            other = next((name for name in MEDIA_KEYS.values() if name in columns), None)
            self._problems.add("shown_missing", _example(place, other), key=key, media=media)
            return
        value = columns.pop(key)
        if media == "text":
            if not isinstance(value, str) or not value.strip():
                self._problems.add("shown_wrong.text", _example(place, value))
                return
            self._dates.add("text", value)
            first = self._texts.setdefault(hash(value), place)
            if first is not place:
                same = Message('"same as in line {line:,}"', line=first.line)
                self._problems.add("text_same", Example(*place, same))
            return
        names = value if media == "pages" and isinstance(value, list) else [value]
        if not names or not all(isinstance(name, str) and name for name in names):
            form = Message("a list of paths in quotes" if media == "pages" else "a path in quotes")
            example = _example(place, value)
            self._problems.add("shown_wrong", example, key=key, form=form, right=form)
            return
        for name in names:
            self.media.setdefault(name, []).append(place)

    def _check_truth(self, place: RowPlace, truth: Any) -> None:
        if truth is None:
            self.without_truth += 1
            return
        if not isinstance(truth, dict):
            self._problems.add("truth_no_object", _example(place, truth))
            return
        nodes = list(nodes_of(truth))
        if all(isinstance(value, dict | list) or is_blank(value) for _, value in nodes):
            name = "truth_empty.with_fields" if truth else "truth_empty"
            self._problems.add(name, Example(*place))
            return
        texts = (text for path, value in nodes for text in (path[-1], value))
        if not all(is_normalized("NFC", text) for text in texts if isinstance(text, str)):
            self._problems.add("truth_not_nfc", Example(*place))
        if self._metric:
            right = self._metric.right_answer(truth, place)
            nodes = nodes if right is truth else list(nodes_of(right))
            self._metric.add(truth, right, nodes, place)
            truth = right
        self._values.add(nodes, place)
        if self._schema:
            self._schema.add(truth, place)

    def _check_columns(
        self, place: RowPlace, columns: dict[str, Any], declared: dict[str, str]
    ) -> None:
        if not PROVENANCE_COLUMNS.keys() & declared.keys():
            own = {name: columns.pop(name, None) for name in PROVENANCE_COLUMNS}
            self._check_provenance(place, own)
        for name in columns.keys() - declared.keys():
            self._problems.add("column_unknown", Example(*place), field=name[:200])
        for name, kind in declared.items():
            value = columns.get(name)
            if name not in columns:
                self._problems.add("column_wrong.missing", Example(*place), field=name)
            elif value is not None and not _fits(value, kind):
                example = Example(*place, shown(value))
                self._problems.add("column_wrong", example, field=name, kind=kind)
            elif kind == "string" and value is not None:
                self._dates.add(name, value)

    def _check_provenance(self, place: RowPlace, values: dict[str, Any]) -> None:
        how, model = values[PROVENANCE], values[DRAFT_MODEL]
        if how is not None and not is_provenance(how):
            self._problems.add(
                "provenance_wrong",
                _example(place, how),
                field=PROVENANCE,
                names=f"{BLIND}, {IMPORTED}, {AUDITED}",
                last=f"{DRAFT}RUN",
            )
        if model is not None and not is_model(model):
            example = _example(place, model)
            self._problems.add("provenance_wrong.model", example, field=DRAFT_MODEL)

    def _check_all(self) -> None:
        """Check what only shows once all rows were read."""
        for name in self._dates.names():
            case = f"all_dates.{name}" if name in ("id", "text") else "all_dates"
            self._problems.add(case, field=name)
        if self.number and self.number == self.without_truth:
            self._problems.add("no_truth")
        self._values.check()
        if self._schema:
            ignored = self._metric.ignored if self._metric else ()
            self._schema.check(self._values.filled(), ignored)
        if self._metric:
            self._metric.check()


def _example(place: RowPlace, value: Any) -> Example:
    return Example(*place, None if value is None else shown(value))


def _rows_of(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows that can be read, each with its line; the others are problems."""
    with path.open("rb") as file:
        for number in range(1, 2**63):
            raw = file.readline(MAX_LINE + 1)
            if not raw:
                return
            try:
                if len(raw) > MAX_LINE:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(MAX_LINE)
                    raise HdbenchError("longer than {most} MiB", most=MAX_LINE >> 20)
                if not raw.strip():
                    continue
                row = parse_line(raw, "", EXACT)
                if b"\\u" in raw:
                    _check_characters(row)
            except HdbenchError as error:
                example = Example(number, None, without_place(error, ""))
                problems.add("row_unreadable", example)
                continue
            yield number, row


def _check_characters(row: dict[str, Any]) -> None:
    r"""Refuse half a surrogate pair, which `\ud800` can stand for: no file can hold it."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise HdbenchError("half a character (\\ud800 to \\udfff alone)") from error


def _guessed(columns: dict[str, Any]) -> str:
    """Return the media of a row, where `benchmark.yaml` does not say."""
    if "pages_file_names" in columns:
        return "pages"
    name = columns.get("file_name")
    if isinstance(name, str) and name.lower().endswith(".pdf"):
        return "pdf"
    return "text" if name is None and "text" in columns else "image"


def _fits(value: Any, kind: str) -> bool:
    """Return whether a column can hold a value."""
    if type(value) is not COLUMN_TYPES[kind]:
        return False
    if kind in _BITS:
        return bool(-(2 ** _BITS[kind]) <= value < 2 ** _BITS[kind])
    if isinstance(value, list):
        return all(isinstance(text, str) for text in value)
    return kind != "date32" or bool(_DAY.fullmatch(str(value)))
