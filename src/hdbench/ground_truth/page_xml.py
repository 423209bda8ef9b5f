"""PAGE XML, in which Transkribus and eScriptorium export transcriptions: the text of each page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdbench.answers.sheets.records import Truths
from hdbench.errors import HdbenchError, Message
from hdbench.ground_truth.files import Remarks, file_name
from hdbench.ground_truth.xml_files import line_texts, name_of, read_documents

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_INDEX = re.compile(r"[0-9]{1,9}")
_CUSTOM = re.compile(r"readingOrder\s*\{\s*index\s*:\s*([0-9]{1,9})")
"""Number of a region or line of Transkribus, in the attribute `custom`."""


def read_page_xml(path: Path) -> Truths:
    """Return the text of each page, in files of any version of PAGE XML.

    Regions are in reading order: that of `ReadingOrder`; else that of the attribute `custom`, if
    all regions have it; else as in the file. Lines are in the order of their `index` or `custom`,
    if all have it. A line's text is the `TextEquiv` with the lowest index, or its words. Lines are
    joined by line breaks, and so are regions; a line without text is left out.

    Args:
        path: a file, or a folder of them, such as an export with its `mets.xml`.

    Returns:
        Records `{"text": …}`. The key is the name of the page's image.

    Raises:
        HdbenchError: there is none, or some are unusable; the message names the files and lines.
        MissingExtraError: lxml is not installed.
    """
    return read_documents(path, "PcGts", "PAGE XML", _read)


def _read(
    root: "Element", where: str, remarks: Remarks
) -> tuple[str | None, dict[str, Any] | None]:
    page = root.find("{*}Page")
    if page is None:
        raise HdbenchError(
            "{place}:{line}: PAGE XML without a Page", place=where, line=root.sourceline
        )
    order = _reading_order(page)
    regions = _in_order(_regions(page), order)
    if order:
        ids = {region.get("id") for region in page.iter() if _is_region(region)}
        if order.keys() - ids:
            remarks.add(Message("the reading order has regions that are not there"), where)
        if any(region.get("id") not in order for region in regions):
            remarks.add(Message("the reading order leaves out regions, which come last"), where)
    texts = [text for region in regions for text in _texts(region, order, where, remarks)]
    record = {"text": "\n".join(texts)} if texts else None
    return file_name(page.get("imageFilename")), record


def _reading_order(page: "Element") -> dict[str, int]:
    """Return the region's id → its position; empty if the page does not say."""
    root = page.find("{*}ReadingOrder")
    regions = [] if root is None else list(_references(root))
    return {region: position for position, region in reversed(list(enumerate(regions)))}


def _references(group: "Element") -> Iterator[str]:
    """Yield the ids of the regions in a group and in the groups within it, in order."""
    if "regionRef" in group.attrib:
        yield str(group.get("regionRef"))
    children = list(group)
    if name_of(group).startswith("OrderedGroup"):
        children.sort(key=lambda child: _number(child.get("index")) or 0)
    for child in children:
        yield from _references(child)


def _texts(region: "Element", order: Mapping[str, int], where: str, remarks: Remarks) -> list[str]:
    """Return the texts of a region's lines, then those of the regions within it.

    Without any, the text of the region itself.
    """
    lines = _in_order([child for child in region if name_of(child) == "TextLine"], {})
    texts = list(line_texts(lines, _line_text, where, remarks))
    for inner in _in_order(_regions(region), order):
        texts += _texts(inner, order, where, remarks)
    return texts or list(filter(None, [_text(region, where)]))


def _line_text(line: "Element", where: str) -> str:
    words = (_text(child, where) for child in line if name_of(child) == "Word")
    return _text(line, where) or " ".join(filter(None, words))


def _text(element: "Element", where: str) -> str:
    """Return the text that stands directly at an element: its `TextEquiv` with the lowest index."""
    texts = []
    for equivalent in element.iterfind("{*}TextEquiv"):
        place = f"{where}:{equivalent.sourceline}"
        index = _number(equivalent.get("index", "0"))
        if index is None:
            raise HdbenchError("{place}: TextEquiv's index is not a number from 0", place=place)
        unicode = equivalent.find("{*}Unicode")
        if unicode is None:
            raise HdbenchError("{place}: TextEquiv without Unicode", place=place)
        texts.append((index, "".join(map(str, unicode.itertext())).strip()))
    return min(texts, key=lambda text: text[0])[1] if texts else ""


def _regions(element: "Element") -> list["Element"]:
    return [child for child in element if _is_region(child)]


def _is_region(element: "Element") -> bool:
    """Return whether an element is a region; in Transkribus's tables, cells take their place."""
    name = name_of(element)
    return name.endswith("Region") or name == "TableCell"


def _in_order(elements: Sequence["Element"], order: Mapping[str, int]) -> list["Element"]:
    if order:
        return sorted(elements, key=lambda element: order.get(str(element.get("id")), len(order)))
    positions = {element: _position(element) for element in elements}
    if None in positions.values():
        return list(elements)
    return sorted(elements, key=lambda element: positions[element] or 0)


def _position(element: "Element") -> int | None:
    """Return the position that an element says it has among its siblings."""
    custom = _CUSTOM.search(element.get("custom", ""))
    return int(custom[1]) if custom else _number(element.get("index"))


def _number(text: str | None) -> int | None:
    return int(text) if text and _INDEX.fullmatch(text.strip()) else None
