"""XML and HTML from elsewhere: read within bounds, without entities and without the network.

libxml2 itself refuses more than 256 levels in XML, and texts of more than 10 MB.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdbench.common.bounds import MAX_XML, MAX_XML_NODES
from hdbench.common.extras import needed
from hdbench.common.files import read_at_most, read_errors
from hdbench.errors import HdbenchError

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_HARMLESS: dict[str, Any] = {
    "no_network": True,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
    "collect_ids": False,
}
_UNTRUSTED: dict[str, Any] = {**_HARMLESS, "resolve_entities": False, "load_dtd": False}
"""Options with which libxml2 parses untrusted input."""

_CHUNK = 2**16
_COUNT = "count(descendant-or-self::*) + count(descendant-or-self::*/@*)"


def read_document(path: Path) -> bytes:
    """Return the bytes of a document.

    Raises:
        HdbenchError: it cannot be read, or is larger than `MAX_XML`.
    """
    with read_errors(path):
        return read_at_most(path, MAX_XML)


def parse_document(data: bytes, where: str, *, html: bool = False) -> "Element":
    """Return the root of a document, without its comments and processing instructions.

    Args:
        data: the document.
        where: what messages call the file.
        html: whether it is HTML, in which tags may be missing.

    Raises:
        HdbenchError: it is not well-formed, goes beyond the bounds, or is XML with a document type,
            through which XML gets entities; the message names the line.
        MissingExtraError: lxml is not installed.
    """
    with needed("truths", "XML files need"):
        from lxml import etree  # noqa: PLC0415
    _check_nodes(_nodes(data), where)
    try:
        if html:
            page: Element | None = etree.fromstring(
                data, etree.HTMLParser(encoding=_encoding(data), **_HARMLESS)
            )
            return etree.Element("html") if page is None else page
        root: Element = etree.fromstring(data, etree.XMLParser(**_UNTRUSTED))
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(where, error) from error
    _refuse_document_type(root, where)
    return root


def elements_of(data: bytes, where: str, tag: str) -> "Iterator[Element]":
    """Yield the elements with a name, one after the other, so that only one of them is in memory.

    Args:
        data: the document.
        where: what messages call the file.
        tag: the elements' name, in any namespace.

    Raises:
        HdbenchError: see `parse_document`.
        MissingExtraError: lxml is not installed.
    """
    with needed("truths", "XML files need"):
        from lxml import etree  # noqa: PLC0415
    parser = etree.XMLPullParser(events=("end",), tag=f"{{*}}{tag}", **_UNTRUSTED)
    nodes = 0
    try:
        for start in range(0, len(data), _CHUNK):
            chunk = data[start : start + _CHUNK]
            nodes += _nodes(chunk)
            _check_nodes(nodes, where)
            parser.feed(chunk)
            for _, element in parser.read_events():
                _refuse_document_type(element, where)
                yield element
                nodes -= int(element.xpath(_COUNT))
                element.clear()
                parent = element.getparent()
                while parent is not None and element.getprevious() is not None:
                    del parent[0]
        parser.close()
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(where, error) from error


def _nodes(data: bytes) -> int:
    """Return how many elements and attributes there can be in a part of a document, at most."""
    return data.count(b"<") - data.count(b"</") + data.count(b"=")


def _check_nodes(nodes: int, where: str) -> None:
    if nodes > MAX_XML_NODES:
        raise HdbenchError(
            "{place}: more than {most:,} elements and attributes: export it in several files",
            place=where,
            most=MAX_XML_NODES,
        )


def _not_well_formed(where: str, error: SyntaxError) -> HdbenchError:
    """Return what libxml2 found, in one line."""
    why = " ".join(str(error.msg).partition(", line ")[0].split())
    return HdbenchError(
        "{place}:{line}: not well-formed XML: {why}", place=where, line=error.lineno or 1, why=why
    )


def _encoding(data: bytes) -> str:
    """Return the encoding of HTML: UTF-8, as OCR programs write it, or otherwise cp1252."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _refuse_document_type(root: "Element", where: str) -> None:
    """Refuse XML that could have entities of its own."""
    if root.getroottree().docinfo.internalDTD is not None:
        raise HdbenchError(
            "{place}: has a document type (<!DOCTYPE …>), which is not read: delete that line, or "
            "export the file without it",
            place=where,
        )


def name_of(element: "Element") -> str:
    """Return an element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]
