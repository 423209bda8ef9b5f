"""Files, folders and ZIPs from anybody: known by their first bytes, and read within bounds."""

import codecs
import json
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from io import BufferedReader, FileIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hdbench.answers.cells import cell_of
from hdbench.common.bounds import MAX_DIRECTORY, MAX_GROUP, MAX_OUTER, MAX_UNPACKED, MAX_WHOLE
from hdbench.common.files import check_name, read_errors
from hdbench.common.jsonio import parse_json, structured
from hdbench.errors import HdbenchError, Message, is_full, os_reason, write_reason

if TYPE_CHECKING:
    import pyarrow as pa

OUR_ANSWERS = "answers.jsonl"
"""The file with the answers in one of our run folders."""

RUN_FILE = "run.json"
"""The file that says what the run in a folder is."""

JSON_LINES = (".jsonl", ".ndjson")
"""Extensions of JSON Lines."""

PAGE_ENDINGS = (".xml", ".hocr", ".html", ".htm")
"""Extensions of files with the text of a page: PAGE XML, ALTO and hOCR."""

ITEM_ENDINGS = (".json", ".txt", ".md", *PAGE_ENDINGS)
"""Extensions of files with the answer to one item, which are in a folder or ZIP."""

PACKED_ENDINGS = (".gz", ".zst")
"""Extensions that may follow that of a compressed file."""

PART_ENDINGS = (
    *JSON_LINES,
    *(f"{ending}{packing}" for ending in JSON_LINES for packing in PACKED_ENDINGS),
    ".parquet",
)
"""Extensions of files of which a run may have several."""

FOLDER_ENDINGS = (*ITEM_ENDINGS, *PART_ENDINGS, ".csv", ".tsv", ".xlsx", ".ods")
"""Extensions by which answers are found in a folder or ZIP; what a file is, its content decides."""

ENDINGS = (*FOLDER_ENDINGS, *PACKED_ENDINGS, ".zip")
"""Extensions of files that can be given as answers; they may follow each other."""

NO_ANSWERS = frozenset({"mets.xml", "metadata.xml", "log.txt"})
"""Names of files that programs for transcriptions put beside those of pages."""

ACCEPTED = Message(
    "answers are read from JSON, JSON Lines, Parquet, CSV, XLSX, ODS, a folder or a ZIP of "
    "<id>.json, <id>.txt, <id>.md or <id>.xml (PAGE, ALTO)"
)

ROWS = 200
"""Number of rows of a Parquet file that are in memory at once."""

VALUE = 64
"""Number of bytes that a value of a Parquet file takes in memory, beside its text."""

BINARY = 32
"""Number of first bytes of which one is 0 in images, archives and the like."""

HEAD = 2**16
"""Number of bytes by which a file is recognized."""

ZIP = (b"PK\x03\x04", b"PK\x05\x06")

PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""First bytes of a packed file, and how it is packed, as pyarrow calls it."""

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks, with which a UTF-16 file begins."""

_DOCUMENT = {"[Content_Types].xml", "META-INF/manifest.xml"}
"""Parts of office documents, which are ZIPs: of each one has one."""

_OTHERS = {
    b"%PDF": Message("a PDF"),
    b"\xd0\xcf\x11\xe0": Message(
        "an old Excel file (.xls), or one with a password: save it as .xlsx"
    ),
    b"<": Message("an HTML or XML file"),
    **dict.fromkeys(ZIP, Message("a ZIP: unpack it")),
    **dict.fromkeys((*PACKED, b"PAR1"), Message("packed twice: unpack it once")),
}
"""Beginnings of files of other types, without leading white space."""

_ELSEWHERE = re.compile(r"/|[A-Za-z]:|.*[\\\0]|(.*/)?\.\.(/|$)|(?:[^/]*/){21}|$", re.DOTALL)
"""The name of a member that is absolute, has `..` in it, is read otherwise elsewhere, is in more
than 20 folders, or is empty."""

_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


