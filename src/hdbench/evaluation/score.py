"""Scoring answers against a benchmark, one item at a time."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.benchmarks.provenance import Provenance
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.evaluation.checks import EXAMPLES, Checks, RunWarning, with_draft_warning
from hdbench.evaluation.opened_run import OpenedRun
from hdbench.reading import ReadAs
from hdbench.reading.bounds import Bounds
from hdbench.reading.run_info import RUN_FILE
from hdbench.reading.usage import Usage
from hdbench.results.drafts import DRAFTS
from hdbench.results.files import answers_sha256
from hdbench.results.items import ScoredItem, Tally, candidate_of, prepare
from hdbench.results.result import Result
from hdbench.results.warning_texts import id_message, in_words
from hdbench.scoring.metric import Metric


class NothingToScoreError(HdbenchError):
    """No item that was asked has a ground truth."""


@dataclass(frozen=True)
class Settings:
    """How answers are scored.

    Attributes:
        protocol: `documented` or `published`.
        options: the metric's options by name.
        read_as: how the file is read; under `published`, predictions are always taken as given.
        revision: the revision of the benchmark on the Hub: a tag, branch or commit.
        details: keep what became of every item and field.
        bounds: how much the file may have.
        each_item: with `details`, is given each scored item in the dataset's order, and the result
            does not keep them.
    """

    protocol: str = "documented"
    options: Mapping[str, object] = field(default_factory=dict)
    read_as: ReadAs = ReadAs()
    revision: str | None = None
    details: bool = False
    bounds: Bounds = Bounds()
    each_item: Callable[[ScoredItem], None] | None = field(default=None, compare=False)

    @property
    def keeps_items(self) -> bool:
        """Whether the result keeps what became of every item."""
        return self.details and self.each_item is None


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
        raise HdbenchError(f"{predictions}: holds several runs ({names}): use score_runs")
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
    benchmark: str, predictions: Path | str, settings: Sequence[Settings]
) -> list[dict[str | None, Result]]:
    """Score each run under several rules; answers that they read alike are read once.

    Args:
        benchmark: see `score`, as for all the rest.
        predictions: a file or folder.
        settings: how they are scored, in turn; all with the first one's `revision` and `bounds`.

    Returns:
        For each of the settings: model → result, as `score_runs` gives it.

    Raises:
        HdbenchError: the benchmark, the predictions or an option is unusable.
    """
    loaded = load_benchmark(benchmark, revision=settings[0].revision)
    return score_loaded(loaded, predictions, settings)


def score_loaded(
    loaded: Benchmark, predictions: Path | str, settings: Sequence[Settings]
) -> list[dict[str | None, Result]]:
    """Same as `score_under`, with a benchmark that is loaded already."""
    rules = [
        _Rules(loaded.spec.make_metric(each.protocol, **each.options), each) for each in settings
    ]
    path = Path(predictions)
    results: list[dict[str | None, Result]] = [{} for _ in settings]
    with OpenedRun.opened(path, loaded, settings[0].bounds, own_as_items=True) as run:
        _check_run(path, run)
        answers = {"path": str(predictions), "sha256": answers_sha256(path)}
        for model in run.models:
            for scored, result in zip(results, _score_run(run, model, rules), strict=True):
                named = replace(result, answers=answers, model=model)
                if run.info is not None:
                    its_model, about = model or run.info.model, run.info.about()
                    named = replace(named, model=its_model, run=about)
                scored[model] = with_draft_warning(named)
    return results


def with_names(results: Sequence[Result], names: Sequence[str]) -> list[Result]:
    """Results whose answers do not name their model, under the names that a person gives them.

    Args:
        results: of any answers; those that have a model keep it.
        names: one for each of the others, in their order; without any, nothing is named.

    Raises:
        HdbenchError: there are more or fewer names, or one is blank.
    """
    if not names:
        return list(results)
    unnamed = [result.answers.get("path", "") for result in results if result.model is None]
    if not unnamed:
        own = ", ".join(dict.fromkeys(repr(result.model) for result in results))
        raise HdbenchError(f"--name: these answers already name their model ({own}): leave it out")
    if len(names) != len(unnamed):
        raise HdbenchError(
            f"--name: {len(names)} given, and {len(unnamed)} of the files name no model "
            f"({', '.join(unnamed)}): give one for each of them, in this order"
        )
    if not all(name.strip() for name in names):
        raise HdbenchError("--name: is blank: give the model's name")
    given = iter(names)
    return [
        with_draft_warning(replace(result, model=next(given).strip()))
        if result.model is None
        else result
        for result in results
    ]


class _Rules(NamedTuple):
    """A metric, and the settings it was made with."""

    metric: Metric
    settings: Settings

    @property
    def read_as(self) -> ReadAs:
        """How answers are read: under `published`, predictions are taken as given."""
        read_as = self.settings.read_as
        return read_as._replace(as_given=read_as.as_given or self.metric.protocol == "published")


def _check_run(path: Path, run: OpenedRun) -> None:
    """Refuse a run whose items are not the benchmark's."""
    if run.asked is not None and (unknown := run.asked.keys() - set(run.benchmark.ids())):
        raise HdbenchError(
            f"{path}: its run.json declares an item that {run.benchmark.id} does not have, "
            f"{min(unknown)!r}: is it of another version?"
        )


