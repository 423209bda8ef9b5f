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
from hdbench.models.answers_file import is_failed, known_usd
from hdbench.models.archives import Archives
from hdbench.models.backend import CUT_OFF, EMPTY, Backend, Question, Reply
from hdbench.models.folder import RunFolder, recorded_answers
from hdbench.models.run_progress import RunProgress


@dataclass
class RunOutcome:
    """The outcome of a sitting.

    Attributes:
        items: how many items the run has.
        answered: for how many something is recorded, in this sitting or before.
        failed: for how many of these only an error is recorded.
        interrupted: whether a person stopped it.
        schema: of the answers that were to be held to the schema, how many keep it, or do not.
        usd: what the answers cost, in US dollars; None if that is not known.
    """

    items: int
    answered: int = 0
    failed: int = 0
    interrupted: bool = False
    schema: Counter[bool] = field(default_factory=Counter)
    usd: float | None = None

    def counted(self, answers: Iterable[WrittenAnswer]) -> Iterator[WrittenAnswer]:
        """Count answers as they are taken."""
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
            lines.append(
                Message(
                    "answers that were to keep the answer schema: {kept:,} do, {broken:,} do not",
                    kept=self.schema[True],
                    broken=self.schema[False],
                )
            )
        if self.usd is not None:
            lines.append(Message("price: {price}", price=as_usd(self.usd)))
        return lines


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
    interrupted = False
    with RunFolder.opened(folder, settings) as run:
        answers = run.answers
        if retry_failed:
            answers.forget_failed()
        left = [question for question in questions if question.id not in answers.failed]
        if left:
            asked = left if archives is None else archives.shown(left)
            with (
                run.sitting(backend.hardware, len(questions)),
                RunProgress.shown(len(questions), len(answers.failed)) as progress,
                closing(backend.answer(asked, observer=progress)) as got,
            ):
                try:
                    for item_id, reply in got:
                        answer = as_answer(item_id, reply, price)
                        answers.add(answer)
                        progress.answered(item_id, answer.get("error"))
                except KeyboardInterrupt:
                    interrupted = True
        return read_outcome(len(questions), folder, interrupted=interrupted)


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
    outcome.usd = known_usd(outcome.counted(recorded_answers(folder)))
    return outcome
