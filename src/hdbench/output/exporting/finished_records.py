"""The finished collection as MARC records, which library systems load."""

from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.authorities.identifiers import Identifiers, in_marc
from hdbench.common.csv_files import csv_rows
from hdbench.common.extras import needed
from hdbench.common.jsonio import remove_unfinished, whole_file
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.ground_truth.marc_making import LeftOut, Process, make_record
from hdbench.ground_truth.marc_mapping import read_mapping
from hdbench.ground_truth.marc_templates import CARD_CATALOGUE, NewRecords
from hdbench.output.exporting.finished_rows import FinishedRecord, finished_records
from hdbench.output.exporting.marc_collection import marc_collection
from hdbench.trust.applied_folder import read_applied, read_begun
from hdbench.trust.finishing import RECORDS

MARC_FILE = "records.xml"
"""The records."""

LEFT_LIST = "not_in_records.csv"
"""Items without a record, and values that are in none, each with the reason."""


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
    applied_folder: Path,
    folder: Path,
    mapping: NewRecords,
    identifiers: Identifiers | None = None,
) -> WrittenRecords:
    """Write the records of `hdbench trust finish` as MARCXML.

    Args:
        applied_folder: the folder of `hdbench trust apply`.
        folder: the folder with the records; it gets `MARC_FILE` and `LEFT_LIST`.
        mapping: see `read_new_records_mapping`.
        identifiers: identifiers of values, for which the mapping has places.

    Raises:
        HdbenchError: no value has a place in the mapping; an id cannot be in a record.
    """
    plan, _ = read_begun(applied_folder)
    applied = read_applied(applied_folder)
    day = date.fromisoformat(applied.finished[:10])
    process = Process(
        f"hdbench trust, plan {plan.hash()}", round(1 - plan.limit, 6), f"{day:%Y%m%d}"
    )
    path, left_list = folder / MARC_FILE, folder / LEFT_LIST
    made_records = left_out = placed = values_left = 0
    for each in (path, left_list):
        remove_unfinished(each)
    with whole_file(path) as new_records, whole_file(left_list) as new_list:
        with (
            new_records.open("wb") as file,
            new_list.open("wb") as left_file,
            marc_collection(file) as write,
        ):
            write_left = csv_rows(left_file, ("id", "field", "value", "why"))
            records = finished_records(folder / RECORDS)
            for record in progress(records, "Writing the records", applied.items):
                item, values, origins, undecided = _known(record, process)
                known = identifiers.of(record.fields, mapping.splits) if identifiers else {}
                made = make_record(
                    mapping,
                    item,
                    values,
                    origins,
                    day,
                    identifiers={name: list(map(in_marc, each)) for name, each in known.items()},
                    undecided=undecided,
                )
                if isinstance(made, LeftOut):
                    left_out += 1
                    write_left((item, "", "", made.why))
                    continue
                write(made.record)
                made_records += 1
                placed += len(values) - len(made.left)
                values_left += len(made.left)
                for part in made.left:
                    write_left((item, part.name, values.get(part.name, ""), part.why))
        if not placed:  # and so nothing is written
            raise HdbenchError(
                "marcxml: none of the values has a place in the mapping: give one for the fields "
                "of this benchmark"
            )
    return WrittenRecords(path, made_records, left_out, values_left)


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
