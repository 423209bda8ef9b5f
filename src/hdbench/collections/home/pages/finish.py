"""The records of the whole collection, written in the forms that others load."""

import mimetypes
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from hdbench.benchmarks.titles import FieldTitles
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.decisions import FINISHED, DecisionView
from hdbench.collections.home.page import Done, HomePage, Visit
from hdbench.collections.home.stamps import stamp_of
from hdbench.collections.home.uploads import uploaded
from hdbench.collections.records.forms import FinishForm, writer_of
from hdbench.collections.records.own_records import CHANGED, OwnRecords
from hdbench.collections.trust.delivery import (
    CHANGES,
    RECORDS,
    finish,
    read_deliveries,
    read_finished,
)
from hdbench.collections.trust.origins import ORIGINS
from hdbench.common.regular_files import read_at_most
from hdbench.common.writing import move, write_whole
from hdbench.errors import HdbenchError, Message

MAX_MAPPING = 2**20
"""Maximum number of bytes of a mapping."""

_OWN = ".own-records"
"""The records that the library has, in the folder of the finished ones."""

_WRITING, _COUNTING = "finish", "deliveries"


class FormGroup(NamedTuple):
    """Forms in which the records can be written.

    Attributes:
        name: its key in the texts: what it is called, and one sentence about it.
        forms: the forms.
        mapping: whether a mapping can say what becomes of the fields.
        needs_mapping: whether there has to be one.
        is_into: whether values are put into records that the library has.
    """

    name: str
    forms: Sequence[FinishForm]
    mapping: bool = False
    needs_mapping: bool = False
    is_into: bool = False


GROUPS = (
    FormGroup("jsonl", ("jsonl",)),
    FormGroup("table", ("csv", "xlsx")),
    FormGroup("columns", ("csv",), mapping=True, needs_mapping=True),
    FormGroup("marc", ("marcxml",), mapping=True),
    FormGroup("into", ("marcxml",), mapping=True, is_into=True),
    FormGroup("dublin-core", ("dublin-core",), mapping=True),
)
"""All forms of `hdbench trust finish`."""

_BY_NAME = {group.name: group for group in GROUPS}


class WrittenFile(NamedTuple):
    """A file that can be downloaded.

    Attributes:
        name: its name.
        size: its size in bytes.
    """

    name: str
    size: int


def _show(visit: Visit) -> Mapping[str, Any]:
    collection = visit.collection
    view = collection.decisions.view()
    shown: dict[str, Any] = {
        "view": view,
        "groups": GROUPS,
        "origins": ORIGINS,
        "titles": FieldTitles(collection.schema, visit.language),
        "writing": collection.background.last(_WRITING),
        "files": [],
        "finished": None,
        "deliveries": None,
        "mappings": {},
        "has_own": False,
    }
    if view.applied is None:
        return shown
    folder = view.out / FINISHED
    shown["mappings"] = {
        group.name: _mapping(folder, group.name).is_file() for group in GROUPS if group.mapping
    }
    shown["has_own"] = (folder / _OWN).is_file()
    shown["folder"] = folder
    if (folder / RECORDS).is_file():
        shown["finished"] = read_finished(folder)
        shown["deliveries"] = collection.background.computed(
            _COUNTING, stamp_of(folder / CHANGES), lambda: read_deliveries(folder)[::-1]
        )
        shown["files"] = _files(folder)
    return shown


def _files(folder: Path) -> list[WrittenFile]:
    """Return the files of the records: plain ones that are not hidden."""
    return [
        WrittenFile(path.name, path.stat().st_size)
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".") and path.is_file() and not path.is_symlink()
    ]


def _mapping(folder: Path, group: str) -> Path:
    return folder / f"mapping-{group}.yaml"


def _applied(collection: Collection) -> DecisionView:
    view = collection.decisions.view()
    if view.applied is None or view.plan is None:
        raise HdbenchError(view.problem or "nothing is accepted yet: decide first")
    return view


def _write(visit: Visit) -> Done:
    """Write the records in a form, and what has changed since the delivery before."""
    collection = visit.collection
    view = _applied(collection)
    group, wanted = _BY_NAME.get(visit.form.get("group", "")), visit.form.get("form", "")
    form = next((form for form in group.forms if form == wanted), None) if group else None
    if group is None or form is None:
        raise HdbenchError("{form}: no such form", form=wanted[:40])
    folder = view.out / FINISHED
    mapping = _mapping(folder, group.name) if group.mapping else None
    if mapping is not None and not mapping.is_file():
        if group.needs_mapping:
            raise HdbenchError("drop a mapping first: it says what becomes of the fields")
        mapping = None
    own = folder / _OWN if group.is_into else None
    if own is not None and not own.is_file():
        raise HdbenchError("drop your records first: MARC21 or MARCXML")
    collection.background.start(
        _WRITING, partial(_written, collection, view, form, mapping=mapping, own=own)
    )
    return Done()


def _written(
    collection: Collection,
    view: DecisionView,
    form: FinishForm,
    *,
    mapping: Path | None,
    own: Path | None,
) -> Message:
    """Write the records, and return what was written in a sentence."""
    assert view.plan is not None  # noqa: S101  `_applied` looked
    dataset, folder = collection.decisions.dataset(), view.out / FINISHED
    records = OwnRecords(own, None, "id") if own else None
    write = writer_of(form, dataset, view.plan.fields, view.out, mapping, None, records)
    finished, written = finish(view.out, dataset, folder, write)
    if written is None:
        return Message("{name}: {records:,} records", name=RECORDS, records=finished.records)
    if written.given is not None:
        return Message(
            "{name}: {records:,} of your {given:,} records changed: see {changes} and {list}",
            name=written.path.name,
            records=written.records,
            given=written.given,
            changes=CHANGED,
            list=written.left.name,
        )
    return Message(
        "{name}: {records:,} records; {left_out:,} items have none: see {list}",
        name=written.path.name,
        records=written.records,
        left_out=written.left_out,
        list=written.left.name,
    )


def _forget_mapping(visit: Visit) -> Done:
    group = _BY_NAME.get(visit.form.get("group", ""))
    if group is not None and group.mapping:
        folder = _applied(visit.collection).out / FINISHED
        _mapping(folder, group.name).unlink(missing_ok=True)
    return Done()


async def upload(collection: Collection, request: Request) -> Response:
    """Keep a mapping for the forms that it is for, or a library's own records."""
    if request.path_params["group"] == "records":
        folder = _applied(collection).out / FINISHED
        async with uploaded(request, folder) as given:
            await to_thread.run_sync(move, given.path, folder / _OWN)
        return JSONResponse({})
    group = _BY_NAME.get(request.path_params["group"])
    if group is None or not group.mapping:
        raise HdbenchError("takes no mapping")
    folder = _applied(collection).out / FINISHED
    async with uploaded(request, folder) as given:
        data = await to_thread.run_sync(read_at_most, given.path, MAX_MAPPING)
        await to_thread.run_sync(write_whole, _mapping(folder, group.name), data)
    return JSONResponse({})


async def file(collection: Collection, request: Request) -> Response:
    """Answer with a file of the records."""

    def found() -> Path:
        folder = _applied(collection).out / FINISHED
        name = request.path_params["name"]
        if name not in {each.name for each in _files(folder)}:
            raise HdbenchError("{name}: not here", name=name[:100])
        return Path(folder, name)

    path = await to_thread.run_sync(found)
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return FileResponse(path, filename=path.name, media_type=media_type)


PAGE = HomePage("finish", _show, {"write": _write, "forget": _forget_mapping})
