"""The Python API: what the command line does, as a function."""

from collections.abc import Iterator
from pathlib import Path

from hdbench.benchmark import Benchmark, load_benchmark
from hdbench.predictions import Predictions
from hdbench.progress import progress
from hdbench.scoring import make_metric
from hdbench.scoring.metric import Metric
from hdbench.scoring.result import Candidate, Result, prepare, score_items


def score(
    benchmark: str,
    predictions: Path | str,
    *,
    protocol: str = "documented",
    details: bool = False,
    **options: object,
) -> Result:
    """Score a file of predictions against a benchmark.

    Both files are streamed, so that neither the truths nor the answers need to fit in memory. An id
    without an answer is a complete failure.

    Args:
        benchmark: the folder of a built benchmark, as `hdb/zettelkatalog`.
        predictions: a JSON Lines file of `{"id", "prediction"}` or `{"id", "text"}`.
        protocol: `documented` or `published`.
        details: keep what became of every item and field.
        options: the metric's options.

    Raises:
        HdbenchError: the benchmark, the predictions or an option is unusable.
    """
    loaded = load_benchmark(benchmark)
    metric = make_metric(loaded.spec.metric, protocol, **options)
    with Predictions(Path(predictions)) as answers:
        result = score_items(
            metric,
            progress(_candidates(loaded, metric, answers), "Scoring"),
            details=details,
            dataset={
                "benchmark": loaded.id,
                "dataset_version": loaded.spec.version,
                "dataset_sha256": loaded.content_hash(),
            },
        )
        answers.refuse_rest(loaded.id)
    return result


def _candidates(benchmark: Benchmark, metric: Metric, answers: Predictions) -> Iterator[Candidate]:
    for item in benchmark.items():
        yield Candidate(item.id, prepare(metric, item.ground_truth), answers.take(item.id))
