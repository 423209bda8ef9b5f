"""Serve the page for the values of a plan that is a file; only for tests, run by its path.

The plan has the values of both `stages`, or those of a control sample. What it makes of the first
stage takes until there is a file `learned` beside it, and fails as long as there is a file `fails`.
"""

import hashlib
import json
import sys
import time
from pathlib import Path

from hdbench.collections.truth.events import ValueKey
from hdbench.collections.truth.reading_page import ValueCheck
from hdbench.collections.truth.readings import ReadingStage
from hdbench.collections.truth.server import serve
from hdbench.errors import HdbenchError


class FilePlan:
    """A plan in a file."""

    def __init__(self, path):
        self._path = path
        stages = json.loads(path.read_text())["stages"]
        names = ("learn", "verify") if len(stages) == 2 else ("control",)
        self._stages = [
            ReadingStage(name, [ValueKey(*key) for key in keys], "counts")
            for name, keys in zip(names, stages, strict=True)
        ]
        self.hash = hashlib.sha256(path.read_bytes()).hexdigest()

    def stages(self):
        return self._stages if self._path.with_name("drawn").exists() else self._stages[:1]

    def check_open(self):
        pass

    def advance(self):
        if self._path.with_name("fails").exists():
            raise HdbenchError("{place}: no such file or folder", place="answers.jsonl")
        while not self._path.with_name("learned").exists():
            time.sleep(0.02)
        self._path.with_name("drawn").touch()


def main(folder, plan, annotator, language=None):
    check = ValueCheck(Path(folder), FilePlan(Path(plan)), annotator, language)
    serve(check, port=0, started=lambda url: print(url, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
