"""`hdbench trust finish`: the state of every value, delivered as records again and again."""

import datetime
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ValidationError

from hdbench.about import __version__
from hdbench.benchmarks.benchmark import PEOPLE, Benchmark
from hdbench.collections.trust.folder import (
    CONTROL,
    Applied,
    check_values,
    only_process,
    read_applied,
    read_begun,
)
from hdbench.collections.trust.origins import ItemStates, Origin, ValueStates
from hdbench.collections.truth.event_files import SUFFIX
from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.common.files import file_sha256, read_at_most, write_errors
from hdbench.common.jsonio import parse_line, raw_lines, write_json
from hdbench.common.progress import progress
from hdbench.common.validation import Strict
from hdbench.common.writing import move, refuse_links
from hdbench.errors import HdbenchError

RECORDS = "records.jsonl"
"""The values of each item with their origins, in the benchmark's order."""

CHANGES = "changes.jsonl"
"""What was delivered when: a line for each record that is new or has changed."""

LAST = ".delivered.json"
"""What was delivered last, and from what: nothing is done again while that is the same."""

STAGED, WHOLE = ".delivery", ".delivery-whole"
"""The folder in which a delivery is made, and its name once nothing is missing in it."""

Written = TypeVar("Written")

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
        forms: the other files that were delivered, each with its hash.
    """

    made_from: str
    records: int
    delivery: int
    counts: DeliveryCounts
    forms: dict[str, str]


def finish(
    out: Path,
    benchmark: Benchmark,
    folder: Path,
    write: Callable[[Path, Path], Written] | None = None,
) -> tuple[Finished, Written | None]:
    """Write the state of every value of every item, and a form of these records.

    It can be run at any time and again: a record that has not changed stays as it is, byte for
    byte, and `CHANGES` says which ones have. All files of a delivery get their names together; if
    it fails or is killed, all is as it was.

    Args:
        out: the folder of `hdbench trust apply`.
        benchmark: the items; what people read and entered is in its folder.
        folder: the folder to write.
        write: what writes a form: a function of the file of the records and the folder to write.

    Returns:
        What was written, and what `write` returned.

    Raises:
        HdbenchError: the folder is not finished; what was applied or delivered was changed, or
            there is less than before; a file cannot be read or written; another process writes
            there.
    """
    plan, _ = read_begun(out)
    applied = read_applied(out)
    check_values(out, applied)
    with only_process(folder), _whole_delivery(folder) as staged:
        records, changes = folder / RECORDS, folder / CHANGES
        # Before anything is read: what comes later makes another hash, and is delivered then.
        inputs = _inputs_hash(out, benchmark, applied)
        last = read_finished(folder)
        if last:
            _check_forms(folder, last)
        if last and last.made_from == _hash_of(inputs, files=[records, changes]):
            finished = last
        else:
            before = _Delivered(records, changes)
            states = ValueStates(plan, benchmark, out, applied, is_worked=True)
            items = progress(states.of_items(), "Finishing", applied.items)
            with before:
                finished = _write_records(staged, items, before, list(plan.fields), changes)
            records = staged / RECORDS
            sha256 = _hash_of(inputs, files=[records, staged / CHANGES])
            finished = finished.model_copy(update={"made_from": sha256})
        written = write(records, staged) if write else None
        forms = {path for path in staged.iterdir() if path.name not in (RECORDS, CHANGES)}
        finished.forms.update(last.forms if last else {})
        finished.forms.update({path.name: file_sha256(path) for path in forms})
        write_json(staged / LAST, finished.model_dump())
    if finished is last:
        finished.counts.changed = 0
    return finished, written


def _write_records(
    staged: Path,
    items: Iterable[tuple[str, ItemStates, Sequence[str]]],
    before: "_Delivered",
    fields: Sequence[str],
    changes: Path,
) -> Finished:
    """Write the records and what has changed into a folder."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    counts = DeliveryCounts(at=now, by_field={name: {} for name in fields})
    number = before.delivery + 1
    written = 0
    if changes.exists():
        shutil.copyfile(changes, staged / CHANGES)
    with (
        (staged / RECORDS).open("wb") as records_file,
        (staged / CHANGES).open("ab") as changes_file,
    ):
        for item, values, listed in items:
            written += 1
            sha256 = _record_hash(values, item)
            old = before.taken(item)
            counts.add(values, len(listed))
            if old is not None and old.hash == sha256:
                records_file.write(old.raw)
                continue
            counts.changed += 1
            records_file.write(_line(delivery=number, fields=values, hash=sha256, id=item))
            names = [name for name in values if old is None or old.fields.get(name) != values[name]]
            change = {"at": counts.at, "before": old and old.hash, "delivery": number}
            changes_file.write(_line(**change, fields=names, hash=sha256, id=item))
    before.check_all_taken()
    delivery = number if counts.changed else before.delivery
    return Finished(made_from="", records=written, delivery=delivery, counts=counts, forms={})