def head_of(path: Path) -> bytes:
    """Return the beginning of a file, in UTF-8 even if the file is UTF-16."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    return head.decode("utf-16", "ignore").encode() if head.startswith(UTF16_MARKS) else head


def without_mark(head: bytes) -> bytes:
    """Return the beginning of a text without a byte order mark and white space."""
    return head.removeprefix(codecs.BOM_UTF8).lstrip()


def stem_of(name: str) -> str:
    """Return the name of the image that a file beside it is about.

    Example:
        >>> stem_of("0001.txt"), stem_of("0001.gt.txt")  # as OCR-D and kraken call texts
        ('0001', '0001')
    """
    stem, _, ending = name.rpartition(".")
    return stem.removesuffix(".gt") if ending.lower() == "txt" else stem


def decode(raw: bytes, where: str) -> str:
    r"""Return the text of a small file.

    Args:
        raw: its bytes.
        where: the file, for the message.

    Raises:
        HdbenchError: it is in neither encoding; the message names the line.

    Example:
        >>> decode("\ufeffMüller".encode("utf-16-le"), "answer.txt")
        'Müller'
    """
    try:
        return raw.decode("utf-16" if raw.startswith(UTF16_MARKS) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise HdbenchError(
            "{place}:{line}: not UTF-8: save as UTF-8", place=where, line=line
        ) from error


def is_one_object(path: Path) -> bool:
    """Tell from the beginning of a file whether it can be one JSON object, as a result is.

    It is not if it begins otherwise, or if its first line is an object by itself that others
    follow.
    """
    with path.open("rb") as file:
        lines = filter(None, map(without_mark, iter(partial(file.readline, MAX_WHOLE), b"")))
        first = next(lines, b"")
        if not first.startswith(b"{"):
            return False
        with suppress(ValueError):
            parse_json(first.decode())
            return next(lines, None) is None
    return True


def read_whole(path: Path | zipfile.Path, name: str) -> bytes:
    """Return what is in a file that can only be read whole.

    Args:
        path: the file.
        name: what messages call it.

    Raises:
        HdbenchError: it is larger than `MAX_WHOLE`, or cannot be read.
    """
    with unpacking(name), path.open("rb") as file:
        raw = file.read(MAX_WHOLE + 1)
    check_size(len(raw), MAX_WHOLE, name)
    return raw


class Folder:
    """The files in a folder, or in a folder of a ZIP, but not those below it.

    Args:
        path: the folder.
        name: what messages call it; by default, its path.
        between: what they put between that and a file's name.

    Attributes:
        name: same as in Args.
        names: the files that can hold answers, in order.
        folders: its subfolders.
        others: all but `names`, except what is hidden.

    Raises:
        HdbenchError: it cannot be listed, has a file whose name is not UTF-8, or contains a
            symbolic link, which could lead out of it.
    """

    def __init__(
        self, path: Path | zipfile.Path, name: str | None = None, between: str = "/"
    ) -> None:
        self._path, self.name, self._between = path, name or str(path), between
        with read_errors(self.name):
            entries = os.scandir(path) if isinstance(path, Path) else path.iterdir()
            found = {name: entry for entry in entries if not _is_hidden(name := entry.name)}
        for name, entry in found.items():
            if isinstance(entry, os.DirEntry) and entry.is_symlink():
                raise HdbenchError(
                    "{place}: is a symbolic link, which is not followed: put the file itself there",
                    place=self.place(name),
                )
        # The order of a listing differs from one machine to the next.
        files = [name for name, each in found.items() if each.is_file()]
        self.names = sorted(filter(_can_be_read, files))
        self.folders = sorted(name for name, each in found.items() if each.is_dir())
        self.others = sorted(found.keys() - self.names)
        for name in self.names:
            check_name(Path(self.place(name)))

    def inner(self, name: str) -> "Folder":
        """Return the files in a subfolder."""
        return Folder(self._path / name, self.place(name))

    def within(self) -> "Folder":
        """Return the folder with the texts of pages in an export, or the one folder in another.

        Without either, and if files that can hold answers are in it, this is the folder itself.
        """
        folder = self
        for _ in range(MAX_OUTER):
            pages = [name for name in ("page", "alto") if name in folder.folders]
            if folder.names or not (pages or len(folder.folders) == 1):
                return folder
            folder = folder.inner((pages or folder.folders)[0])
        return self

    def place(self, name: str) -> str:
        """Return what messages call a file."""
        return f"{self.name}{self._between}{name}"

    def read(self, name: str) -> bytes:
        """Return a file's bytes; see `read_whole`."""
        return read_whole(self._path / name, self.place(name))

    def file(self, name: str, closing: ExitStack) -> Path:
        """Return the path of a file, or of a copy that is deleted when something is closed."""
        path = self._path / name
        if isinstance(path, Path):
            return path
        copy = scratch(closing) / "copy"
        with unpacking(self.place(name)), path.open("rb") as file, copy.open("wb") as out:
            shutil.copyfileobj(file, out)
        return copy


