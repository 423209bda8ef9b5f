"""A run's headline in the forms the Hub takes: `.eval_results/*.yaml`, and a model card's index."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import yaml
from huggingface_hub import EvalResult, EvalResultEntry, eval_result_entries_to_yaml
from huggingface_hub.repocard_data import eval_results_to_model_index

from hdbench import NAMESPACE
from hdbench.answers.json_files import is_result
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.datasets.building.results_dataset import NAME as RESULTS
from hdbench.errors import HdbenchError, Message, joined
from hdbench.evaluation.runs import load_runs
from hdbench.evaluation.score import Settings
from hdbench.results.files import given_options
from hdbench.results.result import Result

HubForm = Literal["eval-results", "model-index"]

TASK_TYPES = {"text": "text-generation"}
"""Media → the Hub's task; for all others it is `image-to-text`."""

SHOWN = 3
"""Maximum names of runs in a message."""

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_RECORDED = re.compile(
    rf".*/(?:{NAMESPACE}/{RESULTS}|datasets--{NAMESPACE}--{RESULTS}/snapshots/(?P<commit>\w{{40}}))"
    r"/(?P<run>[^/]+/[^/]+)"
)
"""A run folder of the recorded runs: in a namespace folder, or in the cache of the Hub's client."""


class Headline(NamedTuple):
    """The figure that ranks, as the Hub ranks: higher is better.

    Attributes:
        name: `f1_micro`, or `1 - cer` if lower is better for the figure itself.
        value: its value over all items of the run.
        interval: the 95% interval, from low to high; None with fewer than two items.
    """

    name: str
    value: float
    interval: tuple[float, float] | None


def hub_results(
    run: Path, form: HubForm, *, benchmark: str | None = None, protocol: str = "documented"
) -> str:
    """Return the headline of a run as YAML that a model's repository on the Hub takes.

    `eval-results` is a file for its folder `.eval_results`, and `model-index` goes into the YAML
    of its card, with the dataset's version and hash, the protocol, the interval, the coverage and
    the signature.

    `eval-results` has only the fields that the Hub knows. Its task is the protocol, as in the
    dataset's `eval.yaml`; its `notes` name it too, if it is not the default one. Its `revision` is
    the dataset's commit, if the result was scored from the Hub, and its `source` is the run in
    `hdb/results`, if it is one of that dataset's; if they are not known, they are left out.

    Args:
        run: a run folder, or a result of `hdbench score --json`, which is not scored again; with
            `benchmark` also answers in any form.
        form: the form to write.
        benchmark: the folder of the built benchmark; by default the one that the run names.
        protocol: the protocol for answers that are scored now.

    Raises:
        HdbenchError: the run or its benchmark is unusable, or there are several runs; or, for
            `eval-results`, the Hub would rank what is not comparable: a score on a sample, on a
            part of the items, or with other options than the benchmark's.
    """
    if run.is_file() and benchmark is None and not is_result(run):
        raise HdbenchError(
            "{place}: not a result of hdbench score --json: name the benchmark of these "
            "answers before them",
            place=run,
        )
    runs = load_runs([run], benchmark=benchmark, settings=Settings(protocol))
    if len(runs) > 1:
        names = ", ".join(list(runs)[:SHOWN]) + (", …" if len(runs) > SHOWN else "")
        raise HdbenchError(
            "{place}: holds {count} runs ({names}): the Hub takes one file per model: "
            "export each run by itself",
            place=run,
            count=len(runs),
            names=names,
        )
    [(name, result)] = runs.items()
    if not (result.dataset.benchmark and result.reading.from_file):
        raise HdbenchError(
            "{place}: names no benchmark: score the answers with hdbench score", place=run
        )
    if result.run.without_media:
        raise HdbenchError(
            "{place}: was asked without media, and is no score of the model", place=run
        )
    loaded = load_benchmark(benchmark or result.dataset.benchmark)
    if loaded.spec.metric != result.metric.name or not result.ids:
        raise HdbenchError(
            "{place}: is not a result for {benchmark}: name its own benchmark before it",
            place=run,
            benchmark=loaded.id,
        )
    if form == "model-index":
        index = eval_results_to_model_index(name, [_index_entry(result, loaded)])
        return _yaml({"model-index": index})
    if reasons := list(_not_ranked(result, loaded)):
        raise HdbenchError(
            "{place}: {why}: the Hub would rank it among whole runs under the "
            "benchmark's own rules: use --format model-index, which says so",
            place=run,
            why=joined(reasons),
        )
    return _yaml(eval_result_entries_to_yaml([_ranked_entry(result, loaded)]))


