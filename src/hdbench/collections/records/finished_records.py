"""The finished collection as MARC records, which library systems load."""

from datetime import date
from pathlib import Path
from typing import Any, TypedDict

from hdbench.benchmarks.authority_files import Identifiers, in_marc
from hdbench.collections.records.finished_rows import (
    FinishedRecord,
    LeftList,
    WrittenRecords,
    finished_records,
)
from hdbench.collections.records.marc_collection import marc_collection
from hdbench.collections.records.marc_making import (
    LeftOut,
    MadeFields,
    Process,
    make_fields,
    make_record,
)
from hdbench.collections.records.own_records import OwnRecords, put_into_records
from hdbench.collections.trust.folder import Applied, read_applied, read_begun
from hdbench.collections.truth.marc_mapping import read_mapping
from hdbench.collections.truth.marc_templates import CARD_CATALOGUE, NewRecords
from hdbench.common.extras import needed
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError

MARC_FILE = "records.xml"
"""The records."""


def read_new_records_mapping(path: Path | None) -> NewRecords:
    """Return how records are made; without a file, as the cards of the card catalogue are.

    Args:
        path: the mapping.

    Raises:
        HdbenchError: the mapping is unusable, or does not say how whole records are made.
        MissingExtraError: pymarc or lxml is not installed.
    """
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


def write_marc_records(
    records: Path,
    folder: Path,
    *,
    applied_folder: Path,
    mapping: NewRecords,
    identifiers: Identifiers | None = None,
    own: OwnRecords | None = None,
) -> WrittenRecords:
    """Write the records of `hdbench trust finish` as MARCXML, or into those of a library.

    Args:
        records: the records of `hdbench trust finish`.
        folder: the folder that gets `MARC_FILE`, and the list of what is not in it.
        applied_folder: the folder of `hdbench trust apply`.
        mapping: see `read_new_records_mapping`.
        identifiers: identifiers of values, for which the mapping has places.
        own: the records that the items have already.

    Raises:
        HdbenchError: no value has a place in the mapping; an id cannot be in a record.
    """
    applied = read_applied(applied_folder)
    process, day = process_of(applied_folder, applied)
    finished = progress(finished_records(records), "Writing the records", applied.items)
    if own is not None:

        def fields_of(record: FinishedRecord) -> MadeFields | LeftOut:
            values, origins, known = parts_of(record, mapping, process, identifiers)
            return make_fields(mapping, record.item, values, origins, **known)

        return put_into_records(
            finished, folder, own=own, mapping=mapping, fields_of=fields_of, day=day
        )
    placed = 0
    path = folder / MARC_FILE
    with LeftList(path) as left, path.open("wb") as file, marc_collection(file) as write:
        for record in finished:
            values, origins, known = parts_of(record, mapping, process, identifiers)
            made = make_record(mapping, record.item, values, origins, day, **known)
            if isinstance(made, LeftOut):
                left.item(record.item, made.why)
                continue
            write(made.record)
            placed += left.values(record, {part.name: part.why for part in made.left})
    if not placed:  # and so nothing is delivered
        raise HdbenchError(
            "marcxml: none of the values has a place in the mapping: give one for the fields "
            "of this benchmark"
        )
    return left.written


def process_of(folder: Path, applied: Applied) -> tuple[Process, date]:
    """Return the process that made the accepted values, and the day on which it did.

    Args:
        folder: the folder of `hdbench trust apply`.
        applied: the record of it.
    """
    plan, _ = read_begun(folder)
    day = date.fromisoformat(applied.finished[:10])
    name = f"hdbench trust, plan {plan.hash()}"
    return Process(name, round(1 - plan.limit, 6), f"{day:%Y%m%d}"), day


class _More(TypedDict):
    """What else a record is made of; see `make_fields`."""

    identifiers: dict[str, list[str]]
    undecided: set[str]


def parts_of(
    record: FinishedRecord,
    mapping: NewRecords,
    process: Process,
    identifiers: Identifiers | None,
) -> tuple[dict[str, Any], dict[str, Process], _More]:
    """Return what the MARC record of an item is made of; see `make_fields`."""
    states = record.fields
    known = {
        name: state
        for name, state in states.items()
        if state["origin"] != "open" and state["value"] is not None
    }
    found = identifiers.of(states, mapping.splits) if identifiers else {}
    return (
        {name: state["value"] for name, state in known.items()},
        {name: process for name, state in known.items() if state["origin"] == "accepted"},
        {
            "identifiers": {name: list(map(in_marc, each)) for name, each in found.items()},
            "undecided": {name for name, state in states.items() if state["origin"] == "open"},
        },
    )
