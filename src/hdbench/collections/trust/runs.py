"""The runs of a plan, read item by item side by side."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz.fuzz import ratio

from hdbench.answers.answers import Answers
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.trust.fields import ItemField, fields_of, texts_of, value_of
from hdbench.collections.trust.seals import Sha256
from hdbench.collections.truth.events import ValueKey
from hdbench.common.validation import Strict
from hdbench.common.value_text import text_of
from hdbench.errors import HdbenchError
from hdbench.evaluation.run import Named, RunAnswers, answers_sha256, distinct_names, run_name
from hdbench.scoring.metric import Metric, coverage_of

ROUNDING = 1e-9
"""By how much a similarity may be below a threshold and still reach it."""


class PlannedRun(Strict):
    """A run that a plan is for.

    Attributes:
        path: the path of its answers.
        name: its model, or its file; unique among the runs.
        sha256: sha256 of its answers, see `hdbench.evaluation.run.answers_sha256`.
    """

    path: str
    name: str
    sha256: Sha256


class Opened(NamedTuple):
    """A run that is open.

    Attributes:
        name: its model, or its file if it does not name one.
        answers: its answers to the items of the benchmark.
        own: the name of the run folder or the file; None if `name` is that already.
        usd: what the run cost, in US dollars, if that is known.
    """

    name: str
    answers: Answers
    own: str | None
    usd: float | None = None


@contextmanager
def opened_run(path: Path, benchmark: Benchmark) -> Iterator[Opened]:
    """Open a run of one model, until the block ends.

    Args:
        path: a file or folder of answers in any form, or a run folder.
        benchmark: the benchmark that it answers.

    Raises:
        HdbenchError: the run is missing or unusable, has answers of several models, or answers
            another benchmark.
    """
    if not path.exists():
        raise HdbenchError("{place}: no such file or folder", place=path)
    with RunAnswers.opened(path, benchmark) as run:
        if len(run.models) > 1:
            raise HdbenchError(
                "{place}: has answers of {count} models: give one file for each model",
                place=path,
                count=len(run.models),
            )
        (model,) = run.models
        name = run.info.model if run.info is not None else model or run_name(path)
        own = run.info.run if run.info is not None else run_name(path) if model else None
        yield Opened(name, run.answers(model), own, run.info.cost_usd if run.info else None)


def names_of(paths: Sequence[Path], opened: Sequence[Opened]) -> list[str]:
    """Return the names of runs, as every command shows them; see `distinct_names`."""
    pairs = zip(opened, paths, strict=True)
    return distinct_names([Named(run.name, run.own, path) for run, path in pairs])


class Chosen(NamedTuple):
    """The value to take.

    Attributes:
        run: the position of its run; None if no run has an answer.
        score: its trust score, 0.0 to 1.0: its mean similarity to the values of the other runs.
            Higher is better.
    """

    run: int | None
    score: float


def similarity(first: str | None, second: str | None) -> float:
    """Return the similarity of two values, 0.0 to 1.0, higher is better.

    Args:
        first: a text, empty if there is no such value; None if there is no answer at all.
        second: another text, or None as well.

    Returns:
        1.0 for equal texts, including two empty ones; 0.0 if only one is empty, or one is None;
        otherwise the normalized indel similarity, which is case-sensitive.

    Example:
        >>> similarity("Diss. 1961", "Diss. 1962"), similarity("", "Basel"), similarity("", "")
        (0.9, 0.0, 1.0)
    """
    if first is None or second is None:
        return 0.0
    if first == second:
        return 1.0
    if not first or not second:
        return 0.0
    return ratio(first, second) / 100


def choose(texts: Sequence[str | None]) -> Chosen:
    """Return the medoid of the runs' values: the value that is most similar to the others.

    Args:
        texts: the value in each run, in order of preference, which decides between equals; None for
            a run without an answer, whose value is never chosen.

    Example:
        >>> choose(["Basel", "Bassel", "Basel"])
        Chosen(run=0, score=0.9545454545454546)
        >>> choose([None, "", ""]), choose(["Basel"]), choose([None, None])
        (Chosen(run=1, score=0.5), Chosen(run=0, score=0.0), Chosen(run=None, score=0.0))
    """
    first = texts[0]
    others = len(texts) - 1
    if others and first is not None and texts.count(first) == len(texts):
        return Chosen(0, 1.0)
    totals = [0.0] * len(texts)
    for run, text in enumerate(texts):
        for other in range(run):
            alike = similarity(text, texts[other])
            totals[run] += alike
            totals[other] += alike
    best = Chosen(None, 0.0)
    highest = -1.0
    for run, total in enumerate(totals):
        if texts[run] is not None and total > highest + ROUNDING:
            best, highest = Chosen(run, total / others if others else 0.0), total
    return best


_PLAIN = {str, type(None)}


class Judged(NamedTuple):
    """The value to take for one field of one item.

    Attributes:
        value: the value as in its run; None if no run has an answer.
        text: the value as a text.
        score: its trust score, 0.0 to 1.0; None if no run has an answer.
        run: the position of its run; None if no run has an answer.
    """

    value: Any
    text: str
    score: float | None
    run: int | None


@dataclass(frozen=True)
class Runs:
    """The runs of a plan; open them with `opened_runs`.

    Attributes:
        answers: the answers of each run.
        metric: the metric that reads records as the benchmark does.
        fields: the fields of the plan.
        usd: what all of them cost together, in US dollars; None if that is not known.
    """

    answers: Sequence[Answers]
    metric: Metric
    fields: Sequence[ItemField]
    usd: float | None = None

    def records(self, item_id: str) -> list[dict[str, Any] | None]:
        """Return each run's answer to an item; None if it is not a record."""
        return [self._record(answers, item_id) for answers in self.answers]

    def _record(self, answers: Answers, item_id: str) -> dict[str, Any] | None:
        prediction = self.metric.as_record(answers.take(item_id).prediction)
        is_record = coverage_of(prediction, "documented") == "answered"
        return prediction if is_record else None

    def texts(self, records: Sequence[dict[str, Any] | None]) -> list[list[str] | None]:
        """Return the text of each field in each run; None for a run without an answer."""
        return [None if record is None else texts_of(record, self.fields) for record in records]

    def judged(self, records: Sequence[dict[str, Any] | None]) -> list[Judged]:
        """Return the value to take for each field of an item, from each run's answer.

        Args:
            records: see `records`.
        """
        answered = None not in records
        judged = []
        for values in zip(*map(self._values, records), strict=True):
            first = values[0]
            # Most values are the same in all runs, and there are millions of them.
            if answered and values.count(first) == len(values) and _same_texts(values):
                choice = Judged(first, text_of(first), 1.0, 0)
            else:
                choice = _judged(records, values)
            judged.append(choice)
        return judged

    def choices(self, values: Iterable[ValueKey]) -> Iterator[Judged]:
        """Yield the values to take of some items and fields."""
        columns = {field.path: column for column, field in enumerate(self.fields)}
        for item, field in values:
            yield self.judged(self.records(item))[columns[field]]

    def _values(self, record: dict[str, Any] | None) -> list[Any]:
        """Return the value of each field in a record."""
        return [None if record is None else value_of(record, field) for field in self.fields]


