"""The fields of a work sheet: their titles, and the values that their cells can have."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hdbench.annotating.form import form_of
from hdbench.annotating.single_value import asked, typed_value
from hdbench.answers.cells import Cell, boolean_of, text_of
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.titles import FieldTitles
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.texts import COMPLETE
from hdbench.errors import HdbenchError, Message
from hdbench.trust.sheet.layout import in_each_language, shown_text, shown_value
from hdbench.trust.values import ItemField, fields_of, schema_with_fields

_DECIMAL_COMMA = re.compile(r"([+-]?[0-9]+),([0-9]+)")
_DECIMAL_OR_THOUSAND = re.compile(r"([+-]?[0-9]{1,3})[.,]([0-9]{3})")


class CellValue(NamedTuple):
    """The value in a cell.

    Attributes:
        value: the value.
        run: the run that says so too; None if none does.
    """

    value: Any
    run: str | None


class SheetField:
    """A field of a work sheet.

    Args:
        field: the field.
        schema: the form of the answers.

    Attributes:
        titles: language → its title.
    """

    def __init__(self, field: ItemField, schema: AnswerSchema) -> None:
        self.titles = {language: FieldTitles(schema, language)(field.path) for language in COMPLETE}
        self._field = field
        self._schema = schema
        self._entered = asked(form_of(schema), schema, field.path)

    def is_called(self, title: str) -> bool:
        """Return whether it has a title in any language, or this path."""
        titles = (self._field.path, *self.titles.values())
        return title in {shown_text(name).strip() for name in titles}

    def choices(self, candidates: Sequence[Any], language: str) -> list[str]:
        """Return the texts to choose from: what runs say, and what the schema allows.

        Args:
            candidates: the value in each run; None for nothing.
            language: the language of numbers.
        """
        allowed = [True, False] if self._entered["kind"] == "boolean" else []
        allowed = allowed or self._entered.get("choices", [])
        texts = (shown_value(value, language) for value in (*candidates, *allowed))
        return [text for text in dict.fromkeys(texts) if text]

    def value_in(self, cell: Cell, candidates: Mapping[str, Any]) -> CellValue:
        """Return the value of a cell that is not empty.

        Args:
            cell: the cell.
            candidates: run → the value in it.

        Raises:
            HdbenchError: it cannot be a value of the field.
        """
        text = _text_in(cell)
        for run, candidate in candidates.items():
            is_it = text in {shown.strip() for shown in in_each_language(candidate)}
            if is_it and self._why_refused(candidate) is None:
                return CellValue(candidate, run)
        value = typed_value(self._as_typed(cell, text), self._entered)
        why = self._why_refused(value)
        if why is not None:
            raise HdbenchError(why)
        return CellValue(value, None)

    def _as_typed(self, cell: Cell, text: str) -> str:
        """Return a text as it would be typed in the page.

        Raises:
            HdbenchError: it is uncertain which number it is.
        """
        kind = self._entered["kind"]
        if kind == "boolean":
            value = boolean_of(text)
            return str(value).lower() if isinstance(value, bool) else text
        if kind != "number" or not isinstance(cell, str):
            return text
        if uncertain := _DECIMAL_OR_THOUSAND.fullmatch(text):
            whole, rest = uncertain.groups()
            raise HdbenchError(
                "{text}: decimals or thousands? Write {decimal} or {thousand}",
                text=text,
                decimal=f"{whole}.{rest}0",
                thousand=f"{whole}{rest}",
            )
        return _DECIMAL_COMMA.sub(r"\1.\2", text) if _DECIMAL_COMMA.fullmatch(text) else text

    def _why_refused(self, value: Any) -> Message | None:
        """Return why the schema refuses a value; None if it does not."""
        record: Any = value
        for name in reversed(self._field.names):
            record = {name: record}
        path = ".".join(self._field.names)
        within = (path, f"{path}[]")
        return next(
            (
                violation.message
                for violation in self._schema.violations(record)
                if violation.field in within
            ),
            None,
        )


def sheet_fields(benchmark: Benchmark) -> dict[str, SheetField]:
    """Return path → field, for all that an item has one value of.

    Raises:
        HdbenchError: the benchmark has no schema.
    """
    schema = schema_with_fields(benchmark)
    return {field.path: SheetField(field, schema) for field in fields_of(schema)[0]}


def _text_in(cell: Cell) -> str:
    text = text_of(cell)
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
