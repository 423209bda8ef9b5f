"""Scoring answers against a benchmark, one item at a time."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path

from hdbench.answers import ReadAs
from hdbench.answers.answers import Answers
from hdbench.answers.bounds import Bounds
from hdbench.answers.folders import is_in_shards
from hdbench.answers.usage import Usage
from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.benchmark import Benchmark, Part, load_benchmark
from hdbench.benchmarks.provenance import Provenance
from hdbench.benchmarks.truths import check_errata
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.evaluation.checks import Checks
from hdbench.evaluation.frequent import EXAMPLES
from hdbench.evaluation.notes import notes_on
from hdbench.evaluation.opened_run import OpenedRun
from hdbench.evaluation.part_scorer import (
    EachItem,
    ReadOnce,
    Rules,
    ScoredTask,
    Task,
    seldom_collected,
    ways_of,
)
from hdbench.evaluation.processes import TRIED, scorer
from hdbench.results.drafts import with_draft_warning
from hdbench.results.files import answers_sha256
from hdbench.results.items import ScoreCollector
from hdbench.results.parts import AnswersRead, DraftedItems, ScoredDataset, ScoredFile
from hdbench.results.result import Result
from hdbench.results.warning_texts import RunWarning, id_message
from hdbench.scoring.metric import Metric

PART = 500
"""Number of items that a process scores at a time."""


class NothingToScoreError(HdbenchError):
    """No item that was asked has a ground truth."""


@dataclass(frozen=True)
class Settings:
    """Options for scoring answers.

    Attributes:
        protocol: `documented` or `published`.
        errata: which corrections of ground-truth values count: `accepted`, those that the data's
            owners accepted, or `proposed`, all of them; `published` counts none.
        options: the metric's options by name.
        read_as: how the file is read; under `published`, predictions are always taken as given.
        revision: the revision of the benchmark on the Hub: a tag, branch or commit.
        details: keep what became of every item and field.
        bounds: how much the file may have; with a bound on values, one process scores.
        workers: how many processes score at most; 0 is one for each core. More than one are started
            only where they pay, and figures do not depend on it. A program that asks for several
            must be guarded by `if __name__ == "__main__"`.
        each_item: with `details`, is given each scored item in the dataset's order, and the result
            does not keep them; one process scores.
    """

    protocol: str = "documented"
    options: Mapping[str, object] = field(default_factory=dict)
    errata: str = "accepted"
    read_as: ReadAs = ReadAs()
    revision: str | None = None
    details: bool = False
    bounds: Bounds = Bounds()
    workers: int = 1
    each_item: EachItem | None = field(default=None, compare=False)


def score(benchmark: str, predictions: Path | str, settings: Settings = Settings()) -> Result:
    """Score one run's answers against a benchmark.

    An id without an answer counts as a complete failure.

    Args:
        benchmark: the folder of a built benchmark, such as `hdb/zettelkatalog`; otherwise one on
            the Hub.
        predictions: a file or folder of answers in any of the forms that `hdbench score` takes.
        settings: how they are scored.

    Raises:
        HdbenchError: the benchmark, the predictions or an option is unusable, or there are several
            runs.
    """
    results = score_runs(benchmark, predictions, settings)
    if len(results) > 1:
        names = ", ".join(repr(name) for name in results)
        raise HdbenchError(
            "{place}: holds several runs ({names}): use score_runs", place=predictions, names=names
        )
    return next(iter(results.values()))


def score_runs(
    benchmark: str, predictions: Path | str, settings: Settings = Settings()
) -> dict[str | None, Result]:
    """Score each run of a file or folder of answers; a `model` column tells them apart.

    Neither the ground truths nor, in JSON Lines, the answers need to fit in memory. If a run
    folder's `run.json` declares which items were asked, only these are scored.

    Args:
        benchmark: see `score`, as for all the rest.
        predictions: a file or folder.
        settings: how they are scored.

    Returns:
        Model → result; one under None if the file names no model.

    Raises:
        HdbenchError: the benchmark, the predictions or an option is unusable.
    """
    return score_under(benchmark, predictions, [settings])[0]


def score_under(
    benchmark: str,
    predictions: Path | str,
    settings: Sequence[Settings],
    *,
    name: str | None = None,
) -> list[dict[str | None, Result]]:
    """Score each run under several rules; answers that they read alike are read once.

    Args:
        benchmark: see `score`, as for all the rest.
        predictions: a file or folder.
        settings: how they are scored, in turn; all with the first one's `revision`, `bounds` and
            `workers`.
        name: what messages and results call a file of answers; by default its path.

    Returns:
        For each of the settings: model → result, as `score_runs` gives it.

    Raises:
        HdbenchError: the benchmark, the predictions or an option is unusable.
    """
    loaded = load_benchmark(benchmark, revision=settings[0].revision)
    return score_loaded(loaded, predictions, settings, name=name)


def score_loaded(
    loaded: Benchmark,
    predictions: Path | str,
    settings: Sequence[Settings],
    *,
    name: str | None = None,
) -> list[dict[str | None, Result]]:
    """Do the same as `score_under`, with a benchmark that is loaded already."""
    path = Path(predictions)
    in_shards = is_in_shards(path)
    try:
        return _score_once(loaded, predictions, settings, name)
    except HdbenchError:
        if not in_shards or is_in_shards(path):
            raise
    return _score_once(loaded, predictions, settings, name)  # they were merged while they were read


def _score_once(
    loaded: Benchmark, predictions: Path | str, settings: Sequence[Settings], name: str | None
) -> list[dict[str | None, Result]]:
    rules = [_rules(loaded, setting) for setting in settings]
    path = Path(predictions)
    results: list[dict[str | None, Result]] = [{} for _ in settings]
    scored, sha256, dataset_sha256 = _scored_runs(loaded, path, rules, settings[0], name)
    answers = ScoredFile(path=name or str(predictions), sha256=sha256)
    for model, scored_run in scored.items():
        for number, setting in enumerate(settings):
            result = scored_run.result(number, setting, dataset_sha256)
            result = replace(result, answers=answers, model=model)
            if (info := scored_run.run.info) is not None:
                result = replace(result, model=model or info.model, run=info.for_result())
            results[number][model] = with_draft_warning(result)
    return results


def _scored_runs(
    loaded: Benchmark, path: Path, rules: Sequence[Rules], settings: Settings, name: str | None
) -> tuple[dict[str | None, "_ScoredRun"], str, str]:
    """Return each model's answers under all rules; the sha256 of the answers, and of the metadata.

    What was needed to find the answers is gone afterwards: for a million, it is half of the memory.
    """
    bounds = settings.bounds
    opened = OpenedRun.opened(
        path, loaded, bounds, name=name, own_as_items=True, all_are_loaded=True
    )
    with opened as run, ThreadPoolExecutor(1) as hashing:
        _check_run(path, run)
        sha256 = hashing.submit(answers_sha256, path)
        dataset_sha256 = hashing.submit(loaded.content_hash)
        with scorer(run, rules, bounds, settings.workers) as scored:
            first = min(PART, TRIED)
            parts = list(loaded.parts(PART, first=[first] * 2))
            scored_runs = {model: _scored(run, model, parts, rules, scored) for model in run.models}
        return scored_runs, sha256.result(), dataset_sha256.result()


def with_names(results: Sequence[Result], names: Sequence[str]) -> list[Result]:
    """Name the models of results whose answers do not name them.

    Args:
        results: of any answers; those that have a model keep it.
        names: one for each of the others, in their order; without any, nothing is named.

    Raises:
        HdbenchError: there are more or fewer names, or one is blank.
    """
    if not names:
        return list(results)
    unnamed = [result.answers.path for result in results if result.model is None]
    if not unnamed:
        own = ", ".join(dict.fromkeys(repr(result.model) for result in results))
        raise HdbenchError(
            "--name: these answers already name their model ({own}): leave it out", own=own
        )
    if len(names) != len(unnamed):
        raise HdbenchError(
            "--name: {given} given, and {count} of the files name no model ({files}): give "
            "one for each of them, in this order",
            given=len(names),
            count=len(unnamed),
            files=", ".join(unnamed),
        )
    if not all(name.strip() for name in names):
        raise HdbenchError("--name: is blank: give the model's name")
    remaining = iter(names)
    return [
        with_draft_warning(replace(result, model=next(remaining).strip()))
        if result.model is None
        else result
        for result in results
    ]


def _rules(loaded: Benchmark, settings: Settings) -> Rules:
    """Return the rules of some settings: under `published`, predictions are taken as given."""
    metric = loaded.spec.make_metric(settings.protocol, **settings.options)
    read_as = settings.read_as
    as_given = read_as.as_given or metric.protocol == "published"
    return Rules(
        metric,
        read_as._replace(as_given=as_given),
        settings.details,
        settings.each_item,
        check_errata(settings.errata, metric.protocol),
    )


def _check_run(path: Path, run: OpenedRun) -> None:
    """Refuse a run whose items are not the benchmark's."""
    if run.asked is not None and (unknown := run.asked.keys() - set(run.benchmark.ids())):
        raise HdbenchError(
            "{place}: its run.json declares an item that {benchmark} does not have, "
            "{item!r}: is it of another version?",
            place=path,
            benchmark=run.benchmark.id,
            item=min(unknown),
        )


