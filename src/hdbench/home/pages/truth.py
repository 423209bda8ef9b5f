"""The ground truth: who reads what, whose work comes in, and how well people agree."""

import re
import shutil
import tempfile
from collections.abc import Hashable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hdbench.annotating.agreement import agreement_of
from hdbench.annotating.annotation import ANNOTATION, read_annotation, read_double
from hdbench.annotating.assigned import read_assigned
from hdbench.annotating.changes import check_pseudonym
from hdbench.annotating.editor import Editor
from hdbench.annotating.history import HISTORY, SUFFIX
from hdbench.annotating.merge_news import news_of
from hdbench.annotating.merging import Incoming, hand_over, merge
from hdbench.annotating.store import Store
from hdbench.benchmarks.agreement import Agreement
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.names import DESCRIPTION
from hdbench.benchmarks.titles import FieldTitles
from hdbench.common.os_errors import write_errors
from hdbench.common.texts import written
from hdbench.errors import HdbenchError, Message
from hdbench.home.collection import Collection
from hdbench.home.comparison import usable
from hdbench.home.page import Done, HomePage, Visit
from hdbench.home.stamped import stamp_of
from hdbench.home.uploads import uploaded

if TYPE_CHECKING:
    from hdbench.home.app import Home

EDITOR, CORRECTING = "annotate/{name}", "correct/{name}"
"""The addresses in a collection of its editor: without and with what models read."""

_AGREEING = "agreement"

_INCOMING = "handed-over.zip"
_WAITING = re.compile(r"\.merge-[a-z0-9_]{8}")


def editor(home: "Home", collection: Collection, name: str) -> Editor:
    """Open the editor for a person."""
    return Editor(collection.folder, name, language=home.chosen_language)


def correcting_editor(home: "Home", collection: Collection, name: str) -> Editor:
    """Open the editor for a person, with what models read."""
    drafts = [run.path for run in usable(collection)]
    return Editor(collection.folder, name, drafts, home.chosen_language)


def _show(visit: Visit) -> Mapping[str, Any]:
    remembered = visit.home.used.read()
    progress = visit.collection.progress()
    has_drafts = bool(usable(visit.collection))
    double = read_annotation(visit.collection.folder).double
    return {
        "progress": progress,
        "name": remembered.pseudonym,
        "has_drafts": has_drafts,
        "double": double and len(double.items),
    }


def _annotate(visit: Visit) -> Done:
    return open_editor(visit, CORRECTING if "drafts" in visit.form else EDITOR)


def _double(visit: Visit) -> Done:
    number, name = visit.form.get("items", "").strip(), visit.form.get("name", "").strip().lower()
    if not number.isdecimal() or len(number) > 8:  # noqa: PLR2004
        raise HdbenchError("{given}: must be a number of items", given=number[:20])
    visit.home.editors.close_idle(0)
    read_double(visit.collection.folder, name, int(number))
    return open_editor(visit, EDITOR)


async def hand_over_file(collection: Collection, request: Request) -> Response:
    """Answer with the ZIP of somebody's work."""
    name = request.path_params["name"]

    def packed() -> bytes:
        check_pseudonym(name)
        with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
            path = Path(folder, f"{name}.zip")
            hand_over(collection.folder, name, path)
            return path.read_bytes()

    given = f'attachment; filename="{collection.spec.name}-{name}.zip"'
    return Response(
        await to_thread.run_sync(packed),
        media_type="application/zip",
        headers={"Content-Disposition": given},
    )


async def upload(collection: Collection, request: Request) -> Response:
    """Keep a ZIP that was handed over until somebody has looked at whose it is."""
    async with uploaded(request, collection.folder) as given:
        with write_errors(collection.folder):
            waiting = Path(tempfile.mkdtemp(dir=collection.folder, prefix=".merge-"))
            given.path.replace(waiting / _INCOMING)
    return JSONResponse({"to": f"merge?file={waiting.name}"})


