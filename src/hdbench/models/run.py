"""Asking a model about every item, and keeping each answer as it comes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from hdbench.answers.answer import WrittenAnswer
from hdbench.errors import Message, joined
from hdbench.models.amounts import Price, as_usd
from hdbench.models.answers_file import AnswersFile, about_schema, is_failed, known_usd
from hdbench.models.archives import Archives
from hdbench.models.backend import CUT_OFF, EMPTY, Backend, Question, Reply
from hdbench.models.folder import RunFolder, recorded_answers
from hdbench.models.run_progress import FIRST_PROBLEMS, RunProgress


@dataclass
class RunOutcome:
    """The outcome of a sitting.

    Attributes:
        items: how many items the run has.
        answered: for how many something is recorded, in this sitting or before.
        failed: for how many of these only an error is recorded.
        errors: the first errors of this sitting, by id.
        repaired: whether a torn end of the answers was cut off at its start.
        interrupted: whether a person stopped it.
        schema: of the answers that were to be held to the schema, how many keep it, or do not.
        usd: what the answers cost, in US dollars; None if that is not known.
    """

    items: int
    answered: int = 0
    failed: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    repaired: bool = False
    interrupted: bool = False
    schema: Counter[bool] = field(default_factory=Counter)
    usd: float | None = None

    def count(self, folder: Path) -> None:
        """Take the counts from the answers so far in a run's folder."""
        self.usd = known_usd(self._counted(recorded_answers(folder)))

    def _counted(self, answers: Iterable[WrittenAnswer]) -> Iterator[WrittenAnswer]:
        for answer in answers:
            self.answered += 1
            self.failed += is_failed(answer)
            if isinstance(keeps_schema := answer.get("keeps_schema"), bool):
                self.schema[keeps_schema] += 1
            yield answer

    def trouble(self) -> Message | None:
        """Return why the run is of no use; None if it is of some."""
        if self.failed and self.answered == self.failed:
            return Message("no item was answered, of {asked} asked", asked=self.failed)
        return None

    def lines(self, folder: Path) -> list[Message]:
        """Return the lines that report the outcome to the user."""
        counts = [
            Message(
                "{place}: {answered} of {items} items answered",
                place=folder,
                answered=self.answered - self.failed,
                items=self.items,
            )
        ]
        if self.failed:
            counts.append(
                Message("{failed} failed (ask them again with --retry-failed)", failed=self.failed)
            )
        if left := self.items - self.answered:
            counts.append(
                Message(
                    "{left} not answered yet (run again: the command resumes where it stopped)",
                    left=left,
                )
            )
        lines = [joined(counts)]
        if self.schema[False]:
            lines.append(about_schema(self.schema))
        if self.usd is not None:
            lines.append(Message("price: {price}", price=as_usd(self.usd)))
        if self.repaired:
            lines.append(
                Message("an item whose answer was cut off when the run was killed was asked again")
            )
        return lines + [
            Message("{place}: {why}", place=item_id, why=error)
            for item_id, error in self.errors.items()
        ]


def run_model(
    backend: Backend,
    questions: Sequence[Question],
    folder: Path,
    settings: Mapping[str, Any],
    *,
    archives: Archives | None = None,
    price: Price | None = None,
    retry_failed: bool = False,
) -> RunOutcome:
    """Ask a model what has not been asked yet, and record each answer as it comes.

    If it is killed at any moment, the same call resumes where it stopped.

    Args:
        backend: the one that asks.
        questions: all items of the run.
        folder: the run's folder.
        settings: what `run.json` says about it.
        archives: where the images are, if they are not files of their own.
        price: of the model's tokens, where a reply does not say what it cost.
        retry_failed: ask again where only an error was recorded.

    Raises:
        HdbenchError: see `RunFolder.opened` and `Backend.answer`; what was recorded is kept.
    """
    outcome = RunOutcome(len(questions))
    with RunFolder.opened(folder, settings) as run:
        answers = run.answers
        outcome.repaired = answers.repaired
        if retry_failed:
            answers.forget_failed()
        left = [question for question in questions if question.id not in answers.failed]
        if left:
            asked = left if archives is None else archives.shown(left)
            with run.sitting(backend.hardware, items=len(questions)):
                _ask(backend, asked, answers, outcome, price)
        outcome.count(folder)
    return outcome


def _ask(
    backend: Backend,
    questions: Iterable[Question],
    answers: AnswersFile,
    outcome: RunOutcome,
    price: Price | None,
) -> None:
    with (
        RunProgress.shown(outcome.items, len(answers.failed)) as progress,
        closing(backend.answer(questions, observer=progress)) as got,
    ):
        try:
            for item_id, reply in got:
                answer = as_answer(item_id, reply, price)
                answers.add(answer)
                error = answer.get("error")
                if error is not None and len(outcome.errors) < FIRST_PROBLEMS:
                    outcome.errors[item_id] = error
                progress.answered(item_id, error)
        except KeyboardInterrupt:
            outcome.interrupted = True


def as_answer(item_id: str, reply: Reply, price: Price | None = None) -> WrittenAnswer:
    """Return a reply as a line of the answers; unknown values are left out.

    A blank text is no answer: the line then says why.
    """
    if reply.error is None and not (reply.text or "").strip():
        why = CUT_OFF if reply.finish_reason == "length" else EMPTY
        reply = replace(reply, text=None, error=why)
    answer = asdict(reply) | {"constrained": reply.constrained or None, "fingerprint": None}
    if reply.usd is None and price is not None:
        answer["usd"] = price.usd(reply.tokens)
    if reply.seconds is not None:
        answer["seconds"] = round(reply.seconds, 3)
    values = {name: value for name, value in answer.items() if value is not None}
    return cast(WrittenAnswer, {"id": item_id} | values)


def read_outcome(items: int, folder: Path, *, interrupted: bool = False) -> RunOutcome:
    """Return the outcome of a run so far, of all its parts, or of one of them."""
    outcome = RunOutcome(items, interrupted=interrupted)
    outcome.count(folder)
    return outcome
