"""An item on a page of its own: its image, its ground truth, what runs read, and its history."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.responses import Response

from hdbench.benchmarks.titles import FieldTitles
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.page import HomePage, Visit
from hdbench.collections.home.stamps import stamp_of_runs
from hdbench.collections.truth.editor import Draft, read_drafts
from hdbench.collections.truth.events import Change
from hdbench.collections.truth.item_state import ItemState, Stage
from hdbench.collections.truth.store import States
from hdbench.common.display.table import value_text
from hdbench.errors import HdbenchError

_READ = "readings"


class ValueRow(NamedTuple):
    """A field of an item.

    Attributes:
        title: what people call the field.
        truth: its value in the ground truth; None without one.
        readings: value → the models that read it, that of the most models first.
    """

    title: str
    truth: str | None
    readings: Mapping[str | None, Sequence[str]]


def rows_of(
    visit: Visit, truth: Mapping[str, Any] | None, records: Mapping[str, Mapping[str, Any]]
) -> list[ValueRow]:
    """Return the fields of an item in which there is something.

    Args:
        visit: the visit.
        truth: the ground truth; None without one.
        records: model → what it read.
    """
    titles = FieldTitles(visit.collection.schema, visit.language)
    rows = []
    for path in dict.fromkeys(each.path.partition("[]")[0] for each in visit.collection.fields):
        read: dict[str | None, list[str]] = {}
        for model, record in records.items():
            read.setdefault(_value(record, path), []).append(model)
        row = ValueRow(
            titles(path),
            _value(truth or {}, path),
            dict(sorted(read.items(), key=lambda each: -len(each[1]))),
        )
        if row.truth is not None or set(read) - {None}:
            rows.append(row)
    return rows


def _value(record: Any, path: str) -> str | None:
    """Return the value of a field, for people; None without one."""
    for name in path.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return value_text(record)


def entered(visit: Visit, item: str) -> tuple[ItemState, Sequence[Change]]:
    """Return what the person of this home may see of an item, and who entered what."""
    states = States(visit.collection.folder, visit.home.recent.read().person)
    return states.of(item), states.people.changes(item)


def _is_read_blind(collection: Collection, state: ItemState) -> bool:
    """Return whether people read the item now without seeing what others or models read."""
    view = collection.decisions.view()
    is_in_sample = (
        view.to_read and view.stage and any(state.item == i for i, _ in view.stage.values)
    )
    return bool(is_in_sample) or state.stage in (Stage.own, Stage.others)


def _show(visit: Visit) -> Mapping[str, Any]:
    collection, item = visit.collection, visit.query.get("id", "")
    ids = [each.state.item for each in collection.progress().items]
    if item not in ids:
        raise HdbenchError("{item}: there is no such item", item=item[:100])
    state, history = entered(visit, item)
    paths = [run.path for run in collection.answered_runs()]
    is_blind = _is_read_blind(collection, state)

    def read() -> list[Draft]:
        return read_drafts(paths, ids, collection.folder.name, collection.schema)

    work = collection.background.computed(_READ, (len(ids), stamp_of_runs(paths)), read)
    prefix = f"{collection.spec.name}_"
    records = {
        draft.model.removeprefix(prefix): record
        for draft in work.value or ()
        if (record := draft.record(item)) is not None
    }
    number = ids.index(item)
    return {
        "item": item,
        "number": number,
        "around": [ids[n] if 0 <= n < len(ids) else "" for n in (number - 1, number + 1)],
        "media": collection.media.shown(item),
        "state": state,
        "history": [] if is_blind else history[::-1],
        "text": value_text,
        "is_blind": is_blind,
        "work": work,
        "rows": rows_of(visit, state.record, {} if is_blind else records),
    }


def _picture(visit: Visit) -> Response:
    """Answer with a page of an item, as large as it is."""
    item, media = visit.query.get("id", ""), visit.collection.media
    if item not in media.items:
        return Response("no such item", 404)
    made = media.picture(item, visit.parts["page"])
    return Response(made.data, media_type=made.media_type)


PAGE = HomePage("item", _show, files={"picture/{page:number}": _picture})
