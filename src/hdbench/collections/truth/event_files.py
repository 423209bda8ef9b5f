"""The files of the people who work in a collection: each has one, which is only ever appended to.

Every line is an event with the hash of the line before, and how far each file was read is kept
beside it, so that a line that was changed or has gone is found. A colleague's work is taken in by
copying that person's file here.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from filelock import Timeout

from hdbench.benchmarks.benchmark import PEOPLE
from hdbench.collections.truth.events import (
    KINDS,
    Change,
    Double,
    Event,
    Found,
    Reading,
    Undo,
    ValueKey,
    WorkedValue,
)
from hdbench.common.bounds import MAX_PEOPLE_LINE
from hdbench.common.files import open_regular, read_at_most, read_errors
from hdbench.common.jsonio import SPELLED, parse_line, spelled_json
from hdbench.common.validation import validate
from hdbench.common.writing import append, lock, make_folder, refuse_links, write_whole
from hdbench.errors import HdbenchError, write_reason

SUFFIX = ".jsonl"


PATIENCE = 10.0
"""Maximum number of seconds that a change waits for others to be written."""

_Kind = TypeVar("_Kind", bound=Event)


class NotSavedError(HdbenchError):
    """Something was not written, but can be once there is space, or the folder is back."""


class ChangedError(HdbenchError):
    """Somebody, or another window of the same person, changed something first."""


@contextmanager
def saving(path: Path) -> Iterator[None]:
    """Raise `NotSavedError` where the system fails to save something.

    Args:
        path: the file.

    Raises:
        NotSavedError: an `OSError` was raised.
    """
    try:
        yield
    except OSError as error:
        raise NotSavedError(
            "{place}: not saved: {why}", place=path, why=write_reason(error)
        ) from error


class _Read(NamedTuple):
    """How far a file is read: its bytes, its lines, and sha256 of the last one."""

    size: int = 0
    lines: int = 0
    head: str = ""


class People:
    """What all people did in a folder, as far as it is on disk.

    Args:
        folder: the collection, or the dataset.

    Attributes:
        path: the folder with the files.
        events: person → that person's events, in the order of the file.
        found: item → what people found there before anybody changed it.
        readers: item → the names of those who read it alone, sorted; none for most items.

    Raises:
        HdbenchError: a file was changed, is shorter than it was, cannot be read, or is a link.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self.path = folder, folder / PEOPLE
        self.events: dict[str, list[Event]] = {}
        self.found: defaultdict[str, list[Found]] = defaultdict(list)
        self.readers: dict[str, tuple[str, ...]] = {}
        self._of_item: defaultdict[str, list[Change]] = defaultdict(list)
        self._undone: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
        self._read: dict[str, _Read] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read what was added since."""
        refuse_links(self.path)
        if self._read:
            with saving(self.path):
                self.path.stat()  # whether the folder is still there
        with read_errors(self.path):
            names = {path.stem for path in self.path.glob(f"*{SUFFIX}")} | self._sealed_names()
        for name in sorted(names | self._read.keys()):
            with read_errors(self.file(name)):
                self._read_on(name)

    def of_kind(self, kind: type[_Kind]) -> Iterator[_Kind]:
        """Yield the events of a kind, person by person."""
        for name in sorted(self.events):
            yield from (event for event in self.events[name] if isinstance(event, kind))

    def changes(self, item: str) -> list[Change]:
        """Return the changes of an item that are not undone, each after those that it knows."""
        undone = self._undone.get(item, ())
        changes = (
            change
            for change in self._of_item.get(item, ())
            if (change.by, change.number) not in undone
        )
        return sorted(changes, key=lambda change: (change.at, change.by, change.number))

    def readings(
        self, plan: str, ids: Collection[str] | None = None
    ) -> Mapping[ValueKey, tuple[Reading, ...]]:
        """Return the last reading of each person and turn, in their first order, by value.

        Args:
            plan: the hash of the plan.
            ids: the ids of the readings that count, as it was at a time; None for all.
        """
        known = None if ids is None else frozenset(ids)
        by_value: defaultdict[ValueKey, dict[tuple[str, int], Reading]] = defaultdict(dict)
        for each in sorted(self.of_kind(Reading), key=lambda each: (each.at, each.by)):
            if each.plan == plan and (known is None or each.id in known):
                by_value[each.key][each.by, each.turn] = each
        return {key: tuple(by_turn.values()) for key, by_turn in by_value.items()}

    def worked(self, list_: str) -> Mapping[ValueKey, WorkedValue]:
        """Return the last decision on each value of a work list, whoever made it.

        Args:
            list_: sha256 of the values that the list is about.
        """
        lines = [line for line in self.of_kind(WorkedValue) if line.list == list_]
        lines.sort(key=lambda line: (line.at, line.by, line.number))
        return {line.key: line for line in lines}

    def items(self) -> set[str]:
        """Return the items that anybody changed."""
        return set(self._of_item)

    def stamp(self, item: str) -> tuple[int, int, int]:
        """Return what becomes another one with any event of an item."""
        of_item = (self._of_item, self._undone, self.found)
        changes, undone, found = (len(each.get(item, ())) for each in of_item)
        return changes, undone, found

    def file(self, name: str) -> Path:
        """Return the file of a person."""
        return self.path / f"{name}{SUFFIX}"

    def numbers(self) -> dict[str, int]:
        """Return how many events of each person are known."""
        return {name: len(events) for name, events in self.events.items()}

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Keep other processes from writing a person's file.

        Raises:
            NotSavedError: another process keeps writing it, or the folder cannot be written.
            HdbenchError: somebody works here whose name differs in upper and lower case alone.
        """
        with saving(self.path):
            make_folder(self.path)
            self._check_name(name)
            held = lock(self.path / f".{name}.lock", self._folder)
            try:
                held.acquire(timeout=PATIENCE)
            except Timeout as error:
                raise NotSavedError(
                    "{place}: not saved: another process has been writing it for {seconds:.0f} s",
                    place=self.file(name),
                    seconds=PATIENCE,
                ) from error
        try:
            yield
        finally:
            held.release()

    def _check_name(self, name: str) -> None:
        """Refuse a name whose file would be another's where case does not count."""
        others = {path.stem for path in self.path.glob(f"*{SUFFIX}")} - {name}
        if other := next((one for one in others if one.casefold() == name.casefold()), None):
            raise HdbenchError(
                "{place}: {name} works here already: write the name like that",
                place=self.path,
                name=other,
            )

    def append(self, events: Sequence[Event]) -> None:
        """Add events of one person to that person's file; when this returns, they are on disk.

        Call it within `writing`.

        Raises:
            NotSavedError: they cannot be written now; then the file is as it was.
            HdbenchError: one of them is not JSON or too long, or the file is unusable.
        """
        name = events[0].by
        self._read_on(name)
        read = self._read.get(name, _Read())
        lines: list[bytes] = []
        for event in events:
            _, count, head = read
            written = event.model_copy(update={"number": count + 1, "previous": head})
            lines.append(_line_of(written, self.file(name)))
            read = _Read(0, count + 1, _sha256(lines[-1]))
        with saving(self.file(name)):
            append(self.file(name), b"".join(lines), self._folder)
        self._read_on(name)
        self.seal()

    def seal(self) -> None:
        """Keep how far each file is read, so that a shorter one is refused from now on."""
        for name, read in self._read.items():
            if self._seal(name) != read._replace(size=0):
                line = f"{read.lines} {read.head}\n".encode()
                with suppress(HdbenchError):  # only what was added since could go unnoticed
                    write_whole(self._seal_file(name), line, self._folder)

    def _read_on(self, name: str) -> None:
        """Read the whole lines that were added to a file; one that is being written is no line."""
        path, read = self.file(name), self._read.get(name, _Read())
        seal = self._seal(name)
        for each in (path, self._seal_file(name)):
            refuse_links(each, self._folder)
        size = path.stat().st_size if path.exists() else 0
        if size < read.size or (not size and seal.lines):
            raise _shorter(path, max(read.lines, seal.lines))
        if size == read.size:
            return
        events = self.events.setdefault(name, [])
        with open_regular(path) as file:
            file.seek(read.size)
            while (raw := file.readline(MAX_PEOPLE_LINE + 1)).endswith(b"\n"):
                event = _event_of(raw, path, name, read)
                read = _Read(read.size + len(raw), read.lines + 1, _sha256(raw))
                if read.lines == seal.lines and read.head != seal.head:
                    raise _edited(path, read.lines)
                self._read[name] = read
                events.append(event)
                self._take(event)
        if len(raw) > MAX_PEOPLE_LINE:
            raise HdbenchError(
                "{place}:{number}: longer than {most} MiB",
                place=path,
                number=read.lines + 1,
                most=MAX_PEOPLE_LINE >> 20,
            )
        if read.lines < seal.lines:
            raise _shorter(path, seal.lines)

    def _take(self, event: Event) -> None:
        if isinstance(event, Change):
            self._of_item[event.item].append(event)
        elif isinstance(event, Undo):
            self._undone[event.item].add((event.by, event.undoes))
        elif isinstance(event, Found):
            self.found[event.item].append(event)
        elif isinstance(event, Double):
            for item in event.items:
                self.readers[item] = tuple(sorted({*self.readers.get(item, ()), event.by}))

    def _seal_file(self, name: str) -> Path:
        return self.path / f".{name}.read"

    def _sealed_names(self) -> set[str]:
        return {path.name[1:-5] for path in self.path.glob(".*.read")}

    def _seal(self, name: str) -> _Read:
        """Return how far a file was read before, without its size; nothing if that is unknown."""
        try:
            lines, head = read_at_most(self._seal_file(name), 200).decode().split()
            return _Read(0, int(lines), head)
        except (OSError, ValueError):
            return _Read()


