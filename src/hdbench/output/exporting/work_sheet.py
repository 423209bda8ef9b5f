"""The work list of a decision as an Excel workbook that people fill in."""

import base64
import datetime
import os
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from PIL import Image

from hdbench.annotating.working.worked_values import WorkedValues
from hdbench.answers.cells import column_letter
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.excel import workbook_into, write_cell, xlsx_writer
from hdbench.common.extras import MissingExtraError, needed
from hdbench.common.jsonio import whole_file
from hdbench.common.progress import progress
from hdbench.common.thumbnails import thumbnail
from hdbench.common.translation import translated
from hdbench.errors import HdbenchError, Message
from hdbench.trust.sheet.fields import sheet_fields
from hdbench.trust.sheet.layout import (
    HEADINGS,
    NOT_IN_TEXT,
    NOT_ON_IMAGE,
    Column,
    key_of,
    shown_text,
    shown_value,
)
from hdbench.trust.sheet.open_values import OpenValue, open_keys, open_values
from hdbench.trust.working import AppliedWorkList

MAX_VALUES = 65_530
"""Maximum number of values in a work sheet: Excel opens no sheet with more links."""

MAX_THUMBNAILS = 48 * 2**20
"""Maximum size in bytes of all thumbnails in a workbook."""

THUMBNAIL_WIDTH = 240
"""Maximum width of a thumbnail in pixels; it is at most twice as high."""

_QUALITY = 60
_FIRST_CHOICE = 2  # after the key and the number of choices
_ASCII = 0x80
_MAX_LINK = 2_000
_MAX_ROW_HEIGHT = 409  # Excel's, in points
_POINTS = 0.75  # in a pixel
_ABOVE_THUMBNAIL = 20  # pixels, for the link
_CREATED = datetime.datetime(1980, 1, 1)  # the current time would make each sheet different
_WIDTHS: dict[Column, int] = {
    "item": 16,
    "field": 20,
    "image": 34,
    "value": 32,
    "remark": 24,
    "confidence": 12,
    "reason": 22,
    "key": 22,
}
_CANDIDATE_WIDTH = 28


class WrittenSheet(NamedTuple):
    """What was written.

    Attributes:
        values: how many values the sheet has.
        left: how many values of the work list are not in it, because of a limit.
        worked: how many were left out because they are worked off.
        without_thumbnail: how many items have no thumbnail, where there are to be some.
    """

    values: int
    left: int
    worked: int
    without_thumbnail: int


@dataclass(frozen=True)
class SheetOptions:
    """Options of a work sheet.

    Attributes:
        language: the language of its headings and choices.
        limit: the maximum number of values, the worst ones; None for all of them.
        thumbnails: whether it has small pictures of the items.
    """

    language: str
    limit: int | None = None
    thumbnails: bool = False


def write_work_sheet(path: Path, work_list: AppliedWorkList, options: SheetOptions) -> WrittenSheet:
    """Write the values of a work list that nobody has worked off yet, a row for each.

    The items stand as in the work list, the worst first, the values of an item together.

    Args:
        path: the workbook.
        work_list: the work list.
        options: what the workbook has.

    Raises:
        HdbenchError: there is such a file already, which may be filled in; there is nothing left;
            or there is more than a sheet can hold.
        MissingExtraError: xlsxwriter is not installed.
    """
    xlsx_writer()
    if path.exists():
        raise HdbenchError(
            "{place}: is there already, and may be filled in: choose another -o", place=path
        )
    waiting, worked = _waiting(work_list)
    total = sum(map(len, waiting.values()))
    if total > MAX_VALUES and options.limit is None:
        raise HdbenchError(
            "{count:,} values to look at are more than the {most:,} that a sheet can hold (each "
            "has a link, and Excel opens no more of them): add --limit {limit}, which takes the "
            "worst ones, and write the next sheet when they are worked off",
            count=total,
            most=MAX_VALUES,
            limit=str(MAX_VALUES),
        )
    if not total:
        raise HdbenchError(
            "{place}: nothing to look at is left: all values are taken over or worked off",
            place=work_list.out,
        )
    number = min(total, options.limit or total)
    items = list(_worst(waiting, number))
    packed = BytesIO()
    with whole_file(path) as unfinished:
        with workbook_into(packed, {"constant_memory": True}) as book:
            writer = _SheetWriter(
                book, work_list, options, _Media(work_list.benchmark, items, path)
            )
            rows = islice(_open_values(work_list, waiting, items), number)
            for value in progress(rows, "Writing the sheet", number):
                writer.add(value)
            writer.finish()
        _check_size(packed, path)
        unfinished.write_bytes(packed.getbuffer())
    return WrittenSheet(number, total - number, worked, writer.without_thumbnail)


