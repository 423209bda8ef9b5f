"""The runs of a collection: those in the folder `runs` beside it, and files dropped there."""

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from pydantic import Field

from hdbench.answers.answers import Answers
from hdbench.answers.entries import shown
from hdbench.answers.files import open_container
from hdbench.answers.forms import ENDINGS, OUR_ANSWERS, RUN_FILE
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.collections.home.folder import CollectionFolder
from hdbench.collections.home.stamps import Kept
from hdbench.common import processes
from hdbench.common.files import check_name, read_at_most, write_errors
from hdbench.common.jsonio import structured
from hdbench.common.texts import LANGUAGES, translated
from hdbench.common.validation import Strict
from hdbench.common.writing import make_folder, move, opened_file, refuse_links
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.run import is_run, read_run_info, run_parts
from hdbench.evaluation.run import run_name as run_stem
from hdbench.models.run import read_outcome, run_name
from hdbench.models.run_folder import is_locked, lock_of
from hdbench.models.server import OWN_KEY

RUNS = "runs"
"""The folder of runs, as `hdbench run` has it by default."""

LOOKED_AT = 200
"""Number of answers whose fields are looked at when a file is dropped."""

MAX_LOG = 4_000
"""Maximum number of bytes of what a run printed last that are looked at."""


class StartedRun(Strict):
    """How a run was started here.

    Attributes:
        pid: the number of the process.
        model: the model that is asked.
        endpoint: the server's address, if there is one.
    """

    pid: int = Field(gt=1)
    model: str
    endpoint: str | None = None


