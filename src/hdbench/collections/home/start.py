"""The pages before any collection: those used before, and a new one."""

import json
import re
import shutil
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from hdbench.answers.tables import SourceTable
from hdbench.benchmarks.benchmark import EXAMPLE, METADATA
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.collections.home.collection import key_of, opened
from hdbench.collections.home.drafts import NEW, NOT_USED, CollectionDraft
from hdbench.collections.home.run_list import RUNS
from hdbench.collections.home.uploads import UploadedFile, uploaded
from hdbench.collections.new.plan import CollectionRequest, make_plan, read_sources
from hdbench.collections.new.writing import write_collection
from hdbench.common.jsonio import read_jsonl
from hdbench.common.os_errors import write_errors
from hdbench.common.regular_files import without_links
from hdbench.errors import HdbenchError, without_folders

if TYPE_CHECKING:
    from hdbench.collections.home.app import Home


def start_routes(home: "Home") -> list[BaseRoute]:
    """Return the routes of the pages before any collection.

    Args:
        home: the home.
    """
    start = _Start(home)
    routes = [
        Route("/", start.index),
        Route("/new", start.new),
        Route("/new/{draft:key}", start.draft),
        Route("/new/{draft:key}/small/{n:number}", partial(home.file, start.picture)),
    ]
    uploads = {"scans": CollectionDraft.add_scan, "truth": CollectionDraft.add_truth}
    sent: dict[str, Callable[[Request], Awaitable[Response]]] = {
        "/forget": start.forget,
        "/open": partial(start.go_to, "start.html", _opened),
        "/sample": partial(start.go_to, "start.html", _sample),
        "/new": partial(start.go_to, "new.html", start.begun),
        "/new/{draft:key}/discard": start.discard,
        **{
            f"/new/{{draft:key}}/{name}": partial(home.file, partial(start.upload, add))
            for name, add in uploads.items()
        },
        **{f"/new/{{draft:key}}/{name}": partial(start.act, act) for name, act in _FORMS.items()},
    }
    routes += [Route(path, answer, methods=["POST"]) for path, answer in sent.items()]
    # Whoever goes back to the page that a form was sent from, or reloads it, finds it.
    routes += [Route(f"/new/{{draft:key}}/{name}", start.draft) for name in _FORMS]
    return [*routes, Route("/open", start.index), Route("/sample", start.index)]