def _waiting(work_list: AppliedWorkList) -> tuple[dict[str, set[str]], int]:
    """Return item → its fields to look at, the worst item first; and how many are worked off."""
    current = WorkedValues(work_list.out).current()
    fields: dict[str, set[str]] = {}
    worked = 0
    for key in open_keys(work_list):
        if key in current:
            worked += 1
        else:
            fields.setdefault(key.item, set()).add(key.field)
    return fields, worked


def _worst(waiting: Mapping[str, Collection[str]], number: int) -> Iterator[str]:
    """Yield the items that have so many values, the worst first."""
    for item, fields in waiting.items():
        if number <= 0:
            return
        yield item
        number -= len(fields)


def _open_values(
    work_list: AppliedWorkList, waiting: Mapping[str, Collection[str]], items: Sequence[str]
) -> Iterator[OpenValue]:
    for item in items:
        yield from (
            value for value in open_values(work_list, item) if value.key.field in waiting[item]
        )


def _check_size(packed: BytesIO, path: Path) -> None:
    """Refuse a workbook that could not be read again.

    Raises:
        HdbenchError: it is too large.
    """
    with needed("excel", "Excel files need"):
        from hdbench.answers.spreadsheet import MAX_UNPACKED  # noqa: PLC0415

    with zipfile.ZipFile(packed) as archive:
        size = sum(part.file_size for part in archive.infolist() if part.filename.endswith("xml"))
    # A spreadsheet program may write the same in more bytes.
    if 2 * size > MAX_UNPACKED:
        raise HdbenchError(
            "{place}: not written, since it would be too large to be read again ({size:,} MiB "
            "unpacked): add a smaller --limit",
            place=path,
            size=size >> 20,
        )


class _Media:
    """The media of items, as seen from a work sheet.

    Args:
        benchmark: the items.
        items: those in the sheet.
        sheet: the workbook.
    """

    def __init__(self, benchmark: Benchmark, items: Collection[str], sheet: Path) -> None:
        self._shown = benchmark.shown(set(items))
        self._folder = sheet.resolve().parent
        self.is_text = benchmark.spec.media == "text"

    def text(self, item: str) -> str:
        """Return what the sheet says of an item: its text, or the name of its first file."""
        shown = self._shown[item]
        return shown.media[0].name if shown.media else shown.text

    def link(self, item: str) -> str | None:
        """Return a link to the first file of an item, relative to the sheet; None without one."""
        media = self._shown[item].media
        if not media:
            return None
        try:
            # As it is called in the collection, not where a link leads from there.
            path = os.path.relpath(os.path.abspath(media[0]), self._folder)
        except ValueError:  # on another drive
            return None
        link = "".join(
            sign if ord(sign) >= _ASCII else quote(sign) for sign in Path(path).as_posix()
        )
        return f"external:{link}" if len(link) <= _MAX_LINK else None

    def thumbnail(self, item: str) -> "_Thumbnail | None":
        """Return a small picture of an item; None if its first file is missing or damaged."""
        media = self._shown[item].media
        try:
            uri = thumbnail(media[0], width=THUMBNAIL_WIDTH) if media else None
        except MissingExtraError:
            raise
        except HdbenchError:
            return None
        if uri is None:
            return None
        data = BytesIO()
        with Image.open(BytesIO(base64.b64decode(uri.partition(",")[2]))) as image:
            # Excel shows no WebP.
            image.convert("RGB").save(data, "JPEG", quality=_QUALITY)
            return _Thumbnail(data, image.height)


class _Thumbnail(NamedTuple):
    """A small picture, and its height in pixels."""

    data: BytesIO
    height: int


