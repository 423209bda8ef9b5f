"""The runs of a plan, read item by item side by side."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz.fuzz import ratio

from hdbench.answers.answers import Answers
from hdbench.answers.letters import text_of
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.regular_files import file_sha256
from hdbench.errors import HdbenchError
from hdbench.results.files import answers_sha256
from hdbench.scoring.metric import Metric, coverage_of
from hdbench.statistics.acceptance import ROUNDING
from hdbench.trust.opening import opened_run
from hdbench.trust.plan import PlannedRun, PlannedScores, PlanTerms
from hdbench.trust.score_table import GivenScores, read_scores
from hdbench.trust.values import ItemField, fields_of, texts_of, value_of


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

Hash = Callable[[Path], str]


class Judged(NamedTuple):
    """The value to take for one field of one item.

    Attributes:
        value: the value as in its run; None if no run has an answer.
        text: the value as a text.
        score: its trust score, 0.0 to 1.0; None if it has none, so that it is never accepted: no
            run has an answer, or the user's scores leave it out.
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
        scores: the user's trust scores; None if the agreement of the runs is the score.
    """

    answers: Sequence[Answers]
    metric: Metric
    fields: Sequence[ItemField]
    scores: GivenScores | None = None

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

    def judged(self, item_id: str, records: Sequence[dict[str, Any] | None]) -> list[Judged]:
        """Return the value to take for each field of an item, from each run's answer.

        Args:
            item_id: the item.
            records: see `records`.
        """
        answered = None not in records
        judged = []
        for field, values in enumerate(zip(*map(self._values, records), strict=True)):
            first = values[0]
            # Most values are the same in all runs, and there are millions of them.
            if answered and values.count(first) == len(values) and _same_texts(values):
                choice = Judged(first, text_of(first), 1.0, 0)
            else:
                choice = _judged(records, values)
            if self.scores is not None and choice.run is not None:
                choice = choice._replace(score=self.scores.of(item_id, field))
            judged.append(choice)
        return judged

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
    plan: PlanTerms, benchmark: Benchmark, plan_file: Path, *, all_are_loaded: bool = False
) -> Iterator[Runs]:
    """Open the runs of a plan, until the block ends.

    Args:
        plan: the plan.
        benchmark: the benchmark that they answer.
        plan_file: the plan's file; runs can be beside it if they are not below the working
            directory.
        all_are_loaded: every answer will be read, see `JsonLines`.

    Raises:
        HdbenchError: a run or the scores are missing, differ from those that the plan was made for,
            or do not fit this benchmark.
    """
    scores = None
    if plan.scores is not None:
        path = _current_path(plan.scores, plan_file, file_sha256)
        scores = read_scores(path, plan.fields, benchmark.ids())
    opening = opened_answers(
        plan.runs, plan.fields, benchmark, plan_file, all_are_loaded=all_are_loaded
    )
    with opening as runs:
        yield replace(runs, scores=scores)


@contextmanager
def opened_answers(
    planned: Sequence[PlannedRun],
    paths: Sequence[str],
    benchmark: Benchmark,
    plan_file: Path,
    *,
    all_are_loaded: bool = False,
) -> Iterator[Runs]:
    """Open runs that a plan names, until the block ends.

    Args:
        planned: the runs.
        paths: the paths of the fields.
        benchmark: the benchmark that they answer.
        plan_file: the plan's file; runs can be beside it if they are not below the working
            directory.
        all_are_loaded: every answer will be read, see `JsonLines`.

    Raises:
        HdbenchError: a run is missing, differs from the one that the plan was made for, or does
            not fit this benchmark.
    """
    fields = fields_called(paths, benchmark)
    metric = benchmark.spec.make_metric("documented")
    with ExitStack() as stack:
        answers = []
        for run in planned:
            path = _current_path(run, plan_file, answers_sha256)
            opened = opened_run(path, benchmark, all_are_loaded=all_are_loaded)
            answers.append(stack.enter_context(opened).answers)
        yield Runs(answers, metric, fields)


def planned_fields(plan: PlanTerms, benchmark: Benchmark) -> list[ItemField]:
    """Return the fields of a plan; see `fields_called`."""
    return fields_called(plan.fields, benchmark)


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


def _current_path(planned: PlannedRun | PlannedScores, plan_file: Path, sha256: Hash) -> Path:
    """Return where a file or folder of a plan is now."""
    for path in (Path(planned.path), plan_file.parent / planned.path):
        if path.exists():
            break
    else:
        raise HdbenchError(
            "{place}: not here, but {plan} was made for it: put it back",
            place=planned.path,
            plan=plan_file,
        )
    if sha256(path) != planned.sha256:
        raise HdbenchError(
            "{place}: not the answers that {plan} was made for, and for others it promises "
            "nothing: restore them, or make a new plan with a new sample"
            if isinstance(planned, PlannedRun)
            else "{place}: not the trust scores that {plan} was made for, and for others it "
            "promises nothing: restore them, or make a new plan with a new sample",
            place=path,
            plan=plan_file,
        )
    return path
