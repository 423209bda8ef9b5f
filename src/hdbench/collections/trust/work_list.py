"""The work list of a decision: as a table, as a page shows it, and as people have filled it in."""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from hdbench.answers.answers import match_ids
from hdbench.answers.cells import FAULTS, MISSING, json_list
from hdbench.answers.cells import value_of as typed
from hdbench.answers.tables import read_table
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.collections.trust.fields import schema_with_fields, value_of
from hdbench.collections.trust.folder import (
    BELOW,
    CHECK,
    LEFT_OUT,
    NO_ANSWER,
    NOT_READ,
    PLAN,
    VALUES,
    changed,
    check_values,
    read_applied,
    read_begun,
)
from hdbench.collections.trust.origins import ValueStates
from hdbench.collections.trust.runs import Runs, opened_runs
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import ValueKey, WorkedValue, as_name, now
from hdbench.collections.truth.form import asked, form_of, typed_value
from hdbench.collections.truth.work_list import Candidate, EntryField, Reason
from hdbench.common.csv_and_excel import Row, csv_rows
from hdbench.common.files import read_errors
from hdbench.common.jsonio import parse_line, read_jsonl
from hdbench.common.progress import tell
from hdbench.common.validation import check_file
from hdbench.common.value_text import text_of
from hdbench.errors import SHOWN, HdbenchError, Message

MAX_FILE = 2**29
"""Maximum size in bytes of a list."""

COLUMNS = ("id", "field", "value")
"""The first columns of a work list; behind them is what each run says, and why there is doubt."""

NOTHING = "null"
"""What a cell holds if there is nothing: an empty one was not filled in."""

_BETWEEN = "; "


