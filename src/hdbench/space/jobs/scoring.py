"""An upload scored, with nothing of the server in the results."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.progress import Listener, listening
from hdbench.errors import HdbenchError, changed
from hdbench.evaluation.held_out import score_held_out, totals
from hdbench.evaluation.score import Settings, score_runs
from hdbench.reading import ReadAs
from hdbench.reading.answers import UnknownIdsError
from hdbench.reading.bounds import Bounds
from hdbench.results.result import Result
from hdbench.space.context import SpaceContext

MAX_RUNS = 50
"""Maximum models in one file: each takes a bootstrap, some 0.3 s for 263 cards."""

MAX_FIELDS = 200_000
"""Maximum fields in one model's answers and their references: 263 cards have some 4,000. Each is
looked at several times for the report and the downloads."""


class Upload(NamedTuple):
    """A visitor's file, and how it is to be scored.

    Attributes:
        benchmark: the benchmark's name.
        path: where the file is on the server.
        protocol: `documented` or `published`.
        strict: see `hdbench score`.
        reread: see `hdbench score`.
    """

    benchmark: str
    path: Path
    protocol: str = "documented"
    strict: bool = False
    reread: bool = False

    def settings(self, *, details: bool) -> Settings:
        """How it is scored, within the bounds of a Space."""
        return Settings(
            self.protocol,
            read_as=ReadAs(strict=self.strict, reread=self.reread),
            details=details,
            bounds=Bounds(models=MAX_RUNS, values=MAX_FIELDS),
        )


def _to_nobody(done: int, total: int | None) -> None:
    """Tell nobody: the terminal is the operator's, and several files are scored at once."""


def score_upload(
    context: SpaceContext, upload: Upload, *, details: bool = True, tell: Listener = _to_nobody
) -> tuple[Benchmark, dict[str | None, Result]]:
    """Score each run of an upload.

    In messages and results the file has its own name, and the benchmark its public one.

    Args:
        context: the Space's context.
        upload: what is scored, and how.
        details: keep the details of every item.
        tell: is told how many of a run's items are scored.

    Returns:
        The benchmark, and model → result.

    Raises:
        UnknownIdsError: the file has ids that are none of the benchmark's.
        HdbenchError: the file cannot be scored, or has more than `MAX_RUNS` models or `MAX_FIELDS`
            fields.
    """
    benchmark = context.benchmark(upload.benchmark)
    plain = _without_paths(context, benchmark, upload.path)
    try:
        with listening(tell):
            scored = score_runs(benchmark.id, upload.path, upload.settings(details=details))
    except UnknownIdsError as error:
        raise UnknownIdsError(error.message.changed(plain), error.ids) from error
    except HdbenchError as error:
        raise HdbenchError(error.message.changed(plain)) from error
    results = {}
    for model, result in scored.items():
        if _number_of_fields(result) > MAX_FIELDS:
            raise HdbenchError(
                "{place}: the answers have more than {most:,} fields, which are more than can "
                "be shown: hdbench score takes them",
                place=upload.path.name,
                most=MAX_FIELDS,
            )
        results[model] = replace(
            result,
            dataset=result.dataset.model_copy(update={"benchmark": context.public_id(benchmark)}),
            answers=result.answers.model_copy(update={"path": upload.path.name}),
            reading=replace(
                result.reading,
                notes=_mapped(result.reading.notes, plain),
                schema_violations=_mapped(result.reading.schema_violations, plain),
                warnings=[
                    replace(each, said=_mapped(each.said, plain), ids=_mapped(each.ids, plain))
                    for each in result.reading.warnings
                ],
            ),
        )
    return benchmark, results


def held_out_totals(
    benchmark: Benchmark, upload: Upload, run: str | None, public: Result, path: Path
) -> dict[str, Any] | None:
    """The totals of one run of an upload on the held-out items.

    Args:
        benchmark: its benchmark.
        upload: what is scored, and how.
        run: the model in it.
        public: its result on the public items.
        path: the file with the held-out ground truths.

    Returns:
        See `totals`; None if none of the items was answered, as by the example file, or the file is
        no longer what it was.
    """
    try:
        with listening(_to_nobody):
            scored = score_held_out(benchmark.id, upload.path, path, upload.settings(details=False))
    except HdbenchError:  # a message would name items
        return None
    found = totals(public, scored[run])
    return found if found["answered"] else None


def _number_of_fields(result: Result) -> int:
    """The fields of all answers and references, as far as the result has them one by one."""
    counted = sum(count for counts in result.fields.values() for count in counts.values())
    return max(counted, sum(len(item["fields"]) for item in result.per_item))


def _without_paths(
    context: SpaceContext, benchmark: Benchmark, upload: Path
) -> Callable[[str], str]:
    """What takes the server's folders out of a text."""
    folders = [(f"{upload.parent}/", ""), (benchmark.id, context.public_id(benchmark))]

    def plain(text: str) -> str:
        for folder, name in folders:
            text = text.replace(folder, name)
        return text

    return plain


def sendable(value: Any) -> Any:
    r"""A JSON value that Gradio can send: lone surrogates, which answers can hold, as escapes.

    Example:
        >>> sendable({"\ud800": ["Müller"]})
        {'\\ud800': ['Müller']}
    """
    return _mapped(value, lambda text: text.encode(errors="backslashreplace").decode())


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with its texts, keys among them, changed."""
    if isinstance(value, str):
        return changed(value, change)
    if isinstance(value, Mapping):
        return {change(key): _mapped(child, change) for key, child in value.items()}
    return [_mapped(child, change) for child in value] if isinstance(value, list) else value
