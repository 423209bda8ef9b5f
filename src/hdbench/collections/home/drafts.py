"""Collections and additions that are being made, in hidden folders beside the collections."""

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from threading import Lock

from pydantic import RootModel

from hdbench.answers.columns import MappedColumn
from hdbench.answers.csv_lines import FIRST_ROWS, Row
from hdbench.answers.tables import raw_table
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.collections.home.folder import SCHEMA
from hdbench.collections.home.stamps import Kept
from hdbench.collections.home.uploads import UploadedFile
from hdbench.collections.new.media import KINDS, pages_in
from hdbench.collections.new.plan import (
    CollectionPlan,
    CollectionRequest,
    Sources,
    columns_of,
    make_plan,
    read_sources,
)
from hdbench.collections.new.writing import (
    add_items,
    plan_addition,
    read_addition,
    write_collection,
)
from hdbench.collections.truth.media import BrowserImage, small_picture
from hdbench.common.files import read_text, write_errors
from hdbench.common.jsonio import parse_file, write_json
from hdbench.common.validation import validate
from hdbench.common.writing import make_folder
from hdbench.errors import HdbenchError

TABLES = (".csv", ".tsv", ".xlsx", ".ods")
"""Endings of tables, in which a person can choose the row with the headings."""

ID = "id"
"""Where the column goes that names the items."""

NOT_USED = "-"
"""Where a column goes that is not used."""

NEW, ADDED = ".new", ".add"
"""Endings of the folders' names: of new collections, and of items that are added to one."""

_REQUEST = "request.json"
_MAX_REQUEST = 2**20


class _Requested(RootModel[CollectionRequest]):
    """What is known of a draft, as its file has it."""


