"""PAGE XML, in which Transkribus, eScriptorium and Aletheia export transcriptions."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hdbench.common.page_text.boxes import Box, box_around, numbers
from hdbench.common.page_text.page import Lines, PageText, Remark, TextLine, image_name, regions_of
from hdbench.common.xml_documents import name_of
from hdbench.errors import HdbenchError

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_INDEX = re.compile(r"[0-9]{1,9}")
_CUSTOM = re.compile(r"readingOrder\s*\{\s*index\s*:\s*([0-9]{1,9})")
"""Number of a region or line of Transkribus, in the attribute `custom`."""

_POINT = re.compile(r"(-?[0-9]{1,9})(?:\.[0-9]+)?\s*,\s*(-?[0-9]{1,9})")
_DIRECTIONS = {
    "top-to-bottom": (1, 1),
    "bottom-to-top": (1, -1),
    "left-to-right": (0, 1),
    "right-to-left": (0, -1),
}
"""`textLineOrder` → the coordinate that lines are sorted by, and its sign."""


def page_xml_pages(root: "Element", where: str, remark: Remark) -> list[PageText]:
    """Return the text of the page in PAGE XML.

    Regions are in the order of `ReadingOrder`; else of the attribute `custom` or `index`, if all
    have it; else of the file. So are the lines of a region, by `custom` or `index`; but if not all
    have it, the region's own text decides if it has the same lines, and then `textLineOrder`. A
    line's text is the `TextEquiv` with the lowest index, or its words.
    """
    page = root.find("{*}Page")
    if page is None:
        raise HdbenchError(
            "{place}:{line}: PAGE XML without a Page", place=where, line=root.sourceline
        )
    order = _reading_order(page)
    reader = _Reader(order, page, where, remark)
    regions = _in_order(_regions(page), order)
    all_lines = [lines for region in regions for lines in reader.regions(region)]
    return [PageText(all_lines, image_name(page.get("imageFilename")))]


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


class _Reader:
    """Reads the regions of a page."""

    def __init__(self, order: Mapping[str, int], page: "Element", where: str, remark: Remark):
        self._order, self._where, self._remark = order, where, remark
        self._direction = page.get("textLineOrder", "")
        self._size = numbers(page.get("imageWidth"), page.get("imageHeight"))

    def regions(self, region: "Element") -> list[Lines]:
        """Return the lines of a region, then those of each region within it.

        Without any, the text of the region itself.
        """
        texts = list(filter(None, [self._lines(region)]))
        for inner in _in_order(_regions(region), self._order):
            texts += self.regions(inner)
        if not texts and (own := self._text(region)):
            texts.append([TextLine(text) for text in own.splitlines()])
        return texts

    def _lines(self, region: "Element") -> Lines:
        lines = [child for child in region if name_of(child) == "TextLine"]
        is_numbered = all(_position(line) is not None for line in lines)
        direction = region.get("textLineOrder") or self._direction
        if is_numbered:
            lines.sort(key=lambda line: _position(line) or 0)
        elif direction in _DIRECTIONS and all(map(_points, lines)):
            axis, sign = _DIRECTIONS[direction]
            lines.sort(key=lambda line: sign * _middle([point[axis] for point in _points(line)]))
        pairs = [(region, line) for line in lines]
        read = regions_of(pairs, self._line_text, self._box, self._where, self._remark)
        found = next(read, [])
        own = [text for text in self._text(region).splitlines() if text.strip()]
        boxes = {line.text.strip(): line.box for line in found}
        is_same = Counter(map(str.strip, own)) == Counter(line.text.strip() for line in found)
        if is_numbered or not is_same:
            return found
        return [TextLine(text, boxes[text.strip()]) for text in own]

    def _box(self, line: "Element") -> Box | None:
        return box_around(_points(line, ("Coords",)), self._size)

    def _line_text(self, line: "Element") -> str:
        words = (self._text(child) for child in line if name_of(child) == "Word")
        return self._text(line) or " ".join(filter(None, words))

    def _text(self, element: "Element") -> str:
        """Return the text that stands directly at an element: its `TextEquiv` of lowest index."""
        texts = []
        for equivalent in element.iterfind("{*}TextEquiv"):
            place = f"{self._where}:{equivalent.sourceline}"
            index = _number(equivalent.get("index", "0"))
            if index is None:
                raise HdbenchError("{place}: TextEquiv's index is not a number from 0", place=place)
            unicode = equivalent.find("{*}Unicode")
            if unicode is None:
                raise HdbenchError("{place}: TextEquiv without Unicode", place=place)
            text = "".join(map(str, unicode.itertext()))
            # Blanks that begin a line are on the page; a line break before them is the file's.
            is_indented = text.lstrip(" ").startswith(("\n", "\r", "\t"))
            texts.append((index, text.strip() if is_indented else text.rstrip()))
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
    if any(_position(element) is None for element in elements):
        return list(elements)
    return sorted(elements, key=lambda element: _position(element) or 0)


def _position(element: "Element") -> int | None:
    """Return the position that an element says it has among its siblings."""
    custom = _CUSTOM.search(element.get("custom", ""))
    return int(custom[1]) if custom else _number(element.get("index"))


def _points(
    line: "Element", shapes: Sequence[str] = ("Baseline", "Coords")
) -> list[tuple[int, int]]:
    """Return the points of a line's baseline, or else of its outline; of PAGE 2010, too."""
    for shape in (each for name in shapes for each in line.iterfind(f"{{*}}{name}")):
        inner = (f"{point.get('x')},{point.get('y')}" for point in shape.iterfind("{*}Point"))
        text = shape.get("points") or " ".join(inner)
        if points := [(int(x), int(y)) for x, y in _POINT.findall(text)]:
            return points
    return []


def _middle(numbers: Sequence[int]) -> float:
    return (min(numbers) + max(numbers)) / 2


def _number(text: str | None) -> int | None:
    return int(text) if text and _INDEX.fullmatch(text.strip()) else None
