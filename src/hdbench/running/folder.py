"""The folder of a run: its settings, and each answer as it came, safe however the run ends."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hdbench import __version__
from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.folders import OUR_ANSWERS, is_in_shards, our_parts
from hdbench.answers.run_info import RUN_FILE, has_answers, read_run_info
from hdbench.common.jsonio import write_json
from hdbench.common.os_errors import parents_of
from hdbench.common.progress import tell
from hdbench.errors import HdbenchError, Message, joined
from hdbench.running.answers_file import AnswersFile, read_answers
from hdbench.running.endpoint_listing import check_served
from hdbench.running.shards.launch import now
from hdbench.running.shards.merging import alone, in_sitting, settle

MAX_SHOWN = 80
"""Maximum characters of a setting in a message."""
MAY_DIFFER = ("provider", "settings.endpoint", "dataset")
"""Settings for the server's address, of which only older versions write the second, and for the
dataset, which `RunPlan` compares; each sitting records them."""


class RunFolder:
    """A run on disk, held open by one process at a time: create it with `opened`.

    Attributes:
        path: the folder.
        answers: those of this sitting and of earlier ones.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self._record = record_of(path, settings)
        if settle(path):
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
                not a run folder, it is damaged, or an earlier launch is not over; see `settle`.
        """
        with parents_of(path), alone(path):
            yield cls(path, settings)

    @contextmanager
    def sitting(
        self, hardware: Callable[[], Mapping[str, Any]], **about: Any
    ) -> Iterator["RunFolder"]:
        """Record a sitting: its hardware, its start and, unless it is killed, its end.

        A sitting that fails before any answer is not recorded.

        Args:
            hardware: what it runs on; asked again at the end, when more may be known.
            **about: what else there is to say about it, as JSON data.

        Raises:
            HdbenchError: the server serves another model than before.
        """
        current, before = hardware(), self.last_hardware
        check_served(before.get("served"), current.get("served"))
        address = before.get("address")
        if address and _host(current.get("address")) != _host(address):
            tell(
                Message(
                    "{run}: asked at {before} so far, and at {now} from now on",
                    run=self.path,
                    before=address,
                    now=current.get("address"),
                )
            )
        sitting, answered = self._begun(current, about), len(self.answers.failed)
        schema = self.answers.schema.copy()
        try:
            yield self
        except BaseException:
            if len(self.answers.failed) > answered:
                with suppress(HdbenchError):  # the first error is the one to report
                    self._end(sitting, hardware(), schema)
            raise
        self._end(sitting, hardware(), schema)

    def _end(
        self, sitting: dict[str, Any], hardware: Mapping[str, Any], schema: Counter[bool]
    ) -> None:
        schema_counts = in_sitting(self.answers.schema - schema)
        sitting |= {"ended": now(), "hardware": dict(hardware), **schema_counts}
        self._write()

    @property
    def last_hardware(self) -> Mapping[str, Any]:
        """Return the hardware of the last sitting that recorded it; empty if none did."""
        sittings = reversed(self._record.get("sittings", ()))
        recorded = (sitting.get("hardware") for sitting in sittings)
        return next(
            (hardware for hardware in recorded if hardware and isinstance(hardware, dict)), {}
        )

    def begin_sitting(self, **about: Any) -> None:
        """Record the start of a sitting that other processes end; see `merge`."""
        self._begun({}, about)
        self._write()

    def _begun(self, hardware: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
        dataset = {"dataset": self._record["dataset"]} if "dataset" in self._record else {}
        sitting = {"started": now(), "ended": None, "hardware": dict(hardware), **dataset, **about}
        self._record.setdefault("sittings", []).append(sitting)
        return sitting

    def _write(self) -> None:
        self.path.mkdir(exist_ok=True)
        write_json(self.path / RUN_FILE, self._record)


def record_of(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of run.json, or its future contents if there is none.

    Raises:
        HdbenchError: see `RunFolder.opened`.
    """
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
        if not (has_answers(folder) or is_in_shards(folder)):
            return first
        raise HdbenchError(
            "{place}: was started with other settings ({different}): choose another folder, "
            "or the same settings",
            place=folder,
            different=joined(different[:3], "; "),
        )
    providers = str(record.get("provider") or "").split(", ")
    if (provider := settings.get("provider")) and provider not in providers:
        record["provider"] = ", ".join(filter(None, [*providers, provider]))
    if "dataset" in settings:
        record["dataset"] = settings["dataset"]
    return record


def recorded_dataset(folder: Path) -> Mapping[str, Any] | None:
    """Return what a run records of the dataset that its answers are to; None without answers.

    Raises:
        HdbenchError: its run.json is damaged.
    """
    path = folder / RUN_FILE
    if not path.is_file() or not (has_answers(folder) or is_in_shards(folder)):
        return None
    read_run_info(folder)  # says what is wrong with a damaged one
    dataset = json.loads(path.read_text(encoding="utf-8")).get("dataset")
    return dataset if isinstance(dataset, dict) else {}


def recorded_answers(folder: Path) -> Iterator[WrittenAnswer]:
    """Yield the answers recorded so far, without incomplete lines; none before the run exists."""
    for part in our_parts(folder) if is_in_shards(folder) else [folder / OUR_ANSWERS]:
        yield from read_answers(part)


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


def _host(address: object) -> str:
    return str(address).partition("://")[2].partition("/")[0]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