class CollectionDraft:
    """Scans that are going to be a collection, or a part of one.

    Args:
        folder: its hidden folder, whose name ends with `NEW` or `ADDED`.

    Attributes:
        folder: same as in Args.
        name: the collection's name.
        place: the folder that the collection's folder is in, or is going to be in.
        is_addition: whether the collection is there already.
        collection: the collection's folder.
        writing: held while it is written, so that it is only once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.place, self.writing = folder, folder.parent, Lock()
        self.is_addition = folder.name.endswith(ADDED)
        self.name = folder.name.removeprefix(".").removesuffix(ADDED if self.is_addition else NEW)
        self.collection = self.place / self.name
        self._kept = Kept()
        self._read_for: CollectionRequest | None = None

    @classmethod
    def begin(cls, collection: Path, ending: str) -> "CollectionDraft":
        """Begin a collection, or an addition to one, or resume that.

        Args:
            collection: the collection's folder.
            ending: `NEW` or `ADDED`.

        Raises:
            HdbenchError: nothing can be written there.
        """
        folder = collection.with_name(f".{collection.name}{ending}")
        with write_errors(folder):
            make_folder(folder)
        return cls(folder)

    def write(self) -> None:
        """Write what is planned, and remove the draft.

        Raises:
            HdbenchError: see `plan`; or something cannot be written.
        """
        plan = self.plan()
        if self.is_addition:
            with write_errors(self.folder):
                copies = tempfile.TemporaryDirectory(prefix="ready-", dir=self.folder)
            with copies as scratch:
                add_items(plan, self.collection, Path(scratch))
        else:
            write_collection(plan, self.place)
        self.remove()

    @property
    def scans(self) -> Path:
        """Return the folder of the scans that were sent."""
        return self.folder / "scans"

    def requested(self) -> CollectionRequest:
        """Return what is known so far.

        Raises:
            HdbenchError: its file is damaged.
        """
        path = self.folder / _REQUEST
        if not path.is_file():
            return CollectionRequest(self.name, self.scans)
        return validate(_Requested, parse_file(read_text(path, _MAX_REQUEST), path), path).root

    def change(self, **values: object) -> None:
        """Change what is known.

        Raises:
            HdbenchError: a value is none of its kind, or cannot be written; or nothing could be
                planned with it any more. Then nothing is changed.
        """
        path = self.folder / _REQUEST
        requested = validate(_Requested, asdict(self.requested()) | values, path)
        if self._read_for and values.get("columns") and requested.root.truth:
            self._planned(requested.root)
        write_json(path, requested.model_dump(mode="json"))

    def add_scan(self, given: UploadedFile) -> None:
        """Take in a scan, a PDF or a text.

        Raises:
            HdbenchError: it is something else, damaged, or of another kind than the others. Then it
                is not taken in.
        """
        kind = KINDS.get(given.name.suffix.lower())
        if kind is None:
            raise HdbenchError(
                "{place}: neither an image (JPEG, PNG, WebP, TIFF) nor a PDF or a text: a ZIP has "
                "to be unpacked first",
                place=given.name,
            )
        first = _first_scan(self.scans)
        if first and kind not in ("text", KINDS[first.suffix.lower()]):
            raise HdbenchError(
                "{place}: is not of the same kind as {other}: images and PDFs are collections of "
                "their own",
                place=given.name,
                other=first.name,
            )
        for _ in pages_in(given.path):
            pass
        target = self.scans / given.name
        with write_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            given.path.replace(target)
        self._read_for = None  # a page in an item's folder does not change the outer one
        self.change(images=self.scans)

    def remove_scans(self) -> None:
        """Take all scans back, so that others can be sent; all else that is known stays."""
        shutil.rmtree(self.scans, ignore_errors=True)
        self._read_for = None
        self.change(images=self.scans)

    def add_truth(self, given: UploadedFile) -> None:
        """Take in a table, or another ground truth.

        Raises:
            HdbenchError: it cannot be written.
        """
        folder = self.folder / "truth"
        with write_errors(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            given.path.replace(folder / given.name.name)
        self._read_for = None
        self.change(truth=folder / given.name.name, header_rows=None, columns={}, kinds={})

    def plan(self) -> CollectionPlan:
        """Return what would be written.

        Raises:
            HdbenchError: what is there so far is not enough, or cannot be used.
        """
        return self._planned(self.requested())

    def columns(self) -> Sequence[MappedColumn]:
        """Return the columns of the table; none if there is no usable one."""
        with suppress(HdbenchError):
            return columns_of(self.requested(), self.sources())
        return ()

    def first_rows(self) -> Sequence[Row]:
        """Return the first rows of the table as they are; none if the ground truth is no table."""
        truth = self.requested().truth
        if truth is None or truth.suffix.lower() not in TABLES:
            return ()
        with suppress(HdbenchError):  # the plan says what is wrong
            return list(islice(raw_table(truth).rows, FIRST_ROWS))
        return ()

    def picture(self, number: int) -> BrowserImage:
        """Return a small picture of the first page of an item, by its place.

        Raises:
            HdbenchError: there is no such item, or its file cannot be shown.
        """
        items = self.sources().media.items
        if number >= len(items):
            raise HdbenchError("there is no such item")
        return small_picture(items[number].pages[0].path)

    def use_of(self, column: MappedColumn) -> str:
        """Return where a column goes, as `CollectionRequest.columns` has it."""
        if column.key:
            return ID
        return self.requested().columns.get(column.title) or column.path or NOT_USED

    def sources(self) -> Sources:
        """Return what there is, read again only if it has changed.

        Raises:
            HdbenchError: a file is unusable.
        """
        requested = self.requested()
        key = replace(requested, columns={}, kinds={}, fields=())
        if key != self._read_for:
            self._read_for, self._kept = key, Kept()
        files = list(filter(None, (requested.images, requested.truth)))
        if self.is_addition:
            files += [self.collection / name for name in (METADATA, DESCRIPTION, SCHEMA)]
        return self._kept.get("sources", files, self._read)

    def remove(self) -> None:
        """Remove the draft, with the copies of what was sent."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._read_for = None

    def _read(self) -> Sources:
        if self.is_addition:
            return read_addition(self.collection, self.requested())
        return read_sources(self.requested(), self.place)

    def _planned(self, requested: CollectionRequest) -> CollectionPlan:
        return (plan_addition if self.is_addition else make_plan)(requested, self.sources())


def _first_scan(folder: Path) -> Path | None:
    """Return some image or PDF in a folder, beside which there can be texts; None without any."""
    files = (path for path in folder.rglob("*") if KINDS.get(path.suffix.lower()) != "text")
    return next((path for path in files if path.is_file()), None)