class _Start:
    """The pages before any collection.

    Args:
        home: the home.
    """

    def __init__(self, home: "Home") -> None:
        self._home = home
        self._drafts: dict[Path, CollectionDraft] = {}

    async def index(self, request: Request) -> Response:
        """Show the collections that were used before."""
        return await self._home.page(request, "start.html", partial(self._used, {}, ""))

    async def forget(self, request: Request) -> Response:
        """Take a collection out of the list."""

        def forgotten(form: Mapping[str, str]) -> str:
            self._home.recent.forget(Path(form.get("folder", "")))
            return ""

        return await self._home.submitted(request, "start.html", forgotten, self._used)

    async def go_to(
        self, template: str, find: Callable[[Mapping[str, str]], Path], request: Request
    ) -> Response:
        """Go to the collection, or the draft of one, that a form makes or names."""

        def found(form: Mapping[str, str]) -> str:
            folder = find(form)
            return f"new/{key_of(folder)}" if folder.name.endswith(NEW) else self._to(folder)

        show = _new if template == "new.html" else self._used
        return await self._home.submitted(request, template, found, show)

    async def new(self, request: Request) -> Response:
        """Ask for the name and place of a new collection."""
        return await self._home.page(request, "new.html", partial(_new, {}, ""))

    def begun(self, form: Mapping[str, str]) -> Path:
        """Begin a new collection, and return the folder of its draft."""
        place = without_links(_folder_in(form, "place"))
        name, title = form.get("name", "").strip(), form.get("title", "").strip()
        draft = CollectionDraft.of_new(place, name or _name_of(title), title)
        self._home.recent.add_draft(draft.folder)
        return draft.folder

    async def draft(self, request: Request) -> Response:
        """Show a draft, or the collection that it has become."""
        if folder := self._become(request):
            return RedirectResponse(f"{self._home.root}/{self._to(folder)}", 303)
        return await self._home.page(request, "draft.html", partial(self._drafted, request, {}, ""))

    async def discard(self, request: Request) -> Response:
        """Remove a draft, with the copies of what was sent."""

        def discarded(_: Mapping[str, str]) -> str:
            with suppress(HdbenchError):  # it is gone already
                draft = self._draft(request)
                draft.remove()
                self._home.recent.forget(draft.folder)
                if draft.is_addition and draft.collection.is_dir():
                    return self._to(draft.collection)
            return ""

        return await self._home.submitted(request, "start.html", discarded, self._used)

    async def picture(self, request: Request) -> Response:
        """Show a small picture of a scan that was sent."""
        made = await to_thread.run_sync(self._draft(request).picture, request.path_params["n"])
        return Response(made.data, media_type=made.media_type)

    async def upload(
        self, add: Callable[[CollectionDraft, UploadedFile], None], request: Request
    ) -> Response:
        """Take in a file for a draft."""
        draft = self._draft(request)
        async with uploaded(request, draft.folder) as given:
            await to_thread.run_sync(add, draft, given)
        return JSONResponse({})

    async def act(self, act: "_Act", request: Request) -> Response:
        """Change a draft, or write what it has."""

        def done(form: Mapping[str, str]) -> str:
            try:
                draft = self._draft(request)
                act(draft, form)
            except HdbenchError:
                if become := self._become(request):  # a button was pressed twice
                    return self._to(become)
                raise
            if act is not _written:
                return f"new/{key_of(draft.folder)}"
            self._home.recent.forget(draft.folder)
            return self._to(draft.collection)

        show = partial(self._drafted, request)
        return await self._home.submitted(request, "draft.html", done, show)

    def _to(self, folder: Path) -> str:
        """Remember a collection, and return its address."""
        self._home.recent.add(folder)
        return f"{key_of(without_links(folder))}/"

    def _used(self, _: Mapping[str, str], error: str, language: str) -> Mapping[str, Any]:
        remembered = self._home.recent.read()
        return {
            "error": error,
            "collections": [self._view(Path(name), language) for name in remembered.collections],
            "drafts": [
                self._draft_view(CollectionDraft(Path(name)))
                for name in remembered.drafts
                if Path(name).is_dir()
            ],
            "key_of": key_of,
            "place": Path.cwd(),
        }

    def _view(self, folder: Path, language: str) -> Mapping[str, Any]:
        """Return a collection that was opened before, or why it cannot be read."""
        key = key_of(folder)
        try:
            collection = self._home.collection(key)
            standing = self._home.standing(collection)
            title = collection.spec.title_in(language)
            return {"folder": folder, "key": key, "title": title, "standing": standing}
        except HdbenchError as error:
            return {"folder": folder, "title": folder.name, "problem": error.message}

    def _draft_view(self, draft: CollectionDraft) -> tuple[CollectionDraft, str]:
        """Return a draft, and why it cannot be resumed; empty if it can."""
        problem = ""
        if draft.is_addition:
            try:
                self._home.collection(key_of(draft.collection)).spec  # noqa: B018  which is read
            except HdbenchError as error:
                problem = error.message
        return draft, problem

    def _draft(self, request: Request) -> CollectionDraft:
        """Return a draft.

        Raises:
            HdbenchError: there is none of that key.
        """
        for name in self._home.recent.read().drafts:
            folder = Path(name)
            if key_of(folder) == request.path_params["draft"] and folder.is_dir():
                return self._drafts.setdefault(folder, CollectionDraft(folder))
        raise HdbenchError("not one of the collections that are being made here")

    def _become(self, request: Request) -> Path | None:
        """Return the collection that has been made of a draft; None if it is still a draft."""
        for draft in list(self._drafts.values()):  # threads add to them
            is_asked = key_of(draft.folder) == request.path_params["draft"]
            if is_asked and not draft.folder.is_dir() and (draft.collection / METADATA).is_file():
                return draft.collection
        return None

    def _drafted(
        self, request: Request, form: Mapping[str, str], error: str, language: str
    ) -> Mapping[str, Any]:
        draft = self._draft(request)
        requested = draft.requested()
        title, collection = requested.title, None
        if draft.is_addition:
            collection = self._home.collection(key_of(draft.collection))
            title = collection.spec.title_in(language)
        plan, sources, problem = None, None, ""
        if requested.images or draft.scans.is_dir():
            try:
                sources = draft.sources()
                plan = draft.plan()
            except HdbenchError as unusable:
                problem = unusable.message
        return {
            "draft": draft,
            "key": key_of(draft.folder),
            "collection": collection,
            "title": title,
            "has_plan": collection is not None and collection.decisions.has_plan(),
            "sources": sources,
            "columns": draft.columns() if requested.truth else (),
            "first_rows": draft.first_rows()[:FIRST_ROWS],
            "heading": sources.truth.heading
            if sources and isinstance(sources.truth, SourceTable)
            else 0,
            "paths": [each.path for each in collection.fields] if collection else (),
            "kinds": KINDS,
            "requested": requested,
            "plan": plan,
            "problem": without_folders(problem, draft.folder, draft.place),
            "error": without_folders(error, draft.folder, draft.place),
            "form": form,
        }


