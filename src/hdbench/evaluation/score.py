"""Scoring answers against a benchmark, one item at a time."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.answer import TEXTS, Answer, Kind, ReadAs, Status
from hdbench.answers.answers import AnswerReader, Answers
from hdbench.answers.plain_text import plain_text
from hdbench.answers.schema import AnswerSchema, Violation
from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.benchmark import Benchmark, Item, load_benchmark
from hdbench.benchmarks.spec import ErrataName, Provenance, check_errata
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.evaluation.checks import EXAMPLES, Checks, notes_on, reason_notes, text_notes
from hdbench.evaluation.parts import (
    NO_DATASET,
    AmountUsed,
    AnswersRead,
    DraftedItems,
    RunWarning,
    ScoredDataset,
    ScoredFile,
    id_messages,
)
from hdbench.evaluation.result import Result
from hdbench.evaluation.run import RunAnswers, answers_sha256
from hdbench.scoring.metric import (
    OUTCOMES,
    FieldMatch,
    ItemScore,
    Metric,
    Outcome,
    coverage_of,
)
from hdbench.scoring.text_equality import canonical_value

Exchange = Callable[[str | None, Any, dict[str, Any]], Any]

_OTHER: dict[ErrataName, ErrataName] = {"accepted": "proposed", "proposed": "accepted"}


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
        most_models: the maximum number of models in the file; None is any number.
        exchange: changes each record before it is scored; it is given the model, the record and the
            ground truth.
    """

    protocol: str = "documented"
    options: Mapping[str, object] = field(default_factory=dict)
    errata: str = "accepted"
    read_as: ReadAs = ReadAs()
    revision: str | None = None
    details: bool = False
    most_models: int | None = None
    exchange: Exchange | None = field(default=None, compare=False)


