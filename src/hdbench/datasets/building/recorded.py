"""Recorded runs of published benchmarks: gzipped JSON Lines, one run per line."""

import gzip
import math
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.fields import MAX_NUMBER
from hdbench.answers.run_info import MAX_USD
from hdbench.common.checked import validate
from hdbench.common.jsonio import MAX_LINE, UNIQUE, parse_line
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError

MAX_UNPACKED = 512 * 2**20
"""Maximum bytes that a file of runs is unpacked to: one benchmark's are held in memory."""

MAX_LINES = 10_000
"""Maximum lines in such a file: each run becomes a folder."""

MAX_NAME = 200
"""Maximum characters of a run's name: it becomes the name of a folder."""

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*(/[A-Za-z0-9][\w.+-]*)*", re.ASCII)

_Counted = Annotated[str, Field(pattern="^(input|output)$")]
_Count = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
_Named = Annotated[str, Field(pattern=r"\S")]  # no pattern matches a lone surrogate


class _Checked(BaseModel):
    """A part of a line; keys that are not read, such as an item's score, are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class _RecordedAnswer(_Checked):
    id: _Named
    answer: Any
    text: str | None = None
    tokens: dict[_Counted, _Count] | None = None
    seconds: Annotated[float, Field(ge=0, le=MAX_NUMBER)] | None = None


class RecordedRun(_Checked):
    """A run as it was recorded.

    Attributes:
        run: its name, unique in its file even ignoring case, and with "_" for "/".
        provider: who served the model.
        model: the model's name as the provider gives it.
        prompt: the name of the prompt's file; None if it is not known.
        published: the figures as published.
        reproducible: whether its answers give these figures; None if that is not said.
        cost_usd: what the run cost; None if that is not known.
        answers: one per item, with `id`, `prediction` (None where nothing was parsed) and `text`
            (None where it was not kept), and `tokens` and `seconds` where they were recorded.
    """

    run: _Named
    provider: _Named
    model: _Named
    prompt: _Named | None
    published: Annotated[InstanceOf[dict[str, Any]], Field(alias="scores")]
    reproducible: bool | None = None
    cost_usd: Annotated[float, Field(ge=0, lt=MAX_USD)] | None = None
    answers: Annotated[list[Any], Field(min_length=1)]

    @property
    def folder(self) -> str:
        """Return the name of its folder."""
        return self.run.replace("/", "_")


def read_recorded(path: Path) -> Iterator[RecordedRun]:
    """Yield the recorded runs of one benchmark, one at a time.

    Args:
        path: a gzipped file of JSON Lines.

    Raises:
        HdbenchError: the file is unusable or has no runs, a line is not a run, a run's name cannot
            name a folder, or a run or an id in one occurs twice; the message names the line.
    """
    runs_by_folder: dict[str, str] = {}
    for where, value in _lines(path):
        run = checked_run(value, where)
        folder = run.folder.casefold()
        if folder in runs_by_folder:
            raise HdbenchError(
                "{place}: the run {run!r} needs the folder {folder!r}, which the run {other!r} "
                "already has: keep one, or rename it",
                place=where,
                run=run.run,
                folder=run.folder,
                other=runs_by_folder[folder],
            )
        runs_by_folder[folder] = run.run
        yield run
    if not runs_by_folder:
        raise HdbenchError("{place}: no runs in this file", place=path)


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the value of each line that is not blank."""
    size = 0
    with read_errors(path), _gzip_errors(path), gzip.open(path) as file:
        for number in range(1, MAX_LINES + 2):
            raw = file.readline(MAX_LINE + 1)
            if not raw:
                return
            where = f"{path}:{number}"
            size += len(raw)
            if len(raw) > MAX_LINE:
                raise HdbenchError(
                    "{place}:{number}: the line is longer than {most} MiB",
                    place=path,
                    number=number,
                    most=MAX_LINE >> 20,
                )
            if size > MAX_UNPACKED:
                raise HdbenchError(
                    "{place}: more than {most} MiB unpacked",
                    place=where,
                    most=MAX_UNPACKED >> 20,
                )
            if number > MAX_LINES:
                raise HdbenchError("{place}: more than {most:,} lines", place=where, most=MAX_LINES)
            if raw.strip():
                yield where, parse_line(raw, where, UNIQUE)


@contextmanager
def _gzip_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise HdbenchError(
            "{place}: a damaged gzip file: {why}: get it again", place=path, why=error
        ) from error


def checked_run(value: dict[str, Any], where: str) -> RecordedRun:
    """Return a line of a file of runs as a run.

    Args:
        value: the line's object.
        where: the line's place, for messages.

    Raises:
        HdbenchError: it is not a run, or its name cannot name a folder.
    """
    run = validate(RecordedRun, value, Path(where))
    is_table = run.run.casefold().endswith(".parquet")  # the tables are beside the runs
    if len(run.run) > MAX_NAME or not _NAME.fullmatch(run.run) or is_table:
        raise HdbenchError(
            "{place}: run: {run!r} cannot name a folder: use letters, digits and, after the first "
            "character, . _ + -, in parts separated by /, without .parquet",
            place=where,
            run=run.run[:MAX_NAME],
        )
    for name, figure in run.published.items():
        if type(figure) not in (int, float) or not _is_finite(figure) or not name.isprintable():
            raise HdbenchError(
                "{place}: scores: {name!r}: must be a finite number under a printable name",
                place=where,
                name=name[:100],
            )
    answers: dict[str, WrittenAnswer] = {}
    for number, entry in enumerate(run.answers):  # by hand: pydantic would list every wrong one
        place = f"{where}: answers[{number}]"
        answer = validate(_RecordedAnswer, entry, Path(place))
        if answer.id in answers:
            raise HdbenchError(
                "{place}: a second answer for id {id!r}: keep one", place=place, id=answer.id[:100]
            )
        if not _is_finite(answer.answer):
            raise HdbenchError(
                "{place}: answer: contains NaN or Infinity, which JSON does not have", place=place
            )
        written: WrittenAnswer = {
            "id": answer.id,
            "prediction": answer.answer,
            "text": answer.text,
        }
        if answer.tokens:
            written["tokens"] = answer.tokens
        if answer.seconds is not None:
            written["seconds"] = answer.seconds
        answers[answer.id] = written
    return run.model_copy(update={"answers": list(answers.values())})


def _is_finite(value: Any) -> bool:
    """Return whether a JSON value, which is not deeply nested, can be written as JSON again."""
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
