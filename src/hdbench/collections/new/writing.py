"""The folder of a new benchmark, written whole or not at all."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.building.drafts import draft_card
from hdbench.benchmarks.building.media import MEDIA_FOLDERS
from hdbench.benchmarks.provenance import IMPORTED, Provenance
from hdbench.benchmarks.sample import STRATUM
from hdbench.benchmarks.spec import MEDIA_KEYS
from hdbench.collections.new.media import MediaItem, Page, safe_name
from hdbench.collections.new.plan import CollectionPlan
from hdbench.common.jsonio import full_disk_errors, write_json
from hdbench.common.os_errors import write_errors
from hdbench.common.pictures import FORMATS
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError, Message, is_full

MAX_TEXT = 2**20
"""Maximum number of bytes of a text item."""


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
    if path.stat().st_size > MAX_TEXT:
        raise HdbenchError(
            "{place}: more than {most:,} bytes: divide it into items", place=path, most=MAX_TEXT
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
