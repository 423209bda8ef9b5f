"""A second figure: values that share an identifier in an authority file count as equal."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.field_paths import field_paths
from hdbench.benchmarks.authority_files import AuthorityTable, read_authority_table, split_field
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.files import file_sha256
from hdbench.common.value_text import folded
from hdbench.errors import HdbenchError
from hdbench.evaluation.result import Result
from hdbench.evaluation.score import Settings
from hdbench.statistics.resampling import rate_names

METRICS = ("record_f1", "zettel_f1")
"""The metrics whose ground truths have the form of answers, so that values can be exchanged."""


class Authorities(NamedTuple):
    """Authority files of a benchmark's fields.

    Attributes:
        tables: field, such as `persons[].name` → its file's names; "" is for all others.
        sha256: field → the sha256 of its file.
    """

    tables: dict[str, AuthorityTable]
    sha256: dict[str, str]

    def table(self, field: str) -> AuthorityTable | None:
        """Return the names of a field's file, if it has one."""
        return self.tables.get(field) or self.tables.get("")


def read_scoring_authorities(given: Sequence[str], benchmark: Benchmark) -> Authorities:
    """Return authority files, each given as `FILE`, for all fields, or as `FIELD=FILE`.

    Raises:
        HdbenchError: a file is unusable, a field is unknown or has two files, or the benchmark's
            metric does not go with identifiers.
    """
    if benchmark.spec.metric not in METRICS:
        raise HdbenchError(
            "--authority: goes with {metrics}, and {benchmark} is scored by {metric}",
            metrics=", ".join(METRICS),
            benchmark=benchmark.id,
            metric=benchmark.spec.metric,
        )
    schema = benchmark.answer_schema()
    names = [field.path for field in field_paths(schema)] if schema else []
    found = Authorities({}, {})
    for text in given:
        field, path = split_field(text, names)
        if field in found.tables:
            raise HdbenchError("{given}: a second file for the same field", given=text)
        found.tables[field] = read_authority_table(path)
        found.sha256[field] = file_sha256(Path(path))
    return found


class ScoringByIdentifier:
    """Scores answers again in which values that share an identifier with the ground truth's are it.

    Attributes:
        settings: settings to be scored under besides.

    Args:
        settings: the rules of the first figure.
        authorities: the authority files.
    """

    def __init__(self, settings: Settings, authorities: Authorities) -> None:
        self._authorities = authorities
        self._counts: dict[str | None, _Counts] = defaultdict(_Counts)
        self.settings = replace(settings, exchange=self._exchange)

    def totals(self, model: str | None, result: Result) -> dict[str, Any]:
        """Return the second figure of a run, as JSON data.

        Args:
            model: the model, as its file names it.
            result: the result under `settings`.

        Returns:
            `files`, field → sha256 of its authority file, "" being all other fields; `identified`,
            how many values of the answers have an identifier; `equated`, how many of them are
            written otherwise than the ground truth's value with the same identifier, and count as
            equal to it; `figures`, rate → value.
        """
        figures, counts = result.rates, self._counts[model]
        return {
            "files": self._authorities.sha256,
            "identified": counts.identified,
            "equated": counts.equated,
            "figures": {name: figures[name] for name in rate_names(result.metric, figures)},
        }

    def _exchange(self, model: str | None, record: Any, truth: dict[str, Any]) -> Any:
        return with_shared_identifiers(record, truth, self._authorities, self._counts[model])


class _Counts:
    """Counts of values in answers: those with an identifier, and those that were exchanged."""

    identified = equated = 0


def with_shared_identifiers(
    record: Any, truth: dict[str, Any], authorities: Authorities, counts: _Counts
) -> Any:
    """Return an answer in which values that share an identifier with the ground truth's are it.

    Only values of the same field are exchanged, and none that the ground truth has to the letter:
    that at the same place if it has the identifier, and otherwise the first that does.

    Args:
        record: the answer.
        truth: the ground truth.
        authorities: the authority files.
        counts: what is counted.
    """
    by_field: dict[str, dict[str, str]] = defaultdict(dict)
    for field, place, text in _texts(truth):
        if authorities.table(field):
            by_field[field][place] = text

    def exchanged(value: Any, field: str, place: str) -> Any:
        if isinstance(value, dict):
            return {
                name: exchanged(inner, *_below(field, place, name)) for name, inner in value.items()
            }
        if isinstance(value, list):
            return [
                exchanged(inner, f"{field}[]", f"{place}[{number}]")
                for number, inner in enumerate(value)
            ]
        table = authorities.table(field) if isinstance(value, str) else None
        identifier = table.identifier(value) if table else None
        if table is None or identifier is None:
            return value
        counts.identified += 1
        same = {
            where: text
            for where, text in by_field[field].items()
            if table.identifier(text) == identifier
        }
        if place not in same and folded(value, "ignored") in (
            folded(other, "ignored") for other in same.values()
        ):
            return value
        text = same.get(place) or next(iter(same.values()), value)
        if folded(text, "ignored") == folded(value, "ignored"):
            return value
        counts.equated += 1
        return text

    return exchanged(record, "", "")


def _texts(value: Any, field: str = "", place: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the texts in a record, each with its field and its place."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, *_below(field, place, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{field}[]", f"{place}[{number}]")
    elif isinstance(value, str) and value:
        yield field, place, value


def _below(field: str, place: str, name: str) -> tuple[str, str]:
    return (f"{field}.{name}", f"{place}.{name}") if field else (name, name)
