"""`hdbench verify`: a result computed again from what its file names, and compared."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.by_column import by_column
from hdbench.evaluation.result_file import given_options, read_record, read_records
from hdbench.evaluation.score import Settings, score_loaded

MAX_LINE = 300
"""Maximum number of characters shown of a difference: names and values are untrusted."""

DIGITS = 1e-9
"""Relative difference of numbers that count as equal: libraries compute intervals."""

APART = {"also", "by_identifier", "ids", "versions"}
APART_WITHIN = {
    "answers": {"path"},
    "dataset": {"benchmark", "dataset_revision", "public_since"},
    "reading": {"notes"},
}
"""The keys of records of their own, of what needs files that the result does not name, of what may
be elsewhere or known better by now, and of the items, which are compared by their ids."""

_ABSENT = Message("(absent)")


def verify(path: Path, answers: Path | None = None) -> list[Message]:
    """Compute the results in a file again from their answers, and compare.

    Args:
        path: a file that `hdbench score --json` wrote.
        answers: the file or folder of answers; by default the one that the result names.

    Returns:
        What differs, one line each; the versions too if anything does.

    Raises:
        HdbenchError: the file is not a result, or the answers or the benchmark are missing, are
            others or unusable.
    """
    lines: list[Message] = []
    for where, record in _records(path):
        again = _again(record, where, answers)
        found = differences(_compared(record), _compared(again))
        if found:
            found += differences(*({"versions": each["versions"]} for each in (record, again)))
        lines += [Message("{place}: {why}", place=where, why=line) for line in found]
    return lines


def differences(then: Any, now: Any) -> list[Message]:
    """Return a line for each value that differs between two pieces of JSON data."""
    before, after = dict(_leaves(then)), dict(_leaves(json.loads(json.dumps(now))))
    return [
        Message("{path}: {before} → {after}", path=path[:MAX_LINE], before=old, after=new)
        for path in {**before, **after}
        if not _same(before.get(path), after.get(path))
        for old, new in [(_shown(before, path), _shown(after, path))]
    ]


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each record in a file with its place, followed by those under the rules of `--also`."""
    for where, record in read_records(path).items():
        yield where, record
        others = record.get("also", {})
        if not isinstance(others, dict):
            raise HdbenchError("{place}: also: is not an object of results by name", place=where)
        for name, other in others.items():
            yield f"{where}: also: {name[:100]}", other


def _again(record: Any, where: str, answers: Path | None) -> dict[str, Any]:
    """Return the record of the same run, scored again in the same way."""
    old = read_record(record, where)
    benchmark = load_benchmark(old.dataset.benchmark, revision=old.dataset.dataset_revision)
    path = answers or Path(old.answers.path)
    if not path.exists():
        raise HdbenchError(
            "{place}: its answers {path!r} are not here: name them with --answers PATH",
            place=where,
            path=str(path),
        )
    settings = Settings(
        old.metric.protocol,
        options=given_options(old.metric, benchmark.spec.make_metric(old.metric.protocol)),
        errata=old.dataset.errata or "accepted",
        read_as=old.reading.read_as,
        details=bool(old.per_item),
    )
    runs = list(score_loaded(benchmark, path, [settings])[0].values())
    if [run.model for run in runs] == [None]:  # it was named by `--name`
        runs = [runs[0].replaced(model=old.model)]
    for run in runs:
        if run.model == old.model:
            again = run.to_dict() | {"signature": old.signature}
            if isinstance(by := record.get("by"), dict):
                again["by"] = by_column(run, benchmark, str(by.get("column"))).to_dict()
            return again
    raise HdbenchError(
        "{place}: model: {answers} has no run {model}: name the answers with --answers PATH",
        place=where,
        answers=path,
        model=repr(old.model),
    )


def _compared(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without what is apart, and with its items by their ids."""
    columns = {**record["statistics"], "status": record["statuses"]}.items()
    # First what the figures follow from, as not all that differs is shown.
    compared = {
        name: {key: value for key, value in record.get(name, {}).items() if key not in apart}
        for name, apart in APART_WITHIN.items()
    }
    own = {name: value for name, value in record.items() if name not in APART | {"statuses"}}
    return (
        compared
        | own
        | compared
        | {
            "statistics": {
                item: {name: column[place] for name, column in columns}
                for place, item in enumerate(record["ids"])
            }
        }
    )


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict | list) and value:
        named = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in named:
            yield from _leaves(child, f"{path}.{key}" if path else str(key))
    elif value not in ({}, []):
        yield path, value


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=DIGITS, abs_tol=DIGITS)
    return bool(one == other)


def _shown(values: Mapping[str, Any], path: str) -> str:
    return json.dumps(values[path], ensure_ascii=False)[:MAX_LINE] if path in values else _ABSENT