def _scored(
    run: OpenedRun,
    model: str | None,
    parts: Sequence[Part],
    rules: Sequence[Rules],
    score: Callable[[Iterable[Task]], Iterable[ScoredTask]],
) -> "_ScoredRun":
    """Score one model's answers under all rules, on the items that were asked."""
    ids = (item_id for part in parts for item_id in part.ids)
    answers = run.answers(model, filter(run.is_asked, ids))
    scored_run = _ScoredRun(run, model, answers, rules)
    strata = run.benchmark.strata()
    number = len(run.container.runs[model])
    tasks = (
        Task(
            part,
            keys,
            None if run.asked is None else [run.is_asked(item_id) for item_id in part.ids],
            [strata[item_id] for item_id in part.ids] if strata else [],
            number,
        )
        for part, keys in zip(parts, answers.take_keys(part.ids for part in parts), strict=True)
    )
    with seldom_collected():
        for _ in progress(scored_run.taken(score(tasks)), "Scoring", answers.number):
            pass
    return scored_run


class _ScoredRun:
    """One model's answers under all rules; parts are taken in the dataset's order."""

    def __init__(
        self, run: OpenedRun, model: str | None, answers: Answers, rules: Sequence[Rules]
    ) -> None:
        self.run = run
        self._asked, self._differences = answers.number, answers.differences
        self._answered = sum(1 for _ in run.answered(model))
        self._items = 0
        self._drafts = Counter[Provenance]()
        self._read = [_WayOfReading(read_as, rules) for read_as in ways_of(rules)]

    def taken(self, parts: Iterable[ScoredTask]) -> Iterator[None]:
        """Take parts, and yield once for each of their items."""
        for part in parts:
            self._items += part.items
            self._drafts.update(part.drafts)
            for way, reading in zip(self._read, part.read, strict=True):
                way.take(reading)
            yield from repeat(None, part.items)

    def result(self, number: int, settings: Settings, dataset_sha256: str) -> Result:
        """Return the result under one of the rules."""
        run = self.run
        if not self._items:
            raise NothingToScoreError(
                "{benchmark}: no item has a ground truth to score against",
                benchmark=run.benchmark.id,
            )
        way = next(way for way in self._read if number in way.scorers)
        metric, tally, checks = way.scorers[number]
        dataset = _dataset(run.benchmark, metric, settings, self._drafts, dataset_sha256)
        result = tally.result(dataset=dataset)
        other_ids = [
            RunWarning(
                "ids",
                id_message(difference),
                len(difference.ids),
                self._answered,
                difference.ids[:EXAMPLES],
            )
            for difference in self._differences
        ]
        reading = AnswersRead(
            settings.read_as,
            notes_on(run, result, asked=self._asked, with_truth=self._items),
            way.violations,
            [*other_ids, *checks.warnings(result)],
        )
        return replace(result, reading=reading, usage=way.usage.amounts)