def _same_texts(values: Sequence[Any]) -> bool:
    """Return whether equal values are certainly the same text: 1 and true are equal as well."""
    return type(values[0]) in _PLAIN or set(map(type, values)) == {int}


def _judged(records: Sequence[dict[str, Any] | None], values: Sequence[Any]) -> Judged:
    """Return the value to take for a field, from each run's record and its value of the field."""
    texts = [
        None if record is None else text_of(value)
        for record, value in zip(records, values, strict=True)
    ]
    run, score = choose(texts)
    return (
        Judged(None, "", None, None)
        if run is None
        else Judged(values[run], texts[run] or "", score, run)
    )


@contextmanager
def opened_runs(
    planned: Sequence[PlannedRun],
    paths: Sequence[str],
    benchmark: Benchmark,
    plan_file: Path,
) -> Iterator[Runs]:
    """Open runs that a plan names, until the block ends.

    Args:
        planned: the runs.
        paths: the paths of the fields.
        benchmark: the benchmark that they answer.
        plan_file: the plan's file; runs can be beside it if they are not below the working
            directory.

    Raises:
        HdbenchError: a run is missing, differs from the one that the plan was made for, or does
            not fit this benchmark.
    """
    fields = fields_called(paths, benchmark)
    metric = benchmark.spec.make_metric("documented")
    with ExitStack() as stack:
        opened = []
        for run in planned:
            path = _current_path(run, plan_file)
            opening = opened_run(path, benchmark)
            opened.append(stack.enter_context(opening))
        costs = [run.usd for run in opened if run.usd is not None]
        usd = fsum(costs) if len(costs) == len(opened) else None
        yield Runs([run.answers for run in opened], metric, fields, usd)


def fields_called(paths: Sequence[str], benchmark: Benchmark) -> list[ItemField]:
    """Return fields by their paths.

    Raises:
        HdbenchError: the benchmark does not have one of them.
    """
    schema = benchmark.answer_schema()
    by_path = {field.path: field for field in (fields_of(schema)[0] if schema else ())}
    for name in paths:
        if name not in by_path:
            raise HdbenchError(
                "{benchmark}: has no field {field}, which the plan has",
                benchmark=benchmark.id,
                field=name,
            )
    return [by_path[name] for name in paths]


def _current_path(planned: PlannedRun, plan_file: Path) -> Path:
    """Return where a run of a plan is now."""
    for path in (Path(planned.path), plan_file.parent / planned.path):
        if path.exists():
            break
    else:
        raise HdbenchError(
            "{place}: not here, but {plan} was made for it: put it back",
            place=planned.path,
            plan=plan_file,
        )
    if answers_sha256(path) != planned.sha256:
        raise HdbenchError(
            "{place}: not the answers that {plan} was made for, and for others it promises "
            "nothing: restore them, or make a new plan",
            place=path,
            plan=plan_file,
        )
    return path