def score_under(
    benchmark: str,
    predictions: Path | str,
    settings: Sequence[Settings],
    *,
    name: str | None = None,
) -> list[dict[str | None, Result]]:
    """Score each run of a file under several rules; answers that they read alike are read once.

    A `model` column tells runs apart. An id without an answer counts as a complete failure. If a
    run folder's `run.json` declares which items were asked, only these are scored.

    Args:
        benchmark: the folder of a built benchmark, such as `hdb/zettelkatalog`; otherwise one on
            the Hub.
        predictions: a file or folder of answers in any of the forms that `hdbench score` takes.
        settings: how they are scored, in turn; all with the first one's `revision` and `bounds`.
        name: what messages and results call a file of answers; by default its path.

    Returns:
        For each of the settings: model → result; one under None if the file names no model.

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
    rules = [_rules(loaded, each) for each in settings]
    path, most = Path(predictions), settings[0].most_models
    results: list[dict[str | None, Result]] = [{} for _ in settings]
    opened = RunAnswers.opened(path, loaded, most, name=name, own_as_items=True)
    with opened as run:
        _check_run(path, run)
        answers = ScoredFile(path=name or str(predictions), sha256=answers_sha256(path))
        found = {model: run.answers(model) for model in run.models}
        number = sum(each.number for each in found.values())
        told = iter(progress(range(number), "Scoring", number))
        for model, each in found.items():
            parts = _scored(run, model, each, rules, told)
            for by_model, scored in zip(results, parts, strict=True):
                of_run: dict[str, Any] = {}
                if (info := run.info) is not None:
                    of_run = {"model": model or info.model, "run": info.for_result()}
                by_model[model] = scored.replaced(**{"answers": answers, "model": model} | of_run)
        next(told, None)  # all are done
    return results


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
        result.replaced(model=next(remaining).strip()) if result.model is None else result
        for result in results
    ]


class _Rules(NamedTuple):
    """Settings, with what follows from them for a benchmark.

    Attributes:
        settings: the settings.
        metric: the metric.
        read_as: how answers are read: under `published`, predictions are taken as given.
        errata: which corrections of values count.
    """

    settings: Settings
    metric: Metric
    read_as: ReadAs
    errata: ErrataName


def _rules(loaded: Benchmark, settings: Settings) -> _Rules:
    metric = loaded.spec.make_metric(settings.protocol, **settings.options)
    as_given = settings.read_as.as_given or metric.protocol == "published"
    read_as = settings.read_as._replace(as_given=as_given)
    return _Rules(settings, metric, read_as, check_errata(settings.errata, metric.protocol))


def _check_run(path: Path, run: RunAnswers) -> None:
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
    run: RunAnswers,
    model: str | None,
    answers: Answers,
    rules: Sequence[_Rules],
    told: Iterator[object],
) -> list[Result]:
    """Score one model's answers under all rules, on the items that were asked.

    Args:
        run: the run.
        model: the model.
        answers: its answers.
        rules: the rules.
        told: goes on by one with each item, and tells the progress.
    """
    answered = sum(1 for _ in run.answered(model))
    schema, strata = run.schema, run.benchmark.strata()
    readers = {each.read_as: AnswerReader(schema, each.read_as) for each in rules}
    scorings = [_Scoring(each, model, answered) for each in rules]
    drafts, items = Counter[Provenance](), 0
    used: dict[str, list[float]] = defaultdict(lambda: [0, 0])  # sum, and of how many answers
    asked = (each for each in run.benchmark.every_item() if run.is_asked(each[0]))
    for item_id, item in asked:
        next(told, None)
        read = {}
        for read_as, reader in readers.items():
            answer = answers.take(item_id, reader)
            violations = []
            if schema is not None and isinstance(answer.prediction, dict):
                violations = _violations(schema, answer.prediction)
            read[read_as] = answer, violations
        if item is None:
            continue
        items += 1
        for name, amount in (*(answer.tokens or {}).items(), ("seconds", answer.seconds)):
            if amount is not None:
                used[name][0] += amount
                used[name][1] += 1
        if item.provenance and item.provenance.run:
            drafts[item.provenance] += 1
        for scoring in scorings:
            scoring.add(item, *read[scoring.rules.read_as], strata.get(item_id))
    if not items:
        raise NothingToScoreError(
            "{benchmark}: no item has a ground truth to score against", benchmark=run.benchmark.id
        )
    usage = {  # sums may be larger than what a file may say
        name if name == "seconds" else f"{name}_tokens": AmountUsed.model_construct(
            total=total, items=int(number)
        )
        for name, (total, number) in used.items()
    }
    return [
        scoring.result(
            *(run, answers, items, answered, drafts),
            names=readers[scoring.rules.read_as].names.note(),
        ).replaced(usage=usage)
        for scoring in scorings
    ]


def _violations(schema: AnswerSchema, record: dict[str, Any]) -> list[Violation]:
    """Return the violations of a schema by a record, in whichever form its keys are written."""
    violations = schema.violations(record)
    by_form = any(violation.rule != "type" for violation in violations)
    if by_form and (form := canonical_value(record)) is not record:
        return min(violations, schema.violations(form), key=len)
    return violations


class _Scoring:
    """The answers of a model under one of the rules; items are added in the dataset's order."""

    def __init__(self, rules: _Rules, model: str | None, answered: int) -> None:
        self.rules, self._model = rules, model
        self._collector = ScoreCollector(rules.metric, details=rules.settings.details)
        self._checks = Checks(rules.metric, answered)
        self._violations: dict[str, Counter[str]] = defaultdict(Counter)

    def add(
        self, item: Item, answer: Answer, violations: Sequence[Violation], stratum: int | None
    ) -> None:
        """Add an item with its answer.

        Raises:
            HdbenchError: the metric cannot score by its ground truth.
        """
        settings, metric, _, errata = self.rules
        for violation in violations:
            self._violations[violation.field][violation.rule] += 1
        truth = item.reference(metric.protocol, errata)
        if settings.exchange is not None:
            record = metric.as_record(answer.prediction)
            if isinstance(record, dict):
                answer = answer._replace(prediction=settings.exchange(self._model, record, truth))
        prepared, other = prepare(metric, truth, item.id), None
        if item.proposed is not None and metric.protocol == "documented":
            other = prepare(metric, item.reference("documented", _OTHER[errata]), item.id)
        if scored := self._collector.add(answer, prepared, stratum, other):
            self._checks.add(*scored, violations, truth)

    def result(
        self,
        run: RunAnswers,
        answers: Answers,
        items: int,
        answered: int,
        drafts: Mapping[Provenance, int],
        *,
        names: Sequence[Message],
    ) -> Result:
        """Return the result.

        Args:
            run: the run.
            answers: the model's answers.
            items: how many items were asked and have a ground truth.
            answered: how many answers there are.
            drafts: how the ground truths were made that come from drafts, with their number.
            names: which keys were taken for which fields.
        """
        settings = self.rules.settings
        dataset = _dataset(run.benchmark, self.rules.metric, settings, drafts)
        if self.rules.metric.protocol == "documented":  # published scores are as they were
            self._checks.check_fields(run.place)
        result = self._collector.result(dataset=dataset)
        renamed = answers.renamed
        other_ids = [
            RunWarning("ids", text, len(renamed), answered, [*renamed.values()][:EXAMPLES])
            for text in id_messages(renamed)
        ]
        reading = AnswersRead.model_construct(
            **settings.read_as._asdict(),
            notes=[
                *notes_on(
                    run,
                    result,
                    asked=answers.number,
                    with_truth=items,
                    rewritten=self._collector.rewritten,
                ),
                *text_notes(self._collector.texts, self._collector.undivided),
                *reason_notes(self._collector.reasons),
                *names,
            ],
            schema_violations=self._violations,
            warnings=[*other_ids, *self._checks.warnings(result)],
        )
        return result.replaced(reading=reading)


