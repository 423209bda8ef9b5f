"""Asking a model every item, and keeping each answer as it comes."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from hdbench.running.backend import Backend, Question, Reply
from hdbench.running.folder import RunFolder
from hdbench.running.running_score import RunningScore

FIRST_ERRORS = 3


@dataclass
class Outcome:
    """What became of a sitting.

    Attributes:
        items: how many items the run has.
        answered: of how many something is recorded, of this sitting or before.
        failed: of how many of these only an error.
        errors: the first errors of this sitting, by id.
        repaired: how many torn lines were cut off at its beginning.
        interrupted: whether a person stopped it.
    """

    items: int
    answered: int = 0
    failed: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    repaired: int = 0
    interrupted: bool = False

    def lines(self, folder: Path) -> list[str]:
        """What to tell a person."""
        left = self.items - self.answered
        said = [f"{folder}: {self.answered - self.failed} of {self.items} items answered"]
        if self.failed:
            said[0] += f", {self.failed} failed (ask them again with --retry-failed)"
        if left:
            said[0] += f", {left} not asked yet: the same command goes on"
        if self.repaired:
            said.append("an answer that was torn off when the run was killed was asked again")
        return said + [f"{item_id}: {error}" for item_id, error in self.errors.items()]


def run_model(
    backend: Backend,
    questions: Sequence[Question],
    folder: Path,
    settings: Mapping[str, Any],
    *,
    score: RunningScore | None = None,
    retry_failed: bool = False,
    deadline: float | None = None,
) -> Outcome:
    """Ask a model what has not been asked yet, and record each answer as it comes.

    Killed at any moment, the same call goes on where it stopped.

    Args:
        backend: asks.
        questions: all items of the run.
        folder: the run's.
        settings: what `run.json` says of it.
        score: shows the score so far; None where there is no truth.
        retry_failed: ask again where only an error was recorded.
        deadline: on `time.monotonic`; no further item is taken after it.

    Raises:
        HdbenchError: as of `RunFolder.opened` and `Backend.answer`; what was recorded is kept.
    """
    outcome = Outcome(len(questions))
    with RunFolder.opened(folder, settings) as run:
        outcome.repaired = run.repaired
        if retry_failed:
            run.forget_failed()
        if score is not None:
            for answer in run.answers():
                score.add(answer)
        left = [question for question in questions if question.id not in run.failed]
        if left:
            with run.sitting(backend.hardware()):
                _ask(backend, left, run, outcome, score=score, deadline=deadline)
        outcome.answered, outcome.failed = len(run.failed), sum(run.failed.values())
    return outcome


def _ask(
    backend: Backend,
    questions: Sequence[Question],
    run: RunFolder,
    outcome: Outcome,
    *,
    score: RunningScore | None,
    deadline: float | None,
) -> None:
    in_time = (
        question for question in questions if deadline is None or time.monotonic() < deadline
    )
    with _bar(outcome.items, len(run.failed)) as advance, closing(backend.answer(in_time)) as got:
        try:
            for item_id, reply in got:
                answer = _as_answer(item_id, reply)
                run.add(answer)
                if score is not None:
                    score.add(answer)
                if reply.error is not None and len(outcome.errors) < FIRST_ERRORS:
                    outcome.errors[item_id] = reply.error
                advance(str(score or ""))
        except KeyboardInterrupt:
            outcome.interrupted = True


def _as_answer(item_id: str, reply: Reply) -> dict[str, Any]:
    """A reply as a line of the answers; what is not known is left out."""
    answer = {
        "text": reply.text,
        "tokens": reply.tokens,
        "seconds": None if reply.seconds is None else round(reply.seconds, 3),
        "finish_reason": reply.finish_reason,
        "constrained": reply.constrained or None,
        "error": reply.error,
    }
    known = {name: value for name, value in answer.items() if value is not None}
    return {"id": item_id, **({} if known.keys() & {"text", "error"} else {"text": ""}), **known}


@contextmanager
def _bar(items: int, done: int) -> Iterator[Callable[[str], None]]:
    """A bar on standard error, if it is a terminal; gives what is called after each answer."""
    started = time.monotonic()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[score]}"),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("Asking", total=items, completed=done, rate="", score="")
        new = 0

        def advance(score: str) -> None:
            nonlocal new
            new += 1
            rate = new / max(time.monotonic() - started, 1e-9)
            text = f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each"
            bar.update(task, advance=1, rate=text, score=score)

        yield advance
