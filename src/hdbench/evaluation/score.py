"""Scoring answers against a benchmark, one item at a time."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers import ReadAs
from hdbench.answers.answer import Answer, Bounds
from hdbench.answers.answers import AnswerReader, Answers
from hdbench.answers.folders import RUN_FILE
from hdbench.answers.schema import AnswerSchema, Violation
from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.benchmark import Benchmark, Item, load_benchmark
from hdbench.benchmarks.spec import ErrataName, Provenance, check_errata
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.checks import EXAMPLES, Checks
from hdbench.evaluation.items import ScoreCollector, prepare
from hdbench.evaluation.parts import (
    AmountUsed,
    AnswersRead,
    DraftedItems,
    RunWarning,
    ScoredDataset,
    ScoredFile,
    id_messages,
)
from hdbench.evaluation.result import Result
from hdbench.evaluation.run import RunAnswers, answers_sha256, subset_in_words
from hdbench.scoring.metric import Metric
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
        bounds: how much the file may have.
        exchange: changes each record before it is scored; it is given the model, the record and the
            ground truth.
    """

    protocol: str = "documented"
    options: Mapping[str, object] = field(default_factory=dict)
    errata: str = "accepted"
    read_as: ReadAs = ReadAs()
    revision: str | None = None
    details: bool = False
    bounds: Bounds = Bounds()
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
    path, bounds = Path(predictions), settings[0].bounds
    results: list[dict[str | None, Result]] = [{} for _ in settings]
    opened = RunAnswers.opened(path, loaded, bounds, name=name, own_as_items=True)
    with opened as run:
        _check_run(path, run)
        answers = ScoredFile(path=name or str(predictions), sha256=answers_sha256(path))
        for model in run.models:
            for by_model, scored in zip(results, _scored(run, model, rules, bounds), strict=True):
                of_run: dict[str, Any] = {}
                if (info := run.info) is not None:
                    of_run = {"model": model or info.model, "run": info.for_result()}
                by_model[model] = scored.replaced(**{"answers": answers, "model": model} | of_run)
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
    run: RunAnswers, model: str | None, rules: Sequence[_Rules], bounds: Bounds
) -> list[Result]:
    """Score one model's answers under all rules, on the items that were asked."""
    answers = run.answers(model)
    answered = sum(1 for _ in run.answered(model))
    schema, strata = run.schema, run.benchmark.strata()
    readers = {each.read_as: AnswerReader(schema, each.read_as, bounds.values) for each in rules}
    scorings = [_Scoring(each, model, answered) for each in rules]
    drafts = Counter[Provenance]()
    items = 0
    asked = (each for each in run.benchmark.every_item() if run.is_asked(each[0]))
    for item_id, item in progress(asked, "Scoring", answers.number):
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
        if item.provenance and item.provenance.run:
            drafts[item.provenance] += 1
        for scoring in scorings:
            scoring.add(item, *read[scoring.rules.read_as], strata.get(item_id))
    if not items:
        raise NothingToScoreError(
            "{benchmark}: no item has a ground truth to score against", benchmark=run.benchmark.id
        )
    return [
        scoring.result(
            *(run, answers, items, answered, drafts),
            names=readers[scoring.rules.read_as].renamed_keys,
        )
        for scoring in scorings
    ]


def _violations(schema: AnswerSchema, record: dict[str, Any]) -> list[Violation]:
    """Return the violations of a schema by a record, in whichever form its keys are written."""
    violations = schema.violations(record)
    if violations and (form := canonical_value(record)) is not record:
        return min(violations, schema.violations(form), key=len)
    return violations


class _Scoring:
    """The answers of a model under one of the rules; items are added in the dataset's order."""

    def __init__(self, rules: _Rules, model: str | None, answered: int) -> None:
        self.rules, self._model = rules, model
        self._collector = ScoreCollector(rules.metric, details=rules.settings.details)
        self._checks = Checks(rules.metric, answered)
        self._used: dict[str, list[float]] = defaultdict(lambda: [0, 0])  # sum, and of how many
        self._violations: dict[str, Counter[str]] = defaultdict(Counter)

    def add(
        self, item: Item, answer: Answer, violations: Sequence[Violation], stratum: int | None
    ) -> None:
        """Add an item with its answer.

        Raises:
            HdbenchError: the metric cannot score by its ground truth.
        """
        settings, metric, _, errata = self.rules
        used = {f"{name}_tokens": count for name, count in (answer.tokens or {}).items()}
        for name, amount in (used | {"seconds": answer.seconds}).items():
            if amount is not None:
                self._used[name][0] += amount
                self._used[name][1] += 1
        for violation in violations:
            self._violations[violation.field][violation.rule] += 1
        truth = item.reference(metric.protocol, errata)
        record = metric.as_record(answer.prediction)
        if settings.exchange is not None and isinstance(record, dict):
            answer = answer._replace(prediction=settings.exchange(self._model, record, truth))
        scored = self._collector.add(answer, prepare(metric, truth, item.id), stratum)
        if scored is None:
            return
        self._checks.add(answer, scored, violations, truth)
        if item.proposed is not None and metric.protocol == "documented":
            other = item.reference("documented", _OTHER[errata])
            self._collector.add_other_errata(scored, prepare(metric, other, item.id))

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
        usage = {  # sums may be larger than what a file may say
            name: AmountUsed.model_construct(total=total, items=int(items))
            for name, (total, items) in self._used.items()
        }
        return result.replaced(reading=reading, usage=usage)


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


REASONS = 5
"""Maximum number of reasons that are named."""