def headline_of(result: Result) -> Headline:
    """Return the headline of a result, higher is better."""
    name = result.headline
    value = result.value
    between = result.intervals.figures.get(name)
    interval = (between.low, between.high) if between else None
    if result.higher_is_better:
        return Headline(name, value, interval)
    turned = (1 - interval[1], 1 - interval[0]) if interval else None
    return Headline(f"1 - {name}", 1 - value, turned)


def _ranked_entry(result: Result, benchmark: Benchmark) -> EvalResultEntry:
    source, protocol = _recorded_url(result, benchmark), result.metric.protocol
    return EvalResultEntry(
        dataset_id=_hub_id(benchmark),
        task_id=protocol,
        value=headline_of(result).value,
        dataset_revision=_commit(result, benchmark),
        date=result.run.date,
        source_url=source,
        source_name=f"hdbench {result.versions.hdbench}" if source else None,
        notes=None if protocol == "documented" else f"protocol {protocol}",
    )


def _index_entry(result: Result, benchmark: Benchmark) -> EvalResult:
    headline, dataset = headline_of(result), _hub_id(benchmark)
    differs = "; ".join(_not_ranked(result, benchmark))
    about = {
        "version": result.dataset.dataset_version,
        "metadata_sha256": result.dataset.dataset_sha256,
        "date": result.run.date,
        "not_comparable": differs or None,
    }
    arguments = {
        "protocol": result.metric.protocol,
        **_changed_options(result, benchmark),
        "higher_is_better": True,
        "interval_95": list(headline.interval) if headline.interval else None,
        "items": len(result.ids),
        "answered": result.answered,
        "signature": result.signature,
    }
    return EvalResult(
        task_type=TASK_TYPES.get(benchmark.spec.media, "image-to-text"),
        dataset_type=dataset,
        dataset_name=benchmark.spec.title,
        dataset_config="default",
        dataset_split=benchmark.spec.split,
        dataset_revision=_commit(result, benchmark) or f"hdbench-{result.dataset.dataset_version}",
        dataset_args=_without_none(about),
        metric_type=f"{NAMESPACE}/{result.metric.name}",
        metric_name=headline.name,
        metric_config=result.metric.protocol,
        metric_value=headline.value,
        metric_args=_without_none(arguments),
        source_name=f"hdbench {result.versions.hdbench}",
        source_url=f"https://huggingface.co/datasets/{dataset}",
    )


def _not_ranked(result: Result, benchmark: Benchmark) -> Iterator[Message]:
    """Yield reasons why a score must not be listed with those of complete runs."""
    version = result.dataset.dataset_version
    if "+" in version:
        yield Message("a score on version {version}", version=version)
    items = sum(1 for _ in benchmark.items())
    if len(result.ids) != items:
        yield Message("a score on {count} of {items} items", count=len(result.ids), items=items)
    errata = [f"errata {result.dataset.errata}"] if result.dataset.errata else []
    changed = [*_changed_options(result, benchmark), *errata, *result.reading.read_as.names]
    if changed:
        yield Message("scored with {options}", options=", ".join(changed))


def _changed_options(result: Result, benchmark: Benchmark) -> dict[str, Any]:
    """Return the options whose values differ from those of the protocol in this benchmark."""
    return given_options(result.metric, benchmark.spec.make_metric(result.metric.protocol))


def _hub_id(benchmark: Benchmark) -> str:
    """Return the dataset's name on the Hub: its own if it has that form, otherwise below `hdb`."""
    is_id = _HUB_ID.fullmatch(benchmark.id) and benchmark.id.endswith(f"/{benchmark.spec.name}")
    return benchmark.id if is_id else f"{NAMESPACE}/{benchmark.spec.name}"


def _commit(result: Result, benchmark: Benchmark) -> str | None:
    """Return the dataset's commit that was scored; None if it did not come from the Hub.

    The Hub's cache names the folder of a snapshot by its commit.
    """
    if commit := result.dataset.dataset_revision:
        return commit
    folder = benchmark.folder.resolve()
    is_snapshot = folder.parent.name == "snapshots" and _COMMIT.fullmatch(folder.name)
    if is_snapshot and benchmark.content_hash() == result.dataset.dataset_sha256:
        return folder.name
    return None


def _recorded_url(result: Result, benchmark: Benchmark) -> str | None:
    """Return the address of a recorded run; None if the run is not one of them."""
    path = Path(result.answers.path).resolve()
    match = _RECORDED.fullmatch(path.as_posix())
    if match is None or not match["run"].startswith(f"{benchmark.spec.name}/"):
        return None
    dataset = f"https://huggingface.co/datasets/{NAMESPACE}/{RESULTS}"
    return f"{dataset}/tree/{match['commit'] or 'main'}/{quote(match['run'])}"


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)
