"""Items that are added to a collection: those that it has stay as they are."""

import filecmp
import tempfile
from pathlib import Path

from hdbench.answers.page_text.boxes import LINE_BOXES
from hdbench.answers.records import Truths
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import Table
from hdbench.benchmarks.building.media import MEDIA_FOLDERS
from hdbench.benchmarks.provenance import COLUMNS
from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.collections.new.media import MediaFiles, MediaItem, Page, find_media
from hdbench.collections.new.plan import CollectionPlan, CollectionRequest, Sources, make_plan
from hdbench.collections.new.rules import find_like
from hdbench.collections.new.truth_files import open_truth
from hdbench.collections.new.writing import copy_page, text_of_item, write_items
from hdbench.collections.truth.media import CollectionMedia
from hdbench.collections.truth.metadata import Metadata
from hdbench.common.folder_files import MissingFileError, RefusedFileError, file_in
from hdbench.common.jsonio import full_disk_errors
from hdbench.common.os_errors import read_errors, write_errors
from hdbench.errors import HdbenchError, Message, shortened

_KINDS = {
    "image": Message("an image for each item"),
    "pages": Message("items with their pages"),
    "pdf": Message("PDFs"),
    "text": Message("texts"),
}


def read_addition(collection: Path, requested: CollectionRequest) -> Sources:
    """Read the files that are to be added; nothing is written.

    Items whose names the collection has are left out: `Sources.known` if their files are the same,
    byte for byte, and `Sources.taken` if they are not.

    Args:
        collection: the collection's folder.
        requested: where the images, PDFs or texts are, and their ground truth.

    Raises:
        HdbenchError: the collection is a sample, a file is unusable, or nothing is new.
    """
    like = find_like(str(collection))
    if like.spec.sample is not None:
        raise HdbenchError(
            "{place}: is a sample that was drawn: with further items, its figures would no longer "
            "be estimates for all",
            place=collection,
        )
    media = find_media(requested.images, boxes=requested.boxes)
    there = CollectionMedia(collection)
    new: list[MediaItem] = []
    known: list[str] = []
    taken: list[str] = []
    for item in media.items:
        if item.id not in there.items:
            new.append(item)
            continue
        with read_errors(item.pages[0].path):
            (known if _is_same(item, there, collection) else taken).append(item.id)
    if not new:
        raise HdbenchError(
            "nothing is new: the collection has items of these names already: {names}",
            names=shortened([*taken, *known]),
        )
    source: Table | Truths = Truths([], [])
    if requested.truth:
        source = open_truth(requested.truth, header_rows=requested.header_rows)
    return Sources(like, media._replace(items=new), {}, None, source, known, taken)


def plan_addition(requested: CollectionRequest, sources: Sources) -> CollectionPlan:
    """Decide on everything; nothing is written.

    Args:
        requested: what was asked for.
        sources: from `read_addition`.

    Raises:
        HdbenchError: see `make_plan`; or the collection shows another kind of items, or a ground
            truth does not fit its fields.
    """
    if sources.like:
        sources = sources._replace(media=_of_kind(sources.media, sources.like.spec))
    plan = make_plan(requested, sources)
    schema = AnswerSchema(plan.schema)
    for truth in plan.truths.values():
        if violations := schema.violations(truth.record):
            field, rule, what, _ = violations[0]
            raise HdbenchError(
                "{place}: {field} is missing, which each ground truth here has: add it to the "
                "file; in a table, an empty column can become {field}, too"
                if rule == "required"
                else "{place}: {field}: {what}, unlike in the collection's other ground truths: "
                "change it in the file",
                place=truth.place,
                field=field,
                what=what,
            )
    columns = sources.like.spec.columns if sources.like else {}
    texts = {name for name, kind in columns.items() if kind == "string"}
    if unknown := sorted(set(plan.grouping.values()) - texts):
        raise HdbenchError("{name}: the collection has no column of that name", name=unknown[0])
    return plan


def add_items(plan: CollectionPlan, collection: Path, scratch: Path) -> None:
    """Add items to a collection: first their files, then all of their rows at once.

    Whoever is killed in between can do it again: files that no row names yet are used then.

    Args:
        plan: from `plan_addition`.
        collection: the collection's folder.
        scratch: an empty folder on the same disk.

    Raises:
        HdbenchError: another item or file has one of their names, or something cannot be written.
    """
    columns = find_like(str(collection)).spec.columns.keys() - COLUMNS.keys()
    with full_disk_errors(collection):
        rows = [dict.fromkeys(sorted(columns)) | row for row in write_items(plan, scratch)]
    if LINE_BOXES not in columns:  # its first ground truths had none
        for row in rows:
            row.pop(LINE_BOXES, None)
    metadata = Metadata(collection)
    with metadata.writing(), write_errors(collection):
        if plan.media.kind != "text":
            _move(scratch, collection, MEDIA_FOLDERS[plan.media.kind])
        metadata.append(rows)


def _of_kind(media: MediaFiles, spec: BenchmarkSpec) -> MediaFiles:
    """Return items as those of the collection, which shows one kind."""
    if media.kind == spec.media or (media.kind, spec.media) == ("image", "pages"):
        return media._replace(kind=spec.media)
    raise HdbenchError(
        "the collection has {kind}, and these are {other}: make a collection of their own",
        kind=_KINDS[spec.media],
        other=_KINDS[media.kind],
    )


def _is_same(item: MediaItem, media: CollectionMedia, collection: Path) -> bool:
    """Return whether the collection's item of that name has the same files, byte for byte."""
    names = media.files(item.id)
    if not names:
        return text_of_item(item.pages[0].path) == media.text(item.id)
    return len(names) == len(item.pages) and all(
        _is_same_file(page, collection, str(name))
        for page, name in zip(item.pages, names, strict=True)
    )


def _is_same_file(page: Page, collection: Path, name: str) -> bool:
    try:
        there = file_in(collection, name)
    except (MissingFileError, RefusedFileError):
        return False
    if page.frame is None:
        return filecmp.cmp(page.path, there, shallow=False)
    with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
        copy = Path(folder, "page.png")
        copy_page(page, copy)
        return filecmp.cmp(copy, there, shallow=False)


def _move(scratch: Path, collection: Path, name: str) -> None:
    """Move the files of new items to those of the collection; none that is there is replaced."""
    folder = collection / name
    if folder.is_symlink():
        raise HdbenchError("{place}: is a symbolic link: put the folder itself there", place=folder)
    folder.mkdir(exist_ok=True)
    named = CollectionMedia(collection).names()
    for file in sorted((scratch / name).iterdir()):
        there = folder / file.name
        if there.is_symlink() or there.exists():
            is_left = f"{name}/{file.name}" not in named and not there.is_symlink()
            if not is_left or not filecmp.cmp(file, there, shallow=False):
                raise HdbenchError(
                    "{place}: exists already, and belongs to something else: rename the new file",
                    place=there,
                )
        else:
            file.rename(there)
