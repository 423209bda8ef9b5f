"""What tests of runs of local models need."""

from contextlib import suppress

import psutil

from hdbench.benchmarks.benchmark import load_benchmark


def image_of(sample):
    return load_benchmark(str(sample / "hdb/zettelkatalog")).media()["sample-01"][0]


def processes():
    """The command lines of all processes that run a model for a Space of this worker's."""
    ours = psutil.Process().children(recursive=True)
    found = []
    for process in ours:
        with suppress(psutil.Error):  # it has ended
            found.append(process.cmdline())
    return [command for command in found if "hdbench.cli.model_process" in command]
