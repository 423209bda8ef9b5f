"""One way to read the text of pages, whatever form it is in."""

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hdbench.common.page_text.alto import alto_pages
from hdbench.common.page_text.hocr import hocr_pages
from hdbench.common.page_text.page import PageText, Remark
from hdbench.common.page_text.page_xml import page_xml_pages
from hdbench.common.xml_documents import name_of, parse_document, read_document
from hdbench.errors import HdbenchError, Message

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

Reader = Callable[["Element", str, Remark], list[PageText]]
"""A document's root, what messages call it, and where remarks go → its pages."""

Form = Literal["PAGE XML", "ALTO", "hOCR"]

HEAD = 2**16
"""Number of bytes within which the outermost element begins."""

_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_FORMS: dict[str, Form] = {"PcGts": "PAGE XML", "alto": "ALTO"}
_READERS: dict[Form, Reader] = {
    "PAGE XML": page_xml_pages,
    "ALTO": alto_pages,
    "hOCR": hocr_pages,
}


class PageFile(NamedTuple):
    """What is in a file with the text of pages.

    Attributes:
        form: what the form is called.
        pages: its pages, often one.
        remarks: what was assumed, and where.
    """

    form: Form
    pages: list[PageText]
    remarks: list[tuple[Message, str]]


def root_of(data: bytes) -> str:
    """Return the name of the outermost element, without its namespace; empty if there is none.

    Args:
        data: the document, or its first thousands of bytes.
    """
    data = data[:HEAD]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "ignore").encode()
    match = _ROOT.search(_COMMENT.sub(b"", data))
    return match[1].decode("ascii") if match else ""


def form_of(data: bytes) -> Form | None:
    """Return the form of a document with the text of pages; None if it is something else.

    Args:
        data: the document, or its first thousands of bytes.
    """
    root = root_of(data)
    if root.lower() == "html":
        return "hOCR" if b"ocr_page" in data or b"ocr_line" in data else None
    return _FORMS.get(root)


def read_page_text(source: Path | bytes, where: str) -> PageFile:
    """Return the lines of each page in reading order, from PAGE XML, ALTO or hOCR of any version.

    Args:
        source: the file, or what is in it.
        where: what messages call it.

    Raises:
        HdbenchError: it is something else, or unusable; the message names the line.
        MissingExtraError: lxml is not installed.
    """
    data = source if isinstance(source, bytes) else read_document(source)
    form = form_of(data)
    root = parse_document(data, where, html=form == "hOCR")
    if form is None:
        raise HdbenchError(
            "{place}: is neither PAGE XML nor ALTO nor hOCR, but <{root}>",
            place=where,
            root=name_of(root),
        )
    remarks: list[tuple[Message, str]] = []
    pages = _READERS[form](root, where, lambda what, place: remarks.append((what, place)))
    return PageFile(form, pages, remarks)