class _SheetWriter:
    """Writes rows into a workbook: the sheet, and a hidden one with the choices of each row.

    Args:
        book: xlsxwriter's workbook.
        work_list: the work list.
        options: what the workbook has.
        media: the items' media.

    Attributes:
        without_thumbnail: how many items have no thumbnail, where there are to be some.
    """

    def __init__(
        self, book: Any, work_list: AppliedWorkList, options: SheetOptions, media: _Media
    ) -> None:
        self.without_thumbnail = 0
        self._names = work_list.names
        self._seal = work_list.seal
        self._options = options
        self._media = media
        self._fields = sheet_fields(work_list.benchmark)
        self._nothing = self._in_language(NOT_IN_TEXT if media.is_text else NOT_ON_IMAGE)
        self._item: str | None = None
        self._link: str | None = None
        self._row = 0
        self._size = 0
        book.set_properties({"created": _CREATED})
        # As text: what is typed stays as it is, also 0012, 3-5 and =1+1. Without the quote prefix
        # Excel would make a formula of a text as soon as it is edited.
        base = {"num_format": "@", "quote_prefix": True, "text_wrap": True, "valign": "top"}
        self._text = book.add_format(base)
        self._bold = book.add_format(base | {"bold": True, "bottom": 1, "bg_color": "#E7E9ED"})
        self._entry = book.add_format(
            {"num_format": "@", "text_wrap": True, "valign": "top"}
            | {"bg_color": "#FFF8DC", "border": 1, "border_color": "#B0A878"}
        )
        self._blue = book.add_format(base | {"font_color": "#0B57D0", "underline": 1})
        self._number = book.add_format({"num_format": "0.000", "valign": "top", "align": "left"})
        self._sheet = book.add_worksheet(self._in_language(Message("Work list")))
        self._hidden = self._in_language(Message("Choices"))
        self._choices = book.add_worksheet(self._hidden)
        self._choices.hide()
        self._columns = self._begin()

    def _in_language(self, text: Message) -> str:
        return translated(text, self._options.language)

    def _begin(self) -> dict[Column, int]:
        """Write the headings, and return column → its position."""
        before: tuple[Column, ...] = ("item", "field", "image")
        after: tuple[Column, ...] = ("value", "remark", "confidence", "reason", "key")
        names = self._names
        columns = {column: place for place, column in enumerate(before)}
        columns |= {column: len(before) + len(names) + place for place, column in enumerate(after)}
        for column, place in columns.items():
            self._sheet.set_column(place, place, _WIDTHS[column])
        self._sheet.set_column(len(before), len(before) + len(names) - 1, _CANDIDATE_WIDTH)
        headings = [self._in_language(HEADINGS[column]) for column in before]
        headings += [self._in_language(Message("Run {name}", name=name)) for name in names]
        headings += [self._in_language(HEADINGS[column]) for column in after]
        for place, heading in enumerate(headings):
            write_cell(self._sheet, 0, place, shown_text(heading), self._bold)
        self._sheet.freeze_panes(1, len(before))
        return columns

    def add(self, value: OpenValue) -> None:
        """Write a row."""
        self._row += 1
        language = self._options.language
        if value.key.item != self._item:
            self._item = value.key.item
            self._link = self._media.link(self._item)
            if self._options.thumbnails:
                self._add_thumbnail(self._item)
        field = self._fields[value.key.field]
        key = key_of(self._seal, value.key)
        self._write("item", value.key.item)
        self._write("field", field.titles[language])
        self._write_image(self._item)
        first = self._columns["image"] + 1
        for place, candidate in enumerate(value.candidates, start=first):
            shown = shown_value(candidate, language)
            if shown:
                write_cell(self._sheet, self._row, place, shown, self._text)
        for column in ("value", "remark"):
            self._sheet.write_blank(self._row, self._columns[column], None, self._entry)
        if value.score is not None:
            place = self._columns["confidence"]
            self._sheet.write_number(self._row, place, value.score, self._number)
        self._write("reason", self._in_language(Message(value.reason)))
        self._write("key", key)
        choices = [*field.choices(value.candidates, language), self._nothing]
        self._choices.write_string(self._row, 0, key, self._text)
        self._choices.write_number(self._row, 1, len(choices))
        for place, choice in enumerate(choices, start=_FIRST_CHOICE):
            write_cell(self._choices, self._row, place, choice, self._text)

    def finish(self) -> None:
        """Add what is about all rows."""
        last, place = self._row, self._columns["value"]
        # By the row's key, since a row that is sorted leaves the rules of its cells behind.
        key = f"${column_letter(self._columns['key'] + 1)}2"
        row = f"MATCH({key},'{self._hidden}'!$A$2:$A${last + 1},0)"
        first = f"'{self._hidden}'!${column_letter(_FIRST_CHOICE + 1)}$1"
        count = f"INDEX('{self._hidden}'!$B$2:$B${last + 1},{row})"
        self._sheet.data_validation(
            *(1, place, last, place),
            {
                "validate": "list",
                "source": f"=OFFSET({first},{row},0,1,{count})",
                "show_error": False,  # anything else can be typed
            },
        )
        self._sheet.autofilter(0, 0, last, max(self._columns.values()))
        self._sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{last + 1}"})

    def _write(self, column: Column, text: str) -> None:
        place = self._columns[column]
        write_cell(self._sheet, self._row, place, shown_text(text), self._text)

    def _write_image(self, item: str) -> None:
        text = shown_text(self._media.text(item))
        if self._link is None or text.startswith("<r>"):  # see `write_cell`
            self._write("image", text)
        else:
            place = self._columns["image"]
            self._sheet.write_url(self._row, place, self._link, self._blue, text)

    def _add_thumbnail(self, item: str) -> None:
        picture = self._media.thumbnail(item)
        if picture is None or self._size > MAX_THUMBNAILS:
            self.without_thumbnail += 1
            return
        self._size += picture.data.getbuffer().nbytes
        height = (picture.height + _ABOVE_THUMBNAIL) * _POINTS
        self._sheet.set_row(self._row, min(height, _MAX_ROW_HEIGHT))
        options = {"image_data": picture.data, "y_offset": _ABOVE_THUMBNAIL, "object_position": 1}
        if self._link is not None:
            options["url"] = self._link
        self._sheet.insert_image(self._row, self._columns["image"], "item.jpg", options)
