"""A file of answers that are appended one at a time, safe however the writing ends."""

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

from hdbench.answers.answer import WrittenAnswer
from hdbench.common.jsonio import UNIQUE, parse_json, raw_lines
from hdbench.common.writing import append, write_whole
from hdbench.errors import HdbenchError


class AnswersFile:
    """Answers on disk, written by one process at a time. A torn end is cut off when it is opened.

    Args:
        path: the file; it need not exist.
        begin: called before this process first writes an answer.

    Attributes:
        path: the file.
        failed: id → whether its answer is only an error, for each item in it.

    Raises:
        HdbenchError: it is damaged in the middle, or is a link.
    """

    def __init__(self, path: Path, begin: Callable[[], None] | None = None) -> None:
        self.path = path
        self._begin = begin
        self.failed: dict[str, bool] = {}
        intact_bytes = 0
        for end, answer in _whole_lines(path):
            intact_bytes = end
            self.failed[answer["id"]] = is_failed(answer)
        if path.exists() and path.stat().st_size > intact_bytes:
            os.truncate(path, intact_bytes)

    def recorded(self) -> Iterator[WrittenAnswer]:
        """Yield the answers as they were recorded."""
        yield from read_answers(self.path)

    def forget_failed(self) -> None:
        """Remove the answers that are only an error."""
        if any(self.failed.values()):
            lines = [_line(answer) for answer in self.recorded() if not is_failed(answer)]
            write_whole(self.path, b"".join(lines))
            self.failed = {item: failed for item, failed in self.failed.items() if not failed}

    def add(self, answer: WrittenAnswer) -> None:
        """Record an answer; when this returns it is on disk."""
        if self._begin is not None:
            self._begin()
            self._begin = None
        append(self.path, _line(answer))
        self.failed[answer["id"]] = is_failed(answer)


def _whole_lines(path: Path) -> Iterator[tuple[int, WrittenAnswer]]:
    """Yield each answer with where its line ends; a torn end is left out.

    Raises:
        HdbenchError: the file is damaged in the middle, or a line is too long; or it is a link: in
            a folder from somebody else it could lead to a file that is then written to.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise HdbenchError(
            "{place}: is a link, or no plain file: put the file itself there", place=path
        )
    torn = 0
    for number, offset, line in raw_lines(path) if path.exists() else ():
        answer = _answer(line)
        if answer is None:
            torn = torn or number
        elif torn:
            raise HdbenchError(
                "{place}:{line}: damaged in the middle: fix or remove that line, then run "
                "again: the command resumes where it stopped",
                place=path,
                line=torn,
            )
        else:
            yield offset + len(line), answer


def read_answers(path: Path) -> Iterator[WrittenAnswer]:
    """Return the answers in a file, except torn ones; none if there is no such file.

    Raises:
        HdbenchError: a line is too long.
    """
    if path.is_file():
        yield from filter(None, (_answer(line) for _, _, line in raw_lines(path)))


def is_failed(answer: WrittenAnswer) -> bool:
    """Return whether there is no answer: no text, or a blank one, and nothing read from it."""
    return "prediction" not in answer and not (answer.get("text") or "").strip()


def known_usd(answers: Iterable[WrittenAnswer]) -> float | None:
    """Return what answers cost, in US dollars; None if that is not known of all of them.

    Example:
        >>> known_usd([{"text": "a", "usd": 0.5}, {"text": "b", "usd": 0.25}, {"error": "refused"}])
        0.75
        >>> known_usd([{"text": "a", "usd": 0.5}, {"text": "b"}])
    """
    costs: list[float] = []
    unknown = False
    for answer in answers:
        cost = answer.get("usd")
        if isinstance(cost, int | float) and 0 <= cost < math.inf:
            costs.append(cost)
        else:
            unknown |= not is_failed(answer)
    return math.fsum(costs) if costs and not unknown else None


def _answer(line: bytes) -> WrittenAnswer | None:
    """Return the answer in a line; None if the line is torn or is not an answer."""
    if not line.endswith(b"\n"):
        return None
    try:
        answer = parse_json(line.decode(), UNIQUE)
    except ValueError:
        return None
    if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
        return None
    return cast(WrittenAnswer, answer)  # by this program


def _line(answer: WrittenAnswer) -> bytes:
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", errors="backslashreplace")
