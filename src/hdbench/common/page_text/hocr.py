"""hOCR, in which Tesseract, kraken and others write what they have read."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hdbench.common.page_text.boxes import Box, box_around, numbers
from hdbench.common.page_text.page import Lines, PageText, Remark, image_name, regions_of

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LINES = {"ocr_line", "ocrx_line", "ocr_header", "ocr_footer", "ocr_caption", "ocr_textfloat"}
"""Classes of lines; Tesseract has the last four for lines, others for what has lines in it."""

REGIONS = {"ocr_carea", "ocrx_block", "ocr_column"}

_IMAGE = re.compile(r"""(?:^|;)\s*(?:image|x_source)\s+(?:"([^"]*)"|'([^']*)'|([^\s;]+))""")

_BOX = re.compile(r"(?:^|;)\s*bbox" + r"\s+([0-9.-]+)" * 4)


def hocr_pages(root: "Element", where: str, remark: Remark) -> list[PageText]:
    """Return the text of each page in hOCR, line by line, as the file has them.

    Words are joined as the file has them, or by blanks if it has none between them.
    """
    pages = [element for element in root.iter("{*}*") if "ocr_page" in _classes(element)]
    return [
        PageText(list(_regions(page, where, remark)), _image(page.get("title", "")))
        for page in pages or [root]
    ]


def _regions(page: "Element", where: str, remark: Remark) -> Iterator[Lines]:
    candidates = [element for element in page.iter("{*}*") if _classes(element) & LINES]
    outer = {above for line in candidates for above in line.iterancestors()}
    lines = [(_region(line, page), line) for line in candidates if line not in outer]
    size = _corners(page)[2:]

    def box(line: "Element") -> Box | None:
        left, top, right, bottom = _corners(line)
        return box_around([(left, top), (right, bottom)], size)

    return regions_of(lines, _text, box, where, remark)


def _region(line: "Element", page: "Element") -> "Element":
    """Return the innermost region that a line is in, or the page."""
    above = (element for element in line.iterancestors() if _classes(element) & REGIONS)
    return next(above, page)


def _text(line: "Element") -> str:
    text = " ".join("".join(map(str, line.itertext())).split())
    if " " not in text:
        words = (word for word in line.iter("{*}*") if "ocrx_word" in _classes(word))
        text = " ".join("".join(map(str, word.itertext())).strip() for word in words) or text
    return text


def _corners(element: "Element") -> list[float]:
    """Return the left, upper, right and lower end of an element; 0.0 if it does not say them."""
    match = _BOX.search(element.get("title", ""))
    return numbers(*(match.groups() if match else [None] * 4))


def _classes(element: "Element") -> set[str]:
    return set(element.get("class", "").split())


def _image(title: str) -> str | None:
    """Return the name of the image in a page's properties, which are in its `title`."""
    match = _IMAGE.search(title)
    return image_name(next(filter(None, match.groups()), None)) if match else None
