"""Programs and worker processes: the only module that starts any.

Nothing that lies in the folder in which a person works is run: Python imports nothing from there,
programs are found by absolute folders only, and a child gets no variables but those it needs.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running, set_forkserver_preload
from multiprocessing.process import BaseProcess as Worker
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, CalledProcessError, CompletedProcess, TimeoutExpired
from subprocess import Popen as Process
from threading import Lock
from typing import Any

__all__ = [
    "DEVNULL",
    "PIPE",
    "STDOUT",
    "CalledProcessError",
    "CompletedProcess",
    "Connection",
    "Process",
    "TimeoutExpired",
    "Worker",
    "load",
    "python",
    "run",
    "start",
    "worker",
]

NOWHERE = Path(os.path.abspath(os.sep))
"""The working folder of children that need none."""

NO_IMPORTS = "PYTHONSAFEPATH"
"""The variable that keeps Python from importing what lies in its working folder."""

_SECRETS = ("HDBENCH_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY")
_NEEDED = re.compile(
    r"(?i:(ALL|HTTPS?|NO)_PROXY)|HOME|LANG(UAGE)?|LOGNAME|TE?MP|TMPDIR|TZ|USER"
    r"|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|SSL_CERT_(DIR|FILE)"
    r"|APPDATA|COMSPEC|LOCALAPPDATA|PATHEXT|PROGRAMDATA|SYSTEMROOT|USERPROFILE"  # on Windows
    r"|(DYLD|LD)_LIBRARY_PATH|PATH|PYTHON.*|TESSDATA_PREFIX"
    r"|(ACCELERATE|CUDA|GRADIO|HDBENCH|HF|HIP|HSA|LC|MKL|NCCL|NVIDIA|OMP|OPENBLAS|PYTORCH|ROCR"
    r"|SLURM|SPACES?|TOKENIZERS|TORCH|TRANSFORMERS|TRITON|USE|XDG|ZEROGPU)_.*"
)
_SEARCHED = ("DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH")
"""Variables with a list of folders, of which only absolute ones are searched."""

_starting = Lock()  # multiprocessing's list of processes is not thread-safe


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of an installed package."""
    return [sys.executable, "-P", "-m", module, *arguments]


def start(
    command: Sequence[str],
    *,
    folder: Path = NOWHERE,
    asks_servers: bool = False,
    variables: Mapping[str, str] | None = None,
    **options: Any,
) -> "Process[bytes]":
    """Start a program.

    Args:
        command: its name or absolute path, and its arguments, with absolute paths.
        folder: its working folder.
        asks_servers: whether it gets the keys of servers.
        variables: what it gets besides the variables that each child gets.
        options: the pipes and the session, as `subprocess.Popen` takes them.

    Raises:
        FileNotFoundError: there is no such program.
    """
    environment = {**_environment(asks_servers=asks_servers), **(variables or {})}
    return Process(_absolute(command), cwd=folder, env=environment, **options)  # noqa: S603  no shell


def run(
    command: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    timeout: float | None = None,
    given: bytes = b"",
) -> CompletedProcess[bytes]:
    """Run a program that gets no keys, and return what it printed.

    Args:
        command: see `start`.
        variables: see `start`.
        timeout: the maximum seconds.
        given: its standard input.

    Raises:
        FileNotFoundError: there is no such program.
        CalledProcessError: its exit status is not zero.
        TimeoutExpired: it took too long.
    """
    return subprocess.run(  # noqa: S603  no shell
        _absolute(command),
        cwd=NOWHERE,
        env={**_environment(), **(variables or {})},
        input=given,
        capture_output=True,
        check=True,
        timeout=timeout,
    )


def load(modules: Sequence[str]) -> None:
    """Import modules once, for all future workers, so that none of them takes long to start."""
    os.environ[NO_IMPORTS] = "1"
    set_forkserver_preload(list(modules))
    ensure_running()


@contextmanager
def worker(task: Callable[..., Any], *arguments: Any) -> Iterator[tuple[Worker, Connection]]:
    """Call a function of a module in a process of its own, which is killed after the block.

    Args:
        task: the function; its first argument is the end of a pipe on which it reports.
        arguments: the others, which can be pickled.

    Yields:
        The process, and the other end of the pipe.
    """
    os.environ[NO_IMPORTS] = "1"
    context = get_context("forkserver")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(task, sending, arguments), daemon=True)
    with _starting:
        process.start()
    sending.close()
    try:
        yield process, receiving
    finally:
        receiving.close()
        with _starting:
            process.kill()
            process.join()


def _work(task: Callable[..., Any], pipe: Connection, arguments: tuple[Any, ...]) -> None:
    environment = _environment()
    os.environ.clear()
    os.environ.update(environment)
    task(pipe, *arguments)


def _absolute(command: Sequence[str]) -> list[str]:
    """Return a command whose program no file of the working folder can replace."""
    program = shutil.which(command[0], path=_absolute_folders(os.environ.get("PATH", os.defpath)))
    if program is None:
        raise FileNotFoundError(command[0])
    return [program, *command[1:]]


def _environment(*, asks_servers: bool = False) -> dict[str, str]:
    """Return the variables that a child gets."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if (asks_servers if name in _SECRETS else _NEEDED.fullmatch(name))
    }
    for name in _SEARCHED:
        if name in environment:
            environment[name] = _absolute_folders(environment[name])
    return environment | {NO_IMPORTS: "1"}


def _absolute_folders(searched: str) -> str:
    return os.pathsep.join(filter(os.path.isabs, searched.split(os.pathsep)))
