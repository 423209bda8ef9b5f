"""Processes of Python that begin with their imports done: forks of one that did them.

Most of what a command or a server takes is importing, and taking down at exit what was imported. A
fork has, as a new process would, a folder, an environment and standard streams of its own. All
forks have the same hash seed, though, and what was imported may have read the environment, as
huggingface_hub has: no fork of a process that imported it can have other settings of it.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import ModuleType


class Forks:
    """A process that has imported some modules, and is forked.

    Args:
        modules: their names.
        settings: what its environment has besides.
    """

    def __init__(self, *modules, **settings):
        self._folder = tempfile.TemporaryDirectory(prefix="hdbench-forks-")
        self._path = str(Path(self._folder.name) / "socket")
        self._process = subprocess.Popen(
            [sys.executable, __file__, self._path, *modules],
            env=os.environ | settings,
            stdin=subprocess.PIPE,  # it ends when this process does
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout.readline() == b"ready\n"

    def start(self, *arguments, cwd, env, stdout=None, stderr=None):
        """Fork, and do what `python` would with these arguments: -m, -c or a path first."""
        request = {"arguments": arguments, "cwd": str(cwd), "environment": env}
        streams = [each.fileno() if each else ours for each, ours in ((stdout, 1), (stderr, 2))]
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._path)
        socket.send_fds(connection, [b" "], streams)
        connection.sendall(json.dumps(request).encode() + b"\n")
        return Fork(connection)

    def run(self, *arguments, cwd, env, timeout=300):
        """The same to its end; what it wrote is text."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            process = self.start(*arguments, cwd=cwd, env=env, stdout=out, stderr=errors)
            try:
                status = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            for each in (out, errors):
                each.seek(0)
            return subprocess.CompletedProcess(arguments, status, out.read(), errors.read())

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()
        self._folder.cleanup()


class Fork:
    """A process that was forked, with what is needed of `subprocess.Popen`."""

    def __init__(self, connection):
        self._connection = connection
        self._told = connection.makefile()
        self.pid = int(self._told.readline())

    def terminate(self):
        """Send SIGTERM."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self):
        """Send SIGKILL."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout):
        """The exit status, negative for a signal."""
        if not select.select([self._connection], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        with self._connection, self._told:
            return int(self._told.readline())


ENDED = []
"""The exit status of a fork that has done what it was asked."""


def _leave():
    """The last thing at exit: to leave, without taking down what was imported."""
    if ENDED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ENDED[0])


def _serve(path, modules):
    atexit.register(_leave)  # the first to be registered is the last to be called
    gc.disable()
    for module in modules:
        import_module(module)
    gc.freeze()  # collecting what was imported would copy all of it into each fork
    gc.enable()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if not os.fork():
                break
            connection.close()
        else:
            return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _keep(connection)


def _keep(connection):
    """Fork the process, tell its number and in the end its status."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 2)
    with connection.makefile() as asked:
        request = json.loads(asked.readline())
    if not (process := os.fork()):
        connection.close()
        try:
            _become(request, streams)
        except SystemExit as ended:
            if ended.code is None or isinstance(ended.code, int):  # else it is written first
                ENDED.append(ended.code or 0)
            raise
        ENDED.append(0)
        return
    for each in streams:
        os.close(each)
    connection.sendall(b"%d\n" % process)
    _, status = os.waitpid(process, 0)
    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become(request, streams):
    for number, stream in enumerate([os.open(os.devnull, os.O_RDONLY), *streams]):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    environment = request["environment"]
    if "huggingface_hub" in sys.modules:
        assert _read_by_the_hub(environment) == _read_by_the_hub(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # it is that of the process that imported
    if gradio := sys.modules.get("gradio.http_server"):
        gradio.INITIAL_PORT_VALUE = int(os.environ.get("GRADIO_SERVER_PORT", "7860"))
    what, *arguments = request["arguments"]
    folder = {"-m": os.getcwd(), "-c": ""}.get(what, str(Path(what).parent))
    sys.path[:1] = [folder, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    if what == "-m":
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    elif what == "-c":
        sys.argv = ["-c", *arguments[1:]]
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(arguments[0], main.__dict__)
    else:
        sys.argv = [what, *arguments]
        runpy.run_path(what, run_name="__main__")


def _read_by_the_hub(environment):
    """What it reads when it is imported: all but the token."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith("HF_") and name != "HF_TOKEN"
    }


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2:])