@dataclass(frozen=True)
class RunView:
    """A run as pages show it.

    Attributes:
        path: its folder, or the file of answers.
        model: the model, or the file's name.
        says_model: whether its answers say the model.
        answered: for how many items there is an answer.
        failed: for how many only an error is recorded.
        items: how many it asks about; None if that is not known.
        is_of_all: whether it asks about all items, also those that are added later.
        is_going: whether a process is at work on it.
        can_stop: whether it was started here and is running.
        problem: why it cannot be read, or what it ended with; empty if all is well.
        is_folder: whether it is a run folder, and no file of answers.
        started: how it was started here; None if it was not.
        notes: what to know about how its answers are read, one line each.
    """

    path: Path
    model: str
    says_model: bool = True
    answered: int = 0
    failed: int = 0
    items: int | None = None
    is_of_all: bool = False
    is_going: bool = False
    can_stop: bool = False
    problem: str = ""
    is_folder: bool = False
    started: StartedRun | None = None
    notes: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Return the name of its folder or file."""
        return self.path.name

    @property
    def is_whole(self) -> bool:
        """Return whether it has ended with an answer or an error for each item."""
        return not self.is_going and self.answered + self.failed > 0 and not self.left

    @property
    def left(self) -> int:
        """Return for how many items there is neither an answer nor an error."""
        return max(0, (self.items or 0) - self.answered - self.failed)


class RunList:
    """The runs of a collection.

    Args:
        collection: the collection.

    Attributes:
        folder: the folder that they are in; it need not exist.
    """

    def __init__(self, collection: CollectionFolder) -> None:
        self._collection = collection
        self.folder = collection.beside / RUNS
        self._kept, self._removing = Kept(), threading.Lock()
        self._keys: dict[str | None, str] = {}

    def views(self) -> Sequence[RunView]:
        """Return the runs that answer the collection, in the order of their names."""
        paths = {path for path in self.folder.glob("[!.]*") if not path.is_symlink()}
        paths |= {path.with_name(path.stem[1:]) for path in self.folder.glob(".?*.pid")}
        items = len(self._collection.progress().items)
        views = [view for path in paths if (view := self._view(path, items))]
        # What comes after a plan is not part of the dataset that it rests on.
        planned = self._collection.usable_plan()
        items = planned.plan.items if planned else items
        return sorted((self._now(view, items) for view in views), key=lambda run: run.name)

    def add(self, given: Path, name: str) -> Path:
        """Move a file of answers to the runs, if it answers this collection.

        Args:
            given: the file, untrusted.
            name: what it is called.

        Returns:
            Where it is then.

        Raises:
            HdbenchError: it cannot be read, has no answer to any item, or has the name of another.
        """
        path = self.folder / f"{self._collection.spec.name}_{name}"
        check_name(path)
        if not name.lower().endswith(ENDINGS):
            raise HdbenchError(
                "{place}: not a file of answers: one of {endings}",
                place=name,
                endings=", ".join(ENDINGS),
            )
        self._read_answers(given, name)
        if path.exists():
            raise HdbenchError(
                "{place}: a file of this name is here already: remove it, or rename the new one",
                place=name,
            )
        with write_errors(path):
            make_folder(self.folder)
            move(given, path, self._collection.beside)
        return path

    def start(self, model: str, endpoint: str | None, language: str, key: str = "") -> Path:
        """Start a run as a process of its own, which keeps running without browser and server.

        Args:
            model: the model.
            endpoint: the address of the server that is asked; None for a local model.
            language: the language of what the process prints.
            key: the server's key, kept in memory until this process ends; by default that given
                before, or that of the environment.

        Returns:
            The run's folder.

        Raises:
            HdbenchError: the collection cannot be built, the run is running already, or no process
                can be started.
        """
        built = self._collection.ensure_built()
        name = run_name(load_benchmark(str(built)), model)
        folder = self.folder / name
        command = processes.python("hdbench", "--language", language)
        command += ["run", self._collection.built_name, f"--model={model}"]
        command += ["-o", f"{RUNS}/{name}"]
        if endpoint is not None:
            command += ["--endpoint", endpoint]
        if key:
            self._keys[endpoint] = key
        with write_errors(folder):
            make_folder(self.folder)
            refuse_links(folder, self._collection.beside)
            self._spawn(command, folder, model, endpoint)
        return folder

    def resume(self, name: str, language: str) -> None:
        """Resume a run where it stopped.

        Args:
            name: the name of its folder.
            language: see `start`.

        Raises:
            HdbenchError: see `start`; or it was not started here.
        """
        started = _started(self.folder / Path(name).name)
        if started is None:
            raise HdbenchError("{name}: was not started here: run its command again", name=name)
        self.start(started.model, started.endpoint, language)

    def stop(self, name: str) -> bool:
        """Stop a run that was started here, as Ctrl+C does; its answers are kept.

        Returns:
            Whether it was running.
        """
        path = self.folder / Path(name).name
        # The process holds the file locked: no other one can have got its number.
        started = _started(path)
        if started is None or not is_locked(_pid_file(path)):
            return False
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGINT)
        return True

    def remove(self, name: str) -> bool:
        """Move a run to the folder `removed` beside the runs; nothing is deleted.

        Returns:
            Whether it was there.

        Raises:
            HdbenchError: it is running, or cannot be moved.
        """
        with self._removing:  # once, if a button was pressed twice
            view = next((view for view in self.views() if view.name == name), None)
            if view is None:
                return False
            if view.is_going:
                raise HdbenchError("{place}: still running: stop it first", place=view.path)
            removed = self.folder.with_name("removed")
            with write_errors(removed):
                if view.path.exists():
                    make_folder(removed)
                    place = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=removed))
                    shutil.move(view.path, place / name)
                _pid_file(view.path).unlink(missing_ok=True)
        return True

    def _spawn(self, command: Sequence[str], run: Path, model: str, endpoint: str | None) -> None:
        """Start a process that holds the file with its number locked until it ends.

        Raises:
            HdbenchError: one that was started before holds it.
        """
        import fcntl  # noqa: PLC0415  not on Windows

        beside, key = self._collection.beside, self._keys.get(endpoint)
        with (
            opened_file(_pid_file(run), "a+", beside) as held,
            opened_file(_log_file(run), "wb", beside) as log,
        ):
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise HdbenchError("{place}: already running", place=run) from error
            process = processes.start(
                command,
                folder=beside,  # the dataset's name, which the run records, is a path from there
                asks_servers=True,
                variables={OWN_KEY: key} if key else {},
                stdin=processes.DEVNULL,
                stdout=log,
                stderr=processes.STDOUT,
                start_new_session=True,
                pass_fds=[held.fileno()],  # with which it inherits the lock
            )
            started = StartedRun(pid=process.pid, model=model, endpoint=endpoint)
            held.truncate(0)
            held.write(started.model_dump_json())
        threading.Thread(target=process.wait, daemon=True).start()

    def _view(self, path: Path, items: int) -> RunView | None:
        files = [path, path / RUN_FILE, path / OUR_ANSWERS, self._collection.folder / DESCRIPTION]
        # Of more items, answers that were to unknown ones can be read.
        return self._kept.get((path, items), files, lambda: self._read(path))

    def _read(self, path: Path) -> RunView | None:
        """Return a run or file of answers, untrusted; None if it is not one of this collection."""
        collection = self._collection.spec.name
        is_named, name = path.name.startswith(f"{collection}_"), path.name
        if not path.exists() or (path.is_dir() and not is_run(path)):
            is_begun = _pid_file(path).exists()  # and no answer is there yet
            return RunView(path, name) if is_named and is_begun else None
        try:
            if not is_run(path):
                name = name.removeprefix(f"{collection}_")
                return self._read_answers(path, name) if is_named else None
            info = read_run_info(path)
            if info.benchmark.rpartition("/")[2] != collection:
                return None
            items = info.sittings[-1].get("items") if info.sittings else None
            outcome = read_outcome(0, path)
            return RunView(
                path,
                info.model,
                answered=outcome.answered - outcome.failed,
                failed=outcome.failed,
                items=items if isinstance(items, int) and not run_parts(path) else None,
                is_of_all=info.items is None,
                is_folder=True,
            )
        except HdbenchError as error:
            return RunView(path, name, problem=error.message)

    def _read_answers(self, path: Path, name: str) -> RunView:
        """Return a file of answers as a run.

        Args:
            path: the file, untrusted.
            name: what messages call it.

        Raises:
            HdbenchError: it cannot be read, or does not answer this collection.
        """
        items = [each.state.item for each in self._collection.progress().items]
        schema, folder = self._collection.schema, self._collection.folder.name
        with closing(open_container(path, schema, name=name, ids=lambda: items)) as container:
            model = next(iter(container.runs))
            answers = Answers(container, model, items, folder, schema)
            return RunView(
                path,
                model or run_stem(Path(name)),
                model is not None,
                answered=len(container.runs[model]),
                is_of_all=True,
                notes=[*container.notes, *_checked(answers, items, schema, name)],
            )

    def _now(self, view: RunView, items: int) -> RunView:
        """Return a run with what changes from one moment to the next.

        Args:
            view: the run.
            items: how many items there are to ask about.
        """
        if run_parts(view.path):
            view = self._read(view.path) or view
        started = _started(view.path)
        can_stop = is_locked(_pid_file(view.path))
        is_going = can_stop or is_locked(lock_of(view.path))
        problem = view.problem
        if view.is_of_all:
            view = replace(view, items=max(view.items or view.answered, items))
        if not problem and not is_going and started and (view.left or not view.answered):
            problem = _error_in(_log_file(view.path))
            if not view.answered:
                problem = problem or Message("ended before its first answer")
        return replace(view, is_going=is_going, can_stop=can_stop, problem=problem, started=started)


def _checked(
    answers: Answers, items: Iterable[str], schema: AnswerSchema, name: str
) -> list[Message]:
    """Return what to know about how the fields of the first answers are read.

    Raises:
        HdbenchError: they are objects without any field of the collection.
    """
    written: dict[str, None] = {}
    has_records = False
    for item in islice((item for item in items if answers.key(item) is not None), LOOKED_AT):
        answer = answers.take(item)
        value = answer.prediction
        has_records |= answer.is_record
        if isinstance(value, str):
            value = structured(value.strip())
        if isinstance(value, dict):
            written |= dict.fromkeys(islice(value, LOOKED_AT))
    if written and not has_records:
        raise HdbenchError(
            "{place}: the answers share no field with the collection: they have {written}, and the "
            "collection has {expected}: are these the answers to this collection?",
            place=name,
            written=shown(written),
            expected=shown(sorted(schema.names)),
        )
    return answers.reader.names.note()


def _pid_file(run: Path) -> Path:
    return run.with_name(f".{run.name}.pid")


def _log_file(run: Path) -> Path:
    return run.with_name(f".{run.name}.log")


def _started(run: Path) -> StartedRun | None:
    """Return how a run was started here; None if it was not."""
    path = _pid_file(run)
    if path.is_symlink():
        return None
    with suppress(OSError, ValueError):
        return StartedRun.model_validate_json(read_at_most(path, MAX_LOG))
    return None


def _error_in(log: Path) -> str:
    """Return the error in the last line that a run printed; empty if it ended with none."""
    errors = {translated(Message("error"), language) for language in LANGUAGES}
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_LOG))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
        head, _, error = lines[-1].partition(": ") if lines else ("", "", "")
        return error if head in errors else ""
    return ""