def _line_of(event: Event, path: Path) -> bytes:
    """Return the line of an event; what has its default is left out.

    Raises:
        HdbenchError: its values are not JSON, or it is too long.
    """
    try:
        data = {"kind": event.kind, **event.model_dump(exclude_defaults=True)}
        text = spelled_json(data, ensure_ascii=False) + "\n"
    except (ValueError, TypeError, RecursionError) as error:
        raise HdbenchError("{place}: not saved: the value is not JSON", place=path) from error
    raw = text.encode("utf-8", errors="backslashreplace")
    if len(raw) > MAX_PEOPLE_LINE:
        raise HdbenchError(
            "{place}: not saved: longer than {most} MiB", place=path, most=MAX_PEOPLE_LINE >> 20
        )
    return raw


def _event_of(raw: bytes, path: Path, name: str, read: _Read) -> Event:
    """Return the event in a line, which has to follow those before it."""
    number = read.lines + 1
    where = Path(f"{path}:{number}")
    line = parse_line(raw, where, SPELLED)
    model = KINDS.get(str(line.get("kind")))
    if model is None:
        raise HdbenchError("{place}: not an event that hdbench writes", place=where)
    event = validate(model, line, where)
    if event.by != name:
        raise HdbenchError(
            "{place}: is by {by}: a file is named after the person whose work it is",
            place=where,
            by=event.by,
        )
    if (event.number, event.previous) != (number, read.head):
        raise _edited(path, number)
    return event


def _sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _edited(path: Path, number: int) -> HdbenchError:
    return HdbenchError(
        "{place}:{number}: does not follow the lines before it: the file was edited, or two "
        "computers wrote under one name: put back the file as it was; nothing was written",
        place=path,
        number=number,
    )


def _shorter(path: Path, before: int) -> HdbenchError:
    return HdbenchError(
        "{place}: is shorter than it was: it had {before:,} lines: put back the file as it was; "
        "nothing was written",
        place=path,
        before=before,
    )
