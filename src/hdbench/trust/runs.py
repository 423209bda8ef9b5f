"""The runs of a plan, read item by item side by side."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.errors import HdbenchError
from hdbench.evaluation.opened_run import OpenedRun
from hdbench.reading.answers import Answers
from hdbench.results.files import answers_sha256
from hdbench.scoring.metric import Metric, coverage_of
from hdbench.trust.plan import Plan, PlannedRun
from hdbench.trust.scores import choose
from hdbench.trust.values import Field, fields_of, texts_of, value_of


class Judged(NamedTuple):
    """The value to take for one field of one item.

    Attributes:
        value: as its run has it; None if no run has an answer.
        text: the value as a text.
        score: its trust score, 0.0 to 1.0; None if no run has an answer.
        run: the place of its run.
    """

    value: Any
    text: str
    score: float | None
    run: int | None


class Runs:
    """The runs of a plan; open them with `opened_runs`.

    Args:
        answers: of each run.
        metric: reads records as the benchmark does.
        fields: the fields of the plan.
    """

    def __init__(self, answers: Sequence[Answers], metric: Metric, fields: Sequence[Field]) -> None:
        self._answers, self._metric, self._fields = answers, metric, fields

    def records(self, item_id: str) -> list[dict[str, Any] | None]:
        """What each run answered to an item; None if that is no record."""
        return [self._record(answers, item_id) for answers in self._answers]

    def _record(self, answers: Answers, item_id: str) -> dict[str, Any] | None:
        prediction = self._metric.as_record(answers.take(item_id).prediction)
        is_record = coverage_of(prediction, "documented") == "answered"
        return prediction if is_record else None

    def texts(self, records: Sequence[dict[str, Any] | None]) -> list[list[str] | None]:
        """The text of each field in each run; None for a run without an answer."""
        return [None if each is None else texts_of(each, self._fields) for each in records]

    def judged(self, item_id: str, records: Sequence[dict[str, Any] | None]) -> list[Judged]:
        """The value to take for each field of an item, from what each run answered.

        Args:
            item_id: the item.
            records: see `records`.
        """
        texts = self.texts(records)
        found = []
        for place, field in enumerate(self._fields):
            of_field = [None if each is None else each[place] for each in texts]
            run, score = choose(of_field)
            if run is None:
                found.append(Judged(None, "", None, None))
            else:
                value = value_of(records[run], field)
                found.append(Judged(value, of_field[run] or "", score, run))
        return found


@contextmanager
def opened_runs(plan: Plan, benchmark: Benchmark, where: Path) -> Iterator[Runs]:
    """The runs of a plan, until the block ends.

    Args:
        plan: the plan.
        benchmark: what they answer.
        where: the plan's file; runs can be beside it, if they are not below the working directory.

    Raises:
        HdbenchError: a run is not there, has other answers than the plan was made for, or is not to
            this benchmark.
    """
    metric = benchmark.spec.make_metric("documented")
    with ExitStack() as stack:
        answers = []
        for planned in plan.runs:
            path = _found(planned, where)
            if answers_sha256(path) != planned.sha256:
                raise HdbenchError(
                    f"{path}: these are not the answers that {where} was made for: what it "
                    "promises holds for the same answers only: make a new plan, with a new sample"
                )
            run = stack.enter_context(OpenedRun.opened(path, benchmark))
            if len(run.models) > 1:
                raise HdbenchError(
                    f"{path}: has answers of {len(run.models)} models: give one file for each"
                )
            answers.append(run.answers(run.models[0]))
        yield Runs(answers, metric, planned_fields(plan, benchmark))


def planned_fields(plan: Plan, benchmark: Benchmark) -> list[Field]:
    """The fields of a plan.

    Raises:
        HdbenchError: the benchmark does not have one of them.
    """
    schema = benchmark.answer_schema()
    known = {field.path: field for field in (fields_of(schema)[0] if schema else ())}
    for name in plan.fields:
        if name not in known:
            raise HdbenchError(f"{benchmark.id}: has no field {name}, which the plan has")
    return [known[name] for name in plan.fields]


def _found(planned: PlannedRun, where: Path) -> Path:
    for path in (Path(planned.path), where.parent / planned.path):
        if path.exists():
            return path
    raise HdbenchError(f"{planned.path}: no such run, which {where} was made for: put it back")
