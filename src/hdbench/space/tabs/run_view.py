"""How a model's run is shown: its progress, its answers, the record of an own image."""

from collections.abc import Mapping, Sequence
from typing import Any

from hdbench.errors import escaped
from hdbench.reading.titles import FieldTitles
from hdbench.report.items import cut
from hdbench.report.page import MAX_MESSAGE
from hdbench.space.jobs.running_model import Ended, Progress
from hdbench.space.texts import text
from hdbench.space.views.summary import render

MAX_TEXT = 5_000
"""How many characters of an answer are shown; the download has them all."""

MAX_FIELDS = 200
"""How many fields of a record are shown."""


def run_status(
    progress: Progress,
    total: int,
    language: str,
    *,
    elapsed: float,
    left: float | None,
    limit: float,
) -> str:
    """How far a run is, or why it has ended, as HTML.

    Args:
        progress: the run.
        total: how many items it has.
        language: the interface's language.
        elapsed: seconds since it began.
        left: seconds until it is done; see `time_left`.
        limit: seconds that it may take.
    """
    done = len(progress.answers)
    told = {"done": done, "total": total}
    times = {"elapsed": duration(elapsed), "limit": duration(limit)}
    if progress.ended is None:
        key = "run_going" if done else "run_loading"
    elif done or progress.ended == Ended.FAILED:
        key = f"run_{progress.ended}"
    else:
        key = f"run_{progress.ended}_none"
    return render(
        "run_status.html",
        language,
        line=text(key, language, **told, **times),
        left=None if left is None else text("run_left", language, left=duration(left)),
        elapsed=text("run_elapsed", language, **times),
        ended=progress.ended,
        problem=cut(progress.problem, MAX_MESSAGE),
        **told,
    )


def run_line(line: str, language: str) -> str:
    """What is told of a run that has not begun, as HTML.

    Args:
        line: what is told.
        language: the interface's language.
    """
    return render("run_status.html", language, line=line, ended=True, problem="")


def run_answers(
    answers: Sequence[Mapping[str, Any]], pictures: Mapping[str, str | None], language: str
) -> str:
    """Answers as HTML, the last one first: untrusted text is escaped.

    Args:
        answers: lines of `answers.jsonl`.
        pictures: id → a small picture as a data URI.
        language: the interface's language.
    """
    return render(
        "run_answers.html",
        language,
        answers=answers[::-1],
        pictures=pictures,
        cut=lambda value: cut(str(value), MAX_TEXT),
        plain=escaped,  # in attributes, which can hold no markup
    )


def run_record(fields: Sequence[tuple[str, str]], language: str, titles: FieldTitles) -> str:
    """The fields of a record, by their titles, as HTML: untrusted text is escaped."""
    few = [(cut(path), cut(value, MAX_TEXT)) for path, value in fields[:MAX_FIELDS]]
    more = len(fields) - len(few)
    return render("run_record.html", language, fields=few, more=more, titles=titles)


def time_left(
    answers: Sequence[Mapping[str, Any]], came: Sequence[float], total: int, now: float
) -> float | None:
    """Seconds until the last answer, at the pace of those so far; None before the first.

    Args:
        answers: the answers so far.
        came: when each came.
        total: how many there will be.
        now: the time on the same clock.

    Example:
        >>> time_left([{}, {}, {}], [20.0, 24.0, 30.0], 5, 31.0)
        9.0
    """
    if not answers:
        return None
    if len(came) > 1:  # before the first answer the model was loaded
        pace = (came[-1] - came[0]) / (len(came) - 1)
    else:
        pace = answers[0].get("seconds") or 0.0
    return float(max(0.0, pace * (total - len(came)) - (now - came[-1])))


def duration(seconds: float) -> str:
    """A duration for readers.

    Example:
        >>> duration(42.4), duration(300)
        ('42 s', '5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    return " ".join([f"{minutes} min"] * (minutes > 0) + [f"{rest} s"] * (rest > 0 or not minutes))