def _new(form: Mapping[str, str], error: str, _: str) -> Mapping[str, Any]:
    return {"form": form, "error": error, "place": Path.cwd()}


def _opened(form: Mapping[str, str]) -> Path:
    folder = _folder_in(form, "folder")
    opened(folder)
    return folder


def _sample(_: Mapping[str, str]) -> Path:
    """Return the sample collection, made of what `hdbench demo` builds unless it is there.

    Raises:
        HdbenchError: it cannot be written.
    """
    place = Path.cwd()
    folder = place / _SAMPLE
    if (folder / METADATA).is_file():
        return folder
    with TemporaryDirectory(prefix="hdbench-") as scratch:
        built = build(find_recipe("zettelkatalog", sample=True), Path(scratch)).folder
        scans, truth = Path(scratch, "scans"), Path(scratch, "truth.jsonl")
        scans.mkdir()
        rows = [line.value for line in read_jsonl(built / METADATA)]
        for row in rows:
            scan = built / row["file_name"]
            scan.rename(scans / f"{row['id']}{scan.suffix}")
        truth.write_bytes(
            b"".join(
                json.dumps({"id": row["id"]} | json.loads(row["ground_truth"])).encode() + b"\n"
                for row in rows
            )
        )
        requested = CollectionRequest(_SAMPLE, scans, truth, like=str(built), language="de")
        write_collection(make_plan(requested, read_sources(requested, place)), place)
        with write_errors(place / RUNS):
            (place / RUNS).mkdir(exist_ok=True)
            shutil.copy(built / EXAMPLE, place / RUNS / f"{_SAMPLE}_example.jsonl")
    return folder


def _folder_in(form: Mapping[str, str], name: str) -> Path:
    """Return the folder of this computer that a form names.

    Raises:
        HdbenchError: there is none, or its path is not whole.
    """
    folder = Path(form.get(name, "").strip())
    if not folder.is_absolute() or not folder.is_dir():
        raise HdbenchError("{place}: no such folder: give its whole path", place=folder)
    return folder


_SAMPLE = "sample-cards"
"""The name of the sample collection."""

_NO_NAME = re.compile(r"[^a-z0-9]+")


def _name_of(title: str) -> str:
    """Return a name for a collection with a title.

    Example:
        >>> _name_of("Kästen 3, Zürich")
        'kasten-3-zurich'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return _NO_NAME.sub("-", plain).strip("-")[:40]


_Act = Callable[[CollectionDraft, Mapping[str, str]], None]
"""Does what a form asks for."""

_TEXTS = ("title", "licence", "language", "fields")
"""The other fields of the form, which are texts of a `DraftRequest`."""

FIRST_ROWS = 8
"""Number of a table's rows that are shown as they are."""

KINDS = ("text", "integer", "number", "date", "boolean", "list")
"""What a column can be read as."""

_COLUMN = "column:"
"""Prefix of the names of the form's fields that say what becomes of a column."""

_KIND = "kind:"
"""Prefix of those that say what a column is read as."""


def _saved(draft: CollectionDraft, form: Mapping[str, str]) -> None:
    """Keep what was typed: what becomes of columns, and what is known of the collection."""
    changed, kinds = dict(draft.requested().columns), dict[str, str](draft.requested().kinds)
    for column in draft.columns():
        use = draft.use_of(column)
        given = form.get(f"{_COLUMN}{column.title}", use).strip() or NOT_USED
        if given != use:
            changed[column.title] = given
        kind = form.get(f"{_KIND}{column.title}", column.kind)
        if kind != column.kind:
            kinds[column.title] = kind
    texts = {name: form[name].strip() for name in _TEXTS if name in form}
    draft.change(columns=changed, kinds=kinds, **texts)


def _folder(draft: CollectionDraft, form: Mapping[str, str]) -> None:
    draft.change(images=str(_folder_in(form, "images")))


def _boxes(draft: CollectionDraft, form: Mapping[str, str]) -> None:
    draft.change(boxes=bool(form.get("boxes")))


def _without_scans(draft: CollectionDraft, _: Mapping[str, str]) -> None:
    draft.remove_scans()


def _without_truth(draft: CollectionDraft, _: Mapping[str, str]) -> None:
    draft.change(truth="", header="", columns={}, kinds={})


def _heading(draft: CollectionDraft, form: Mapping[str, str]) -> None:
    draft.change(header=form.get("row", ""), columns={}, kinds={})


def _written(draft: CollectionDraft, form: Mapping[str, str]) -> None:
    with draft.writing:
        _saved(draft, form)
        draft.write()


_FORMS: Mapping[str, _Act] = {
    "save": _saved,
    "boxes": _boxes,
    "folder": _folder,
    "without-scans": _without_scans,
    "without-truth": _without_truth,
    "heading": _heading,
    "write": _written,
}
