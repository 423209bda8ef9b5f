"""The finished collection as records that library systems load: MARC and PICA."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.authorities.identifiers import in_marc, in_pica
from hdbench.authorities.reconciled import Fields, Identifiers
from hdbench.common.csv_files import csv_rows
from hdbench.common.extras import needed
from hdbench.common.jsonio import read_jsonl, whole_file
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.ground_truth.marc_filling import Left, Process
from hdbench.ground_truth.marc_making import LeftOut, make_record
from hdbench.ground_truth.marc_mapping import read_mapping
from hdbench.ground_truth.marc_records import CARD_CATALOGUE, NewRecords
from hdbench.ground_truth.pica import PicaRecord
from hdbench.ground_truth.pica_export import new_record
from hdbench.ground_truth.pica_files import PicaForm, write_records
from hdbench.ground_truth.pica_mapping import CARDS_MAPPING, PicaMapping, read_pica_mapping
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


def write_records_of(
    applied_folder: Path,
    folder: Path,
    form: str,
    mapping: Mappings,
    identifiers: Identifiers | None = None,
) -> WrittenRecords:
    """Write the records of `hdbench trust finish` in a library's form.

    Args:
        applied_folder: the folder of `hdbench trust apply`.
        folder: the folder with the records; it gets the file in `FILES`, and `LEFT_LIST`.
        form: one of `FILES`.
        mapping: see `read_library_mapping`.
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
    path = folder / FILES[form]
    counts = {"records": 0, "left_out": 0, "values_left": 0}
    placed = 0
    with ExitStack() as stack:
        unfinished = stack.enter_context(whole_file(path))
        left_file = stack.enter_context(whole_file(folder / LEFT_LIST))
        write_left = stack.enter_context(csv_rows(left_file, ("id", "field", "value", "why")))

        def leave(item: str, values: Mapping[str, Any], left: list[Left], why: str = "") -> None:
            if why:
                counts["left_out"] += 1
                write_left((item, "", "", why))
                return
            nonlocal placed
            placed += len(values) - len(left)
            counts["values_left"] += len(left)
            for part in left:
                write_left((item, part.name, values.get(part.name, ""), part.why))

        def identified(
            item: str,
            fields: Fields,
            written: Callable[[str], str],
            splits: Mapping[str, str] = {},
        ) -> dict[str, list[str]]:
            known = identifiers.of(item, fields, splits) if identifiers else {}
            return {name: list(map(written, of_field)) for name, of_field in known.items()}

        items = progress(read_jsonl(folder / RECORDS), "Writing the records", applied.items)
        if isinstance(mapping, NewRecords):
            write = stack.enter_context(marc_collection(unfinished))
            for line in items:
                item, values, origins = _known(line.value, process)
                known = identified(item, line.value["fields"], in_marc, mapping.splits)
                made = make_record(mapping, item, values, origins, day, identifiers=known)
                if isinstance(made, LeftOut):
                    leave(item, values, [], made.why)
                else:
                    counts["records"] += 1
                    write(made.record)
                    leave(item, values, made.left)
        else:

            def records() -> Iterator[PicaRecord]:
                for line in items:
                    item, values, _ = _known(line.value, process)
                    known = identified(item, line.value["fields"], in_pica)
                    try:
                        new = new_record(mapping, _nested(values), item, known)
                    except ValueError as error:
                        raise HdbenchError(
                            "{item}: {why}: give the item another id", item=item, why=error
                        ) from error
                    counts["records"] += 1
                    leave(item, values, new.left)
                    yield new.record

            file = stack.enter_context(unfinished.open("wb"))
            write_records(file, records(), _PICA_FORMS[form])
        if not placed:  # and so nothing is written
            raise HdbenchError(
                "--format {form}: none of the values has a place in the mapping: name one for the "
                "fields of this benchmark with --mapping",
                form=form,
            )
    return WrittenRecords(path, **counts)


class _Known(NamedTuple):
    """The known values of an item.

    Attributes:
        item: its id.
        values: field → its value; fields that are open or empty are missing.
        origins: field → the process that made its value; values of people are missing.
    """

    item: str
    values: dict[str, Any]
    origins: dict[str, Process]


def _known(line: Mapping[str, Any], process: Process) -> _Known:
    known = {
        name: state
        for name, state in line["fields"].items()
        if state["origin"] != "open" and state["value"] is not None
    }
    return _Known(
        line["id"],
        {name: state["value"] for name, state in known.items()},
        {name: process for name, state in known.items() if state["origin"] == "accepted"},
    )


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by path as one record."""
    record: dict[str, Any] = {}
    for name, value in values.items():
        *outer, last = name.split(".")
        inner = record
        for step in outer:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return record
