"""A work list that somebody has filled in as a table, taken in as what that person decided."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.cells import FAULTS, MISSING, json_list, value_of
from hdbench.answers.ids import match_ids
from hdbench.answers.table_files import ACCEPTED, is_workbook, read_table
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.trust.fields import schema_with_fields
from hdbench.collections.trust.folder import (
    CHECK,
    VALUES,
    check_values,
    read_applied,
    read_begun,
)
from hdbench.collections.trust.origins import ValueStates
from hdbench.collections.trust.work_list import COLUMNS, NOTHING
from hdbench.collections.truth.events import ValueKey, WorkedValue, as_name, now
from hdbench.collections.truth.form import form_of
from hdbench.collections.truth.single_value import asked, typed_value
from hdbench.collections.truth.work_list import WorkedValues
from hdbench.common.csv_and_excel import as_it_was
from hdbench.common.jsonio import read_jsonl
from hdbench.common.letters import text_of
from hdbench.common.progress import tell
from hdbench.errors import SHOWN, HdbenchError, Message


class _Filled(NamedTuple):
    """A row whose value is filled in.

    Attributes:
        place: where it stands.
        text: the value.
    """

    place: str
    text: str


def take_in(table: Path, out: Path, benchmark: Benchmark, by: str) -> int:
    """Take in all values of a work list that was filled in, or none.

    A cell without a value was not looked at, and `null` says that there is nothing.

    Args:
        table: CSV or XLSX; it may have been cut and sorted.
        out: the folder of `hdbench trust apply`.
        benchmark: the items; what people read and entered is in its folder.
        by: the name of the person who filled it in.

    Returns:
        How many values are new.

    Raises:
        HdbenchError: a file is unusable; a row names no value of the work list, has a value that
            its field cannot have, or one that somebody else decided in another way.
    """
    by, seal = as_name(by), read_applied(out).values_sha256
    worked = WorkedValues(benchmark.folder, seal)
    with worked.people.writing(by):
        worked.people.refresh()
        reading = _Reading(out, benchmark, by, worked)
        values = reading.values(_filled(table, benchmark))
        if reading.problems:
            for problem in reading.problems[:SHOWN]:
                tell(problem)
            raise HdbenchError(
                "{place}: nothing was taken in, as {count:,} row does not fit",
                plural="{place}: nothing was taken in, as {count:,} rows do not fit",
                place=table,
                count=len(reading.problems),
            )
        if not values:
            return 0
        at = now()
        worked.people.append(
            [
                WorkedValue(
                    list=seal,
                    id=uuid.uuid4().hex,
                    item=key.item,
                    field=key.field,
                    by=by,
                    at=at,
                    how="table",
                    value=value,
                )
                for key, value in values.items()
            ]
        )
        return len(values)


def _filled(path: Path, benchmark: Benchmark) -> dict[ValueKey, list[_Filled]]:
    """Return the rows of a table whose value is filled in, under the ids that the items have."""
    table = read_table(path)
    header = [title.strip().casefold() for title in table.header]
    if missing := [name for name in COLUMNS if name not in header]:
        raise HdbenchError(
            "{place}: not a work list of hdbench trust apply, which has a column {name}",
            place=path,
            name=missing[0],
        )
    places = [header.index(name) for name in COLUMNS]
    # In a workbook, the apostrophes of the CSV file are still there.
    plain = as_it_was if is_workbook(path, path.name, ACCEPTED) else str
    rows = []
    for place, cells in table.rows:
        item, field, text = (plain(cells[index]).strip() for index in places)
        if text:
            rows.append((item, field, _Filled(place, text)))
    # A spreadsheet program drops zeros at the beginning of ids.
    matched = match_ids(dict.fromkeys(item for item, _, _ in rows), benchmark.ids())
    own = {given: item for item, given in matched.ids.items()}
    found: dict[ValueKey, list[_Filled]] = {}
    for item, field, row in rows:
        found.setdefault(ValueKey(own.get(item, item), field), []).append(row)
    return found


class _Reading:
    """Reads the values of a table.

    Attributes:
        problems: the rows that do not fit, a line for each.
    """

    def __init__(self, out: Path, benchmark: Benchmark, by: str, worked: WorkedValues) -> None:
        self.problems: list[Message] = []
        self._out, self._by, self._current = out, by, worked.current()
        plan, _ = read_begun(out)
        applied = read_applied(out)
        check_values(out, applied)
        self._states = ValueStates(plan, benchmark, out, applied, is_worked=True)
        schema = schema_with_fields(benchmark)
        form = form_of(schema)
        self._asked = {name: asked(form, schema, name) for name in plan.fields}

    def values(self, filled: dict[ValueKey, list[_Filled]]) -> dict[ValueKey, Any]:
        """Return the values that are new; what does not fit goes to the problems."""
        values: dict[ValueKey, Any] = {}
        wanted: dict[str, list[str]] = {}
        for key in filled:
            wanted.setdefault(key.item, []).append(key.field)
        for line in read_jsonl(self._out / VALUES):
            item, fields = line.value["id"], line.value["fields"]
            listed = {
                name: fields[name]
                for name in wanted.get(item, ())
                if name in fields and fields[name]["decision"] == CHECK
            }
            for name, state in self._states.of(item, listed).items():
                key = ValueKey(item, name)
                values.update(self._new(key, filled.pop(key), state))
        self._states.check_order()
        for key, rows in filled.items():
            why = Message("{field} of {item!r} is not on the work list", **key._asdict())
            self._refuse(rows[0], why)
        return values

    def _new(
        self, key: ValueKey, rows: list[_Filled], state: dict[str, Any]
    ) -> Iterator[tuple[ValueKey, Any]]:
        """Yield a value if it fits, and was not decided in the same way before."""
        first, *others = rows
        if others:
            same = Message("the same value as in {first}: keep one", first=first.place)
            self._refuse(others[0], same)
            return
        try:
            value = _value(first.text, self._asked[key.field])
        except HdbenchError as error:
            self._refuse(first, Message("{field}: {why}", field=key.field, why=error))
            return
        if state["origin"] != "open":
            if text_of(state["value"]) == text_of(value):
                return
            before = self._current.get(key)
            if before is None or before.by != self._by or state["origin"] != "worked":
                decided = Message(
                    "{field} of {item!r} was decided meanwhile, as {text!r}: empty the cell",
                    **key._asdict(),
                    text=text_of(state["value"])[:100] or NOTHING,
                )
                self._refuse(first, decided)
                return
        yield key, value

    def _refuse(self, row: _Filled, why: Message) -> None:
        self.problems.append(Message("{place}: {why}", place=row.place, why=why))


def _value(text: str, field: dict[str, Any]) -> Any:
    """Return the value of a cell in the type of its field; None for nothing."""
    if text in FAULTS or text in MISSING:
        raise HdbenchError("holds the error {cell}: enter the value", cell=text)
    if text == NOTHING:
        return None
    kind = field["kind"]
    if kind == "boolean":
        value = value_of(text, "boolean")
        text = json.dumps(value) if isinstance(value, bool) else text
    elif kind == "integer":
        text = str(value_of(text, "integer"))
    elif kind == "number":
        text = text.replace(",", ".")
    elif kind == "list" and (listed := json_list(text)) is not None:
        values = (typed_value(text_of(entry), field["entry"]) for entry in listed)
        return [value for value in values if value is not None] or None
    return typed_value(text, field)
