"""XML that people export: parsed within bounds, without entities and without the network.

libxml2 itself refuses more than 256 levels, and texts of more than 10 MB.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hdbench.answers.sheets.records import Truth, Truths
from hdbench.common.extras import needed
from hdbench.common.names import check_name
from hdbench.errors import HdbenchError, Message, shortened
from hdbench.ground_truth.files import Remarks, read_bounded

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

MAX_FILES = 100_000
"""Maximum number of files in a folder and its subfolders."""


_UNTRUSTED: dict[str, Any] = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
"""Options with which libxml2 parses untrusted input."""


def parse_xml(data: bytes, where: str) -> "Element":
    """Return the root of a document, without its comments and processing instructions.

    Args:
        data: the document.
        where: what messages call the file.

    Raises:
        HdbenchError: it is not well-formed, is nested too deeply, or has a document type, through
            which XML gets entities; the message names the line.
        MissingExtraError: lxml is not installed.
    """
    with needed("truths", "XML files need"):
        from lxml import etree  # noqa: PLC0415
    parser = etree.XMLParser(**_UNTRUSTED)
    try:
        root: Element = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(where, error) from error
    _refuse_document_type(root, where)
    return root


def records_of(document: BinaryIO, where: str, tag: str) -> Iterator["Element"]:
    """Yield the elements with a tag, one after the other, so that only one of them is in memory.

    Args:
        document: the document.
        where: what messages call the file.
        tag: the elements' name, in any namespace.

    Raises:
        HdbenchError: see `parse_xml`.
        MissingExtraError: lxml is not installed.
    """
    with needed("truths", "XML files need"):
        from lxml import etree  # noqa: PLC0415
    elements = etree.iterparse(
        document,
        events=("end",),
        tag=f"{{*}}{tag}",
        **_UNTRUSTED,
    )
    try:
        for _, element in elements:
            _refuse_document_type(element, where)
            yield element
            element.clear()
            while element.getprevious() is not None:
                parent = element.getparent()
                if parent is not None:
                    del parent[0]
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(where, error) from error


def _not_well_formed(where: str, error: SyntaxError) -> HdbenchError:
    """Return what libxml2 found, in one line."""
    why = " ".join(str(error.msg).partition(", line ")[0].split())
    return HdbenchError(
        "{place}:{line}: not well-formed XML: {why}", place=where, line=error.lineno or 1, why=why
    )


def _refuse_document_type(element: "Element", where: str) -> None:
    """Refuse XML that could have entities of its own."""
    if element.getroottree().docinfo.internalDTD is not None:
        raise HdbenchError(
            "{place}: has a document type (<!DOCTYPE …>), which is not read: delete that line, or "
            "export the file without it",
            place=where,
        )


def name_of(element: "Element") -> str:
    """Return an element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def line_texts(
    lines: Iterable["Element"], read: Callable[["Element", str], str], where: str, remarks: Remarks
) -> Iterator[str]:
    """Yield the texts of lines; of one without text it is remarked that it is left out."""
    for line in lines:
        if text := read(line, where):
            yield text
        else:
            remarks.add(Message("a line without text, left out"), f"{where}:{line.sourceline}")


Read = Callable[["Element", str, Remarks], tuple[str | None, dict[str, Any] | None]]
"""A document's root, what messages call it, and where remarks go → its key and its record."""


def read_documents(path: Path, root: str, form: str, read: Read) -> Truths:
    """Return the ground truths in a document, or in those of a folder and its subfolders.

    Args:
        path: the file or folder.
        root: the name of the document's root; other documents in a folder are passed over.
        form: what the form is called, such as `PAGE XML`.
        read: reads a document.

    Raises:
        HdbenchError: there is none, or some are unusable; the message names the files and lines.
        MissingExtraError: lxml is not installed.
    """
    truths, problems, remarks = [], [], Remarks()
    is_folder = path.is_dir()
    for file, place in _files(path):
        where = place if is_folder else str(file)
        try:
            element = parse_xml(read_bounded(file, where), where)
            if name_of(element) != root:
                remarks.add(Message("not {form}, and passed over", form=form), place)
                continue
            truth = Truth(place, *read(element, where, remarks))
        except HdbenchError as error:
            problems.append(error.message)
            continue
        truths.append(truth)
        if truth.record is None:
            remarks.add(Message("no text in the file, so the item has no ground truth"), place)
    if problems:
        problem = shortened(problems, separator="; ")
        if is_folder:
            raise HdbenchError("{place}: {why}", place=path, why=problem)
        raise HdbenchError(problem)
    if not truths:
        raise HdbenchError(
            "{place}: not {form}: it has no such XML file"
            if is_folder
            else "{place}: not {form}: its root element is not {root}",
            place=path,
            form=form,
            root=root,
        )
    return Truths(truths, remarks.notes())


def _files(path: Path) -> list[tuple[Path, str]]:
    """Return a file, or the XML files in a folder, each with its place."""
    if not path.is_dir():
        return [(path, path.name)]
    files: list[Path] = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        in_folder = [Path(folder) / name for name in names if name.lower().endswith(".xml")]
        files += [file for file in in_folder if not file.name.startswith(".")]
        if len(files) > MAX_FILES:
            raise HdbenchError("{place}: more than {most:,} XML files", place=path, most=MAX_FILES)
    for file in files:
        check_name(file)
        if file.is_symlink():
            raise HdbenchError(
                "{place}: is a symbolic link, which is not followed: put the file itself there",
                place=file,
            )
    return [(file, file.relative_to(path).as_posix()) for file in sorted(files)]