def open_zip(path: Path, name: str, closing: ExitStack) -> Folder | None:
    """Return the files in a ZIP until something is closed; None if it is an office document.

    Args:
        path: the file.
        name: what messages call it.
        closing: closes it.

    Raises:
        HdbenchError: it is damaged, encrypted or too large, or a member has a name that leads
            elsewhere, has the name of another member, or is a symbolic link.
    """
    archive = closing.enter_context(listed(path, name))
    if not _DOCUMENT.isdisjoint(archive.namelist()):
        return None
    size, seen = 0, set[str]()
    for info in archive.infolist():
        is_link = stat.S_ISLNK(info.external_attr >> 16)
        # Other methods than these are unpacked block by block, without a bound.
        is_plain = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if is_link or not is_plain or info.filename in seen or _ELSEWHERE.match(info.orig_filename):
            raise HdbenchError(
                "{place}: in the ZIP twice, a link, packed in an unusual way, or with a name that "
                "is empty, leads elsewhere or is in too many folders: pack the files anew",
                place=f"{name}: {info.orig_filename[:100]}",
            )
        seen.add(info.filename)
        # A member gives no more bytes than its header says, so this bounds what is unpacked.
        size += info.file_size if _can_be_read(info.filename) else 0
    check_size(size, MAX_UNPACKED, name)
    return Folder(zipfile.Path(archive), name, ": ")


@contextmanager
def listed(path: Path, name: str) -> Iterator[zipfile.ZipFile]:
    """Open a ZIP until the block ends."""
    with _ZipFile(FileIO(path)) as file:
        with unpacking(name):
            archive = zipfile.ZipFile(file)
        yield archive


