"""A benchmark of many small texts, a server that counts what it is asked, and runs to be killed."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from helpers.run_folders import SPEC
from models.faulty_server import FaultyServer, Request, Response, completion

TRUTH = json.dumps({"title": "Stellingen", "year": 1924})
KEY = "sk-sentinel-5678"


def write_texts(folder: Path, count: int) -> None:
    """The benchmark hdb/texts in a folder; its items are numbered."""
    made = folder / "hdb/texts"
    made.mkdir(parents=True)
    spec = SPEC | {"name": "texts", "media": "text"}
    del spec["report_errors_at"]
    (made / "benchmark.yaml").write_text(json.dumps(spec))
    rows = [{"id": item, "text": f"text <{item}>", "ground_truth": TRUTH} for item in ids_of(count)]
    (made / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (made / "prompt.txt").write_text("Read it.")


def ids_of(count: int) -> list[str]:
    return [f"{number:06}" for number in range(count)]


class Counting:
    """A server that answers each text after some seconds, while its context lasts.

    Attributes:
        started: id → how often it was asked.
        times: id → when it was last asked, and when the answer was ready.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.started: Counter[str] = Counter()
        self.times: dict[str, tuple[float, float]] = {}
        self.seconds = seconds
        self._server = FaultyServer(self._respond, models=["m"])
        self.url = self._server.url
        self._free = threading.Event()
        self._free.set()

    def hold(self) -> None:
        """Answer one item in four no more: a task of 16 items or more soon waits for them."""
        self._free.clear()

    def release(self) -> None:
        """Answer all again."""
        self._free.set()

    def _respond(self, request: Request) -> Response:
        item = re.search(r"<(\d+)>", request.text)[1]
        self.started[item] += 1
        if int(item) % 4 == 3:
            self._free.wait()
        now = time.monotonic()
        self.times[item] = (now, now + self.seconds)
        return Response(completion(TRUTH), seconds=self.seconds)

    def __enter__(self) -> "Counting":
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.__exit__()

    @property
    def again(self) -> list[str]:
        """The items that were asked more than once."""
        return [item for item, times in self.started.items() if times > 1]


class Run:
    """The run runs/a of those texts, as a person runs it.

    Args:
        folder: the working directory.
        url: of the server.
        environment: what the commands have in it besides.
    """

    def __init__(self, folder: Path, url: str, environment=()) -> None:
        self.here = folder
        self.folder = folder / "runs/a"
        self.environment = os.environ | {"HDBENCH_API_KEY": KEY} | dict(environment)
        self._command = ("run", "hdb/texts", "--model", "m", "--endpoint", url, "-o", "runs/a")

    def hdbench(self, *arguments: object, timeout: float = 300) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "hdbench", *map(str, arguments)],
            cwd=self.here,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def run(self, *arguments: object) -> subprocess.CompletedProcess:
        return self.hdbench(*self._command, *arguments)

    def start(self, *arguments: object) -> subprocess.Popen:
        """The same, without waiting for its end; it writes to run.log."""
        with (self.here / "run.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "hdbench", *self._command, *map(str, arguments)],
                cwd=self.here,
                env=self.environment,
                stdout=log,
                stderr=log,
            )

    @property
    def log(self) -> str:
        return (self.here / "run.log").read_text()

    def recorded(self) -> int:
        """How many answers are recorded in it, or in its parts."""
        return sum(map(lines_of, self.files()))

    def files(self) -> list[Path]:
        """The files of answers, in order."""
        return sorted(self.folder.glob("part-*/answers.jsonl")) or [self.folder / "answers.jsonl"]

    def check_whole(self, count: int) -> None:
        """One answer to each item."""
        lines = [line for path in self.files() for line in path.read_text().splitlines()]
        assert sorted(json.loads(line)["id"] for line in lines) == ids_of(count)


def asking(part):
    """The processes that ask a part."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"\0--part\0{part}\0".encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    assert found
    return found


def lines_of(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0