def _score_run(run: OpenedRun, model: str | None, rules: Sequence[_Rules]) -> list[Result]:
    """Score one model's answers under each of the rules."""
    results: dict[int, Result] = {}
    for read_as in dict.fromkeys(each.read_as for each in rules):
        places = [place for place, each in enumerate(rules) if each.read_as == read_as]
        found = _score_read(run, model, read_as, [rules[place] for place in places])
        results |= zip(places, found, strict=True)
    return [results[place] for place in range(len(rules))]


def _score_read(
    run: OpenedRun, model: str | None, read_as: ReadAs, rules: Sequence[_Rules]
) -> list[Result]:
    """Score one model's answers, read once, on the items that were asked."""
    answers = run.answers(model, read_as=read_as)
    scorers = [
        (each.metric, Tally(each.metric, details=each.settings.keeps_items), Checks(each.metric))
        for each in rules
    ]
    usage = Usage()
    violations: dict[str, Counter[str]] = defaultdict(Counter)
    scored_items = 0
    strata = run.benchmark.strata()
    drafts = Counter[Provenance]()
    asked = (item for item in run.benchmark.items() if run.is_asked(item.id))
    for item in progress(asked, "Scoring", answers.number):
        answer = answers.take(item.id)
        scored_items += 1
        usage.add(answer)
        if item.provenance and item.provenance.run:
            drafts[item.provenance] += 1
        found = []
        if run.schema and isinstance(answer.prediction, dict):
            found = run.schema.violations(answer.prediction)
        for violation in found:
            violations[violation.field][violation.rule] += 1
        for rule, (metric, tally, checks) in zip(rules, scorers, strict=True):
            scored = tally.add(
                candidate_of(answer, prepare(metric, item.ground_truth), strata.get(item.id, 0))
            )
            if scored is not None:
                checks.add(answer, scored, found)
                if rule.settings.each_item is not None:
                    rule.settings.each_item(scored)
    if not scored_items:
        raise NothingToScoreError(
            f"{run.benchmark.id}: no item has a ground truth to score against"
        )
    without_truth = _without_truth(answers.number - scored_items)
    of = sum(1 for _ in run.answered(model))
    other_ids = [
        RunWarning("ids", id_message(each), len(each.ids), of, each.ids[:EXAMPLES])
        for each in answers.differences
    ]
    results = []
    for (_, settings), (metric, tally, checks) in zip(rules, scorers, strict=True):
        result = tally.result(
            dataset=_about(run.benchmark, drafts) | _people(run.benchmark, metric)
        )
        reading = {
            **settings.read_as._asdict(),
            "notes": [
                *_unseen(run),
                *_own(run),
                *_not_asked(run, answers.number),
                *without_truth,
                *_empty_strata(result),
                *run.notes,
            ],
            "schema_violations": {name: dict(counts) for name, counts in violations.items()},
            "warnings": [each.to_dict() for each in (*other_ids, *checks.warnings(result))],
        }
        results.append(replace(result, reading=reading, usage=usage.known))
    return results