def notes_on(
    run: RunAnswers, result: Result, *, asked: int, with_truth: int, rewritten: int
) -> list[str]:
    """Return notes on a run: what was asked, how, what cannot be scored, and how its file was read.

    Args:
        run: the run.
        result: its result.
        asked: the number of items that were asked.
        with_truth: the number of these that have a ground truth.
        rewritten: the number whose answer or ground truth is not written in canonical form.
    """
    return [
        *_unseen(run),
        *_own(run),
        *_not_asked(run, asked),
        *_without_truth(asked - with_truth),
        *_empty_strata(result),
        *_proposed(result),
        *_rewritten(rewritten),
        *run.notes,
    ]


def text_notes(texts: int, undivided: int) -> list[Message]:
    """Return notes on answers that are texts and stand for a record.

    Args:
        texts: how many they are.
        undivided: how many of them lack the page breaks of their ground truth.
    """
    notes = []
    if texts:
        notes.append(
            Message(
                "{count:,} answer is a text: it is compared with the text of the ground truth, and "
                "no other field is asked of it",
                plural="{count:,} answers are texts: they are compared with the text of the ground "
                "truth, and no other field is asked of them",
                count=texts,
            )
        )
    if undivided:
        notes.append(
            Message(
                "{count:,} text has no page break, and its ground truth several pages: all of it "
                "counts as the first page",
                plural="{count:,} texts have no page break, and their ground truths several pages: "
                "all of each counts as the first page",
                count=undivided,
            )
        )
    return notes


def reason_notes(reasons: Counter[str]) -> list[Message]:
    """Return a note on why items have no answer, the most frequent reasons first.

    Args:
        reasons: reason → the number of items.
    """
    if not reasons:
        return []
    listed = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(REASONS))
    more = ", …" if len(reasons) > REASONS else ""
    return [Message("why there is no answer: {reasons}", reasons=listed + more)]


def _without_truth(number: int) -> list[str]:
    """Return a note on the items that have no ground truth, if there are any."""
    if not number:
        return []
    if number == 1:
        return [Message("1 item has no ground truth, and cannot be scored")]
    return [Message("{count} items have no ground truth, and cannot be scored", count=number)]


def _empty_strata(result: Result) -> list[str]:
    """Return a note on strata of a sample without an item that is scored, if there are any."""
    sample = result.dataset.sample
    if sample is None or result.weighed is None or not result.weighed.empty:
        return []
    empty = result.weighed.empty
    return [
        Message(
            "strata of the sample without an item here: {count:,} of {strata:,}, with {of:,} of "
            "the {whole:,} items of the whole; the nearest strata stand for them",
            count=len(empty),
            strata=len(sample.strata),
            of=sum(part.of for part in empty),
            whole=sample.of,
        )
    ]


def _proposed(result: Result) -> list[str]:
    """Return a note on what the proposed corrections of ground truths change, if there are any."""
    if not result.other_errata:
        return []
    value, other = (
        scored.rates[result.headline] for scored in (result, result.under_other_errata())
    )
    return [
        Message(
            "proposed corrections of the ground truth count here, though the data's owners have "
            "not accepted them ({count} of {items} items): {headline} is {value:.4f}, and "
            "{other:.4f} without them"
            if result.dataset.errata
            else "proposed corrections of the ground truth do not count, as the data's owners have "
            "not accepted them ({count} of {items} items): {headline} is {value:.4f}, and "
            "{other:.4f} with them (--errata proposed)",
            count=len(result.other_errata),
            items=len(result.ids),
            headline=result.headline,
            value=value,
            other=other,
        )
    ]


def _rewritten(number: int) -> list[str]:
    """Return a note on the items with texts in another form that counts as equal, if any."""
    if not number:
        return []
    return [
        Message(
            "1 answer or its ground truth has characters in another form (accents apart from "
            "their letters, no-break spaces, …), which count as equal",
            plural="{count:,} answers or their ground truths have characters in another form "
            "(accents apart from their letters, no-break spaces, …), which count as equal",
            count=number,
        )
    ]


def _unseen(run: RunAnswers) -> list[str]:
    """Return a note on a run without media."""
    if run.info is None or not run.info.without_media:
        return []
    template = (
        "{place}: asked without media, with the prompt alone: what is right here is memory or "
        "chance, and is the floor beneath the model's score"
    )
    return [Message(template, place=RUN_FILE)]


def _own(run: RunAnswers) -> list[str]:
    """Return a note on a run on the user's own images, taken for the benchmark's."""
    if run.info is None or not run.info.own_images:
        return []
    own = Message(
        "{place}: a run over own images, taken for the items with the same ids", place=RUN_FILE
    )
    if not run.left_out:
        return [own]
    number, first = len(run.left_out), min(run.left_out)
    if number == 1:
        template = "{own}; 1 image is left out, because no item has the id (such as {first!r})"
    else:
        template = (
            "{own}; {count} images are left out, because no item has the id (such as {first!r})"
        )
    return [Message(template, own=own, count=number, first=first)]


def _not_asked(run: RunAnswers, asked: int) -> list[str]:
    """Return a note on the items that are not scored, if there are any."""
    if run.info is None or run.asked is None:
        return []
    left_out = sum(1 for _ in run.benchmark.ids()) - asked
    if not left_out:
        return []
    subset = run.info.subset
    how = Message(" ({how})", how=subset_in_words(subset)) if subset else ""
    if left_out == 1:
        template = "{place}: 1 item was not asked{how}, and is not scored"
    else:
        template = "{place}: {count} items were not asked{how}, and are not scored"
    return [Message(template, place=RUN_FILE, count=left_out, how=how)]
