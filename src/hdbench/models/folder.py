"""The folder of a run: its settings, and each answer as it came, safe however the run ends."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hdbench.about import __version__
from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.folders import OUR_ANSWERS, RUN_FILE
from hdbench.answers.run_parts import run_parts, whole_run
from hdbench.common.jsonio import write_json
from hdbench.common.os_errors import parents_of
from hdbench.errors import HdbenchError, Message, joined
from hdbench.evaluation.run_info import has_answers, read_run_info
from hdbench.models.answers_file import AnswersFile, known_usd, read_answers
from hdbench.models.endpoint_listing import check_served
from hdbench.models.locks import alone

MAX_SHOWN = 80
"""Maximum characters of a setting in a message."""
MAY_DIFFER = ("provider", "dataset")
"""Settings for the server's host, and for the dataset, which `RunPlan` compares; each sitting
records them."""
OF_A_PART = ("items", "subset", "part")
"""Settings in which the parts of a run differ."""


class RunFolder:
    """A run on disk, held open by one process at a time: create it with `opened`.

    Attributes:
        path: the folder.
        answers: those of this sitting and of earlier ones.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self._record = record_of(path, settings)
        self.answers = AnswersFile(path / OUR_ANSWERS, begin=self._write)

    @classmethod
    @contextmanager
    def opened(cls, path: Path, settings: Mapping[str, Any]) -> Iterator["RunFolder"]:
        """Begin a run, or resume it. Nothing is written before the first answer.

        Args:
            path: the folder; created with the first answer if it does not exist.
            settings: what `run.json` says about the run; when a run with answers is resumed, these
                must be the same as before, except for `MAY_DIFFER`. `run`, `date` and `sittings`
                are added by this class.

        Raises:
            HdbenchError: another process is writing to it, it was begun with other settings, it is
                not a run folder, or it is damaged.
        """
        with parents_of(path), alone(path):
            yield cls(path, settings)

    @contextmanager
    def sitting(self, hardware: Callable[[], Mapping[str, Any]], items: int) -> Iterator[None]:
        """Record a sitting: its hardware, its start and, unless it is killed, its end.

        At the end it is also recorded what all answers cost, if that is known. A sitting that fails
        before any answer is not recorded.

        Args:
            hardware: what it runs on; asked again at the end, when more may be known.
            items: how many items the run has.

        Raises:
            HdbenchError: the server serves another model than before.
        """
        current, sittings = hardware(), self._record.setdefault("sittings", [])
        before = [past for sitting in sittings if (past := sitting.get("hardware"))]
        check_served(before[-1].get("served") if before else None, current.get("served"))
        dataset = {"dataset": self._record["dataset"]} if "dataset" in self._record else {}
        sitting = {"started": now(), "ended": None, "hardware": current, **dataset, "items": items}
        sittings.append(sitting)
        self._record.pop("cost_usd", None)  # a process that is killed does not bring it up to date
        answered = len(self.answers.failed)
        try:
            yield
        except BaseException:
            if len(self.answers.failed) > answered:
                with suppress(HdbenchError):  # the first error is the one to report
                    self._end(sitting, hardware())
            raise
        self._end(sitting, hardware())

    def _end(self, sitting: dict[str, Any], hardware: Mapping[str, Any]) -> None:
        sitting |= {"ended": now(), "hardware": hardware}
        if (usd := known_usd(self.answers.recorded())) is not None:
            self._record["cost_usd"] = round(usd, 6)
        self._write()

    def _write(self) -> None:
        self.path.mkdir(exist_ok=True)
        write_json(self.path / RUN_FILE, self._record)


def now() -> str:
    """Return the time, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def record_of(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of run.json, or its future contents if there is none.

    Raises:
        HdbenchError: see `RunFolder.opened`.
    """
    _check_beside(folder, settings)
    path = folder / RUN_FILE
    made = {"run": folder.resolve().name, "date": now()[:10], "hdbench": __version__}
    first = {**made, **settings, "sittings": []}
    if not path.exists():
        others = sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
        if others:
            raise HdbenchError(
                "{place}: holds {name!r} and is not a run: choose another folder",
                place=folder,
                name=others[0],
            )
        return first
    read_run_info(folder)  # says what is wrong with a damaged one
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    before = {key: record.get(key) for key in settings}
    if different := list(_differences(before, json.loads(json.dumps(settings)))):
        if not has_answers(folder):
            return first
        raise _other_settings(folder, different)
    providers = str(record.get("provider") or "").split(", ")
    if (provider := settings.get("provider")) and provider not in providers:
        record["provider"] = ", ".join(filter(None, [*providers, provider]))
    if "dataset" in settings:
        record["dataset"] = settings["dataset"]
    return record


def _check_beside(folder: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a part beside what is not part of the same run."""
    run = whole_run(folder)
    if run == folder:
        return
    parts = [part for part in run_parts(run) if part.exists]
    other = RUN_FILE if (run / RUN_FILE).exists() else ""
    if parts and parts[0].of != settings["part"]["of"]:
        other = parts[0].folder.name
    if other:
        raise HdbenchError(
            "{place}: holds {name}, which does not go with {part}: choose another folder",
            place=run,
            name=other,
            part=folder.name,
        )
    for part in [part for part in parts if part.folder.name != folder.name][:1]:
        record = json.loads((part.folder / RUN_FILE).read_text(encoding="utf-8"))
        common = {key: value for key, value in settings.items() if key not in OF_A_PART}
        before = {key: record.get(key) for key in common}
        if different := list(_differences(before, json.loads(json.dumps(common)))):
            raise _other_settings(part.folder, different)


def _other_settings(folder: Path, different: Sequence[Message]) -> HdbenchError:
    return HdbenchError(
        "{place}: was started with other settings ({different}): choose another folder, "
        "or the same settings",
        place=folder,
        different=joined(different[:3], "; "),
    )


def recorded_dataset(folder: Path) -> Mapping[str, Any] | None:
    """Return what a run records of the dataset that its answers are to; None without answers.

    Raises:
        HdbenchError: its run.json is damaged.
    """
    path = folder / RUN_FILE
    if not path.is_file() or not has_answers(folder):
        return None
    read_run_info(folder)  # says what is wrong with a damaged one
    dataset = json.loads(path.read_text(encoding="utf-8")).get("dataset")
    return dataset if isinstance(dataset, dict) else {}


def recorded_answers(folder: Path) -> Iterator[WrittenAnswer]:
    """Yield the answers recorded so far, without incomplete lines; none before the run exists."""
    parts = [part.folder for part in run_parts(folder)] or [folder]
    for part in parts:
        yield from read_answers(part / OUR_ANSWERS)


def _differences(before: Any, now: Any, name: str = "") -> Iterator[Message]:
    """Yield the differences between two settings, one leaf at a time."""
    if name in MAY_DIFFER:
        return
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
