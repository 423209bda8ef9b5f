"""Scoring held-out items: totals, and how far they lie from those of the public items."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from hdbench.benchmarks.benchmark import Benchmark, Item, Part, load_benchmark
from hdbench.benchmarks.truths import PUBLISHED, TRUTH
from hdbench.common.jsonio import read_jsonl
from hdbench.common.os_errors import read_errors
from hdbench.common.regular_files import file_sha256
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import NothingToScoreError, Settings, score_loaded
from hdbench.results.result import Result
from hdbench.statistics.gap import gap
from hdbench.statistics.resampling import rate_names

_COVERAGE = ("items", "answered", "unanswered", "unparsable")


@dataclass(frozen=True)
class _HeldOutPart(Benchmark):
    """A benchmark of which the held-out items are scored, and no others."""

    held_out: Mapping[str, Item] = field(default_factory=dict)

    def items(self) -> Iterator[Item]:
        """Yield the held-out items with their ground truths."""
        yield from self.held_out.values()

    def items_of(self, part: Part) -> Iterator[Item]:
        """Yield those of a part's items that are held out."""
        return (self.held_out[item_id] for item_id in part.ids if item_id in self.held_out)


def read_held_out(benchmark: Benchmark, path: Path) -> tuple[Item, ...]:
    """Return the held-out items of a benchmark.

    Args:
        benchmark: the benchmark, whose `benchmark.yaml` names the file by its sha256.
        path: the file, a line with `id` and `ground_truth` for each item.

    Raises:
        HdbenchError: the benchmark has no held-out items, the file is in its folder, where it would
            be published, is another one, or cannot be read.
    """
    about = benchmark.spec.held_out
    if about is None:
        raise HdbenchError(
            "{benchmark}: benchmark.yaml names no held-out items (held_out)", benchmark=benchmark.id
        )
    if path.resolve().is_relative_to(benchmark.folder.resolve()):
        raise HdbenchError(
            "{place}: is inside the dataset's folder, and would be published with it: move it out",
            place=path,
        )
    with read_errors(path):
        digest = file_sha256(path)
    if digest != about.sha256:
        raise HdbenchError(
            "{place}: is not what {benchmark} holds out (sha256 {found}…, and its "
            "benchmark.yaml has {named}…): is it of another version?",
            place=path,
            benchmark=benchmark.id,
            found=digest[:12],
            named=about.sha256[:12],
        )
    items = []
    ids = set(benchmark.ids())
    for line in read_jsonl(path):
        item_id, truth = line.value.get("id"), line.value.get(TRUTH)
        published = line.value.get(PUBLISHED)
        if (
            item_id not in ids
            or not isinstance(truth, dict)
            or not isinstance(published, dict | None)
        ):
            raise HdbenchError(
                "{place}:{line}: not an item of {benchmark} with its ground truth",
                place=path,
                line=line.number,
                benchmark=benchmark.id,
            )
        items.append(Item(item_id, truth, published=published))
    return tuple(items)


def score_held_out(
    benchmark: str,
    predictions: Path | str,
    path: Path,
    settings: Settings = Settings(),
    *,
    name: str | None = None,
) -> dict[str | None, Result]:
    """Score each run of a file of answers on the held-out items.

    These results must not be shown: see `totals`, which keeps what may be.

    Args:
        benchmark: see `hdbench.evaluation.score.score`.
        predictions: see there.
        path: see `read_held_out`.
        settings: how they are scored; details are never kept.
        name: see `hdbench.evaluation.score.score_under`.

    Raises:
        HdbenchError: see `read_held_out` and `hdbench.evaluation.score.score_runs`; or none of the
            held-out items was asked.
    """
    loaded = load_benchmark(benchmark, revision=settings.revision)
    values = {attribute.name: getattr(loaded, attribute.name) for attribute in fields(Benchmark)}
    held_out = {item.id: item for item in read_held_out(loaded, path)}
    part = _HeldOutPart(**values, held_out=held_out)
    try:
        plain = [replace(settings, details=False)]
        [results] = score_loaded(part, predictions, plain, name=name)
    except NothingToScoreError as error:
        raise HdbenchError("{place}: none of the held-out items was asked", place=path) from error
    return results


def totals(public: Result, held_out: Result) -> dict[str, Any]:
    """Return what may be shown of the score on held-out items, as JSON data: no items, no details.

    Args:
        public: the result on the public items.
        held_out: that of the same run on the held-out ones.

    Returns:
        `items`, `answered`, `unanswered`, `unparsable`; `figures`, rate → value; `intervals`, rate
        → both ends, or `why` there are none; `gap`, see `Gap.to_dict`.
    """
    figures = held_out.figures()
    intervals = held_out.intervals
    ends = {name: [interval.low, interval.high] for name, interval in intervals.figures.items()}
    return {
        **{name: figures[name] for name in _COVERAGE},
        "figures": {name: figures[name] for name in rate_names(held_out.metric, figures)},
        "intervals": ends if intervals.why is None else {"why": intervals.why},
        "gap": gap(public, held_out).to_dict(),
    }