class _AskedError(Exception):
    """Ends a merge before anything is written."""


def _show_merge(visit: Visit) -> Mapping[str, Any]:
    """Return what a ZIP would bring in."""
    collection, name = visit.collection, visit.home.used.read().pseudonym
    path = _waiting(visit, visit.query.get("file") or visit.form.get("file", ""))

    def asked() -> list[Message]:
        incoming: list[Incoming] = []

        def ask(news: Incoming) -> None:
            incoming.append(news)
            raise _AskedError

        with suppress(_AskedError):
            merge(collection.folder, path, name, ask)
        return [line for each in incoming for line in news_of(each)]

    visit.home.editors.close_idle(0)  # otherwise they would keep its annotator from being merged
    waiting, stamp = path.parent.name, (name, _annotation_stamp(collection))
    return {"file": waiting, "work": collection.background.computed(waiting, stamp, asked)}


def _take_in(visit: Visit) -> Done:
    path = _waiting(visit, visit.form.get("file", ""))
    visit.home.editors.close_idle(0)
    name = visit.home.used.read().pseudonym
    merged = merge(visit.collection.folder, path, name, lambda _: None)
    Store.open(visit.collection.folder, name).close()  # what all agree in is settled with it
    shutil.rmtree(path.parent, ignore_errors=True)
    return Done(
        Message(
            "new changes: {taken:,}, known: {known:,}, conflicts: {conflicts:,}, newly assigned "
            "items: {assigned:,}",
            taken=merged.taken,
            known=merged.known,
            conflicts=len(merged.conflicts),
            assigned=merged.assigned,
        ),
        "truth",
    )


def _leave_out(visit: Visit) -> Done:
    shutil.rmtree(_waiting(visit, visit.form.get("file", "")).parent, ignore_errors=True)
    return Done(Message("nothing was taken in"), "truth")


def _waiting(visit: Visit, name: str) -> Path:
    """Return the ZIP of a hand-over that waits to be looked at."""
    path = visit.collection.folder / name / _INCOMING
    if not _WAITING.fullmatch(name) or path.parent.is_symlink() or not path.is_file():
        raise HdbenchError("that file is no longer here: if nobody took it in, drop it again")
    return path


def _show_agreement(visit: Visit) -> Mapping[str, Any]:
    collection, folder = visit.collection, visit.collection.folder

    def counted() -> tuple[Agreement | None, int]:
        finished, unfinished = read_assigned(folder)
        return agreement_of(folder, finished), unfinished

    work = collection.background.computed(_AGREEING, _annotation_stamp(collection), counted)
    agreement, unfinished = work.value or (None, 0)
    return {
        "work": work,
        "agreement": agreement,
        "unfinished": unfinished,
        "titles": FieldTitles(collection.schema, visit.language),
        "number": lambda value: "–" if value is None else written(value, 2, visit.language),
    }


def _annotation_stamp(collection: Collection) -> Hashable:
    """Return a value that changes with what people have annotated."""
    folder = collection.folder
    names = (METADATA, ANNOTATION, DESCRIPTION)
    files = [*(folder / name for name in names), *sorted((folder / HISTORY).glob(f"*{SUFFIX}"))]
    return tuple(map(stamp_of, files))


def open_editor(visit: Visit, path: str) -> Done:
    """Remember the pseudonym in a form, and open what its owner edits at an address.

    Raises:
        HdbenchError: it is not a pseudonym, or nothing can be opened for it.
    """
    name = visit.form.get("name", "").strip().lower()
    check_pseudonym(name)
    visit.home.used.note_pseudonym(name)
    visit.home.open_editor(path, visit.collection, name)  # what is wrong is said here
    return Done(to=f"{path.format(name=name)}/")


PAGE = HomePage("truth", _show, {"annotate": _annotate, "double": _double})
MERGE = HomePage("merge", _show_merge, {"take-in": _take_in, "leave-out": _leave_out})
AGREEMENT = HomePage("agreement", _show_agreement)
