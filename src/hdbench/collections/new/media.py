"""The images, PDFs or texts of a collection: which files make an item."""

import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image

from hdbench.common import pdf
from hdbench.common.bounds import MAX_OUTER, MAX_PAGES, MAX_PIXELS
from hdbench.common.extras import MissingExtraError
from hdbench.common.files import Entries, check_name, entries
from hdbench.common.pictures import FORMATS
from hdbench.errors import HdbenchError, Message, shortened

Kind = Literal["image", "pages", "pdf", "text"]

IMAGES = {
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".png": "PNG",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".webp": "WEBP",
}
"""Extension → Pillow's name of the format."""

KINDS: dict[str, Kind] = {**dict.fromkeys(IMAGES, "image"), ".pdf": "pdf", ".txt": "text"}
"""Extension → kind of an item with such a file."""

OTHER_IMAGES = frozenset({".heic", ".heif", ".avif", ".gif", ".bmp", ".jp2", ".psd", ".svg"})
"""Extensions of images that cannot be used, but could be exported."""


MAX_SHOWN = 5
"""Maximum number of unusable files that an error names."""

_TOO_LARGE = Message("more than {most:,} pixels are not opened: scale it down", most=MAX_PIXELS)
_UNSAFE = re.compile(r"[^\w.()+-]+")
_MAX_STEM = 100


class Page(NamedTuple):
    """A file of an item, or a page of a TIFF.

    Attributes:
        path: the file.
        frame: which page of a TIFF with several, from 0; None if it is the whole file.
    """

    path: Path
    frame: int | None = None


class MediaItem(NamedTuple):
    """An item and its files.

    Attributes:
        id: the file's name without its extension, or the name of the folder with its pages.
        pages: one file, or several pages in the order of the numbers in their names.
    """

    id: str
    pages: tuple[Page, ...]


class MediaFiles(NamedTuple):
    """The items of a folder.

    Attributes:
        kind: what a benchmark's `media` says of them.
        items: sorted by id, numbers as numbers.
        passed_over: the names of files that are none of these.
        not_opened: the paths in the folder of links, pipes and devices.
    """

    kind: Kind
    items: list[MediaItem]
    passed_over: list[str]
    not_opened: Sequence[str] = ()

    @property
    def folders(self) -> list[str]:
        """Return the names of folders with several images, each of which is an item."""
        pages = [item.pages[0] for item in self.items if len(item.pages) > 1]
        return [page.path.parent.name for page in pages if page.frame is None]


def unwrapped(folder: Path) -> Path:
    """Return the folder of the images in an export, of which only the outermost folder was named.

    A folder that holds nothing but one folder is passed through, unless that is an item with its
    pages, as it is without the METS or page texts of an export.

    Raises:
        HdbenchError: the folder cannot be read.
    """
    plain = entries(folder).plain
    for _ in range(MAX_OUTER):
        folders = [entry for entry in plain if entry.is_dir()]
        if len(folders) != 1 or any(map(_kind, plain)):
            break
        inner = entries(folders[0]).plain
        is_export = any(entry.name in ("mets.xml", "page", "alto") for entry in inner)
        if any(map(_kind, inner)) and not is_export:
            break
        folder, plain = folders[0], inner
    return folder


def find_media(folder: Path, *, boxes: bool = False) -> MediaFiles:
    """Return the items of a folder: a file each, or a folder each with the pages.

    Images are JPEG, PNG, WebP or TIFF; a TIFF with several pages is one item. PDFs are items, too,
    but not beside images: a benchmark shows one kind. Texts (`.txt`) are if there is nothing else:
    beside images or PDFs they are a README, or what OCR has read, and are passed over.

    Args:
        folder: where they are. Hidden files, links, pipes and devices are passed over.
        boxes: whether each image in a folder is an item, with the folder's name in its id.

    Raises:
        HdbenchError: there is no such folder or no item in it, kinds are mixed, two items would
            have the same id, or files cannot be used; the message names them.
    """
    items: dict[str, MediaItem] = {}
    kinds: dict[Kind, Path] = {}
    passed_over, unusable = [], []
    plain, not_opened = _entries(folder)
    files_of: dict[Path, list[Path]] = {}
    for entry in plain:
        inner = [entry]
        if entry.is_dir():
            inner, others = _entries(entry)
            not_opened += others
        files_of[entry] = [file for file in inner if _kind(file)]
    is_text = {entry: {*map(_kind, files)} == {"text"} for entry, files in files_of.items()}
    only_texts = all(is_text[entry] for entry, files in files_of.items() if files)
    for entry, files in files_of.items():
        if not files or (is_text[entry] and not only_texts):
            passed_over.append(entry.name)
            continue
        for name, source, own in _items_of(entry, files, boxes=boxes):
            item_id = unicodedata.normalize("NFC", name)
            if item_id in items:
                first = items[item_id].pages[0].path
                raise HdbenchError(
                    "{place}: has the same name as {first}, and so the same id: rename one of "
                    "them, or put the pages of an item into a folder of its own",
                    place=source,
                    first=first.relative_to(folder),
                )
            try:
                pages = _pages_of(source, own)
            except HdbenchError as error:
                unusable.append(error.message)
                continue
            items[item_id] = MediaItem(item_id, pages)
            kind = _kind(own[0]) or "image"
            kinds.setdefault("pages" if kind == "image" and len(pages) > 1 else kind, source)
    if unusable:
        raise HdbenchError(
            "{place}: 1 file cannot be used: {files}"
            if len(unusable) == 1
            else "{place}: {count} files cannot be used: {files}",
            place=folder,
            count=len(unusable),
            files=shortened(unusable, MAX_SHOWN, "; "),
        )
    names = [path.relative_to(folder).as_posix() for path in not_opened]
    if not items:
        raise HdbenchError(
            "{place}: no images here (but {others}): they must be JPEG, PNG, WebP, TIFF, PDF, or "
            "texts (.txt); export others, such as HEIC, as JPEG"
            if passed_over or not_opened
            else "{place}: no images here: they must be JPEG, PNG, WebP, TIFF, PDF, or texts "
            "(.txt); export others, such as HEIC, as JPEG",
            place=folder,
            others=shortened(passed_over + names, MAX_SHOWN),
        )
    if len(kinds) > 1 and set(kinds) != {"image", "pages"}:
        first_name, second_name, *_ = (path.name for path in kinds.values())
        raise HdbenchError(
            "{place}: images and PDFs are mixed ({first} and {second}): a benchmark shows one "
            "kind, so make two, or turn the PDFs into images",
            place=folder,
            first=first_name,
            second=second_name,
        )
    kind = "pages" if "pages" in kinds else next(iter(kinds))
    return MediaFiles(kind, list(items.values()), passed_over, names)


