"""Files with the text of pages, as Transkribus, eScriptorium and OCR programs export them."""

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from hdbench.answers.forms import PAGE_ENDINGS
from hdbench.answers.records import Truth, Truths
from hdbench.common.bounds import MAX_OUTER, MAX_PAGE_FILES
from hdbench.common.files import check_name, open_regular, read_errors
from hdbench.common.page_text.reading import HEAD, Form, form_of, read_page_text, root_of
from hdbench.common.xml_documents import read_document
from hdbench.errors import HdbenchError, Message, shortened

FORMS: tuple[Form, ...] = ("PAGE XML", "ALTO", "hOCR")
"""The form that is read where a folder has several, as an export of Transkribus has."""


class Remarks:
    """Assumptions that were made, and where: a note for each kind, however many places it has."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = defaultdict(list)

    def add(self, remark: str, place: str) -> None:
        """Keep a remark about a place."""
        self._places[remark].append(place)

    def notes(self) -> list[str]:
        """Return one line for each remark, with its first places."""
        return [
            Message("{remark}: {places}", remark=remark, places=shortened(places))
            for remark, places in self._places.items()
        ]


@dataclass(frozen=True)
class PageTruths(Truths):
    """The texts of pages, in files.

    A truth's key is the name of the image that its file names, if it does, and its place is the
    file's path, whose name counts where no image has that name.
    """


def read_page_files(path: Path, *, skip_damaged: bool = False) -> PageTruths | None:
    """Return the text of each page in a file, or in those of a folder and its subfolders.

    Lines are joined by line breaks, and so are regions. Of an export that has each page in several
    forms, PAGE XML is read rather than ALTO, and ALTO rather than hOCR.

    Args:
        path: a file, or a folder of them, such as an export with its `mets.xml`.
        skip_damaged: whether files that cannot be read are left out.

    Returns:
        Records `{"text": …}`, or `{"pages": [{"text": …}, …]}` from a file that has several pages;
        None if a folder has no such file.

    Raises:
        HdbenchError: some are unusable; the message names the files and lines.
        MissingExtraError: lxml is not installed.
    """
    is_folder = path.is_dir()
    files = [(file, _form(file)) for file in (_files(path) if is_folder else [path])]
    form = next((form for form in FORMS if form in {form for _, form in files}), None)
    if form is None and not is_folder:
        raise other_xml(path, read_document(path))
    if form is None:
        return None
    truths, problems, remarks = list[Truth](), list[str](), Remarks()
    for file, own_form in files:
        place = file.relative_to(path).as_posix() if is_folder else path.name
        if own_form not in (form, ""):
            if file.suffix.lower() == ".xml":
                remarks.add(Message("not {form}, and passed over", form=form), place)
            continue
        where = place if is_folder else str(path)
        try:
            found = read_page_text(file, where)
        except HdbenchError as error:
            problems.append(error.message)
            continue
        for remark in found.remarks:
            remarks.add(*remark)
        texts = [page.text for page in found.pages]
        pages = {"pages": [{"text": text} for text in texts]}
        record = (pages if len(texts) > 1 else {"text": texts[0]}) if any(texts) else None
        if record is None:
            remarks.add(Message("no text in the file, so the item has no ground truth"), place)
        boxes = [page.boxes for page in found.pages]
        truths.append(Truth(place, found.pages[0].image, record, boxes))
    if problems and not skip_damaged:
        problem = shortened(problems, separator="; ")
        if is_folder:
            raise HdbenchError("{place}: {why}", place=path, why=problem)
        raise HdbenchError(problem)
    for problem in problems:
        remarks.add(Message("damaged, and left out"), problem)
    return PageTruths(truths, remarks.notes())


def has_page_files(folder: Path) -> bool:
    """Return whether a folder or a subfolder has a file with the text of pages."""
    return any(_form(file) for file in _files(folder))


def other_xml(path: Path, data: bytes) -> HdbenchError:
    """Return that a file is XML of another kind.

    Args:
        path: the file.
        data: its first bytes.
    """
    return HdbenchError(
        "{place}: is XML of another kind (<{root}>): neither PAGE XML nor ALTO nor hOCR, and "
        "without records of MARC",
        place=path,
        root=root_of(data),
    )


def _form(file: Path) -> Form | str | None:
    """Return the form of a file by its beginning; empty for what should be XML and is not."""
    with read_errors(file), open_regular(file) as opened:
        head = opened.read(HEAD)
    return form_of(head) or (None if root_of(head) or file.suffix.lower() != ".xml" else "")


def _files(folder: Path) -> list[Path]:
    """Return the files in a folder and its subfolders that may have the text of pages."""
    files: list[Path] = []
    for inner, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        if len(Path(inner).relative_to(folder).parts) > MAX_OUTER:
            folders.clear()
        files += [
            Path(inner, name)
            for name in names
            if name.lower().endswith(PAGE_ENDINGS) and not name.startswith(".")
        ]
        if len(files) > MAX_PAGE_FILES:
            raise HdbenchError(
                "{place}: more than {most:,} files", place=folder, most=MAX_PAGE_FILES
            )
    for file in files:
        check_name(file)
        if file.is_symlink():
            raise HdbenchError(
                "{place}: is a symbolic link, which is not followed: put the file itself there",
                place=file,
            )
    return sorted(files)