def _dataset(
    benchmark: Benchmark,
    metric: Metric,
    settings: Settings,
    drafts: Mapping[Provenance, int],
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
        dataset_sha256=benchmark.content_hash(),
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


# The items of a run, one at a time

WORST = 5
"""Number of worst items that are kept, with what is wrong in them."""

ROWS = 1_000
"""Number of items whose statistics and fields are counted at a time."""

MAX_REASON = 80
"""Maximum number of characters of a reason why there is no answer."""

MAX_REASONS = 100
"""Maximum number of different reasons that are counted."""

_MATCH = tuple(name for name in FieldMatch._fields if name != "record")


class ScoreCollector:
    """The statistics of items that are scored one at a time, in the dataset's order.

    An item without an answer, or whose answer is not a record, counts as a complete failure and is
    never skipped.

    Args:
        metric: the metric with its protocol and options.
        details: keep what became of every item and field.

    Attributes:
        texts: how many answers were texts that stand for a record.
        undivided: how many of them have no page break, though the ground truth has several pages.
        rewritten: how many answers or ground truths are not written in canonical form.
        reasons: why items have no answer, as far as it is said, each cut → how many these are.
    """

    def __init__(self, metric: Metric, *, details: bool = False) -> None:
        self._metric, self._details = metric, details
        self.texts = self.undivided = self.rewritten = 0
        self.reasons: Counter[str] = Counter()
        self._columns: dict[str, list[float]] = {name: [] for name in metric.statistics}
        self._rows: list[list[float]] = []  # of the last items, not yet in the columns
        self._paths: defaultdict[tuple[int, Outcome], list[str]]  # of them, not yet counted
        self._paths = defaultdict(list)
        self._ids: list[str] = []
        self._statuses: list[Status] = []
        self._kinds: dict[str, Kind] = {}
        self._strict: dict[str, Mapping[str, float]] = {}
        self._other_errata: dict[str, Mapping[str, float]] = {}
        self._strata: list[int] = []
        self._fields: defaultdict[int, dict[Outcome, Counter[str]]]  # by stratum; 0 without any
        self._fields = defaultdict(lambda: {outcome: Counter() for outcome in OUTCOMES})
        self._per_item: list[dict[str, Any]] = []
        self._worst: list[dict[str, Any]] = []

    def add(
        self, answer: Answer, prepared: Any, stratum: int | None = None, other: Any = None
    ) -> tuple[Answer, ItemScore] | None:
        """Score an item.

        Args:
            answer: its answer; without ids, its position is its id.
            prepared: its ground truth, from `prepare`; None leaves the item out.
            stratum: its stratum, if the items are a stratified sample.
            other: its ground truth with the other choice of corrections, if it has any.

        Returns:
            The answer with the status that counts, and its score; None if an option of the metric
            leaves the item out.
        """
        if prepared is None:
            return None
        metric = self._metric
        answer, record, prepared = self._taken(answer, prepared)
        score = metric.score(record, prepared)
        kind = answer.kind
        if answer.status == "unparsable" and not kind:  # it was given as it is, not read
            kind = "message" if isinstance(answer.prediction, dict) else "other"
        if kind:
            self._kinds[answer.id] = kind
        elif record is not None and answer.status != "clean":
            lost = metric.score(None, prepared).statistics
            self._strict[answer.id] = {name: number for name, number in lost.items() if number}
        if other is not None:
            self._other_errata[answer.id] = metric.score(record, other).statistics
        if stratum is not None:
            self._strata.append(stratum)
        self._keep(answer, score, stratum or 0)
        return answer, score

    def _taken(self, answer: Answer, prepared: Any) -> tuple[Answer, dict[str, Any] | None, Any]:
        """Return an answer with the status that counts, its record, if any, and what it faces."""
        metric, status, kind = self._metric, answer.status, answer.kind
        record = metric.as_record(answer.prediction)
        if record is not answer.prediction:
            status, kind = "unwrapped", None
        elif (text := _text_of(answer, metric)) and (read := metric.of_text(text, prepared)):
            record, prepared, is_undivided = read
            status, kind = "clean", None
            self.texts += 1
            self.undivided += is_undivided
        coverage = coverage_of(record, metric.protocol)
        if coverage != "answered":
            status, record = coverage, None
            if status == "unanswered" and answer.error:
                reason = escaped(answer.error[:MAX_REASON])
                if reason in self.reasons or len(self.reasons) < MAX_REASONS:
                    self.reasons[reason] += 1
        if status != answer.status:
            answer = answer._replace(status=status, kind=kind)
        return answer, record, prepared

    def _keep(self, answer: Answer, score: ItemScore, stratum: int) -> None:
        metric, statistics = self._metric, score.statistics
        self._ids.append(answer.id)
        self._statuses.append(answer.status)
        if score.rewritten:
            self.rewritten += 1
        self._rows.append([*map(statistics.get, metric.statistics, repeat(0))])
        for outcome, paths in score.fields.items():
            self._paths[stratum, outcome] += paths
        if len(self._rows) == ROWS:
            self._settle()
        figure, worst = metric.item_figure, self._worst
        is_worst = len(worst) < WORST or statistics[figure] < worst[-1][figure]
        if self._details or is_worst:
            details = _details(answer, score, metric.explain(score))
            if self._details:
                self._per_item.append(details)
            if is_worst:
                self._worst = sorted([*worst, details], key=itemgetter(figure))[:WORST]

    def _settle(self) -> None:
        """Count what the last items have, many at a time: it takes less time."""
        for column, numbers in zip(
            self._columns.values(), zip(*self._rows, strict=True), strict=bool(self._rows)
        ):
            column.extend(numbers)
        self._rows.clear()
        for (stratum, outcome), paths in self._paths.items():
            self._fields[stratum][outcome].update(paths)
        self._paths.clear()

    def result(self, *, dataset: ScoredDataset = NO_DATASET) -> Result:
        """Return the result for the items so far.

        Args:
            dataset: what is scored against, to be named in the result.

        Raises:
            HdbenchError: the ground truths have nothing to score by.
        """
        self._settle()
        outcomes: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
        for by_outcome in self._fields.values():
            for outcome, counts in by_outcome.items():
                outcomes[outcome].update(counts)
        result = Result.model_construct(
            metric=self._metric,
            ids=self._ids,
            statuses=self._statuses,
            statistics=self._columns,
            outcomes=outcomes,
            strata=self._strata,
            stratum_outcomes=dict(self._fields) if self._strata else {},
            kinds=self._kinds,
            strict_statistics=self._strict,
            other_errata=self._other_errata,
            worst=self._worst,
            per_item=self._per_item,
            dataset=dataset,
        )
        self._metric.check_totals(result.totals)
        return result


def _text_of(answer: Answer, metric: Metric) -> str:
    """Return the text that an answer consists of; nothing if it has a record or no answer."""
    text = answer.prediction if answer.kind in TEXTS else None
    if answer.kind == "other" and answer.prediction is not None:
        given = answer.text or json.dumps(answer.prediction)
        text = given if {"{", '"'}.isdisjoint(given) else None  # a number, as that of a page
    marks_go = answer.markdown and metric.options.get("markdown") == "remove"
    return plain_text(text, markdown=marks_go) if isinstance(text, str) else ""


def prepare(metric: Metric, reference: dict[str, Any], place: str) -> Any:
    """Prepare a ground truth for scoring.

    Args:
        metric: the metric.
        reference: the ground truth that its protocol scores.
        place: what messages call it, such as the item's id.

    Raises:
        HdbenchError: the metric cannot score by it.
    """
    try:
        return metric.prepare(reference)
    except HdbenchError as error:
        raise HdbenchError("{place}: {why}", place=place, why=error) from error


def score_items(
    metric: Metric,
    items: Iterable[tuple[Answer, Any] | tuple[Answer, Any, int]],
    *,
    details: bool = False,
    dataset: ScoredDataset = NO_DATASET,
) -> Result:
    """Score items in the given order; see `ScoreCollector`.

    Args:
        metric: the metric with its protocol and options.
        items: the arguments of `ScoreCollector.add` for each, in the dataset's order.
        details: keep what became of every item and field.
        dataset: what is scored against, to be named in the result.
    """
    collector = ScoreCollector(metric, details=details)
    for item in items:
        collector.add(*item)
    return collector.result(dataset=dataset)


def _details(answer: Answer, score: ItemScore, matches: Iterable[FieldMatch]) -> dict[str, Any]:
    """Return the statistics of an item and the outcomes of its fields, as JSON data.

    `lists` has the items of lists by outcome, which are no fields, though they count as such.
    """
    items_of_lists = {
        outcome: [path for path in paths if path.endswith("[]")]
        for outcome, paths in score.fields.items()
    }
    lists = {outcome: paths for outcome, paths in items_of_lists.items() if paths}
    return {
        "id": answer.id,
        "status": answer.status,
        **score.statistics,
        "fields": [
            {name: _finite(getattr(match, name)) for name in _MATCH}
            | ({} if match.record is None else {"record": match.record})
            for match in matches
        ],
        **({"lists": lists} if lists else {}),
    }


def _finite(value: Any) -> Any:
    """Return a value that JSON can hold: NaN and the infinities by name."""
    if isinstance(value, dict):
        return {key: _finite(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_finite(child) for child in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
