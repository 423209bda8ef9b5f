"""A result as a JSON record, written and read back: everything its figures follow from."""

import json
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hdbench.answers.forms import is_one_object
from hdbench.common.bounds import MAX_RESULT
from hdbench.common.files import read_errors, utf8_text
from hdbench.common.jsonio import parse_file
from hdbench.common.validation import check_written_by, validate
from hdbench.common.writing import whole_file
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.result import Result
from hdbench.evaluation.run import run_name
from hdbench.scoring import make_metric
from hdbench.scoring.metric import Metric


def given_options(metric: Metric, own: Metric | None = None) -> dict[str, Any]:
    """Return the options whose values are not the defaults.

    Args:
        metric: the metric.
        own: the metric as its benchmark makes it, if the defaults are the benchmark's.

    Example:
        >>> given_options(make_metric("zettel_f1", threshold=0.8))
        {'threshold': 0.8}
    """
    defaults = (own or make_metric(metric.name, metric.protocol)).options
    return {name: value for name, value in metric.options.items() if value != defaults.get(name)}


def write_results(path: Path | str, results: Result | Iterable[Result]) -> None:
    """Write one result as it is, and several as `{"runs": [result, …]}`.

    Raises:
        HdbenchError: see `write_records`, or an option names a field that no item has.
    """
    given = [results] if isinstance(results, Result) else results
    write_records(Path(path), [result.to_dict() for result in given])


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Write one record as it is, and several as `{"runs": [record, …]}`.

    Lone surrogates, which a model's text can hold, are written as JSON escapes.

    Raises:
        HdbenchError: the file cannot be written.
    """
    value = records[0] if len(records) == 1 else {"runs": list(records)}
    with whole_file(path) as file:
        for part in _indented(value):
            file.write(part.encode("utf-8", "backslashreplace"))
        file.write(b"\n")


def _indented(value: Any, margin: str = "") -> Iterator[str]:
    """JSON with one line per key, and each column in one line; in parts, to bound the memory."""
    inner, comma = margin + "  ", ",\n"
    if isinstance(value, dict) and value:
        yield "{\n"
        for index, (key, child) in enumerate(value.items()):
            yield f"{comma if index else ''}{inner}{_compact(str(key))}: "
            yield from _indented(child, inner)
        yield f"\n{margin}}}"
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield "[\n"
        for index, child in enumerate(value):
            yield f"{comma if index else ''}{inner}"
            yield from _indented(child, inner)
        yield f"\n{margin}]"
    else:
        yield _compact(value)


# `json.dumps` would make an encoder for each of the many small values.
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def read_result(path: Path | str) -> Result:
    """Return the result in a file that `hdbench score --json` wrote.

    Its figures are computed from its statistics, and those in the file are ignored: `hdbench
    verify` compares them.

    Raises:
        HdbenchError: see `read_results`, or the file holds several runs.
    """
    results = list(read_results(path).values())
    if len(results) > 1:
        raise HdbenchError(
            "{place}: holds {count} runs: use read_results", place=path, count=len(results)
        )
    return results[0]


def read_results(path: Path | str) -> dict[str, Result]:
    """Return the results in a file that `hdbench score --json` wrote.

    Returns:
        Model → result; a run without a model has the name of the file without its extension.

    Raises:
        HdbenchError: the file is not a result, is damaged or too large, or follows other rules; the
            message names the file and the key.
    """
    path = Path(path)
    results: dict[str, Result] = {}
    for where, record in read_records(path).items():
        result = read_record(record, where)
        name = run_name(path) if result.model is None else result.model
        if name in results:
            raise HdbenchError(
                "{place}: runs: two are called {name!r}: keep one", place=path, name=name
            )
        results[name] = result
    return results


def read_record(record: Any, where: str) -> Result:
    """Return the result that JSON data from anywhere describe.

    Raises:
        HdbenchError: it is not a result, or follows other rules; the message names the key.
    """
    if not isinstance(record, dict) or not {"metric", "statistics"} <= record.keys():
        raise HdbenchError(
            "{place}: not a result with per-item statistics (no metric, statistics): write one "
            "with hdbench score --json",
            place=where,
        )
    versions = record.get("versions")
    version = versions.get("hdbench") if isinstance(versions, dict) else None
    check_written_by(version, where, Message("score the answers again"))
    result = validate(Result, record, Path(where))
    return result.replaced(run=result.run.for_result())


def read_records(path: Path) -> dict[str, Any]:
    """Return the records in a result file, by what messages call them.

    Raises:
        HdbenchError: the file cannot be read, is too large or not one JSON object, or its `runs` is
            not a list.
    """
    with read_errors(path):
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or device might never end
            raise HdbenchError(
                "{place}: not a file: name a result of hdbench score --json", place=path
            )
        if not is_one_object(path):
            raise HdbenchError("{place}: not a result of hdbench score --json", place=path)
        with path.open("rb") as file:
            raw = file.read(MAX_RESULT + 1)
    if len(raw) > MAX_RESULT:
        raise HdbenchError(
            "{place}: larger than {most} MiB: score again without --details",
            place=path,
            most=MAX_RESULT >> 20,
        )
    text = utf8_text(raw, path)
    del raw  # it may be most of the memory
    value = parse_file(text, str(path))
    if not isinstance(value, dict) or "runs" not in value:
        return {str(path): value}
    runs = value["runs"]
    if not isinstance(runs, list) or not runs:
        raise HdbenchError("{place}: runs: is not a list of results", place=path)
    return {f"{path}: runs[{position}]": run for position, run in enumerate(runs)}
