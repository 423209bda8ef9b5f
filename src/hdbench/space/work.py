"""Work on a visitor's file, in a process of its own that is ended when it takes too much.

There is no other way to stop what a parser does in C, or to free the memory that it has taken.
"""

import errno
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from hdbench.common import processes
from hdbench.common.processes import Connection
from hdbench.common.progress import Listener
from hdbench.common.servers import ends
from hdbench.errors import HdbenchError, Message
from hdbench.space.context import uploads

MAX_SECONDS = 60
"""Maximum seconds of computing for one file: a model's answers to 263 cards take 1.2 s."""

MAX_MEMORY = 384 * 2**20
"""Maximum bytes of memory for one file, besides those of the program: 48 MB of honest answers, from
48 models to 263 cards each, take about 120 MB."""

MAX_WRITTEN = 2**29
"""Maximum bytes of a file written during work, such as an unpacked one."""

TASKS = tuple(f"hdbench.space.{name}" for name in ("scoring", "comparison", "leaderboard"))
"""The modules that are loaded once, for all future processes."""

_NICENESS = 5  # the server goes first
_PATIENCE = 2  # this many times its computing seconds may pass while others compute
_ENDING = 10.0  # seconds until a process that no longer reports has ended, on a busy machine
_POLL = 0.1
ended = Event()
"""Set when the server ends."""

_SPARE = 2**24  # bytes that let a process whose memory is used up say so

_send: ContextVar[Callable[[Any], object]] = ContextVar("send", default=id)

Task = Callable[..., Any]
"""A function of a module; its arguments, results and what it sends can be pickled."""


def load() -> None:
    """Load the modules that each process needs, so that no visitor has to wait for them."""
    processes.load(TASKS)


def send(value: object) -> None:
    """Send something to the caller that waits for the task in this process, if there is one."""
    _send.get()(value)


@contextmanager
def sending(receiver: Callable[[Any], object]) -> Iterator[None]:
    """Pass everything that is sent within the block to a function."""
    token = _send.set(receiver)
    try:
        yield
    finally:
        _send.reset(token)


class Progress(NamedTuple):
    """The progress of a task.

    Attributes:
        doing: the key of the text that says what is done now.
        done: how many of its parts are done.
        total: how many there are; None if it has no parts.
    """

    doing: str
    done: int = 0
    total: int | None = None


def progress_of(doing: str) -> Listener:
    """Begin a part of a task, and return a listener that sends its progress.

    Args:
        doing: the key of the text that says what is done in it.
    """
    send(Progress(doing))
    return lambda done, total: send(Progress(doing, done, total))


class _Done(NamedTuple):
    value: Any


def work(task: Task, *arguments: Any, times: int = 1) -> Generator[Any, None, None]:
    """Do a task in a process of its own.

    Args:
        task: a function of a module.
        arguments: the task's arguments.
        times: how many times as much time and memory it may take as a visitor's file.

    Yields:
        What it sends, and finally what it returns.

    Raises:
        HdbenchError: the task fails, or takes too much time or memory.
    """
    deadline = time.monotonic() + _PATIENCE * MAX_SECONDS * times
    limits = (MAX_SECONDS * times, MAX_MEMORY * times, MAX_WRITTEN)
    with (
        tempfile.TemporaryDirectory(dir=uploads().parent, ignore_cleanup_errors=True) as scratch,
        processes.worker(_run, limits, scratch, task, arguments) as (process, pipe),
    ):
        while True:
            if ended.is_set():
                raise ends()
            if time.monotonic() > deadline:
                raise _too_long()
            if not pipe.poll(_POLL):
                continue
            try:
                message = pipe.recv()
            except (EOFError, OSError) as error:
                process.join(_ENDING)
                raise _reason(process.exitcode) from error
            if isinstance(message, HdbenchError):
                raise message
            if isinstance(message, _Done):
                yield message.value
                return
            yield message


def _run(
    pipe: Connection,
    limits: tuple[int, int, int],
    scratch: str,
    task: Task,
    arguments: tuple[Any, ...],
) -> None:
    """Do a task within limits, in this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    os.nice(_NICENESS)
    seconds, memory, disk = limits
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    data = _size_of_data() + memory
    with_spare = (data + _SPARE, data + _SPARE)
    resource.setrlimit(resource.RLIMIT_DATA, (data, data + _SPARE))
    resource.setrlimit(resource.RLIMIT_FSIZE, (disk, disk))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tempfile.tempdir = scratch  # which the server deletes, however this process ends
    try:
        with sending(pipe.send):
            message: Any = _Done(task(*arguments))
    except HdbenchError as error:
        message = error
    except MemoryError:
        resource.setrlimit(resource.RLIMIT_DATA, with_spare)
        message = _too_large(memory)
    except BrokenPipeError:  # nobody listens any more
        return
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        message = _too_much(Message("{most:,} MiB of disk", most=disk >> 20))
    with suppress(BrokenPipeError):
        pipe.send(message)


def _size_of_data() -> int:
    """Return the bytes of this process's data now; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[5]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def _reason(status: int | None) -> HdbenchError:
    """Return the reason why a process ended without giving one."""
    if status == -signal.SIGXCPU:
        return _too_long()
    if status is not None and status < 0:  # C code that gets no memory aborts or is killed
        return _too_large(MAX_MEMORY)
    return HdbenchError(
        "hdbench itself failed over this file, which is its fault: please report it; the server's "
        "log says more"
    )


def _too_long() -> HdbenchError:
    return _too_much(Message("{most} seconds to compute", most=MAX_SECONDS))


def _too_large(memory: int) -> HdbenchError:
    return _too_much(Message("{most:,} MiB of memory", most=memory >> 20))


def _too_much(limit: Message) -> HdbenchError:
    return HdbenchError(
        "this takes more than {limit}, which is too much here: split the file, or "
        "score it with hdbench score",
        limit=limit,
    )