def write_listed(file: BinaryIO, runs: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a work list.

    Args:
        file: where it goes.
        runs: the names of the runs.
        rows: an id, a field, what each run says, see `as_cell`, and the reason for the doubt.
    """
    add = csv_rows(file, (*COLUMNS, *runs, "reason"))
    for item, field, *said in rows:
        add((item, field, None, *said))


def as_cell(value: Any) -> str:
    """Return a value as a cell of a work list, from which it can be read back.

    Example:
        >>> as_cell(["Diss.", "Basel"]), as_cell(["a; b"]), as_cell(False), as_cell(" ")
        ('Diss.; Basel', '["a; b"]', 'false', 'null')
    """
    if isinstance(value, list):
        texts = list(filter(None, map(text_of, value)))
        if any(";" in text or "\n" in text for text in texts):
            return json.dumps(texts, ensure_ascii=False)
        return _BETWEEN.join(texts) or NOTHING
    return text_of(value) or NOTHING


def _rows(path: Path, required: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a work list: where each stands, and its cells in `COLUMNS`.

    Raises:
        HdbenchError: the table is unusable, or a column is missing.
    """
    check_file(path, MAX_FILE, Message("a list of items"))
    table = read_table(path, "1")
    header = [title.strip().casefold() for title in table.header]
    if missing := [name for name in required if name not in header]:
        raise HdbenchError(
            "{place}: not a work list of hdbench trust apply, which has a column {name}",
            place=path,
            name=missing[0],
        )
    places = [header.index(name) if name in header else None for name in COLUMNS]
    for place, cells in table.rows:
        yield place, *("" if at is None else cells[at].strip() for at in places)


def read_listed(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the items of a work list, each with the fields to look at; none for all.

    A work list is a table with the columns `id` and `field`; others are ignored. It may have been
    cut, sorted and saved by a spreadsheet program.

    Raises:
        HdbenchError: the file cannot be read, is something else, or has no item.
    """
    listed: dict[str, tuple[str, ...]] = {}
    known: dict[str, str] = {}  # so that the name of a field is held once
    for _, item, field, _ in _rows(path, COLUMNS[:1]):
        if item:
            named = (known.setdefault(field, field),) if field else ()
            listed[item] = (*listed.get(item, ()), *named)
    if not listed:
        raise HdbenchError("{place}: lists no items: there is nothing to look at", place=path)
    return listed


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
    people = People(benchmark.folder)
    with people.writing(by):
        people.refresh()
        reading = _Reading(out, benchmark, by, people.worked(seal))
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
        people.append(
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
    rows = [
        (item, field, _Filled(place, text))
        for place, item, field, text in _rows(path, COLUMNS)
        if text
    ]
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

    def __init__(
        self, out: Path, benchmark: Benchmark, by: str, worked: Mapping[ValueKey, WorkedValue]
    ) -> None:
        self.problems: list[Message] = []
        self._out, self._by, self._current = out, by, worked
        plan, _ = read_begun(out)
        applied = read_applied(out)
        check_values(out, applied)
        self._states = ValueStates(plan, benchmark, out, applied, is_worked=True)
        form = form_of(schema_with_fields(benchmark))
        self._asked = {name: asked(form, name) for name in plan.fields}

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
    if kind in ("boolean", "integer"):
        value = typed(text, kind)
        text = text if value is None else json.dumps(value)
    elif kind == "number":
        text = text.replace(",", ".")
    elif kind == "list" and (listed := json_list(text)) is not None:
        values = (typed_value(text_of(entry), field["entry"]) for entry in listed)
        return [value for value in values if value is not None] or None
    return typed_value(text, field)


REASONS: Mapping[str, Reason] = {
    NO_ANSWER: "no_answer",
    LEFT_OUT: "left_out",
    BELOW: "below",
    NOT_READ: "not_read",
}
"""Reasons to look at a value, as the folder has them."""


_ID = re.compile(rb'\{"id": ("(?:[^"\\]|\\.)*"), "fields": ')


class _Place(NamedTuple):
    """An item of the list.

    Attributes:
        offset: where its line in the file of values begins.
        fields: its doubtful fields.
    """

    offset: int
    fields: tuple[str, ...]


class AppliedWorkList:
    """The work list of a folder of `hdbench trust apply`; close it in the end.

    The values of an item are read when it is shown: of the others, only the places are kept.

    Args:
        path: the list; it may have been cut or sorted.
        folder: the collection, or the dataset.

    Attributes:
        items: the ids of the items, in order.
        out: the folder of `hdbench trust apply`.
        benchmark: the collection, or the dataset.
        names: the names of the runs, in the plan's order.
        seal: sha256 of the values in the folder.

    Raises:
        HdbenchError: the folder is not finished or was changed; the items are not those of the
            plan; a run is missing or was changed.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self.out = out = path.parent
        self._plan, decision = read_begun(out)
        applied = read_applied(out)
        self.seal = applied.values_sha256
        self.benchmark = benchmark = load_benchmark(str(folder))
        states = ValueStates(self._plan, benchmark, out, applied, is_worked=False)
        self._places = _places(out / VALUES, read_listed(path), self.seal, path, states)
        self.items: Sequence[str] = list(self._places)
        self._path = out / VALUES
        self._open = ExitStack()
        try:
            with read_errors(self._path):
                self._file = self._open.enter_context(self._path.open("rb"))
            self._runs = self._opened_runs(benchmark, out, Path(decision.plan_file))
        except BaseException:
            self._open.close()
            raise
        self.names = [run.name for run in self._plan.runs]

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    def doubtful(self, item: str) -> Sequence[str]:
        """Return the paths of an item's doubtful fields; none if it is not on the list."""
        place = self._places.get(item)
        return place.fields if place else ()

    def fields(self, item: str) -> list[EntryField]:
        """Return the values of an item.

        Raises:
            HdbenchError: they cannot be read.
        """
        values = self._line(self._file, item)
        doubtful = self.doubtful(item)
        records = self._runs.records(item)
        fields = []
        for field in self._runs.fields:
            value = values[field.path]
            reason = REASONS.get(value.get("reason", ""))
            entry = EntryField(field.path, value["decision"], reason, value["value"])
            if field.path in doubtful:
                said = [None if record is None else value_of(record, field) for record in records]
                entry = entry._replace(
                    score=value.get("score"),
                    candidates=self._candidates(records, said, text_of(value["value"])),
                    silent=tuple(
                        name
                        for name, record in zip(self.names, records, strict=True)
                        if record is None
                    ),
                )
            fields.append(entry)
        return fields

    def _line(self, file: IO[bytes], item: str) -> dict[str, Any]:
        with read_errors(self._path):
            file.seek(self._places[item].offset)
            raw = file.readline()
        line = parse_line(raw, self._path)
        if line.get("id") != item:
            raise changed(self._path)
        fields: dict[str, Any] = line["fields"]
        return fields

    def _candidates(
        self, records: Sequence[Any], said: Sequence[Any], preferred: str
    ) -> tuple[Candidate, ...]:
        """Return what the runs say, the preferred text first, then what most of them say."""
        by_text: dict[str, Candidate] = {}
        for name, record, value in zip(self.names, records, said, strict=True):
            if record is None:
                continue
            text = text_of(value)
            before = by_text.get(text, Candidate(value if text else None, text, ()))
            by_text[text] = before._replace(runs=(*before.runs, name))
        return tuple(
            sorted(by_text.values(), key=lambda one: (one.text != preferred, -len(one.runs)))
        )

    def _opened_runs(self, benchmark: Benchmark, out: Path, plan_file: Path) -> Runs:
        # Runs lie beside the plan that was applied; the folder has a copy of it.
        beside = plan_file if plan_file.exists() else out / PLAN
        opening = opened_runs(self._plan.runs, self._plan.fields, benchmark, beside)
        return self._open.enter_context(opening)


def _places(
    path: Path,
    listed: Mapping[str, Sequence[str]],
    sha256: str,
    work_list: Path,
    states: ValueStates,
) -> dict[str, _Place]:
    """Return where the values of each item on the list are, in the list's order.

    Args:
        path: the file of values.
        listed: id → the doubtful fields; none for all.
        sha256: the hash that the file of values must have.
        work_list: the list's file.
        states: says what people have read, which is left out.

    Raises:
        HdbenchError: the file was changed, or lacks an item.
    """
    digest, offset = hashlib.sha256(), 0
    found: dict[str, _Place] = {}
    with read_errors(path), path.open("rb") as file:
        for raw in file:
            digest.update(raw)
            match = _ID.match(raw)
            item = json.loads(match[1]) if match else ""
            doubtful = _doubtful(raw, listed[item], path) if item in listed else {}
            left = states.doubtful(item, doubtful)
            if item in listed:
                found[item] = _Place(offset, left)
            offset += len(raw)
    if digest.hexdigest() != sha256:
        raise changed(path)
    states.check_order()
    for item in listed:
        if item not in found:
            raise HdbenchError(
                "{item}: {folder} has no such item", item=f"{work_list}: {item}", folder=path
            )
    places = {item: found[item] for item in listed if found[item].fields}
    if not places:
        raise HdbenchError("{place}: lists no items: there is nothing to look at", place=work_list)
    return places


def _doubtful(raw: bytes, listed: Sequence[str], path: Path) -> dict[str, dict[str, Any]]:
    fields = parse_line(raw, path)["fields"]
    return {
        name: value
        for name, value in fields.items()
        if value["decision"] == CHECK and (not listed or name in listed)
    }
