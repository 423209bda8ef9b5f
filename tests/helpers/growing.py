"""How long reading takes, and how much memory: python -m helpers.growing FORM TIMES [DIMENSION …]

Prints a line of JSON for each dimension: its name, and seconds of CPU and bytes for a file and for
one that is TIMES as large.
"""

import json
import os
import resource
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from helpers.forms import FORMS, Write

from hdbench.errors import HdbenchError

ROUNDS = 3
ENOUGH = 0.5  # seconds, in which a busy machine makes little difference
ENDINGS = {"a tar file": ".tar", "Parquet of images": ".parquet"}


def measured(form: str, write: Write, n: int) -> tuple[float, int]:
    """The least seconds of CPU of some rounds, and the bytes by which memory grew."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ENDINGS.get(form, '')}"
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
    seconds, memory = json.loads(figures)
    return seconds, memory


def taken(form: str, path: Path) -> tuple[float, int]:
    """The least seconds of CPU that reading a file takes, and by how many bytes memory grows."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds: list[float] = []
    while len(seconds) < ROUNDS and sum(seconds) < ENOUGH:
        start = time.process_time()
        with suppress(HdbenchError):  # soon, too
            FORMS[form].read(path)
        seconds.append(time.process_time() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return min(seconds), memory * 1024


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
