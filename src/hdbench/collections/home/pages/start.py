"""The pages before any collection: those used before, and what is being made."""

import json
import re
import shutil
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.responses import Response

from hdbench.answers.tables import SourceTable
from hdbench.benchmarks.benchmark import EXAMPLE, METADATA
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.collections.home.collection import opened
from hdbench.collections.home.drafts import NEW, NOT_USED, CollectionDraft
from hdbench.collections.home.folder import key_of
from hdbench.collections.home.page import Done, HomePage, Visit
from hdbench.collections.home.run_list import RUNS
from hdbench.collections.new.plan import CollectionRequest, check_new_name, make_plan, read_sources
from hdbench.collections.new.writing import write_collection
from hdbench.common.files import without_links, write_errors
from hdbench.common.jsonio import read_jsonl, write_json
from hdbench.errors import HdbenchError, without_folders

FIRST_ROWS = 8
"""Number of a table's rows that are shown as they are."""

KINDS = ("text", "integer", "number", "date", "boolean", "list")
"""What a column can be read as."""

_COLUMN, _KIND = "column:", "kind:"
"""Prefixes of the names of the form's fields that say what becomes of a column, and what it is
read as."""

_TEXTS = ("title", "licence", "language")
"""Fields of the form whose texts a `CollectionRequest` has."""

_SAMPLE = "sample-cards"
"""The name of the sample collection."""

_NO_NAME = re.compile(r"[^a-z0-9]+")


def _used(visit: Visit) -> Mapping[str, Any]:
    """Return what was opened before, and what is being made."""
    remembered = visit.home.recent.read()
    drafts = [Path(name) for name in remembered.drafts]
    return {
        "collections": [_view(visit, Path(name)) for name in remembered.collections],
        "drafts": [CollectionDraft(folder) for folder in drafts if folder.is_dir()],
        "key_of": key_of,
        "place": Path.cwd(),
    }


def _view(visit: Visit, folder: Path) -> Mapping[str, Any]:
    """Return a collection that was opened before, or why it cannot be read."""
    key = key_of(folder)
    try:
        collection = visit.home.collection(key)
        title, standing = collection.spec.title_in(visit.language), collection.standing()
        return {"folder": folder, "key": key, "title": title, "standing": standing}
    except HdbenchError as error:
        return {"folder": folder, "title": folder.name, "problem": error.message}


def _forget(visit: Visit) -> None:
    visit.home.recent.forget(Path(visit.form.get("folder", "")))


def _open(visit: Visit) -> Done:
    folder = _folder_in(visit.form, "folder")
    opened(folder)
    return _to(visit, folder)


def _to(visit: Visit, folder: Path) -> Done:
    """Remember a collection, and go to it."""
    visit.home.recent.add(folder)
    return Done(to=f"{key_of(without_links(folder))}/")


def _folder_in(form: Mapping[str, str], name: str) -> Path:
    """Return the folder of this computer that a form names.

    Raises:
        HdbenchError: there is none, or its path is not whole.
    """
    folder = Path(form.get(name, "").strip())
    if not folder.is_absolute() or not folder.is_dir():
        raise HdbenchError("{place}: no such folder: give its whole path", place=folder)
    return folder


def _sample(visit: Visit) -> Done:
    """Make the sample collection of the cards of `hdbench demo`, unless it is there.

    Raises:
        HdbenchError: it cannot be written.
    """
    place = Path.cwd()
    folder, recipe = place / _SAMPLE, find_recipe("zettelkatalog", sample=True)
    if (folder / METADATA).is_file():
        return _to(visit, folder)
    with TemporaryDirectory(prefix="hdbench-") as scratch:
        built = build(recipe, Path(scratch)).folder
        scans, truth = recipe.folder / "sample/images", Path(scratch, "truth.json")
        rows = [line.value for line in read_jsonl(built / METADATA)]
        write_json(truth, {row["id"]: json.loads(row["ground_truth"]) for row in rows})
        requested = CollectionRequest(_SAMPLE, scans, truth, like=str(built), language="de")
        write_collection(make_plan(requested, read_sources(requested, place)), place)
        with write_errors(place / RUNS):
            (place / RUNS).mkdir(exist_ok=True)
            shutil.copy(built / EXAMPLE, place / RUNS / f"{_SAMPLE}_example.jsonl")
    return _to(visit, folder)


def _begin(visit: Visit) -> Done:
    """Begin a new collection."""
    place = without_links(_folder_in(visit.form, "place"))
    name, title = (visit.form.get(name, "").strip() for name in ("name", "title"))
    name = name or _name_of(title)
    check_new_name(name, place)
    draft = CollectionDraft.begin(place / name, NEW)
    draft.change(title=title)
    visit.home.recent.add(draft.folder, is_draft=True)
    return Done(to=f"new/{key_of(draft.folder)}")