class _ZipFile(BufferedReader):
    """A ZIP whose list of members, which zipfile reads in one piece, cannot be huge."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > MAX_DIRECTORY:
            raise zipfile.BadZipFile("more files than can be read")
        return super().read(size)


def check_kind(path: Path, name: str, accepted: Message) -> None:
    """Refuse a file that is neither JSON nor a table, by its first bytes.

    Args:
        path: the file.
        name: what messages call it.
        accepted: what it could have been.

    Raises:
        HdbenchError: it is something else; the message says what.
    """
    head = head_of(path)
    start = without_mark(head)
    kind: Message | None = next(
        (_OTHERS[magic] for magic in _OTHERS if start.startswith(magic)), None
    )
    # Further down, a NUL may come from a model: recorded answers have some.
    if b"\0" in head[:BINARY] + head.partition(b"\n")[0]:
        kind = kind or Message("no text")
    if kind:
        raise HdbenchError(
            "{place}: this is {kind}: {accepted}", place=name, kind=kind, accepted=accepted
        )


@contextmanager
def unpacking(place: str, *damages: type[Exception]) -> Iterator[None]:
    """Say in one line why a file cannot be read or unpacked: it is damaged, or there is no room.

    Args:
        place: what messages call the file.
        damages: further exceptions that say that it is damaged.

    Raises:
        HdbenchError: one of them was raised.
    """
    refused: tuple[type[BaseException], ...] = (*_DAMAGES, *damages)
    try:
        yield
    except HdbenchError:  # which is a ValueError too
        raise
    except refused as error:
        why = " ".join(str(error).split())[:200]
        if isinstance(error, OSError) and error.errno:
            why = write_reason(error) if is_full(error) else os_reason(error)
        raise HdbenchError("{place}: cannot be read: {why}", place=place, why=why) from error


def check_size(size: int, most: int, place: str) -> None:
    """Refuse what has more bytes than may be read.

    Args:
        size: how many it has.
        most: how many may be read.
        place: what messages call it.

    Raises:
        HdbenchError: it has more.
    """
    if size > most:
        raise HdbenchError(
            "{place}: larger than {most} MiB: write JSON Lines, or split it",
            place=place,
            most=most >> 20,
        )


def scratch(closing: ExitStack) -> Path:
    """Return a new folder for copies, which is deleted when something is closed."""
    folder = TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True)
    return Path(closing.enter_context(folder))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _can_be_read(name: str) -> bool:
    name = name.lower().rpartition("/")[2]
    return name.endswith(FOLDER_ENDINGS) and name not in NO_ANSWERS


def unpack(path: Path, name: str, closing: ExitStack) -> Path:
    """Return a file as it is, or a copy of one that is packed or Parquet.

    The rows of Parquet become JSON Lines.

    Args:
        path: the file.
        name: what messages call it.
        closing: deletes the copy, which has the file's name.

    Raises:
        HdbenchError: it is damaged or too large.
    """
    for kinds in (PACKED, {b"PAR1": "Parquet"}):  # which may be packed too
        head = head_of(path)
        kind = next((kinds[mark] for mark in kinds if head.startswith(mark)), None)
        if kind is None:
            continue
        import pyarrow as pa  # noqa: PLC0415  slow to import

        is_named, size = path.suffix.lower() in PACKED_ENDINGS, 0
        copy = scratch(closing) / (path.stem if is_named else path.name)
        with unpacking(name, OverflowError, pa.ArrowException), copy.open("wb") as out:
            blocks = _lines(path, name)
            if kind != "Parquet":
                stream = closing.enter_context(pa.input_stream(str(path), compression=kind))
                blocks = iter(partial(stream.read, 2**20), b"")
            for block in blocks:
                size += out.write(block)
                check_size(size, MAX_UNPACKED, name)
        path = copy
    return path


def _lines(path: Path, name: str) -> Iterator[bytes]:
    """Yield the rows of a Parquet file as JSON Lines.

    A text that values share is in the file once, and is held once here too: written out, a file of
    a few hundred bytes can be gigabytes. So rows are measured before they are.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415  slow to import

    about = pq.read_metadata(path)
    columns = [about.schema.column(index) for index in range(len(about.schema.names))]
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [(column, group.column(at)) for group in groups for at, column in enumerate(columns)]
    size = sum(
        chunk.total_uncompressed_size + chunk.num_values * max(VALUE // 4, column.length)
        for column, chunk in chunks
    )
    check_size(size, MAX_UNPACKED, name)
    texts = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
    # Arrow's type for JSON would hold texts once for each value.
    with pq.ParquetFile(path, read_dictionary=texts, arrow_extensions_enabled=False) as file:
        for number, batch in enumerate(file.iter_batches(batch_size=ROWS)):
            place = Message("{place}, row {number}", place=name, number=number * ROWS + 1)
            check_size(_size(batch.to_struct_array()), MAX_GROUP, place)
            for row in batch.to_pylist():
                given = row.pop("prediction", None)
                if given not in (None, "null"):  # a text may be JSON, as in a CSV file
                    row["prediction"] = structured(given) if isinstance(given, str) else given
                line = json.dumps(row, ensure_ascii=False, default=_as_text)
                yield f"{line}\n".encode(errors="backslashreplace")


def _as_text(value: Any) -> str:
    """Return a value that JSON does not have as a text, as which some programs write bytes."""
    return value.decode() if isinstance(value, bytes) else cell_of(value)


def _size(values: "pa.Array") -> int:
    """Return how many bytes values take in Python, a text that they share for each of them."""
    import pyarrow as pa  # noqa: PLC0415  slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    size = VALUE * len(values)
    if pa.types.is_dictionary(values.type):
        counts = values.indices.drop_null().value_counts()
        lengths = pc.binary_length(values.dictionary.take(counts.field("values")))
        return size + (pc.sum(pc.multiply(lengths, counts.field("counts"))).as_py() or 0)
    if pa.types.is_map(values.type):
        return size + _size(values.keys) + _size(values.items)
    if not pa.types.is_nested(values.type):
        return size
    inner = values.flatten()
    return size + sum(map(_size, inner if pa.types.is_struct(values.type) else [inner]))
