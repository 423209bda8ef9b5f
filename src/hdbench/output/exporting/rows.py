"""The rows of a table of answers."""

from collections.abc import Iterable, Iterator
from typing import Any

from hdbench.answers.answer import Answer
from hdbench.answers.cells import plain
from hdbench.answers.schema import AnswerSchema
from hdbench.output.exporting.cells import Cell, as_json, cell
from hdbench.output.exporting.columns import FILE_NAME, OTHER_FIELDS, FieldColumns
from hdbench.output.exporting.run_answers import ItemAnswer
from hdbench.scoring.metric import is_error

Row = dict[str, Cell]
"""The cells of a row that are not empty, by their column's name."""

MAX_WIDTH = 60
"""Maximum characters of a cell's longest line that count for its column's width."""


def json_line(item: ItemAnswer) -> dict[str, Any]:
    """Return an item as `hdbench score` reads it back: its record, or its text if there is none."""
    model, answer, _ = item
    line: dict[str, Any] = {"id": answer.id, "status": answer.status}
    if model is not None:
        line["model"] = model
    if answer.error is not None:
        line["error"] = answer.error
    if isinstance(answer.prediction, str):
        return line | {"text": answer.prediction}
    return line | {"prediction": answer.prediction}


class AnswerRows:
    """Makes rows from answers, and collects the columns that they need.

    Args:
        schema: the schema of a record.

    Attributes:
        rows: the number of rows seen.
        fields: the columns of the record.
        widths: column → the characters of its longest cell, at most `MAX_WIDTH`.
    """

    def __init__(self, schema: AnswerSchema) -> None:
        self.fields = FieldColumns(schema)
        self.rows = 0
        self.widths: dict[str, int] = {}

    @property
    def head(self) -> list[str]:
        """Names of the columns; those not in the schema only if they hold something."""
        about = [FILE_NAME, "text", "error", OTHER_FIELDS]
        if self._text_is_a_field:
            about.remove("text")
        return [
            "id",
            *(["model"] if "model" in self.widths else []),
            *map(self.fields.column, self.fields.fields),
            *self.fields.invented,
            "status",
            *(title for title in about if title in self.widths),
        ]

    @property
    def _text_is_a_field(self) -> bool:
        """Return whether a column `text` is read back as a field, such as that of an advertisement.

        The text of an answer without a record is in `error` then.
        """
        return bool(self.fields.listed) or "text" in self.fields.fields

    def see(self, items: Iterable[ItemAnswer]) -> None:
        """Collect the columns that items need."""
        for item in items:
            for row in self.of(item):
                self.rows += 1
                for title, value in row.items():
                    width = self.widths.get(title, 0)
                    if width < MAX_WIDTH:
                        self.widths[title] = max(width, _width(value))

    def of(self, item: ItemAnswer) -> Iterator[Row]:
        """Yield the rows of one item: one, or one for each object that its record lists."""
        answer = item.answer
        record = None if is_error(answer.prediction) else answer.prediction
        about: Row = {"id": plain(answer.id), "status": answer.status}
        if item.model is not None:
            about["model"] = plain(item.model)
        if item.files:
            about[FILE_NAME] = plain(" | ".join(item.files))
        if not isinstance(record, dict):
            yield about | self._without_record(answer)
        elif self.fields.listed:
            yield from self._objects(record, self.fields.listed, about)
        else:
            yield about | self._record(record) | _error(answer)

    def _without_record(self, answer: Answer) -> Row:
        """Return the cells for an answer without a record: its text, its error, or both.

        Where `text` is a field, there is always an error. If rows are objects, one without an
        object or an error stands for a record whose list is empty, such as a page without ads.
        """
        row: Row = {} if answer.prediction is None else {"status": "unparsable"}
        value = answer.prediction
        text = value if isinstance(value, str) else "" if value is None else as_json(value)
        if not self._text_is_a_field:
            return row | ({"text": plain(text)} if text else {}) | _error(answer)
        errors = [answer.error or "", f"no record in: {text}" if text else ""]
        return row | {"error": plain("; ".join(filter(None, errors)) or answer.status)}

    def _record(self, record: dict[str, Any]) -> Row:
        only = next(iter(record), "") if len(record) == 1 else ""
        inner = record.get(only) if only in self.fields.wrappers else None
        row, other_fields = self._fields(inner if isinstance(inner, dict) else record)
        if not (self._text_is_a_field or any(str(value).strip() for value in row.values())):
            return {"text": as_json(record)}  # a row without a field would not be an answer
        return row | ({OTHER_FIELDS: as_json(other_fields)} if other_fields else {})

    def _objects(self, record: dict[str, Any], listed: str, about: Row) -> Iterator[Row]:
        other_fields = {name: value for name, value in record.items() if name != listed}
        entries = record.get(listed, [])
        if not isinstance(entries, list):
            other_fields, entries = record, []
        if strange := [entry for entry in entries if not isinstance(entry, dict)]:
            other_fields[listed] = strange
        rows = [self._fields(entry) for entry in entries if isinstance(entry, dict)] or [({}, {})]
        for row, lost in rows:
            unplaced = other_fields | lost
            yield about | row | ({OTHER_FIELDS: as_json(unplaced)} if unplaced else {})
            other_fields = {}

    def _fields(self, record: dict[str, Any]) -> tuple[Row, dict[str, Any]]:
        """Return the cells of an object, and its fields that have no column."""
        row: Row = {}
        other_fields: dict[str, Any] = {}
        waiting: list[tuple[str, Any]] = list(record.items())[::-1]
        while waiting:
            title, value = waiting.pop()
            field = self.fields.fields.get(title)
            if value is None or value in ("", [], {}):
                continue
            if field is None and isinstance(value, dict):
                waiting += [(f"{title}.{name}", inner) for name, inner in value.items()][::-1]
            elif field is None and isinstance(value, list):
                waiting += [(f"{title}[{index}]", inner) for index, inner in enumerate(value)][::-1]
            elif (column := self.fields.column(title)) not in row and self.fields.admit(title):
                row[column] = cell(value, field)
            else:
                other_fields[title] = value
        return row, other_fields


def _error(answer: Answer) -> Row:
    return {"error": plain(answer.error)} if answer.error else {}


def _width(value: Cell) -> int:
    text = str(value)[: 10 * MAX_WIDTH]
    return min(MAX_WIDTH, max(map(len, text.split("\n"))))