def _name_of(title: str) -> str:
    """Return a name for a collection with a title.

    Example:
        >>> _name_of("Kästen 3, Zürich")
        'kasten-3-zurich'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return _NO_NAME.sub("-", plain).strip("-")[:40]


def _drafted(visit: Visit) -> Mapping[str, Any]:
    draft = visit.draft
    requested = draft.requested()
    collection = visit.home.collection(key_of(draft.collection)) if draft.is_addition else None
    is_sent = requested.images == draft.scans
    plan, sources, problem, heading = None, None, "", 0
    if not is_sent or draft.scans.is_dir():
        try:
            sources = draft.sources()
            if isinstance(sources.truth, SourceTable):
                heading = sources.truth.heading
            plan = draft.plan()
        except HdbenchError as unusable:
            problem = without_folders(unusable.message, draft.folder, draft.place)
    return {
        "draft": draft,
        "key": visit.parts["draft"],
        "collection": collection,
        "title": collection.spec.title_in(visit.language) if collection else requested.title,
        "has_plan": collection is not None and collection.last_plan() is not None,
        "sources": sources,
        "columns": draft.columns() if requested.truth else (),
        "first_rows": draft.first_rows()[:FIRST_ROWS],
        "heading": heading,
        "paths": [each.path for each in collection.fields] if collection else (),
        "kinds": KINDS,
        "requested": requested,
        "images": "" if is_sent else requested.images,
        "plan": plan,
        "problem": problem,
    }


def _save(visit: Visit) -> None:
    """Keep what was typed: what becomes of columns, and what is known of the collection."""
    draft, form = visit.draft, visit.form
    requested = draft.requested()
    columns, kinds = dict(requested.columns), dict[str, str](requested.kinds)
    for column in draft.columns():
        use = draft.use_of(column)
        given = form.get(f"{_COLUMN}{column.title}", use).strip() or NOT_USED
        if given != use:
            columns[column.title] = given
        kind = form.get(f"{_KIND}{column.title}", column.kind)
        if kind != column.kind:
            kinds[column.title] = kind
    changed: dict[str, object] = {name: form[name].strip() for name in _TEXTS if name in form}
    if "fields" in form:
        changed["fields"] = list(filter(None, map(str.strip, form["fields"].split(","))))
    draft.change(columns=columns, kinds=kinds, **changed)


def _without_truth(visit: Visit) -> None:
    visit.draft.change(truth=None, header_rows=None, columns={}, kinds={})


def _heading(visit: Visit) -> None:
    visit.draft.change(header_rows=visit.form.get("row") or None, columns={}, kinds={})


def _write(visit: Visit) -> Done:
    """Write what is planned."""
    draft = visit.draft
    with draft.writing:
        _save(visit)
        draft.write()
        visit.home.recent.forget(draft.folder)
        return _to(visit, draft.collection)


def _discard(visit: Visit) -> Done:
    """Remove a draft, with the copies of what was sent."""
    draft = visit.draft
    draft.remove()
    visit.home.recent.forget(draft.folder)
    is_there = draft.is_addition and draft.collection.is_dir()
    return _to(visit, draft.collection) if is_there else Done(to="")


def _picture(visit: Visit) -> Response:
    """Answer with a small picture of a scan that was sent."""
    made = visit.draft.picture(visit.parts["n"])
    return Response(made.data, media_type=made.media_type)


PAGES = (
    HomePage(
        "",
        _used,
        {"forget": _forget, "open": _open, "sample": _sample},
        template="start.html",
    ),
    HomePage("new", lambda _: {"place": Path.cwd()}, {"begin": _begin}),
    HomePage(
        "new/{draft}",
        _drafted,
        {
            "save": _save,
            "boxes": lambda visit: visit.draft.change(boxes=bool(visit.form.get("boxes"))),
            "folder": lambda visit: visit.draft.change(images=_folder_in(visit.form, "images")),
            "without-scans": lambda visit: visit.draft.remove_scans(),
            "without-truth": _without_truth,
            "heading": _heading,
            "write": _write,
            "discard": _discard,
        },
        files={"new/{draft}/small/{n:number}": _picture},
        uploads={
            "scans": lambda visit, given: visit.draft.add_scan(given),
            "truth": lambda visit, given: visit.draft.add_truth(given),
        },
        template="draft.html",
    ),
)
"""The pages: those used before, a new one, and one that is being made."""
