"""How long reading takes, and how much memory: python -m helpers.growing FORM TIMES [DIMENSION …]

Prints a line of JSON for each dimension: its name; and for a file and for one that is TIMES as
large, seconds of CPU, bytes, and whether the file is refused.
"""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from helpers.forms import FORMS, Write

from hdbench.errors import HdbenchError

ROUNDS = 3
ENOUGH = 0.5  # seconds, in which a busy machine makes little difference


class Measured(NamedTuple):
    """Cost of reading a file.

    Attributes:
        seconds: the least of CPU of some rounds.
        memory: by how many bytes it grew.
        is_refused: whether the file is refused, which is soon done.
    """

    seconds: float
    memory: int
    is_refused: bool


def measured(form: str, write: Write, n: int) -> Measured:
    """Measure in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write(path, n)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.write(writing, json.dumps(taken(form, path)).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as said:
            figures = said.read()
        os.waitpid(child, 0)
    return Measured(*json.loads(figures))


def taken(form: str, path: Path) -> Measured:
    """Measure in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds: list[float] = []
    is_refused = False
    while len(seconds) < ROUNDS and sum(seconds) < ENOUGH:
        start = time.process_time()
        try:
            FORMS[form].read(path)
        except HdbenchError:
            is_refused = True
        seconds.append(time.process_time() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return Measured(min(seconds), memory * 1024, is_refused)


def main() -> None:
    """Measure a form in the dimensions that are named, or in all."""
    form, times, *named = sys.argv[1:]
    dimensions = FORMS[form].dimensions
    for name in named or dimensions:
        n, write = dimensions[name]
        figures = [measured(form, write, size) for size in (n, n * int(times))]
        print(json.dumps([name, *figures]), flush=True)


if __name__ == "__main__":
    main()