def _about(benchmark: Benchmark, drafts: Mapping[Provenance, int]) -> dict[str, object]:
    """What a result says about its benchmark, and the drafts that its items were made from."""
    made = [{"run": each.run, "model": each.model, "items": n} for each, n in drafts.items()]
    sample = benchmark.spec.sample
    public = benchmark.spec.public_since
    return {
        "benchmark": benchmark.id,
        "dataset_version": benchmark.spec.version,
        "dataset_sha256": benchmark.content_hash(),
        "dataset_revision": benchmark.revision,
        "headline": benchmark.spec.headline,
        "higher_is_better": benchmark.spec.higher_is_better,
        **({} if sample is None else {"sample": sample.model_dump(mode="json")}),
        **({} if public is None else {"public_since": public.isoformat()}),
        **({DRAFTS: made} if made else {}),
    }


def _people(benchmark: Benchmark, metric: Metric) -> dict[str, object]:
    """What people reach against each other, if that was computed by the same rules."""
    agreement, own = benchmark.agreement, benchmark.spec.make_metric()
    if agreement is None or agreement.ceiling is None:
        return {}
    if metric.protocol != own.protocol or metric.options != own.options:
        return {}
    if agreement.ceiling.headline != benchmark.spec.headline:
        return {}
    return {"people": agreement.ceiling.model_dump(mode="json")}


def _without_truth(number: int) -> list[str]:
    """A note on the items that have no ground truth, if there are any."""
    if not number:
        return []
    have = "1 item has" if number == 1 else f"{number} items have"
    return [f"{have} no ground truth, and cannot be scored"]


def _empty_strata(result: Result) -> list[str]:
    """A note on strata of a sample without an item that is scored, if there are any."""
    if result.sample is None or result.weighed is None or not result.weighed.empty:
        return []
    empty = result.weighed.empty
    return [
        in_words(
            "empty_strata",
            {
                "count": len(empty),
                "strata": len(result.sample.strata),
                "of": sum(each.of for each in empty),
                "whole": result.sample.of,
            },
        )
    ]


def _unseen(run: OpenedRun) -> list[str]:
    """A note on a run without media."""
    if run.info is None or not run.info.without_media:
        return []
    return [
        f"{RUN_FILE}: asked without media, with the prompt alone: what is right here is memory or "
        "chance, and is the floor beneath the model's score"
    ]


def _own(run: OpenedRun) -> list[str]:
    """A note on a run over own images, which are taken for the benchmark's."""
    if run.info is None or not run.info.own_images:
        return []
    note = f"{RUN_FILE}: a run over own images, taken for the items with the same ids"
    if run.left_out:
        number, first = len(run.left_out), min(run.left_out)
        image = "1 image is" if number == 1 else f"{number} images are"
        note += f"; {image} left out, because no item has the id (such as {first!r})"
    return [note]


def _not_asked(run: OpenedRun, asked: int) -> list[str]:
    """A note on the items that are not scored, if there are any."""
    if run.info is None or run.asked is None:
        return []
    left_out = sum(1 for _ in run.benchmark.ids()) - asked
    if not left_out:
        return []
    how = f" ({run.info.subset})" if run.info.subset else ""
    were = "1 item was" if left_out == 1 else f"{left_out} items were"
    are = "is" if left_out == 1 else "are"
    return [f"{RUN_FILE}: {were} not asked{how}, and {are} not scored"]
