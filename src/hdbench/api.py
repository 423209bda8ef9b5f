"""The Python API: what the command line does, as functions."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from hdbench.benchmark import Benchmark, load_benchmark
from hdbench.checks import EXAMPLES, Checks, RunWarning
from hdbench.errors import HdbenchError
from hdbench.progress import progress
from hdbench.reading.answers import Answers
from hdbench.reading.container import Container
from hdbench.reading.files import open_container
from hdbench.reading.schema import AnswerSchema
from hdbench.results import answers_sha256
from hdbench.scoring import make_metric
from hdbench.scoring.metric import Metric
from hdbench.scoring.result import Candidate, Result, prepare, score_items


def score(
    benchmark: str,
    predictions: Path | str,
    *,
    protocol: str = "documented",
    strict: bool = False,
    reread: bool = False,
    details: bool = False,
    **options: object,
) -> Result:
    """Score one run's answers against a benchmark.

    An id without an answer is a complete failure.

    Args:
        benchmark: the folder of a built benchmark, as `hdb/zettelkatalog`.
        predictions: a file or folder of answers in any of the forms that `hdbench score` takes.
        protocol: `documented` or `published`.
        strict: only answers that are sound JSON, and nothing else, count as answers.
        reread: where there are both, the text is read and not the prediction taken.
        details: keep what became of every item and field.
        options: the metric's options.

    Raises:
        HdbenchError: the benchmark, the predictions or an option is unusable, or there are several
            runs.
    """
    results = score_runs(
        benchmark,
        predictions,
        protocol=protocol,
        strict=strict,
        reread=reread,
        details=details,
        **options,
    )
    if len(results) > 1:
        names = ", ".join(repr(name) for name in results)
        raise HdbenchError(f"{predictions}: holds several runs ({names}): use score_runs")
    return next(iter(results.values()))


def score_runs(
    benchmark: str,
    predictions: Path | str,
    *,
    protocol: str = "documented",
    strict: bool = False,
    reread: bool = False,
    details: bool = False,
    **options: object,
) -> dict[str | None, Result]:
    """Score each run of a file or folder of answers; a `model` column tells them apart.

    Neither the truths nor, in JSON Lines, the answers need to fit in memory.

    Args:
        benchmark: as of `score`, and so is all the rest.
        predictions: a file or folder.
        protocol: `documented` or `published`.
        strict: sound JSON only.
        reread: the text before the prediction.
        details: keep what became of every item and field.
        options: the metric's options.

    Returns:
        Model → result; one under None where the file names no model.

    Raises:
        HdbenchError: the benchmark, the predictions or an option is unusable.
    """
    loaded = load_benchmark(benchmark)
    metric = make_metric(loaded.spec.metric, protocol, **options)
    schema = AnswerSchema.load(loaded.schema) if loaded.schema else None
    container = open_container(Path(predictions), schema)
    try:
        scored = {"path": str(predictions), "sha256": answers_sha256(Path(predictions))}
        results = {}
        for run in container.runs:
            results[run] = _score_run(
                loaded,
                metric,
                schema,
                container,
                run,
                strict=strict,
                reread=reread,
                details=details,
            )
            results[run].model, results[run].answers = run, scored
        return results
    finally:
        container.close()


def _score_run(
    benchmark: Benchmark,
    metric: Metric,
    schema: AnswerSchema | None,
    container: Container,
    run: str | None,
    *,
    strict: bool,
    reread: bool,
    details: bool,
) -> Result:
    answers = Answers(
        container,
        run,
        benchmark.ids(),
        benchmark.id,
        schema,
        strict=strict,
        reread=reread,
        as_given=metric.protocol == "published",
    )
    checks = Checks(metric)
    violations: dict[str, Counter[str]] = defaultdict(Counter)

    def candidates() -> Iterator[Candidate]:
        for item in benchmark.items():
            answer = answers.take(item.id)
            prepared = prepare(metric, item.ground_truth)
            found = []
            if schema and isinstance(answer.prediction, dict):
                found = schema.violations(answer.prediction)
            for violation in found:
                violations[violation.field][violation.rule] += 1
            checks.add(answer, prepared, found)
            yield Candidate(item.id, prepared, answer.prediction, answer.status)

    result = score_items(
        metric,
        progress(candidates(), "Scoring"),
        details=details,
        dataset={
            "benchmark": benchmark.id,
            "dataset_version": benchmark.spec.version,
            "dataset_sha256": benchmark.content_hash(),
        },
    )
    ids = [
        RunWarning("ids", message, len(found), len(container.runs[run]), found[:EXAMPLES])
        for message, found in answers.differences
    ]
    result.reading = {
        "strict": strict,
        "reread": reread,
        "notes": container.notes,
        "schema_violations": {name: dict(rules) for name, rules in violations.items()},
        "warnings": [asdict(warning) for warning in [*ids, *checks.warnings(result)]],
    }
    return result
