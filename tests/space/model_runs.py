"""What tests of runs of local models need."""

import os
from pathlib import Path

from hdbench.benchmarks.benchmark import load_benchmark


def image_of(sample):
    return load_benchmark(str(sample / "hdb/zettelkatalog")).media()["sample-01"][0]


def processes():
    """The command lines of all processes that run a model for a Space of this worker's."""
    worker = f"PYTEST_XDIST_WORKER={os.environ.get('PYTEST_XDIST_WORKER', '')}"
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().decode(errors="replace").split("\0")
            is_ours = worker in path.with_name("environ").read_text(errors="replace")
        except OSError:  # it has ended
            continue
        if "hdbench.cli.model_process" in command and (is_ours or worker.endswith("=")):
            found.append(command)
    return found
