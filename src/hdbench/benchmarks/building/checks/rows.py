"""Checks of the rows, in one pass over `metadata.jsonl`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

from hdbench.answers.ids import plain_form
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.building.checks.description import Described
from hdbench.benchmarks.building.checks.problems import (
    Example,
    Problems,
    is_usable,
    shown,
    without_place,
)
from hdbench.benchmarks.building.checks.truths import AgainstMetric, AgainstSchema
from hdbench.benchmarks.building.checks.values import FieldValues, RowPlace, is_blank, nodes_of
from hdbench.benchmarks.building.metadata import COLUMN_TYPES, DateColumns
from hdbench.benchmarks.provenance import (
    AUDITED,
    BLIND,
    COLUMNS,
    DRAFT,
    DRAFT_MODEL,
    IMPORTED,
    PROVENANCE,
    is_model,
    is_provenance,
)
from hdbench.benchmarks.spec import MEDIA_KEYS
from hdbench.benchmarks.truths import PUBLISHED, TRUTH
from hdbench.common.bounds import MAX_LINE
from hdbench.common.jsonio import EXACT, parse_line
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError, Message

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
        if not COLUMNS.keys() & declared.keys():
            self._check_provenance(place, {name: columns.pop(name, None) for name in COLUMNS})
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
