"""The records of the whole collection, written in the forms that others load."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from starlette.responses import FileResponse, Response

from hdbench.benchmarks.titles import FieldTitles
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.decisions import FINISHED
from hdbench.collections.home.folder import FoundPlan
from hdbench.collections.home.page import Done, HomePage, Visit
from hdbench.collections.home.stamps import stamp_of
from hdbench.collections.home.uploads import UploadedFile
from hdbench.collections.records.choices import (
    MAPPING,
    Target,
    chosen,
    first_mapping,
    targets,
    with_choices,
)
from hdbench.collections.records.finished_records import FinishedRecord
from hdbench.collections.records.forms import FinishForm, shown_record, writer_of
from hdbench.collections.records.mapping import MappedForm, RecordMapping
from hdbench.collections.records.own_records import CHANGED, OwnRecords
from hdbench.collections.trust.delivery import (
    CHANGES,
    RECORDS,
    finish,
    read_deliveries,
    read_finished,
)
from hdbench.collections.trust.folder import Applied
from hdbench.collections.trust.origins import ORIGINS, ValueStates
from hdbench.common.files import entries, write_errors
from hdbench.common.validation import read_plain_yaml, validate
from hdbench.common.value_text import text_of
from hdbench.common.writing import make_folder, move, write_whole
from hdbench.errors import HdbenchError, Message

SHOWN, LOOKED_AT = 3, 50
"""Number of records beside a mapping: those with the fewest open values among the first ones."""

_OWN = ".own-records"
"""The records that the library has, in the folder of the finished ones."""

_WRITING, _COUNTING = "finish", "deliveries"
_GOES, _REPLACE = "goes:", "replace:"
"""Prefixes of the names of the form's fields that say what a field becomes, and of tags that are
replaced in records of a library."""


class FormGroup(NamedTuple):
    """Forms in which the records can be written.

    Attributes:
        name: its key in the texts: what it is called, and one sentence about it.
        forms: the forms.
        part: the part of the mapping that says what goes where; None without one.
        is_into: whether values are put into records that the library has.
    """

    name: str
    forms: Sequence[FinishForm]
    part: MappedForm | None = None
    is_into: bool = False


GROUPS = (
    FormGroup("jsonl", ("jsonl",)),
    FormGroup("table", ("csv", "xlsx")),
    FormGroup("columns", ("csv",), "csv"),
    FormGroup("marc", ("marcxml",), "marc"),
    FormGroup("into", ("marcxml",), "marc", is_into=True),
    FormGroup("dublin-core", ("dublin-core",), "dublin-core"),
)
"""All forms of `hdbench trust finish`."""

_BY_NAME = {group.name: group for group in GROUPS}


def _show(visit: Visit) -> Mapping[str, Any]:
    collection, given = visit.collection, visit.form or visit.query
    view, path = collection.decisions.view(), collection.folder / MAPPING
    shown: dict[str, Any] = {
        "view": view,
        "groups": GROUPS,
        "origins": ORIGINS,
        "columns": collection.spec.columns,
        "titles": FieldTitles(collection.schema, visit.language),
        "writing": collection.background.last(_WRITING),
        "files": [],
        "finished": None,
        "deliveries": None,
        "given": given,
        "mapping_file": path,
        "mapping_problem": "",
        "parts": {},
    }
    if view.found is None or view.applied is None:
        return shown
    folder = view.found.out / FINISHED
    shown |= {"has_own": (folder / _OWN).is_file(), "folder": folder}
    try:
        mapping = validate(RecordMapping, _mapping(visit, view.found, given), path)
        samples = _samples(collection, view.found, view.applied)
        fields = view.found.plan.fields
        shown["parts"] = {
            group.part: _part(mapping, group.part, fields, samples)
            for group in GROUPS
            if group.part
        }
        replaced: dict[str, list[str]] = {}
        for field, target in chosen(mapping, "marc").items():
            if target.code:
                replaced.setdefault(target.at[:3], []).append(field)
        shown |= {"replaced": replaced, "replace": mapping.replace}
    except HdbenchError as error:
        shown["mapping_problem"] = error.message
    if (folder / RECORDS).is_file():
        shown["finished"] = read_finished(folder)
        shown["deliveries"] = collection.background.computed(
            _COUNTING, stamp_of(folder / CHANGES), lambda: read_deliveries(folder)[::-1]
        )
        shown["files"] = _files(folder)
    return shown


def _part(
    mapping: RecordMapping,
    form: MappedForm,
    fields: Sequence[str],
    samples: Sequence[FinishedRecord],
) -> dict[str, list[Any]]:
    """Return a part of the mapping, as the page shows it.

    Its `choices` are each field, a value of it, and the key of what it becomes, empty for nothing;
    its `targets` what they can become: the key, how it is shown, and the key of its text, none for
    a table; its `records` items and their records: targets and texts, and what is not in it; or why
    there is none.
    """
    become = chosen(mapping, form)
    choices = []
    for field in fields:
        values = (text_of(sample.fields[field]["value"]) for sample in samples)
        key = become[field].key if field in become else ""
        choices.append((field, next(filter(None, values), ""), key))
    usual = targets(form)
    own = {} if form == "csv" else {target.key: target for target in become.values()}
    possible = [
        (key, _shown_key(form, target), f"{form}_{key}" if key in usual else "")
        for key, target in sorted((own | dict(usual)).items())
    ]
    records = [(sample.item, shown_record(sample, mapping, form)) for sample in samples]
    return {"choices": choices, "targets": possible, "records": records}


def _shown_key(form: MappedForm, target: Target) -> str:
    if form == "marc":
        return f"{target.at[:3]} ${target.code}" if target.code else target.at
    return f"dc:{target.key}"


def _samples(collection: Collection, found: FoundPlan, applied: Applied) -> list[FinishedRecord]:
    """Return some of the records as they would be written now."""
    dataset = collection.decisions.dataset()
    states = ValueStates(found.plan, dataset, found.out, applied, is_worked=True)
    first = [
        FinishedRecord(item, fields) for item, fields, _ in islice(states.of_items(), LOOKED_AT)
    ]
    return sorted(
        first, key=lambda each: [v["origin"] for v in each.fields.values()].count("open")
    )[:SHOWN]


def _mapping(visit: Visit, found: FoundPlan, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the collection's mapping, or one to begin with, with what was chosen on the page.

    Raises:
        HdbenchError: its file cannot be used.
    """
    path, fields = visit.collection.folder / MAPPING, found.plan.fields
    value: dict[str, Any]
    if path.is_file():
        value = read_plain_yaml(path)
    else:
        titles = FieldTitles(visit.collection.schema, visit.language)
        value = first_mapping({field: titles(field) for field in fields})
    validate(RecordMapping, value, path)
    group = _BY_NAME.get(given.get("group", ""))
    if group is None or group.part is None:
        return value
    if group.is_into:
        tags = [name.removeprefix(_REPLACE) for name in given if name.startswith(_REPLACE)]
        return value | {"replace": tags}
    choices = {field: given[_GOES + field].strip() for field in fields if _GOES + field in given}
    return with_choices(value, group.part, choices, path) if choices else value


