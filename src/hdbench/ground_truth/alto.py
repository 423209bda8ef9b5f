"""ALTO, in which libraries, OCR programs and eScriptorium export texts: the text of each page."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdbench.answers.sheets.records import Truths
from hdbench.errors import HdbenchError
from hdbench.ground_truth.files import Remarks, file_name
from hdbench.ground_truth.xml_files import line_texts, name_of, read_documents

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

SPACES = ("TopMargin", "LeftMargin", "PrintSpace", "RightMargin", "BottomMargin")
"""The parts of a page in the order they are read; a file has the print space last."""

SOFT_HYPHEN = "\u00ad"


def read_alto(path: Path) -> Truths:
    """Return the text of each file, in ALTO of any version.

    Strings are joined as the line has them, with a blank where it has `SP`, or between all of them
    if it has none. The hyphen at the end of a line (`HYP`) is kept; what a hyphenated word is as a
    whole (`SUBS_CONTENT`) is not on the page and is ignored. Lines are joined by line breaks, and
    so are blocks, in the order of ALTO 4.3's `ReadingOrder` or else of the file, with the margins
    before and after the print space. A line without text is left out.

    Args:
        path: a file, or a folder of them.

    Returns:
        Records `{"text": …}`, or `{"pages": [{"text": …}, …]}` from a file that has several pages.
        The key is the name of the image from which the text was made.

    Raises:
        HdbenchError: there is none, or some are unusable; the message names the files and lines.
        MissingExtraError: lxml is not installed.
    """
    return read_documents(path, "alto", "ALTO", _read)


def _read(
    root: "Element", where: str, remarks: Remarks
) -> tuple[str | None, dict[str, Any] | None]:
    pages = root.findall("{*}Layout/{*}Page")
    if not pages:
        raise HdbenchError("{place}:{line}: ALTO without a Page", place=where, line=root.sourceline)
    references = root.iterfind("{*}ReadingOrder//{*}ElementRef")
    ids = [region for reference in references for region in reference.get("REF", "").split()]
    order = {region: position for position, region in reversed(list(enumerate(ids)))}
    texts = ["\n".join(_lines(page, order, where, remarks)) for page in pages]
    record: dict[str, Any] | None = None
    if len(texts) > 1:
        record = {"pages": [{"text": text} for text in texts]}
    elif texts[0]:
        record = {"text": texts[0]}
    name = root.findtext("{*}Description/{*}sourceImageInformation/{*}fileName")
    return file_name(name), record if any(texts) else None


def _lines(page: "Element", order: dict[str, int], where: str, remarks: Remarks) -> Iterator[str]:
    spaces = [child for child in page if name_of(child) in SPACES]
    spaces.sort(key=lambda space: SPACES.index(name_of(space)))
    blocks = [block for space in spaces for block in space.iter("{*}TextBlock")]
    lines = [(block, line) for block in blocks for line in block.iterfind("{*}TextLine")]
    if order:  # which may be of blocks or of lines
        last = len(order)
        lines.sort(key=lambda pair: min(order.get(str(part.get("ID")), last) for part in pair))
    return line_texts((line for _, line in lines), _text, where, remarks)


def _text(line: "Element", where: str) -> str:
    has_blanks = line.find("{*}SP") is not None
    parts = []
    for child in line:
        name = name_of(child)
        if name == "SP":
            parts.append(" ")
        elif name in {"String", "HYP"}:
            content = child.get("CONTENT")
            if content is None:
                raise HdbenchError(
                    "{place}:{line}: {name} without CONTENT",
                    place=where,
                    line=child.sourceline,
                    name=name,
                )
            if name == "HYP":  # a soft one is invisible, but on the page it is there
                content = content.replace(SOFT_HYPHEN, "-")
            elif parts and not has_blanks:
                parts.append(" ")
            parts.append(content)
    return "".join(parts).strip()
