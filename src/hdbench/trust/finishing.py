"""The records of a collection: the state of every value, delivered again and again."""

import datetime
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from pydantic import BaseModel, ValidationError

from hdbench import __version__
from hdbench.annotating.people import SUFFIX
from hdbench.benchmarks.benchmark import PEOPLE, Benchmark
from hdbench.common.checked import Strict
from hdbench.common.jsonio import parse_line, raw_lines, remove_unfinished, whole_file, write_json
from hdbench.common.progress import progress
from hdbench.common.regular_files import file_sha256, read_at_most
from hdbench.errors import HdbenchError
from hdbench.trust.applied_folder import (
    CONTROL,
    MAX_FILE,
    Applied,
    check_values,
    only_process,
    read_applied,
    read_begun,
)
from hdbench.trust.states import ItemStates, Origin, ValueStates

RECORDS = "records.jsonl"
"""The values of each item with their origins, in the benchmark's order."""

CHANGES = "changes.jsonl"
"""What was delivered when: a line for each record that is new or has changed."""

LAST = ".delivered.json"
"""What was delivered last, and from what: nothing is done again while that is the same."""

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


class DeliveryCounts(BaseModel):
    """Counts of a delivery that is being made, or was made last.

    Attributes:
        at: when it was begun.
        changed: how many records are new or have changed since the delivery before.
        complete: how many records have no open value.
        listed: how many open values are on the work list; the others are read again.
        by_field: field → origin → how many values.
    """

    at: str
    changed: int = 0
    complete: int = 0
    listed: int = 0
    by_field: dict[str, dict[str, int]]

    def add(self, fields: ItemStates, listed: int) -> None:
        """Count the values of an item, and those of its open ones that are on the work list."""
        self.listed += listed
        self.complete += all(value["origin"] != "open" for value in fields.values())
        for name, value in fields.items():
            of_field = self.by_field[name]
            of_field[value["origin"]] = of_field.get(value["origin"], 0) + 1

    def of(self, origin: Origin) -> int:
        """Return how many values have an origin."""
        return sum(counts.get(origin, 0) for counts in self.by_field.values())

    @property
    def read_again(self) -> int:
        """Number of open values that are not on the work list: others have to read them."""
        return self.of("open") - self.listed


class Finished(Strict):
    """What was written: the content of `LAST`.

    Attributes:
        made_from: hash of the records and of all that they were made from.
        records: how many records there are.
        delivery: the number of this delivery; that of the one before if nothing has changed.
        counts: what was counted.
    """

    made_from: str
    records: int
    delivery: int
    counts: DeliveryCounts


def finish(out: Path, benchmark: Benchmark, folder: Path) -> Finished:
    """Write the state of every value of every item.

    It can be run at any time and again: a record that has not changed stays as it is, byte for
    byte, and `CHANGES` says which ones have. If it is killed, all is as it was, and the next call
    begins again.

    Args:
        out: the folder of `hdbench trust apply`.
        benchmark: the items; what people read and entered is in its folder.
        folder: the folder to write.

    Raises:
        HdbenchError: the folder is not finished or was changed; one of the files cannot be read or
            written; another process writes there.
    """
    plan, _ = read_begun(out)
    applied = read_applied(out)
    check_values(out, applied)
    with only_process(folder):
        records, changes = folder / RECORDS, folder / CHANGES
        for path in (records, changes, folder / LAST):
            remove_unfinished(path)
        # Before anything is read: what comes later makes another hash, and is delivered then.
        inputs = _inputs_hash(out, benchmark, applied)
        last = read_finished(folder)
        if last and last.made_from == _hash_of(inputs, files=[records]):
            last.counts.changed = 0
            return last
        states = ValueStates(plan, benchmark, out, applied, is_worked=True)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        counts = DeliveryCounts(at=now, by_field={name: {} for name in plan.fields})
        before = _Delivered(records)
        number = before.delivery + 1
        written = 0
        # The changes get their name first: those of a delivery that never came are cut off.
        with (
            whole_file(records) as new_records,
            whole_file(changes) as new_changes,
            before,  # closed first: some systems rename no file over one that is open
            new_records.open("wb") as records_file,
            new_changes.open("wb") as changes_file,
        ):
            _copy_changes(changes, before.delivery, changes_file.write)
            items = progress(states.of_items(), "Finishing", applied.items)
            for item, fields, listed in items:
                written += 1
                line = _encode({"fields": fields, "id": item})
                sha256 = hashlib.sha256(line.encode("utf-8", "backslashreplace")).hexdigest()
                old = before.line_of(item)
                counts.add(fields, len(listed))
                if old is not None and old.hash == sha256:
                    records_file.write(old.raw)
                    continue
                counts.changed += 1
                records_file.write(_line(delivery=number, fields=fields, hash=sha256, id=item))
                names = [
                    name for name in fields if old is None or old.fields.get(name) != fields[name]
                ]
                change = {"at": counts.at, "before": old and old.hash, "delivery": number}
                changes_file.write(_line(**change, fields=names, hash=sha256, id=item))
        delivery = number if counts.changed else before.delivery
        finished = Finished(
            made_from=_hash_of(inputs, files=[records]),
            records=written,
            delivery=delivery,
            counts=counts,
        )
        write_json(folder / LAST, finished.model_dump())
    return finished


