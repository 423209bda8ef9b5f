"""The work list of a decision as an Excel workbook that people fill in."""

import datetime
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.annotating.working.worked_values import WorkedValues
from hdbench.answers.cells import column_letter
from hdbench.answers.spreadsheet import MAX_UNPACKED
from hdbench.common.excel import workbook_into, write_cell, xlsx_writer
from hdbench.common.jsonio import whole_file
from hdbench.common.progress import progress
from hdbench.common.translation import translated
from hdbench.errors import HdbenchError, Message
from hdbench.output.exporting.sheet_media import SheetMedia
from hdbench.trust.applying import why_to_look
from hdbench.trust.sheet.fields import sheet_fields
from hdbench.trust.sheet.layout import (
    HEADINGS,
    Column,
    key_of,
    nothing_in,
    shown_text,
    shown_value,
)
from hdbench.trust.working import AppliedWorkList, OpenValue, open_keys, open_values

MAX_VALUES = 65_530
"""Maximum number of values in a work sheet: Excel opens no sheet with more links."""

MAX_THUMBNAILS = 48 * 2**20
"""Maximum size in bytes of all thumbnails in a workbook."""

_FIRST_CHOICE = 2  # after the key and the number of choices
_LINE = 15  # Excel's height of a row, in points
_MAX_ROW_HEIGHT = 409  # Excel's, in points
_POINTS = 0.75  # in a pixel
_ABOVE_THUMBNAIL = 20  # pixels, for the link
_CREATED = datetime.datetime(1980, 1, 1)  # the current time would make each sheet different
_WIDTHS: dict[Column, int] = {
    "item": 16,
    "field": 26,
    "image": 30,
    "value": 32,
    "remark": 24,
    "confidence": 12,
    "reason": 22,
    "key": 22,
}
_CANDIDATE_WIDTH = 28
_THUMBNAIL_COLUMN = 46


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
            "{place}: nothing to look at is left: all values are accepted or worked off",
            place=work_list.out,
        )
    number = min(total, options.limit or total)
    items = list(_worst(waiting, number))
    packed = BytesIO()
    with whole_file(path) as unfinished:
        with workbook_into(packed, {"constant_memory": True}) as book:
            writer = _SheetWriter(
                book, work_list, options, SheetMedia(work_list.benchmark, items, path)
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


class _Looks:
    """The formats of the cells of a row.

    Args:
        book: xlsxwriter's workbook.
        border: what they have besides.
    """

    def __init__(self, book: Any, border: Mapping[str, Any]) -> None:
        top = {"valign": "top", **border}
        # As text: what is typed stays as it is, also 0012, 3-5 and =1+1. Without the quote prefix
        # Excel would make a formula of a text as soon as it is edited.
        text = top | {"num_format": "@", "text_wrap": True, "quote_prefix": True}
        self.text = book.add_format(text)
        self.heading = book.add_format(text | {"bold": True, "bottom": 1, "bg_color": "#E7E9ED"})
        self.link = book.add_format(text | {"font_color": "#0B57D0", "underline": 1})
        self.number = book.add_format(top | {"num_format": "0.000", "align": "left"})
        framed = {"border": 1, "border_color": "#B0A878", "bg_color": "#FFF8DC"}
        self.entry = book.add_format({"num_format": "@", "text_wrap": True} | framed | top)


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
        self, book: Any, work_list: AppliedWorkList, options: SheetOptions, media: SheetMedia
    ) -> None:
        self.without_thumbnail = 0
        self._names = work_list.names
        self._seal = work_list.seal
        self._options = options
        self._media = media
        self._fields = sheet_fields(work_list.benchmark)
        self._nothing = self._in_language(nothing_in(work_list.benchmark.spec.media))
        self._item: str | None = None
        self._link: str | None = None
        self._row = 0
        self._size = 0
        book.set_properties({"created": _CREATED})
        self._first_looks = _Looks(book, {"top": 1, "top_color": "#8A9099"})
        self._other_looks = _Looks(book, {})
        self._sheet = book.add_worksheet(self._in_language(Message("Work list")))
        self._hidden = self._in_language(Message("Choices"))
        self._choices = book.add_worksheet(self._hidden)
        self._choices.hide()
        self._columns, self._widths = self._begin()

    def _in_language(self, text: Message) -> str:
        return translated(text, self._options.language)

    def _begin(self) -> tuple[dict[Column, int], list[int]]:
        """Write the headings; return column → its position, and the widths of all columns."""
        before: tuple[Column, ...] = ("item", "field", "image")
        after: tuple[Column, ...] = ("value", "remark", "confidence", "reason", "key")
        names = self._names
        columns = {column: place for place, column in enumerate(before)}
        columns |= {column: len(before) + len(names) + place for place, column in enumerate(after)}
        widths = [_WIDTHS[column] for column in before]
        widths += [_CANDIDATE_WIDTH] * len(names)
        widths += [_WIDTHS[column] for column in after]
        if self._options.thumbnails:
            widths[columns["image"]] = _THUMBNAIL_COLUMN
        headings = [self._in_language(HEADINGS[column]) for column in before]
        headings += [self._in_language(Message("Run {name}", name=name)) for name in names]
        headings += [self._in_language(HEADINGS[column]) for column in after]
        self._sheet.set_row(0, _LINE * max(map(_lines, headings, widths)))
        for place, (heading, width) in enumerate(zip(headings, widths, strict=True)):
            self._sheet.set_column(place, place, width)
            write_cell(self._sheet, 0, place, shown_text(heading), self._other_looks.heading)
        self._sheet.freeze_panes(1, len(before))
        return columns, widths

    def add(self, value: OpenValue) -> None:
        """Write a row."""
        self._row += 1
        language = self._options.language
        is_first = value.key.item != self._item
        looks = self._first_looks if is_first else self._other_looks
        if is_first:
            self._item = value.key.item
            self._link = self._media.link(self._item)
        field = self._fields[value.key.field]
        key = key_of(self._seal, value.key)
        own: dict[Column, str] = {
            "item": shown_text(value.key.item),
            "field": shown_text(field.titles[language]),
            "image": shown_text(self._media.text(value.key.item)),
            "reason": self._in_language(why_to_look(value.reason)),
            "key": key,
        }
        texts = {self._columns[column]: text for column, text in own.items()}
        first = self._columns["image"] + 1
        texts |= {
            first + place: shown_value(candidate, language)
            for place, candidate in enumerate(value.candidates)
        }
        lines = max(_lines(text, self._widths[place]) for place, text in texts.items())
        height = float(lines * _LINE)
        if is_first and self._options.thumbnails:
            height = max(height, self._add_thumbnail(value.key.item))
        if height > _LINE:
            self._sheet.set_row(self._row, min(height, _MAX_ROW_HEIGHT))
        for place, text in texts.items():
            if place == self._columns["image"] and self._link:
                self._sheet.write_url(self._row, place, self._link, looks.link, text)
            elif text:
                write_cell(self._sheet, self._row, place, text, looks.text)
            else:
                self._sheet.write_blank(self._row, place, None, looks.text)
        for column in ("value", "remark"):
            self._sheet.write_blank(self._row, self._columns[column], None, looks.entry)
        place = self._columns["confidence"]
        if value.score is None:
            self._sheet.write_blank(self._row, place, None, looks.number)
        else:
            self._sheet.write_number(self._row, place, value.score, looks.number)
        self._add_choices(key, [*field.choices(value.candidates, language), self._nothing])

    def _add_choices(self, key: str, choices: Sequence[str]) -> None:
        looks = self._other_looks
        self._choices.write_string(self._row, 0, key, looks.text)
        self._choices.write_number(self._row, 1, len(choices))
        for place, choice in enumerate(choices, start=_FIRST_CHOICE):
            write_cell(self._choices, self._row, place, choice, looks.text)

    def finish(self) -> None:
        """Add what is about all rows."""
        last, place = self._row, self._columns["value"]
        # By the row's key, since a row that is sorted leaves the rules of its cells behind.
        key = f"${column_letter(self._columns['key'] + 1)}2"
        hidden = "'{}'".format(self._hidden.replace("'", "''"))
        row = f"MATCH({key},{hidden}!$A$2:$A${last + 1},0)"
        first = f"{hidden}!${column_letter(_FIRST_CHOICE + 1)}$1"
        count = f"INDEX({hidden}!$B$2:$B${last + 1},{row})"
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

    def _add_thumbnail(self, item: str) -> float:
        """Add the picture of an item to its first row, and return the height that it needs."""
        picture = self._media.thumbnail(item)
        if picture is None or self._size > MAX_THUMBNAILS:
            self.without_thumbnail += 1
            return 0
        self._size += picture.data.getbuffer().nbytes
        options = {"image_data": picture.data, "y_offset": _ABOVE_THUMBNAIL, "object_position": 1}
        if self._link is not None:
            options["url"] = self._link
        self._sheet.insert_image(self._row, self._columns["image"], "item.jpg", options)
        return (picture.height + _ABOVE_THUMBNAIL) * _POINTS


def _lines(text: str, width: int) -> int:
    """Return about how many lines a text has in a column."""
    return sum(1 + len(line) // width for line in text.split("\n"))
