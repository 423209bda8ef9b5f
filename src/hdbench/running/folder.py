"""The folder of a run: its settings, and each answer as it came, safe however the run ends."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from hdbench.common.jsonio import parse_json, write_json, write_whole
from hdbench.errors import HdbenchError
from hdbench.reading.answer import WrittenAnswer
from hdbench.reading.folders import OUR_ANSWERS
from hdbench.reading.run_info import RUN_FILE, read_run_info

MAX_SHOWN = 80
"""Maximum characters of a setting in a message."""


class RunFolder:
    """A run on disk, held open by one process at a time: create it with `opened`.

    Attributes:
        path: the folder.
        failed: id → whether its answer is only an error, for each item that was asked, in this
            sitting or before.
        repaired: how many torn lines were cut off at the end of the answers.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self._file = path / OUR_ANSWERS
        self._record = self._begin(settings)
        self.failed: dict[str, bool] = {}
        self.repaired = self._repair()

    @classmethod
    @contextmanager
    def opened(cls, path: Path, settings: Mapping[str, Any]) -> Iterator["RunFolder"]:
        """Begin a run, or resume it.

        Args:
            path: the folder; created if it does not exist.
            settings: what `run.json` says about the run; when a run is resumed, these must be the
                same as before. `run`, `date` and `sittings` are added by this class.

        Raises:
            HdbenchError: another process is writing to it, it was begun with other settings, it is
                not a run folder, or it is damaged.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            whole = path.resolve()
            lock = whole.with_name(f".{whole.name}.lock")  # beside it: the folder may be untrusted
            with FileLock(lock, blocking=False):
                yield cls(path, settings)
                lock.unlink(missing_ok=True)
        except Timeout as error:
            raise HdbenchError(
                f"{path}: another hdbench is writing to this folder: wait until it is done, or "
                "choose another folder"
            ) from error
        except OSError as error:
            raise HdbenchError(
                f"{path}: cannot be written: {error.strerror or error}: what was answered is "
                "kept; fix it and run again: the command resumes where it stopped"
            ) from error

    def _begin(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """What run.json says; it is written if there is none."""
        path = self.path / RUN_FILE
        if not path.exists():
            others = sorted(each.name for each in self.path.iterdir())
            if others:
                raise HdbenchError(
                    f"{self.path}: holds {others[0]!r} and is not a run: choose another folder"
                )
            first = {
                "run": self.path.resolve().name,
                "date": _now()[:10],
                **settings,
                "sittings": [],
            }
            write_json(path, first)
            return first
        read_run_info(self.path)  # says what is wrong with a damaged one
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        before = {key: record.get(key) for key in settings}
        if different := list(_differences(before, json.loads(json.dumps(settings)))):
            raise HdbenchError(
                f"{self.path}: was started with other settings ({'; '.join(different[:3])}): "
                "choose another folder, or the same settings"
            )
        return record

    def _repair(self) -> int:
        """Find out what is answered; cut off a torn end left by a killed process."""
        if not self._file.exists():
            return 0
        whole = torn = 0
        with self._file.open("rb") as file:
            for number, line in enumerate(file, 1):
                answer = _answer(line)
                if answer is None:
                    torn += 1
                elif torn:
                    raise HdbenchError(
                        f"{self._file}:{number - torn}: damaged in the middle: fix or remove "
                        "that line, then run again: the command resumes where it stopped"
                    )
                else:
                    self.failed[answer["id"]] = is_failed(answer)
                    whole += len(line)
        if torn:
            os.truncate(self._file, whole)
        return torn

    def answers(self) -> Iterator[WrittenAnswer]:
        """The answers as they were recorded."""
        yield from recorded_answers(self.path)

    def forget_failed(self) -> None:
        """Remove the answers that are only an error, so that they are asked again."""
        if any(self.failed.values()):
            kept = [_line(answer) for answer in self.answers() if not is_failed(answer)]
            write_whole(self._file, b"".join(kept))
            self.failed = {item: failed for item, failed in self.failed.items() if not failed}

    @contextmanager
    def sitting(self, hardware: Callable[[], Mapping[str, Any]]) -> Iterator["RunFolder"]:
        """A sitting: what it runs on, when it began and, unless it is killed, when it ended.

        Args:
            hardware: what it runs on; asked again at the end, when more may be known.
        """
        sitting = {"started": _now(), "ended": None, "hardware": dict(hardware())}
        self._record["sittings"].append(sitting)
        write_json(self.path / RUN_FILE, self._record)
        try:
            yield self
        finally:
            sitting |= {"ended": _now(), "hardware": dict(hardware())}
            write_json(self.path / RUN_FILE, self._record)

    def add(self, answer: WrittenAnswer) -> None:
        """Record an answer; when this returns it is on disk."""
        with self._file.open("ab") as file:
            file.write(_line(answer))
            file.flush()
            os.fsync(file.fileno())
        self.failed[answer["id"]] = is_failed(answer)


def recorded_answers(folder: Path) -> Iterator[WrittenAnswer]:
    """The answers that a run has so far, except a torn one; none if there is no run yet."""
    path = folder / OUR_ANSWERS
    if path.is_file():
        with path.open("rb") as file:
            yield from (answer for line in file if (answer := _answer(line)))


def is_failed(answer: WrittenAnswer) -> bool:
    """Whether an answer is only an error."""
    return answer.get("text") is None and "error" in answer


def _answer(line: bytes) -> WrittenAnswer | None:
    """The answer in a line; None if the line is torn or is not an answer."""
    if not line.endswith(b"\n"):
        return None
    try:
        answer = parse_json(line.decode(), unique=True)
    except ValueError:
        return None
    if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
        return None
    return cast(WrittenAnswer, answer)  # by this program


def _line(answer: WrittenAnswer) -> bytes:
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", errors="backslashreplace")


def _differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """What differs in two settings, one leaf at a time."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            yield from _differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif isinstance(before, list) and isinstance(now, list) and before != now:
        yield f"{name}: {len(before)} then, {len(now)} now, and not the same"
    elif before != now:
        yield f"{name}: {_shown(before)} then, {_shown(now)} now"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