def _keep(visit: Visit) -> Done:
    """Keep what was chosen on the page as the collection's mapping."""
    path = visit.collection.folder / MAPPING
    value = _mapping(visit, _applied(visit.collection), visit.form)
    validate(RecordMapping, value, path)
    text = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=100)
    write_whole(path, text.encode())
    note = Message("kept in {place}", place=MAPPING)
    return Done(note, f"finish?group={visit.form.get('group', '')}")


def _files(folder: Path) -> list[Path]:
    """Return the files of the records: plain ones that are not hidden."""
    return [path for path in entries(folder).plain if path.is_file()]


def _applied(collection: Collection) -> FoundPlan:
    """Return the plan that is applied."""
    view = collection.decisions.view()
    if view.applied is None or view.found is None:
        raise HdbenchError(view.problem or Message("nothing is accepted yet: decide first"))
    return view.found


def _write(visit: Visit) -> None:
    """Write the records in a form, and what has changed since the delivery before."""
    collection, wanted = visit.collection, visit.form.get("form", "")
    found, group = _applied(collection), _BY_NAME.get(visit.form.get("group", ""))
    form = next((form for form in group.forms if form == wanted), None) if group else None
    if group is None or form is None:
        raise HdbenchError("{form}: no such form", form=wanted[:40])
    folder = found.out / FINISHED
    own = folder / _OWN if group.is_into else None
    if own and not own.is_file():
        raise HdbenchError("drop your records first: MARC21 or MARCXML")
    if group.part:
        _keep(visit)

    def written() -> Message:
        """Write the records, and return what was written in a sentence."""
        dataset = collection.decisions.dataset()
        mapping = collection.folder / MAPPING if group.part else None
        records = OwnRecords.of(own, dataset, visit.form.get("match", "")) if own else None
        write = writer_of(form, dataset, found.plan.fields, found.out, mapping, None, records)
        finished, made = finish(found.out, dataset, folder, write)
        if made is None:
            return Message("{name}: {records:,} records", name=RECORDS, records=finished.records)
        if made.given is not None:
            return Message(
                "{name}: {records:,} of your {given:,} records changed: see {changes} and {list}",
                name=made.path.name,
                records=made.records,
                given=made.given,
                changes=CHANGED,
                list=made.left.name,
            )
        return Message(
            "{name}: {records:,} records; {left_out:,} items have none: see {list}",
            name=made.path.name,
            records=made.records,
            left_out=made.left_out,
            list=made.left.name,
        )

    collection.background.start(_WRITING, written)


def _take_records(visit: Visit, given: UploadedFile) -> None:
    """Keep a library's own records."""
    folder, beside = _applied(visit.collection).out / FINISHED, visit.collection.beside
    with write_errors(folder):
        make_folder(folder, beside)
        move(given.path, folder / _OWN, beside)


def _take_mapping(visit: Visit, given: UploadedFile) -> None:
    """Keep a file as the collection's mapping, unless it cannot be used."""
    _applied(visit.collection)
    validate(RecordMapping, read_plain_yaml(given.path), Path(MAPPING))
    write_whole(visit.collection.folder / MAPPING, given.path.read_bytes())


def _file(visit: Visit) -> Response:
    """Answer with a file of the records."""
    folder, name = _applied(visit.collection).out / FINISHED, visit.parts["name"]
    if Path(folder, name) not in _files(folder):
        raise HdbenchError("{name}: not here", name=name[:100])
    return FileResponse(folder / name, filename=name)


PAGE = HomePage(
    "finish",
    _show,
    {"write": _write, "keep": _keep},
    files={"finish/files/{name}": _file},
    uploads={"upload/records": _take_records, "upload/mapping": _take_mapping},
)
