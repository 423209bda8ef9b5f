"""The finished collection as records that library systems load: MARC and PICA."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from hdbench.answers.fields import put
from hdbench.answers.letters import text_of
from hdbench.authorities.identifiers import in_marc, in_pica
from hdbench.authorities.reconciled import Fields, IdentifierCounts, Identifiers
from hdbench.common.csv_files import csv_rows
from hdbench.common.extras import needed
from hdbench.common.resuming import made_from, resumable_files
from hdbench.errors import HdbenchError
from hdbench.ground_truth.marc_filling import Left, Process
from hdbench.ground_truth.marc_making import LeftOut, make_record
from hdbench.ground_truth.marc_mapping import read_mapping
from hdbench.ground_truth.marc_records import CARD_CATALOGUE, NewRecords, fitting_kind
from hdbench.ground_truth.pica import PicaRecord
from hdbench.ground_truth.pica_export import NewRecord, new_record
from hdbench.ground_truth.pica_files import PicaForm, write_records
from hdbench.ground_truth.pica_mapping import CARDS_MAPPING, PicaMapping, read_pica_mapping
from hdbench.output.exporting.finished_rows import FinishedRecord, finished_records
from hdbench.output.exporting.marc_collection import marc_collection
from hdbench.trust.applied_folder import read_applied, read_begun
from hdbench.trust.finishing import RECORDS

FILES = {
    "marcxml": "records.xml",
    "pica-plain": "records.pica.txt",
    "pica-normalized": "records.pica.dat",
    "pica-xml": "records.pica.xml",
}
"""Form → the file of the records."""

_PICA_FORMS: dict[str, PicaForm] = {
    "pica-plain": "plain",
    "pica-normalized": "normalized",
    "pica-xml": "xml",
}

LEFT_LIST = "not_in_records.csv"
"""Items without a record, and values that are in none, each with the reason."""

Mappings = NewRecords | PicaMapping


class WrittenRecords(NamedTuple):
    """What was written.

    Attributes:
        path: the file of the records.
        records: how many there are.
        left_out: of how many items there is no record.
        values_left: how many values are in no record, besides those.
    """

    path: Path
    records: int
    left_out: int
    values_left: int


def read_library_mapping(form: str, path: Path | None) -> Mappings:
    """Return how records are made; without a file, as the cards of the card catalogue are.

    Args:
        form: one of `FILES`.
        path: the mapping.

    Raises:
        HdbenchError: the mapping is unusable, or does not say how whole records are made.
        MissingExtraError: pymarc or lxml is not installed.
    """
    if form != "marcxml":
        return read_pica_mapping(path or CARDS_MAPPING)
    with needed("truths", "MARC records need"):
        import lxml.etree  # noqa: F401, PLC0415
        import pymarc  # noqa: F401, PLC0415
    mapping = read_mapping(path or CARD_CATALOGUE).new_records
    if mapping is None:
        raise HdbenchError(
            "{place}: does not say how whole records are made: give it new_records:, as in "
            "{example}",
            place=path,
            example=CARD_CATALOGUE,
        )
    return mapping


class _Counts(BaseModel):
    """Counts as in `WrittenRecords`; `placed` values are in records."""

    records: int = 0
    left_out: int = 0
    values_left: int = 0
    placed: int = 0
    identifiers: IdentifierCounts = Field(default_factory=IdentifierCounts)


def write_records_of(
    applied_folder: Path,
    folder: Path,
    form: str,
    mapping: Mappings,
    identifiers: Identifiers | None = None,
    *,
    options: str = "",
) -> WrittenRecords:
    """Write the records of `hdbench trust finish` in a library's form; it is resumable.

    Args:
        applied_folder: the folder of `hdbench trust apply`.
        folder: the folder with the records; it gets the file in `FILES`, and `LEFT_LIST`.
        form: one of `FILES`.
        mapping: see `read_library_mapping`.
        identifiers: identifiers of values, for which the mapping has places.
        options: all that the file depends on besides the folders, as one text.

    Raises:
        HdbenchError: no value has a place in the mapping; an id cannot be in a record.
    """
    plan, _ = read_begun(applied_folder)
    applied = read_applied(applied_folder)
    day = date.fromisoformat(applied.finished[:10])
    process = Process(
        f"hdbench trust, plan {plan.hash()}", round(1 - plan.limit, 6), f"{day:%Y%m%d}"
    )
    records, path = folder / RECORDS, folder / FILES[form]
    hash_ = made_from(options, applied.hash(), files=[records])
    with resumable_files([path, folder / LEFT_LIST], hash_, _Counts()) as writing:
        file, left_file = writing.files
        counts = writing.state
        write_left = csv_rows(left_file, ("id", "field", "value", "why"))

        def leave(item: str, values: Mapping[str, Any], left: list[Left]) -> None:
            counts.records += 1
            counts.placed += len(values) - len(left)
            counts.values_left += len(left)
            for part in left:
                write_left((item, part.name, values.get(part.name, ""), part.why))

        def leave_out(item: str, why: str) -> None:
            counts.left_out += 1
            write_left((item, "", "", why))

        if identifiers:
            identifiers.counts = counts.identifiers

        def identified(
            item: str,
            fields: Fields,
            written: Callable[[str], str],
            splits: Mapping[str, str] = {},
        ) -> dict[str, list[str]]:
            if identifiers is None:
                return {}
            known = identifiers.of(item, fields, splits)
            return {name: list(map(written, of_field)) for name, of_field in known.items()}

        items = writing.progress(
            finished_records(records, writing.done), "Writing the records", applied.items
        )
        if isinstance(mapping, NewRecords):
            with marc_collection(file) as write:
                for record in items:
                    item, values, origins, undecided = _known(record, process)
                    known = identified(item, record.fields, in_marc, mapping.splits)
                    made = make_record(
                        mapping,
                        item,
                        values,
                        origins,
                        day,
                        identifiers=known,
                        undecided=undecided,
                    )
                    if isinstance(made, LeftOut):
                        leave_out(item, made.why)
                    else:
                        write(made.record)
                        leave(item, values, made.left)
        else:

            def pica_records() -> Iterator[PicaRecord]:
                for record in items:
                    item, values, _, undecided = _known(record, process)
                    known = identified(item, record.fields, in_pica)
                    new = _new_pica_record(mapping, item, values, known, undecided)
                    if isinstance(new, LeftOut):
                        leave_out(item, new.why)
                    else:
                        leave(item, values, new.left)
                        yield new.record

            write_records(file, pica_records(), _PICA_FORMS[form])
        if not counts.placed:  # and so nothing is written
            raise HdbenchError(
                "{form}: none of the values has a place in the mapping: give one for the fields of "
                "this benchmark",
                form=form,
            )
    return WrittenRecords(path, counts.records, counts.left_out, counts.values_left)


def _new_pica_record(
    mapping: PicaMapping,
    item: str,
    values: Mapping[str, Any],
    identifiers: Mapping[str, Sequence[str]],
    undecided: Collection[str],
) -> NewRecord | LeftOut:
    kind = fitting_kind(mapping.kinds, lambda name: text_of(values.get(name)), undecided)
    if kind:
        return LeftOut(kind.leave_out, [])
    nested: dict[str, Any] = {}
    for name, value in values.items():
        put(nested, name.split("."), value)
    try:
        return new_record(mapping, nested, item, identifiers)
    except ValueError as error:
        raise HdbenchError(
            "{item}: {why}: give the item another id", item=item, why=error
        ) from error


class _Known(NamedTuple):
    """The known values of an item.

    Attributes:
        item: its id.
        values: field → its value; fields that are open or empty are missing.
        origins: field → the process that made its value; values of people are missing.
        undecided: the fields that are open.
    """

    item: str
    values: dict[str, Any]
    origins: dict[str, Process]
    undecided: set[str]


def _known(record: FinishedRecord, process: Process) -> _Known:
    known = {
        name: state
        for name, state in record.fields.items()
        if state["origin"] != "open" and state["value"] is not None
    }
    return _Known(
        record.item,
        {name: state["value"] for name, state in known.items()},
        {name: process for name, state in known.items() if state["origin"] == "accepted"},
        {name for name, state in record.fields.items() if state["origin"] == "open"},
    )