def _hash_of(*values: object, files: Iterable[Path]) -> str:
    """Return a hash of plain data and of files, some of which may not exist, by this version."""
    hashes = [file_sha256(path) if path.is_file() else None for path in files]
    return hashlib.sha256(json.dumps([__version__, *values, *hashes]).encode()).hexdigest()


def _inputs_hash(out: Path, benchmark: Benchmark, applied: Applied) -> str:
    """Return a hash of all that the states of values are read from."""
    people = sorted((benchmark.folder / PEOPLE).glob(f"*{SUFFIX}"))
    return _hash_of(applied.hash(), files=[*benchmark.scored_by(), *people, out / CONTROL])


class Delivery(NamedTuple):
    """A delivery of records.

    Attributes:
        number: its number, from 1.
        at: when it was written, in UTC.
        records: how many records were new or had changed.
    """

    number: int
    at: str
    records: int


def read_finished(folder: Path) -> Finished | None:
    """Return what was written last; None if nothing was, or that is not known.

    Args:
        folder: the folder that `finish` wrote.
    """
    path = folder / LAST
    if not path.is_file():
        return None
    try:
        return Finished.model_validate_json(read_at_most(path, MAX_FILE))
    except (OSError, HdbenchError, ValidationError):
        return None


def read_deliveries(folder: Path) -> list[Delivery]:
    """Return all deliveries, the first one first.

    Args:
        folder: the folder that `finish` wrote.

    Raises:
        HdbenchError: the changes cannot be read, or were not written by it.
    """
    found: dict[int, Delivery] = {}
    for _, _, line in _own_lines(folder / CHANGES):
        known = found.get(line["delivery"])
        records = known.records + 1 if known else 1
        found[line["delivery"]] = Delivery(line["delivery"], str(line.get("at")), records)
    return list(found.values())


def _line(**values: Any) -> bytes:
    return _encode(values).encode("utf-8", "backslashreplace") + b"\n"


def _copy_changes(path: Path, delivery: int, write: Callable[[bytes], object]) -> None:
    """Copy the changes of all deliveries that were completed."""
    if path.exists():
        for _, raw, line in _own_lines(path):
            if line["delivery"] <= delivery:
                write(raw)


def _own_lines(path: Path) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    """Yield the lines that earlier deliveries wrote, each with its offset."""
    for number, offset, raw in raw_lines(path):
        place = f"{path}:{number}"
        line = parse_line(raw, place)
        has_texts = all(isinstance(line.get(key), str) for key in ("id", "hash"))
        if type(line.get("delivery")) is not int or not has_texts:
            raise HdbenchError(
                "{place}: not written by hdbench trust finish: choose another -o", place=place
            )
        yield offset, raw, line


class _Old(NamedTuple):
    """A record of the delivery before.

    Attributes:
        raw: its line.
        hash: its hash.
        fields: its values.
    """

    raw: bytes
    hash: str
    fields: dict[str, Any]


class _Delivered:
    """The records that were delivered before, looked up by item.

    Attributes:
        delivery: the number of the last delivery; 0 before the first one.
    """

    def __init__(self, path: Path) -> None:
        self.delivery = 0
        self._path = path
        self._offsets: dict[str, int] = {}
        self._file: BinaryIO | None = None
        if path.exists():
            for offset, _, line in _own_lines(path):
                self._offsets[line["id"]] = offset
                self.delivery = max(self.delivery, line["delivery"])

    def __enter__(self) -> Self:
        if self._offsets:
            self._file = self._path.open("rb")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def line_of(self, item: str) -> _Old | None:
        """Return the record of an item; None if there was none."""
        if self._file is None or item not in self._offsets:
            return None
        self._file.seek(self._offsets[item])
        raw = self._file.readline()
        line = parse_line(raw, self._path)
        return _Old(raw, line["hash"], line["fields"])
