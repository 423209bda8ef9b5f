"""Scoring answers against a benchmark, one item at a time."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.evaluation.checks import EXAMPLES, Checks, RunWarning
from hdbench.reading.answers import Answers
from hdbench.reading.container import Container, InMemory
from hdbench.reading.files import open_container
from hdbench.reading.run_info import RUN_FILE, RunInfo, has_answers, is_run, read_run_info
from hdbench.reading.schema import AnswerSchema
from hdbench.reading.usage import Usage
from hdbench.results.files import answers_sha256
from hdbench.results.result import Candidate, Result, candidate_of, prepare, score_items
from hdbench.results.warning_texts import id_message
from hdbench.scoring import make_metric
from hdbench.scoring.metric import Metric


def score(
    benchmark: str,
    predictions: Path | str,
    *,
    protocol: str = "documented",
    strict: bool = False,
    reread: bool = False,
    as_given: bool = False,
    details: bool = False,
    revision: str | None = None,
    options: Mapping[str, object] | None = None,
) -> Result:
    """Score one run's answers against a benchmark.

    An id without an answer counts as a complete failure.

    Args:
        benchmark: the folder of a built benchmark, such as `hdb/zettelkatalog`; otherwise one on
            the Hub.
        predictions: a file or folder of answers in any of the forms that `hdbench score` takes.
        protocol: `documented` or `published`.
        strict: only answers that are valid JSON and nothing else count as answers.
        reread: if there are both, the text is read and the prediction is not used.
        as_given: see `score_runs`.
        details: keep what became of every item and field.
        revision: the revision of the benchmark on the Hub: a tag, branch or commit.
        options: the metric's options by name.

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
        as_given=as_given,
        details=details,
        revision=revision,
        options=options,
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
    as_given: bool = False,
    details: bool = False,
    revision: str | None = None,
    options: Mapping[str, object] | None = None,
) -> dict[str | None, Result]:
    """Score each run of a file or folder of answers; a `model` column tells them apart.

    Neither the ground truths nor, in JSON Lines, the answers need to fit in memory. If a run
    folder's `run.json` declares which items were asked, only these are scored.

    Args:
        benchmark: see `score`, as for all the rest.
        predictions: a file or folder.
        protocol: `documented` or `published`.
        strict: valid JSON only.
        reread: the text takes precedence over the prediction.
        as_given: a prediction is taken as it is, and a text next to a null prediction is not read;
            under published, this is always so.
        details: keep what became of every item and field.
        revision: the revision of the benchmark on the Hub: a tag, branch or commit.
        options: the metric's options by name.

    Returns:
        Model → result; one under None if the file names no model.

    Raises:
        HdbenchError: the benchmark, the predictions or an option is unusable.
    """
    loaded = load_benchmark(benchmark, revision=revision)
    metric = make_metric(loaded.spec.metric, protocol, **(options or {}))
    path = Path(predictions)
    info = _run_info(path, loaded) if is_run(path) else None
    schema = loaded.answer_schema(*(info.prompts if info else ()))
    nothing_yet = info is not None and not has_answers(path)
    container = InMemory({None: {}}) if nothing_yet else open_container(path, schema)
    try:
        scored = {"path": str(predictions), "sha256": answers_sha256(path)}
        results = {}
        for run in container.runs:
            result = results[run] = _score_run(
                loaded,
                metric,
                schema,
                container,
                run,
                info=info,
                read_as={"strict": strict, "reread": reread, "as_given": as_given},
                details=details,
            )
            result.model, result.answers = run, scored
            if info is not None:
                result.model, result.run = run or info.model, info.about()
        return results
    finally:
        container.close()


def _run_info(folder: Path, benchmark: Benchmark) -> RunInfo:
    """What a run says about itself, if it is a run of this benchmark."""
    info = read_run_info(folder)
    if info.own_images:
        raise HdbenchError(
            f"{folder}: a run over images of one's own, which have no truth to score against: "
            "hdbench export makes a table of its answers"
        )
    name = info.benchmark.rpartition("/")[2]
    if name != benchmark.spec.name:
        raise HdbenchError(
            f"{folder}: its run.json says that it answers {info.benchmark}, "
            f"not {benchmark.id}: score it against that"
        )
    if info.items is not None and (unknown := set(info.items) - set(benchmark.ids())):
        raise HdbenchError(
            f"{folder}: its run.json declares an item that {benchmark.id} has not, "
            f"{min(unknown)!r}: is it of another version?"
        )
    return info


def _score_run(
    benchmark: Benchmark,
    metric: Metric,
    schema: AnswerSchema | None,
    container: Container,
    run: str | None,
    *,
    info: RunInfo | None,
    read_as: Mapping[str, bool],
    details: bool,
) -> Result:
    """Score one run, on the items that were asked."""
    asked = None if info is None or info.items is None else set(info.items)
    total = 0

    def asked_ids() -> Iterator[str]:
        nonlocal total
        for item_id in benchmark.ids():
            if asked is None or item_id in asked:
                total += 1
                yield item_id

    answers = Answers(
        container,
        run,
        asked_ids(),
        benchmark.id if asked is None else f"{benchmark.id}, of the items in {RUN_FILE},",
        schema,
        strict=read_as["strict"],
        reread=read_as["reread"],
        as_given=read_as["as_given"] or metric.protocol == "published",
    )
    checks = Checks(metric)
    violations: dict[str, Counter[str]] = defaultdict(Counter)
    usage = Usage()

    def candidates() -> Iterator[Candidate]:
        for item in benchmark.items():
            if asked is not None and item.id not in asked:
                continue
            answer = answers.take(item.id)
            usage.add(answer)
            prepared = prepare(metric, item.ground_truth)
            found = []
            if schema and isinstance(answer.prediction, dict):
                found = schema.violations(answer.prediction)
            for violation in found:
                violations[violation.field][violation.rule] += 1
            checks.add(answer, prepared, found)
            yield candidate_of(answer, prepared)

    result = score_items(
        metric,
        progress(candidates(), "Scoring", total),
        details=details,
        dataset={
            "benchmark": benchmark.id,
            "dataset_version": benchmark.spec.version,
            "dataset_sha256": benchmark.content_hash(),
            "dataset_revision": benchmark.revision,
            "headline": benchmark.spec.headline,
            "higher_is_better": benchmark.spec.higher_is_better,
        },
    )
    result.usage = usage.known
    partial = []
    if left_out := 0 if asked is None else sum(item not in asked for item in benchmark.ids()):
        how = f" ({info.subset})" if info is not None and info.subset else ""
        partial = [f"{RUN_FILE}: {left_out} items were not asked{how}, and are not scored"]
    of = len(container.runs[run])
    ids = [
        RunWarning("ids", id_message(each), len(each.ids), of, each.ids[:EXAMPLES])
        for each in answers.differences
    ]
    result.reading = {
        **read_as,
        "notes": [*partial, *container.notes],
        "schema_violations": {name: dict(rules) for name, rules in violations.items()},
        "warnings": [warning.to_dict() for warning in [*ids, *checks.warnings(result)]],
    }
    return result
