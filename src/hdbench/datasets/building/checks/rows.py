"""Checks of the rows, in one pass over `metadata.jsonl`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hdbench.answers.ids import plain_form
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import METADATA
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
from hdbench.common.jsonio import EXACT, MAX_LINE, parse_line
from hdbench.common.progress import progress
from hdbench.datasets.building.checks.description import Described
from hdbench.datasets.building.checks.problems import (
    Example,
    Problems,
    is_usable,
    shown,
    without_place,
)
from hdbench.datasets.building.checks.truths import AgainstMetric, AgainstSchema
from hdbench.datasets.building.checks.values import FieldValues, RowPlace, is_blank, nodes_of
from hdbench.datasets.building.metadata import COLUMN_TYPES
from hdbench.errors import HdbenchError, Message
from hdbench.scoring.metric import reference_for

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)

_PER_LINE = Message(
    "write a JSON object per line, as in {example}",
    example='{"file_name": "images/1.jpg", "id": "1", "ground_truth": {"title": "…"}}',
)

_BITS = {"int32": 31, "int64": 63}


class RowChecker:
    """Looks at the rows of a folder, one at a time.

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
        self._all_dates: dict[str, bool] = {}
        self._values = FieldValues(problems.examples)
        self._schema = AgainstSchema(schema, problems.examples) if schema else None
        metric = described.metric
        self._metric = AgainstMetric(metric, METADATA, problems) if metric else None

    def read(self, path: Path) -> None:
        """Look at every row of a file."""
        if not is_usable(path.parent, path.name, self._problems, _PER_LINE):
            return
        for line, row in progress(_rows_of(path, self._problems), "Checking"):
            self._add(line, row)
        if not self.number:
            self._problems.error("no_rows", METADATA, Message("has no rows"), _PER_LINE)
        self._check_all()

    def _add(self, line: int, row: dict[str, Any]) -> None:
        self.number += 1
        place = self._check_id(line, row)
        columns = dict(row)
        columns.pop("id", None)
        self._check_shown(place, columns)
        if TRUTH not in columns:
            what = Message("has no ground_truth")
            self._error("truth_missing", what, Message("write null if there is none"), place)
        else:
            self._check_truth(place, columns.pop(TRUTH))
        published = columns.pop(PUBLISHED, None)
        if not isinstance(published, dict | None):
            what = Message("ground_truth_published is not an object")
            remedy = Message("correct it, or leave it out if nothing else was published")
            self._error("published_wrong", what, remedy, place, published)
        if self._described.columns is not None:
            self._check_columns(place, columns, self._described.columns)

    def _check_id(self, line: int, row: dict[str, Any]) -> RowPlace:
        item = row.get("id")
        if not isinstance(item, str) or not item.strip():
            what = Message(
                "has no id" if item is None or item == "" else "the id is not a text in quotes"
            )
            remedy = Message('give each row an "id" of its own, in quotes')
            self._error("id_missing", what, remedy, RowPlace(line, None), item)
            return RowPlace(line, None)
        place = RowPlace(line, item[:200])
        if item in self._ids:
            what, remedy = Message("the id occurs twice"), Message("give each row its own")
            value = Message('"line {line:,} has it too"', line=self._ids[item])
            self._error("id_twice", what, remedy, place, value)
            return place
        self._ids[item] = line
        other = self._forms.setdefault(plain_form(item), item)
        if other != item:
            self._warning(
                "id_nearly_same",
                Message(
                    "the id differs only by case, zeros in front, ending or folder from another"
                ),
                Message("answers could be matched with the wrong one: make them differ more"),
                place,
                other,
            )
        self._note_date("id", item)
        return place

    def _check_shown(self, place: RowPlace, columns: dict[str, Any]) -> None:
        """What a model is shown of a row."""
        media = self.shown = self._described.media or self.shown or _guessed(columns)
        key = MEDIA_KEYS[media]
        if key not in columns:
            other = next((name for name in MEDIA_KEYS.values() if name in columns), None)
            what = Message("has no {key}", key=key)
            remedy = Message(
                'add "{key}", or correct media in benchmark.yaml, which is {media}',
                key=key,
                media=media,
            )
            self._error("shown_missing", what, remedy, place, other)
            return
        value = columns.pop(key)
        if media == "text":
            if not isinstance(value, str) or not value.strip():
                what = Message("the text is blank or no text")
                remedy = Message("write what the model is given")
                self._error("shown_wrong", what, remedy, place, value)
                return
            self._note_date("text", value)
            first = self._texts.setdefault(hash(value), place)
            if first is not place:
                what, remedy = Message("the text occurs twice"), Message("keep one row")
                same = Message('"same as in line {line:,}"', line=first.line)
                self._warning("text_same", what, remedy, place, same)
            return
        names = value if media == "pages" and isinstance(value, list) else [value]
        if not names or not all(isinstance(name, str) and name for name in names):
            form = Message("a list of paths in quotes" if media == "pages" else "a path in quotes")
            what = Message("{key} is not {form}", key=key, form=form)
            self._error("shown_wrong", what, Message("write {right}", right=form), place, value)
            return
        for name in names:
            self.media.setdefault(name, []).append(place)

    def _check_truth(self, place: RowPlace, truth: Any) -> None:
        if truth is None:
            self.without_truth += 1
            return
        if not isinstance(truth, dict):
            what = Message("the ground truth is not an object")
            remedy = Message(
                "write an object in braces, without quotes around it, or null if there is none"
            )
            self._error("truth_no_object", what, remedy, place, truth)
            return
        truth = reference_for("documented", truth)
        nodes = list(nodes_of(truth))
        if all(isinstance(value, dict | list) or is_blank(value) for _, value in nodes):
            what = Message("the ground truth is empty, so every value that a model finds is wrong")
            remedy = Message("write null if it is missing; leave it if there is nothing to read")
            add = self._warning if truth else self._error
            add("truth_empty", what, remedy, place)
            return
        if self._metric:
            right = self._metric.right_answer(truth, place)
            nodes = nodes if right is truth else list(nodes_of(right))
            self._metric.add(truth, right, nodes, place)
            truth = right
        self._values.add(nodes, place)
        if self._schema:
            self._schema.add(truth, place)

    def _check_columns(
        self, place: RowPlace, columns: dict[str, Any], known: dict[str, str]
    ) -> None:
        if not COLUMNS.keys() & known.keys():
            self._check_provenance(place, {name: columns.pop(name, None) for name in COLUMNS})
        for name in columns.keys() - known.keys():
            remedy = Message("add it to columns in benchmark.yaml, or take it out of the row")
            what = Message("is a column that benchmark.yaml does not have")
            self._problems.error(
                "column_unknown", METADATA, what, remedy, Example(*place), field=name[:200]
            )
        for name, kind in known.items():
            value = columns.get(name)
            if name not in columns:
                what = Message("the row lacks this column")
                remedy = Message("add it, null if it has no value")
            elif value is not None and not _fits(value, kind):
                what = Message("is not {kind}", kind=kind)
                remedy = Message("correct the value, or its type in benchmark.yaml")
            else:
                if kind == "string" and value is not None:
                    self._note_date(name, value)
                continue
            example = Example(*place, shown(value) if name in columns else None)
            self._problems.error("column_wrong", METADATA, what, remedy, example, field=name)

    def _check_provenance(self, place: RowPlace, made: dict[str, Any]) -> None:
        how, model = made[PROVENANCE], made[DRAFT_MODEL]
        if how is not None and not is_provenance(how):
            self._problems.error(
                "provenance_wrong",
                METADATA,
                Message(
                    "is none of {names} and {last}",
                    names=f"{BLIND}, {IMPORTED}, {AUDITED}",
                    last=f"{DRAFT}RUN",
                ),
                Message(
                    "correct it; if it is a column of your own, add it to columns in benchmark.yaml"
                ),
                _example(place, how),
                field=PROVENANCE,
            )
        if model is not None and not is_model(model):
            what = Message("is not the name of a model, a text of at most 200 characters")
            self._problems.error(
                "provenance_wrong",
                METADATA,
                what,
                Message("correct it"),
                _example(place, model),
                field=DRAFT_MODEL,
            )

    def _note_date(self, name: str, value: str) -> None:
        if self._all_dates.get(name, True):
            self._all_dates[name] = bool(_ISO_DATE.match(value))

    def _check_all(self) -> None:
        """What can be said only when all rows were seen."""
        for name, dates in self._all_dates.items():
            if dates:
                remedy = {
                    "id": Message("give the items other ids"),
                    "text": Message("put a word before each"),
                }.get(name, Message("make the column a date32"))
                what = Message("begins like a date in every row, and would be given a time of day")
                self._problems.error("all_dates", METADATA, what, remedy, field=name)
        if self.number and self.number == self.without_truth:
            what = Message("no row has a ground truth, so nothing can be scored")
            remedy = Message("add some to score answers")
            self._problems.warning("no_truth", METADATA, what, remedy)
        self._values.check(METADATA, self._problems)
        if self._schema:
            ignored = self._metric.ignored if self._metric else ()
            self._schema.check(self._values.filled(), ignored, METADATA, self._problems)
        if self._metric:
            self._metric.check()

    def _error(
        self, kind: str, what: Message, remedy: Message, place: RowPlace, value: Any = None
    ) -> None:
        self._problems.error(kind, METADATA, what, remedy, _example(place, value))

    def _warning(
        self, kind: str, what: Message, remedy: Message, place: RowPlace, value: Any = None
    ) -> None:
        self._problems.warning(kind, METADATA, what, remedy, _example(place, value))


def _example(place: RowPlace, value: Any) -> Example:
    if value is None or isinstance(value, Message):
        return Example(*place, value)
    return Example(*place, shown(value))


def _rows_of(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows that can be read, each with its line; the others are problems."""
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
                what = Message("cannot be read as a row")
                remedy = Message("write one whole JSON object in each line")
                example = Example(number, None, without_place(error, ""))
                problems.error("row_unreadable", METADATA, what, remedy, example)
                continue
            yield number, row


def _check_characters(row: dict[str, Any]) -> None:
    r"""Refuse half a surrogate pair, which `\ud800` can stand for: no file can hold it."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise HdbenchError("half a character (\\ud800 to \\udfff alone)") from error


def _guessed(columns: dict[str, Any]) -> str:
    """The media of a row, where `benchmark.yaml` does not say."""
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
        return all(isinstance(each, str) for each in value)
    return kind != "date32" or bool(_DAY.fullmatch(str(value)))
