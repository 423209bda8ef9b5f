"""The folder of a run: its settings, and each answer as it came, safe however the run ends."""

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from hdbench.about import __version__
from hdbench.answers.answer import WrittenAnswer, answers_jsonl
from hdbench.answers.forms import OUR_ANSWERS, RUN_FILE
from hdbench.common.files import parents_of
from hdbench.common.jsonio import UNIQUE, parse_json, raw_lines, write_json
from hdbench.common.writing import append, write_whole
from hdbench.errors import HdbenchError, Message, joined, write_reason
from hdbench.evaluation.run import has_answers, read_run_info, run_parts, whole_run

MAX_SHOWN = 80
"""Maximum characters of a setting in a message."""
MAY_DIFFER = ("provider", "dataset")
"""Settings for the server's host, and for the dataset, which `RunPlan` compares; each sitting
records them."""
OF_A_PART = ("items", "subset", "part.number", "part.subset")
"""Settings in which the parts of a run differ."""
PEEKING = 0.5
"""Seconds after which a folder is taken for locked: `is_locked` holds the lock for a moment."""


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

    def forget_failed(self) -> None:
        """Remove the answers that are only an error."""
        if any(self.failed.values()):
            kept = (answer for answer in read_answers(self.path) if not is_failed(answer))
            write_whole(self.path, answers_jsonl(kept))
            self.failed = {item: failed for item, failed in self.failed.items() if not failed}

    def add(self, answer: WrittenAnswer) -> None:
        """Record an answer; when this returns it is on disk."""
        if self._begin is not None:
            self._begin()
            self._begin = None
        append(self.path, answers_jsonl([answer]))
        self.failed[answer["id"]] = is_failed(answer)


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
        past = [served for sitting in sittings if (served := _served(sitting.get("hardware")))]
        now = _served(current)
        if past and now and past[-1] != now:
            raise HdbenchError(
                "the server serves {now}, and the run so far was answered by {before}: serve the "
                "same model, or choose another folder",
                now=now,
                before=past[-1],
            )
        data = {"dataset": self._record.get("dataset"), "items": items}
        sitting = {"started": _now(), "ended": None, "hardware": current, **data}
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
        sitting |= {"ended": _now(), "hardware": hardware}
        if (usd := known_usd(read_answers(self.answers.path))) is not None:
            self._record["cost_usd"] = round(usd, 6)
        self._write()

    def _write(self) -> None:
        self.path.mkdir(exist_ok=True)
        write_json(self.path / RUN_FILE, self._record)


def lock_of(run: Path) -> Path:
    """Return the file that a process which writes to a run's folder holds locked."""
    folder = run.resolve()
    return folder.with_name(f".{folder.name}.lock")  # beside it: the folder may be untrusted


@contextmanager
def alone(run: Path) -> Iterator[None]:
    """Be the only process that writes to a run's folder.

    Raises:
        HdbenchError: another process is writing to it, or it cannot be written.
    """
    lock = lock_of(run)
    try:
        with FileLock(lock, timeout=PEEKING):
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
    except Timeout as error:
        raise HdbenchError(
            "{run}: another hdbench is writing to this folder: wait until it is done, or choose "
            "another folder",
            run=run,
        ) from error
    except OSError as error:
        raise HdbenchError(
            "{run}: cannot be written: {why}; what was answered is kept: run again then, the "
            "command resumes where it stopped",
            run=run,
            why=write_reason(error),
        ) from error


def is_locked(path: Path) -> bool:
    """Return whether a process here, or where locks are shared, holds a file locked.

    The file is not changed: it may belong to someone else and be anything.
    """
    try:
        import fcntl  # noqa: PLC0415  not on Windows
    except ModuleNotFoundError:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def recorded(folder: Path) -> dict[str, Any]:
    """Return what run.json says of a run; nothing before its first answer.

    Raises:
        HdbenchError: it is damaged.
    """
    path = folder / RUN_FILE
    if not path.is_file() or not has_answers(folder):
        return {}
    read_run_info(folder)  # says what is wrong with a damaged one
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def record_of(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of run.json, or its future contents before the first answer.

    Raises:
        HdbenchError: see `RunFolder.opened`.
    """
    _check_beside(folder, settings)
    if folder.exists() and not (folder / RUN_FILE).exists():
        for other in sorted(entry.name for entry in folder.iterdir()):
            raise HdbenchError(
                "{place}: holds {name!r} and is not a run: choose another folder",
                place=folder,
                name=other,
            )
    record = recorded(folder)
    if not record:
        made = {"run": folder.resolve().name, "date": _now()[:10], "hdbench": __version__}
        return {**made, **settings, "sittings": []}
    _check_same(folder, record, settings, MAY_DIFFER)
    providers = str(record.get("provider") or "").split(", ")
    if (provider := settings.get("provider")) and provider not in providers:
        record["provider"] = ", ".join(filter(None, [*providers, provider]))
    if "dataset" in settings:
        record["dataset"] = settings["dataset"]
    return record


def _check_beside(folder: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a part beside what is not part of the same run."""
    run = whole_run(folder)
    beside = [run / RUN_FILE, *(part.folder / RUN_FILE for part in run_parts(run))]
    for path in beside if run != folder else ():
        if path.is_file() and path.parent.name != folder.name:
            record = json.loads(path.read_text(encoding="utf-8"))
            _check_same(path.parent, record, settings, MAY_DIFFER + OF_A_PART)
            return


def _check_same(
    folder: Path, record: Mapping[str, Any], settings: Mapping[str, Any], but: Sequence[str]
) -> None:
    before = {key: record.get(key) for key in settings}
    now = json.loads(json.dumps(settings))
    if different := list(_differences(before, now, but)):
        raise HdbenchError(
            "{place}: was started with other settings ({different}): choose another folder, "
            "or the same settings",
            place=folder,
            different=joined(different[:3], "; "),
        )


def _differences(before: Any, now: Any, but: Sequence[str], name: str = "") -> Iterator[Message]:
    """Yield the differences between two settings, one leaf at a time."""
    if name in but:
        return
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            inner = f"{name}.{key}" if name else key
            yield from _differences(before.get(key), now.get(key), but, inner)
    elif before != now:
        yield Message(
            "{name}: {before} then, {now} now", name=name, before=_shown(before), now=_shown(now)
        )


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _served(hardware: Any) -> str:
    """Return the name of the model that a server says it serves, if it says one.

    In vLLM, `root` is the loaded model and `id` the name it serves. A path may differ between
    machines: its last part counts.
    """
    served = hardware.get("served") if isinstance(hardware, dict) else None
    name = str(served.get("root") or served.get("id") or "") if isinstance(served, dict) else ""
    return name.rstrip("/").rpartition("/")[2] if name.startswith(("/", "./")) else name


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def recorded_answers(folder: Path) -> Iterator[WrittenAnswer]:
    """Yield the answers recorded so far, without incomplete lines; none before the run exists."""
    parts = [part.folder for part in run_parts(folder)] or [folder]
    for part in parts:
        yield from read_answers(part / OUR_ANSWERS)


def read_answers(path: Path) -> Iterator[WrittenAnswer]:
    """Yield the answers in a file, except torn ones; none if there is no such file.

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


def _answer(line: bytes) -> WrittenAnswer | None:
    """Return the answer in a line; None if the line is torn or is not an answer."""
    try:
        answer = parse_json(line.decode(), UNIQUE)
    except ValueError:
        return None
    is_whole = line.endswith(b"\n") and isinstance(answer, dict)
    # What is whole was written by this program.
    return cast(WrittenAnswer, answer) if is_whole and isinstance(answer.get("id"), str) else None