class _WayOfReading:
    """Answers that are read in one way.

    Attributes:
        scorers: number of each of the rules with this way → its metric, scores and checks.
        usage: what the answers used.
        violations: field → rule of the schema → how often it was violated.
    """

    def __init__(self, read_as: ReadAs, rules: Sequence[Rules]) -> None:
        self.scorers = {
            number: (
                rule.metric,
                ScoreCollector(rule.metric, details=rule.keeps_items),
                Checks(rule.metric),
            )
            for number, rule in enumerate(rules)
            if rule.read_as == read_as
        }
        self.usage = Usage()
        self.violations: dict[str, Counter[str]] = defaultdict(Counter)

    def take(self, part: ReadOnce) -> None:
        """Take the items of a part, which follow those so far."""
        self.usage.take(part.usage)
        for name, counts in part.violations.items():
            self.violations[name].update(counts)
        for (_, tally, checks), (tallied, looks) in zip(
            self.scorers.values(), part.scored, strict=True
        ):
            tally.take(tallied)
            checks.take(looks)


def _dataset(
    benchmark: Benchmark,
    metric: Metric,
    settings: Settings,
    drafts: Mapping[Provenance, int],
    sha256: str,
) -> ScoredDataset:
    """Return the benchmark in a result, with the drafts that its items were made from."""
    spec = benchmark.spec
    made = [
        DraftedItems(run=source.run or "", model=source.model, items=items)
        for source, items in drafts.items()
    ]
    return ScoredDataset(
        benchmark=benchmark.id,
        dataset_version=spec.version,
        dataset_sha256=sha256,
        dataset_revision=benchmark.revision,
        headline=spec.headline,
        higher_is_better=spec.higher_is_better,
        sample=spec.sample,
        public_since=None if spec.public_since is None else spec.public_since.isoformat(),
        item_name=spec.item_name,
        drafts=made or None,
        errata="proposed" if settings.errata == "proposed" else None,
        people=_people(benchmark, metric),
    )


def _people(benchmark: Benchmark, metric: Metric) -> Ceiling | None:
    """Return what people reach against each other, if that was computed by the same rules."""
    agreement, own = benchmark.agreement, benchmark.spec.make_metric()
    if agreement is None or agreement.ceiling is None:
        return None
    same = (metric.protocol, metric.options) == (own.protocol, own.options)
    is_headline = agreement.ceiling.headline == benchmark.spec.headline
    return agreement.ceiling if same and is_headline else None
