"""ALTO, in which libraries, OCR programs and eScriptorium export texts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hdbench.common.page_text.boxes import Box, box_around, numbers
from hdbench.common.page_text.page import Lines, PageText, Remark, image_name, regions_of
from hdbench.common.xml_documents import name_of
from hdbench.errors import HdbenchError

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

SPACES = ("TopMargin", "LeftMargin", "PrintSpace", "RightMargin", "BottomMargin")
"""The parts of a page in the order they are read; a file has the print space last."""

SOFT_HYPHEN = "\u00ad"
HYPHENS = ("-", "\u2010", "\u2011", "¬", "⸗", "=", SOFT_HYPHEN)


def alto_pages(root: "Element", where: str, remark: Remark) -> list[PageText]:
    """Return the text of each page in ALTO.

    Strings are joined as the line has them, with a blank where it has `SP`, or between all of them
    if it has none. The hyphen at a line's end (`HYP`) is kept, once; what a hyphenated word is as
    a whole (`SUBS_CONTENT`) is not on the page and is ignored. Blocks are in the order of ALTO
    4.3's `ReadingOrder`, or else of the file, with the margins before and after the print space.
    """
    pages = root.findall("{*}Layout/{*}Page")
    if not pages:
        raise HdbenchError("{place}:{line}: ALTO without a Page", place=where, line=root.sourceline)
    references = root.iterfind("{*}ReadingOrder//{*}ElementRef")
    ids = [part for reference in references for part in reference.get("REF", "").split()]
    order = {part: position for position, part in reversed(list(enumerate(ids)))}
    image = image_name(root.findtext("{*}Description/{*}sourceImageInformation/{*}fileName"))
    return [PageText(list(_regions(page, order, where, remark)), image) for page in pages]


def _regions(page: "Element", order: dict[str, int], where: str, remark: Remark) -> Iterator[Lines]:
    spaces = [child for child in page if name_of(child) in SPACES]
    spaces.sort(key=lambda space: SPACES.index(name_of(space)))
    blocks = [block for space in spaces for block in space.iter("{*}TextBlock")]
    lines = [(block, line) for block in blocks for line in block.iterfind("{*}TextLine")]
    if order:  # which may be of blocks or of lines
        last = len(order)
        lines.sort(key=lambda pair: min(order.get(str(part.get("ID")), last) for part in pair))

    size = numbers(page.get("WIDTH"), page.get("HEIGHT"))

    def box(line: "Element") -> Box | None:
        names = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
        left, top, width, height = numbers(*(line.get(name) for name in names))
        return box_around([(left, top), (left + width, top + height)], size)

    return regions_of(lines, _text, box, where, remark)


def _text(line: "Element") -> str:
    has_blanks = line.find("{*}SP") is not None
    parts: list[str] = []
    for child in line:
        name, content = name_of(child), child.get("CONTENT")
        if name == "SP":
            parts.append(" ")
        elif name == "HYP":  # a soft one is invisible, but on the page it is there
            if not "".join(parts).endswith(HYPHENS):
                parts.append((content or "-").replace(SOFT_HYPHEN, "-"))
        elif name == "String":
            if parts and not has_blanks:
                parts.append(" ")
            parts.append(content or "")
    text = "".join(parts).rstrip()
    return text if has_blanks else text.lstrip()
