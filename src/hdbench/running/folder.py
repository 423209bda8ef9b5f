"""The folder of a run: its settings, and each answer as it came, safe however the run ends."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hdbench.common.jsonio import write_json
from hdbench.errors import HdbenchError, Message, joined, os_reason
from hdbench.reading.answer import WrittenAnswer
from hdbench.reading.folders import OUR_ANSWERS
from hdbench.reading.parts import is_in_shards, our_parts
from hdbench.reading.run_info import RUN_FILE, read_run_info
from hdbench.running.answers_file import AnswersFile, read_answers
from hdbench.running.shards.merging import alone, settle
from hdbench.running.shards.ranks import now

MAX_SHOWN = 80
"""Maximum characters of a setting in a message."""


class RunFolder:
    """A run on disk, held open by one process at a time: create it with `opened`.

    Attributes:
        path: the folder.
        answers: those of this sitting and of earlier ones.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self._record = self._begin(settings)
        if settle(path):
            self._record = json.loads((path / RUN_FILE).read_text(encoding="utf-8"))
        self.answers = AnswersFile(path / OUR_ANSWERS)

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
                not a run folder, it is damaged, or an earlier launch is not over; see `settle`.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HdbenchError(
                "{place}: cannot be written: {why}", place=path, why=os_reason(error)
            ) from error
        with alone(path):
            yield cls(path, settings)

    def _begin(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """What run.json says; it is written if there is none."""
        path = self.path / RUN_FILE
        if not path.exists():
            others = sorted(each.name for each in self.path.iterdir())
            if others:
                raise HdbenchError(
                    "{place}: holds {name!r} and is not a run: choose another folder",
                    place=self.path,
                    name=others[0],
                )
            first = {
                "run": self.path.resolve().name,
                "date": now()[:10],
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
                "{place}: was started with other settings ({different}): choose another folder, "
                "or the same settings",
                place=self.path,
                different=joined(different[:3], "; "),
            )
        return record

    @contextmanager
    def sitting(
        self, hardware: Callable[[], Mapping[str, Any]], **about: Any
    ) -> Iterator["RunFolder"]:
        """A sitting: what it runs on, when it began and, unless it is killed, when it ended.

        Args:
            hardware: what it runs on; asked again at the end, when more may be known.
            **about: what else there is to say about it, as JSON data.
        """
        sitting = self._begun(hardware(), about)
        try:
            yield self
        finally:
            sitting |= {"ended": now(), "hardware": dict(hardware())}
            write_json(self.path / RUN_FILE, self._record)

    def begin_sitting(self, **about: Any) -> None:
        """Note that a sitting begins which other processes end; see `merge`."""
        self._begun({}, about)

    def _begun(self, hardware: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
        sitting = {"started": now(), "ended": None, "hardware": dict(hardware), **about}
        self._record.setdefault("sittings", []).append(sitting)
        write_json(self.path / RUN_FILE, self._record)
        return sitting


def recorded_answers(folder: Path) -> Iterator[WrittenAnswer]:
    """The answers that a run has so far, except torn ones; none if there is no run yet."""
    for part in our_parts(folder) if is_in_shards(folder) else [folder / OUR_ANSWERS]:
        yield from read_answers(part)


def _differences(before: Any, now: Any, name: str = "") -> Iterator[Message]:
    """What differs in two settings, one leaf at a time."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            yield from _differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif isinstance(before, list) and isinstance(now, list) and before != now:
        yield Message(
            "{name}: {before} then, {now} now, and not the same",
            name=name,
            before=len(before),
            now=len(now),
        )
    elif before != now:
        yield Message(
            "{name}: {before} then, {now} now", name=name, before=_shown(before), now=_shown(now)
        )


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