@contextmanager
def _whole_delivery(folder: Path) -> Iterator[Path]:
    """A folder for files, all of which get their places in another one when the block ends.

    Raises:
        HdbenchError: a file cannot be written.
    """
    staged, whole = folder / STAGED, folder / WHOLE
    with write_errors(folder):
        refuse_links(whole)
        _give_names(folder)
        shutil.rmtree(staged, ignore_errors=True)
        refuse_links(staged)
        staged.mkdir()
        try:
            yield staged
            for path in staged.iterdir():
                refuse_links(folder / path.name)
                with path.open("rb") as file:
                    os.fsync(file.fileno())  # otherwise a power cut could leave new names empty
            staged.rename(whole)  # from here on, nothing needs any more room
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        _give_names(folder)


def _give_names(folder: Path) -> None:
    """Give the files of a whole delivery their names; a kill may have come between two of them."""
    whole = folder / WHOLE
    if whole.is_dir():
        for path in whole.iterdir():
            move(path, folder / path.name)
        whole.rmdir()


def _check_forms(folder: Path, last: Finished) -> None:
    """Refuse to replace a file of a delivery that somebody has edited.

    Raises:
        HdbenchError: a file was edited.
    """
    for name, sha256 in last.forms.items():
        path = folder / name
        if path.exists() and file_sha256(path) != sha256:
            raise HdbenchError(
                "{place}: was edited after it was delivered, and would be replaced: move it "
                "elsewhere",
                place=path,
            )


def _record_hash(fields: Any, item: str) -> str:
    line = _encode({"fields": fields, "id": item})
    return hashlib.sha256(line.encode("utf-8", "backslashreplace")).hexdigest()


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
        return Finished.model_validate_json(read_at_most(path, MAX_TEXT_FILE))
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


def _own_lines(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the lines that earlier deliveries wrote, each with its offset and number."""
    for number, offset, raw in raw_lines(path):
        place = f"{path}:{number}"
        line = parse_line(raw, place)
        has_texts = all(isinstance(line.get(key), str) for key in ("id", "hash"))
        if type(line.get("delivery")) is not int or not has_texts:
            raise HdbenchError(
                "{place}: not written by hdbench trust finish: choose another -o", place=place
            )
        yield offset, number, line


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

    Args:
        path: the records.
        changes: what was delivered when: of each record, the last line has its hash.

    Attributes:
        delivery: the number of the last delivery; 0 before the first one.

    Raises:
        HdbenchError: a record was edited, or one is missing.
    """

    def __init__(self, path: Path, changes: Path) -> None:
        self.delivery = 0
        self._path = path
        self._offsets: dict[str, int] = {}
        self._file: BinaryIO | None = None
        delivered: dict[str, tuple[str, int]] = {}
        if changes.exists():
            for _, number, line in _own_lines(changes):
                delivered[line["id"]] = (line["hash"], number)
                self.delivery = max(self.delivery, line["delivery"])
        if path.exists():
            for offset, number, line in _own_lines(path):
                sha256, _ = delivered.pop(line["id"], ("", 0))
                if not sha256 == line["hash"] == _record_hash(line.get("fields"), line["id"]):
                    raise HdbenchError(
                        "{place}: was edited after it was delivered, or {changes} was: put back "
                        "the file as it was, or choose another -o",
                        place=f"{path}:{number}",
                        changes=changes.name,
                    )
                self._offsets[line["id"]] = offset
        for item, (_, number) in delivered.items():
            raise HdbenchError(
                "{place}: {item!r} was delivered, and is missing in {records}: put back the file "
                "as it was, or choose another -o",
                place=f"{changes}:{number}",
                item=item,
                records=path.name,
            )

    def __enter__(self) -> Self:
        if self._offsets:
            self._file = self._path.open("rb")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def taken(self, item: str) -> _Old | None:
        """Return the record of an item, once; None if there was none."""
        offset = self._offsets.pop(item, None)
        if self._file is None or offset is None:
            return None
        self._file.seek(offset)
        raw = self._file.readline()
        line = parse_line(raw, self._path)
        return _Old(raw, line["hash"], line["fields"])

    def check_all_taken(self) -> None:
        """Refuse to deliver less than before.

        Raises:
            HdbenchError: a record was delivered before whose item has gone.
        """
        if item := next(iter(self._offsets), None):
            raise HdbenchError(
                "{place}: has a record of {item!r}, which is no longer among the items: choose "
                "another -o",
                place=self._path,
                item=item,
            )