def _items_of(
    entry: Path, files: list[Path], *, boxes: bool
) -> Iterator[tuple[str, Path, list[Path]]]:
    """Yield what items a file or folder has: their ids, and the files of each."""
    if not entry.is_dir():
        yield entry.stem, entry, files
    elif boxes:
        yield from ((f"{entry.name}_{file.stem}", file, [file]) for file in files)
    else:
        yield entry.name, entry, files


def safe_name(item_id: str) -> str:
    """Return an id as a file's name that any system can hold.

    Example:
        >>> safe_name("Brief 7: an Frl. Müller/Basel")
        'Brief_7_an_Frl._Müller_Basel'
    """
    return _UNSAFE.sub("_", item_id).strip("._")[:_MAX_STEM] or "item"


def _entries(folder: Path) -> Entries:
    folder_entries = entries(folder)
    for path in folder_entries.plain:
        check_name(path)
    return folder_entries


def _kind(path: Path) -> Kind | None:
    return KINDS.get(path.suffix.lower()) if path.is_file() else None


def _pages_of(entry: Path, files: list[Path]) -> tuple[Page, ...]:
    """Return the pages of an item: those of its file, or of the images in its folder."""
    other = next((file for file in files if _kind(file) != "image"), None)
    if other is not None and len(files) > 1:
        raise HdbenchError(
            "{place}: has {other} beside other files, and only images can be its pages: "
            "keep them, or one PDF or text",
            place=entry.name,
            other=other.name,
        )
    pages = tuple(page for file in files for page in pages_in(file))
    if len(pages) > MAX_PAGES:
        raise HdbenchError(
            "{place}: more than {most:,} pages: divide it", place=entry.name, most=MAX_PAGES
        )
    return pages


def _check_pdf(path: Path) -> None:
    # Where PDFs cannot be opened, `hdbench check` says what has to be installed.
    with suppress(MissingExtraError):
        try:
            with pdf.opened(path):
                pass
        except (OSError, pdf.PdfError) as error:
            raise HdbenchError(
                "{place}: not a PDF, damaged, or protected by a password", place=path.name
            ) from error


def pages_in(path: Path) -> Iterator[Page]:
    """Yield a file as one page, or each page of a TIFF; the pixels are not read.

    Raises:
        HdbenchError: it cannot be used; the message has its name alone.
    """
    if path.suffix.lower() not in IMAGES:
        if _kind(path) == "pdf":
            _check_pdf(path)
        yield Page(path)
        return
    try:
        # Pillow warns of large images, which have their own bound here.
        with warnings.catch_warnings(action="ignore"), Image.open(path, formats=FORMATS) as image:
            form, width, height = image.format, image.width, image.height
            frames = getattr(image, "n_frames", 1) if form == "TIFF" else 1
    except Image.DecompressionBombError as error:
        raise HdbenchError("{place}: {why}", place=path.name, why=_TOO_LARGE) from error
    except (OSError, SyntaxError, ValueError) as error:
        raise HdbenchError("{place}: not an image, or damaged", place=path.name) from error
    expected = IMAGES[path.suffix.lower()]
    if form != expected:
        raise HdbenchError(
            "{place}: is {found}, not {expected}: give it the right extension",
            place=path.name,
            found=form,
            expected=expected,
        )
    if width * height > MAX_PIXELS:
        raise HdbenchError("{place}: {why}", place=path.name, why=_TOO_LARGE)
    if frames == 1:
        yield Page(path)
    else:
        yield from (Page(path, frame) for frame in range(frames))
