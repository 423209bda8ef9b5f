"""The folder of a new benchmark, written whole or not at all, and items added to one."""

import filecmp
import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from hdbench.answers.records import Truths
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import SourceTable
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.building.drafts import draft_card
from hdbench.benchmarks.building.source import MEDIA_FOLDERS
from hdbench.benchmarks.sample import STRATUM
from hdbench.benchmarks.spec import (
    IMPORTED,
    MEDIA_KEYS,
    PROVENANCE_COLUMNS,
    BenchmarkSpec,
    Provenance,
)
from hdbench.collections.new.media import MediaFiles, MediaItem, Page, find_media, safe_name
from hdbench.collections.new.plan import CollectionPlan, CollectionRequest, Sources, make_plan
from hdbench.collections.new.rules import find_like
from hdbench.collections.new.truth_files import open_truth
from hdbench.collections.truth.media import CollectionMedia
from hdbench.collections.truth.metadata import Metadata
from hdbench.common.bounds import MAX_TEXT_ITEM
from hdbench.common.files import (
    MissingFileError,
    RefusedFileError,
    file_in,
    read_errors,
    write_errors,
)
from hdbench.common.jsonio import write_json
from hdbench.common.page_text.boxes import LINE_BOXES
from hdbench.common.pictures import FORMATS
from hdbench.common.progress import progress
from hdbench.common.writing import full_disk_errors, make_folder, move
from hdbench.errors import HdbenchError, Message, is_full, shortened


def write_collection(plan: CollectionPlan, out: Path = Path()) -> Path:
    """Write a benchmark's folder; images are copied, and the originals stay as they are.

    Args:
        plan: what to write.
        out: the folder to write it into.

    Returns:
        The benchmark's folder.

    Raises:
        HdbenchError: it exists already, or a file cannot be read or written.
    """
    folder = out / plan.requested.name
    with (
        full_disk_errors(folder),
        tempfile.TemporaryDirectory(prefix=f".{plan.requested.name}.", dir=out) as partial,
    ):
        new_folder = Path(partial) / plan.requested.name
        new_folder.mkdir()
        lines = [
            json.dumps(row, ensure_ascii=False) + "\n" for row in write_items(plan, new_folder)
        ]
        (new_folder / METADATA).write_text("".join(lines), encoding="utf-8")
        (new_folder / "benchmark.yaml").write_text(yaml_of(plan.spec), encoding="utf-8")
        write_json(new_folder / "answer.schema.json", plan.schema)
        (new_folder / "prompt.txt").write_text(plan.prompt, encoding="utf-8")
        for name, text in _cards(plan).items():
            (new_folder / name).write_text(text, encoding="utf-8")
        with write_errors(folder):
            new_folder.rename(folder)
    return folder


def write_items(plan: CollectionPlan, folder: Path) -> list[dict[str, Any]]:
    """Copy the files of all items, and return the lines of the metadata.

    Args:
        plan: the items, and what is known of them.
        folder: the folder that gets a folder with the files.

    Raises:
        HdbenchError: a file cannot be copied, or has a name that another one has too.
    """
    return [_row(item, plan, folder) for item in progress(plan.media.items, Message("Copying"))]


def yaml_of(spec: Mapping[str, Any]) -> str:
    """Return a benchmark's description, its BibTeX in lines as a person would write it."""
    entries = {name: value for name, value in spec.items() if name != "citation"}
    citation = "".join(f"  {line}\n" for line in spec["citation"].splitlines())
    return yaml.safe_dump(entries, sort_keys=False, allow_unicode=True) + f"citation: |\n{citation}"


def _row(item: MediaItem, plan: CollectionPlan, folder: Path) -> dict[str, Any]:
    """Copy an item's files, and return its line of the metadata."""
    kind, truth = plan.media.kind, plan.truths.get(item.id)
    shown: Any
    try:
        if kind == "text":
            shown = text_of_item(item.pages[0].path)
        else:
            names = [
                _copied(page, number, item, folder / MEDIA_FOLDERS[kind])
                for number, page in enumerate(item.pages, 1)
            ]
            shown = names if kind == "pages" else names[0]
    except OSError as error:
        if is_full(error):  # the folder that is written, and not the file
            raise
        raise HdbenchError(
            "{place}: cannot be copied: {why}", place=item.pages[0].path, why=error
        ) from error
    return {
        MEDIA_KEYS[kind]: shown,
        "id": item.id,
        "ground_truth": None if truth is None else truth.record,
        **({} if truth is None or truth.record is None else Provenance(IMPORTED).as_row()),
        **({STRATUM: plan.strata[item.id]} if plan.strata else {}),
        **plan.own_columns.get(item.id, {}),
    }


def _copied(page: Page, number: int, item: MediaItem, folder: Path) -> str:
    """Copy a file of an item into the benchmark's folder, and return its path there."""
    folder.mkdir(exist_ok=True)
    stem = safe_name(item.id) if len(item.pages) == 1 else f"{safe_name(item.id)}-{number}"
    suffix = page.path.suffix.lower() if page.frame is None else ".png"
    copy = folder / f"{stem}{suffix}"
    if copy.exists():
        raise HdbenchError(
            "{place}: its name and that of another differ only by signs that not every "
            "system allows ({name}): rename one of them",
            place=page.path,
            name=copy.name,
        )
    copy_page(page, copy)
    return f"{folder.name}/{copy.name}"


def copy_page(page: Page, copy: Path) -> None:
    """Copy a page as it is, or as PNG if it is one of several in a TIFF."""
    if page.frame is None:
        shutil.copyfile(page.path, copy)
    else:
        with Image.open(page.path, formats=FORMATS) as image:
            image.seek(page.frame)
            image.save(copy)


def text_of_item(path: Path) -> str:
    """Return the text of an item.

    Raises:
        HdbenchError: it is too long, or not UTF-8.
    """
    if path.stat().st_size > MAX_TEXT_ITEM:
        raise HdbenchError(
            "{place}: more than {most:,} bytes: divide it into items",
            place=path,
            most=MAX_TEXT_ITEM,
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise HdbenchError("{place}: not UTF-8: save it as UTF-8", place=path) from error


def _cards(plan: CollectionPlan) -> dict[str, str]:
    """Return the card's template and the changelog."""
    requested = plan.requested
    return draft_card(
        plan.schema,
        name=requested.name,
        version=plan.spec["version"],
        media=plan.media.kind,
        metric=plan.spec["metric"],
        language=requested.language,
        origin=requested.truth.name if requested.truth else "",
        notes=[*_mapping(plan), *plan.notes],
        items=len(plan.media.items),
        truths=len(plan.truths),
    )


def _mapping(plan: CollectionPlan) -> list[str]:
    """Return the use of each column, for the card."""
    became = []
    for column in plan.columns:
        use = "names the item" if column.key else column.path or "not used"
        if column.title in plan.grouping:
            use = f"the dataset's column {plan.grouping[column.title]}"
        became.append(f"column {column.title}: {use}")
    return became


# Items that are added to a collection: those that it has stay as they are

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
    source: SourceTable | Truths = Truths([], [])
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
    columns = find_like(str(collection)).spec.columns.keys() - PROVENANCE_COLUMNS.keys()
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
    make_folder(folder)
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
            move(file, there, collection)
