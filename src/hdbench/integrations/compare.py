"""ScienceMetaBench's `compare.py`: two files in, accuracy and a spreadsheet out.

Scripts written for it need only a different import. The scoring is that of
`hdb/sciencemeta_accuracy`, with each similarity rounded to three decimals.
"""

import io
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hdbench.common.bounds import MAX_ROWS
from hdbench.common.csv_and_excel import workbook_into, write_text
from hdbench.common.jsonio import read_jsonl
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError
from hdbench.scoring.sciencemeta_accuracy import as_text, field_similarity


def main(
    file_llm: Path | str, file_bench: Path | str, key_list: Sequence[str]
) -> tuple[float, dict[str, float], list[dict[str, Any]]]:
    """Compare a model's records with the benchmark's, joined on `sha256`.

    A record that the model did not return scores 0.0 in every field.

    Args:
        file_llm: the model's records, in JSON Lines.
        file_bench: the benchmark's records, in JSON Lines.
        key_list: the fields to compare; only these are averaged.

    Returns:
        The overall accuracy, the mean over the fields; field → accuracy, the mean over the
        benchmark's records (both 0.0 to 1.0, higher is better); and for each of those records, in
        order, its `sha256` and each field's `llm_<field>`, `benchmark_<field>` and
        `similarity_<field>`.

    Raises:
        HdbenchError: a file is unusable or empty; a record has no `sha256`, one that occurs twice,
            or one that the benchmark does not have; or `key_list` is empty, names a field twice, or
            one that no record of the benchmark has.
    """
    truths = _records(Path(file_bench))
    answers = _records(Path(file_llm))
    for sha256 in answers:
        if sha256 not in truths:
            raise HdbenchError(
                "{file_llm}: sha256 {sha256!r} is not in {file_bench}",
                file_llm=file_llm,
                sha256=sha256,
                file_bench=file_bench,
            )
    _check_keys(key_list, truths, file_bench)
    detail_data = [
        _compare(sha256, answers.get(sha256), truth, key_list) for sha256, truth in truths.items()
    ]
    key_accuracy = _key_accuracy(key_list, detail_data)
    return _mean(key_accuracy.values()), key_accuracy, detail_data


def write_similarity_data_to_excel(
    key_list: Sequence[str], detail_data: Sequence[Mapping[str, Any]], path: Path | str
) -> None:
    """Write the details of a comparison as a spreadsheet: the whole file or nothing.

    The first sheet has one row per record, with `llm_<field>`, `benchmark_<field>` and
    `similarity_<field>`; the second has the means. Every value is text, even one that looks like a
    formula. Text that is too long for a cell is cut and ends in `… [cut]`.

    Args:
        key_list: the fields, as given to `main`.
        detail_data: what `main` returned.
        path: the .xlsx file.

    Raises:
        HdbenchError: there are more records than a sheet can hold, a field is missing from the
            details, the file cannot be written, or xlsxwriter is not installed.
    """
    path = Path(path)
    if len(detail_data) >= MAX_ROWS:
        raise HdbenchError(
            "{place}: a sheet holds {most:,} records at most", place=path, most=MAX_ROWS - 1
        )
    try:
        key_accuracy = _key_accuracy(key_list, detail_data)
        data = _workbook(key_list, detail_data, key_accuracy)
    except KeyError as error:
        raise HdbenchError(
            "detail_data has no {why}: was it made with this key_list?", why=error
        ) from error
    write_whole(path, data)


def _records(path: Path) -> dict[str, dict[str, Any]]:
    """The records of a file by their `sha256`, in its order."""
    records: dict[str, dict[str, Any]] = {}
    for line in read_jsonl(path):
        sha256 = line.value.get("sha256")
        if not isinstance(sha256, str) or not sha256:
            raise HdbenchError(
                '{place}:{line}: needs a "sha256" that is a text in quotes',
                place=path,
                line=line.number,
            )
        if sha256 in records:
            raise HdbenchError(
                "{place}:{line}: a second record for sha256 {sha256!r}",
                place=path,
                line=line.number,
                sha256=sha256,
            )
        records[sha256] = line.value
    if not records:
        raise HdbenchError("{place}: no records in this file: write one on each line", place=path)
    return records


def _check_keys(
    key_list: Sequence[str], truths: Mapping[str, Mapping[str, Any]], file_bench: Path | str
) -> None:
    if isinstance(key_list, str) or not key_list or len(set(key_list)) < len(key_list):
        raise HdbenchError(
            "key_list: {key_list} is not a list of fields, each given once", key_list=repr(key_list)
        )
    for key in key_list:
        # Two records without a field agree in it, so a misspelt one would always be right.
        if not any(key in truth for truth in truths.values()):
            raise HdbenchError(
                "key_list: no record of {file_bench} has a field {key!r}",
                file_bench=file_bench,
                key=key,
            )


def _compare(
    sha256: str,
    answer: Mapping[str, Any] | None,
    truth: Mapping[str, Any],
    key_list: Sequence[str],
) -> dict[str, Any]:
    """The details of one record."""
    details: dict[str, Any] = {"sha256": sha256}
    for key in key_list:
        produced, standard = (answer or {}).get(key), truth.get(key)
        details[f"llm_{key}"] = produced
        details[f"benchmark_{key}"] = standard
        alike = 0.0 if answer is None else field_similarity(as_text(standard), as_text(produced))
        details[f"similarity_{key}"] = alike
    return details


def _key_accuracy(
    key_list: Sequence[str], detail_data: Sequence[Mapping[str, Any]]
) -> dict[str, float]:
    return {key: _mean([row[f"similarity_{key}"] for row in detail_data]) for key in key_list}


def _mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _workbook(
    key_list: Sequence[str],
    detail_data: Sequence[Mapping[str, Any]],
    key_accuracy: Mapping[str, float],
) -> bytes:
    """The .xlsx file."""
    data = io.BytesIO()
    with workbook_into(data, {"in_memory": True}) as book:
        # Without the mark, Excel would turn such a text into a formula as soon as it is edited.
        text = book.add_format({"quote_prefix": True})
        head = ["sha256"]
        for key in key_list:
            head += [f"llm_{key}", f"benchmark_{key}", f"similarity_{key}"]
        records = [[row[column] for column in head] for row in detail_data]
        _write_sheet(book.add_worksheet("similarity"), head, records, text)
        means = [*key_accuracy.items(), ("overall", _mean(key_accuracy.values()))]
        _write_sheet(book.add_worksheet("accuracy"), ["field", "accuracy"], means, text)
    return data.getvalue()


def _write_sheet(sheet: Any, head: list[str], rows: Iterable[Sequence[Any]], text: Any) -> None:
    """Fill a sheet: similarities and accuracies as numbers, everything else as text."""
    sheet.freeze_panes(1, 1)
    for number, row in enumerate([head, *rows]):
        for column, value in enumerate(row):
            if number and head[column].startswith(("similarity_", "accuracy")):
                sheet.write_number(number, column, value)
            else:
                write_text(sheet, number, column, as_text(value), text)
