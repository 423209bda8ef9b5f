"""The rows of a collection, with the ground truths that follow from what people entered."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from filelock import Timeout

from hdbench.benchmarks.benchmark import METADATA, PEOPLE
from hdbench.benchmarks.building.namespace import is_ours
from hdbench.benchmarks.spec import IMPORTED, PROVENANCE, PROVENANCE_COLUMNS, Provenance
from hdbench.collections.truth.events import WITHOUT_TRUTH
from hdbench.collections.truth.item_state import ItemState
from hdbench.common.files import holds
from hdbench.common.jsonio import SPELLED, parse_line, raw_lines, spelled_json
from hdbench.common.writing import lock, write_whole
from hdbench.errors import HdbenchError, Message, os_reason, write_reason

_WRITTEN = ".metadata"
_SECONDS = 30


class TakenError(HdbenchError):
    """Another process is writing the metadata.jsonl; changes are safe in the people's files."""


class CollectionRow(NamedTuple):
    """A row of `metadata.jsonl`.

    Attributes:
        record: its ground truth.
        made: the provenance of the ground truth, if the row has it.
        line: the row as it is in the file.
    """

    record: dict[str, Any] | None
    made: Provenance | None
    line: bytes


class Metadata:
    """The rows of `metadata.jsonl`; lines that nobody changes stay as they are, to the byte.

    Args:
        folder: the collection.

    Attributes:
        path: the file.
        rows: item → its row, in the order of the file.
        notes: messages about oddities, for the user.

    Raises:
        HdbenchError: the folder is not a collection in the plain form.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self.path = folder, folder / METADATA
        self.rows: dict[str, CollectionRow] = {}
        self.notes: list[str] = []
        self._has_own_column = False
        self._stamp: tuple[int, ...] = ()
        check_collection(folder)
        self._read()
        if self._has_own_column:
            self.notes.append(
                Message(
                    "{place}: has a column {column} of its own, so how the ground truths are made "
                    "is only in the files of the people",
                    place=self.path,
                    column=PROVENANCE,
                )
            )

    def write(self, states: Iterable[ItemState]) -> None:
        """Bring the file up to date; it is not touched if it already is.

        Args:
            states: the items that may differ from the file; call with the lock of `writing`.
        """
        changed: dict[str, CollectionRow] = {}
        for state in states:
            row = self.rows.get(state.item)
            if row is None:
                continue
            record = None if state.status in WITHOUT_TRUTH else state.record
            made = state.made if record is not None else None
            is_other = made is not None and made != row.made and not self._has_own_column
            # To the letter, with the keys in one order.
            is_same = record is row.record or spelled_json(record) == spelled_json(row.record)
            if is_other or not is_same:
                changed[state.item] = self._changed(row, record, made)
            elif record is not row.record:
                self.rows[state.item] = row._replace(record=record)  # so that it is seen at once
        if not changed:
            return
        rows = self.rows | changed
        self._write(b"".join(row.line for row in rows.values()))
        self.rows = rows
        self._stamp = self._stamped()

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows at the end of the file; call with the lock of `writing`.

        Raises:
            HdbenchError: it has a row with one of their ids, or cannot be written.
        """
        self.refresh()
        for row in rows:
            if row["id"] in self.rows:
                raise HdbenchError(
                    "{place}: has the item {id} already", place=self.path, id=row["id"]
                )
        before = self.path.read_bytes()
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        self._write(before + (b"" if before.endswith(b"\n") else b"\n") + lines.encode())

    def _changed(
        self, before: CollectionRow, record: dict[str, Any] | None, made: Provenance | None
    ) -> CollectionRow:
        """Return a row with another ground truth."""
        row = parse_line(before.line, self.path.name, SPELLED) | {"ground_truth": record}
        if self._has_own_column:
            made = before.made
        else:
            made = None if record is None else made or Provenance(IMPORTED)
            row = {key: value for key, value in row.items() if key not in PROVENANCE_COLUMNS}
            row |= made.as_row() if made else {}
        text = spelled_json(row, ensure_ascii=False) + "\n"
        return CollectionRow(record, made, text.encode("utf-8", errors="backslashreplace"))

    @contextmanager
    def writing(self, seconds: float = _SECONDS) -> Iterator[None]:
        """Hold the lock for `write`, for which others wait.

        Args:
            seconds: the time to wait for it.

        Raises:
            TakenError: another process keeps it.
            HdbenchError: the folder cannot be written.
        """
        try:
            # With a dot, which no name has: it must not be the lock of somebody's file.
            held = lock(self._folder / PEOPLE / f".{METADATA}.lock", self._folder)
            with held.acquire(timeout=seconds):
                yield
        except Timeout as error:
            raise TakenError(
                "{place}: another process has been writing it for {seconds} s: what was "
                "entered is safe in {people}; close that process, then try again",
                place=self.path,
                seconds=seconds,
                people=PEOPLE,
            ) from error
        except OSError as error:
            raise HdbenchError(
                "{place}: cannot be written: {why}; what was entered is safe in {people}",
                place=self.path,
                people=PEOPLE,
                why=write_reason(error),
            ) from error

    def refresh(self) -> bool:
        """Read the file again if somebody else has written it; return whether it was."""
        if is_other := self._stamped() != self._stamp:
            self._read()
        return is_other

    def _read(self) -> None:
        rows: dict[str, CollectionRow] = {}
        has_column = has_other = False
        try:
            stamp = self._stamped()
        except OSError as error:
            raise HdbenchError(
                "{place}: cannot be read: {why}: hdbench new makes such a folder",
                place=self.path,
                why=os_reason(error),
            ) from error
        for number, _, raw in raw_lines(self.path):
            row = parse_line(raw, f"{self.path}:{number}", SPELLED)
            item, truth = row.get("id"), row.get("ground_truth")
            if not isinstance(item, str) or item in rows or not isinstance(truth, dict | None):
                raise HdbenchError(
                    "{place}:{number}: needs an id of its own, and a ground_truth that is an "
                    "object or null: hdbench check names all that is wrong",
                    place=self.path,
                    number=number,
                )
            made = Provenance.of_row(row)
            has_column |= PROVENANCE in row
            has_other |= row.get(PROVENANCE) is not None and made is None
            rows[item] = CollectionRow(truth, made, raw if raw.endswith(b"\n") else raw + b"\n")
        if not rows:
            raise HdbenchError("{place}: has no rows", place=self.path)
        self.rows, self._stamp = rows, stamp
        # Programs that write tables put null where a row has no value: that alone proves nothing.
        self._has_own_column = has_other or (
            has_column and not any(row.made for row in rows.values())
        )

    def _stamped(self) -> tuple[int, ...]:
        stat = self.path.stat()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def _write(self, data: bytes) -> None:
        """Replace the file, and keep what shows that hdbench wrote it."""
        self._keep_what_others_wrote()
        write_whole(self.path, data)
        write_whole(self._folder / PEOPLE / _WRITTEN, _digest(data), self._folder)

    def _keep_what_others_wrote(self) -> None:
        """Keep a copy of a file that was last written by hand, or by another program."""
        written = self._folder / PEOPLE / _WRITTEN
        data = self.path.read_bytes()
        is_first = not written.is_file()
        if not is_first and holds(written, _digest(data)):
            return
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        copy = self._folder / PEOPLE / f"{METADATA}.{now}"
        write_whole(copy, data, self._folder)
        if not is_first:
            self.notes.append(
                Message(
                    "{place}: was changed by another program; where it differs from what people "
                    "entered here, that counts; {copy} has what was there",
                    place=self.path,
                    copy=copy,
                )
            )


def check_collection(folder: Path) -> None:
    """Refuse a folder whose ground truths cannot be edited.

    Raises:
        HdbenchError: it is missing, was built, or has a build.py that makes its ground truths.
    """
    if not folder.is_dir():
        raise HdbenchError("{place}: no such folder", place=folder)
    if is_ours(folder):
        raise HdbenchError(
            "{place}: was built by hdbench: give the folder that it came from", place=folder
        )
    if (folder / "build.py").is_file():
        raise HdbenchError(
            "{place}: build.py makes its ground truths: edit what that reads", place=folder
        )


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
