"""The benchmarks and recorded runs of a Space on the Hub: those in its namespace."""

import sys
import threading
import time
from pathlib import Path

from hdbench.common.hub import one_line_errors
from hdbench.errors import HdbenchError
from hdbench.results.model_facts import RESULTS

EVERY = 600
"""Seconds between checks for newly merged runs."""

PDFS = "*.pdf"
"""Files that are not fetched: thousands take gigabytes, and reports do without their pictures."""

_MARK = "benchmark.yaml"
_ADVICE = "look at the Space's namespace and at the connection"


def fetch_namespace(owner: str, folder: Path) -> Path:
    """Fetch the benchmarks among the datasets of a user or organization, and its recorded runs.

    Args:
        owner: the user's or organization's name on the Hub.
        folder: the folder for them; files that it has already are not fetched again.

    Returns:
        The namespace folder.

    Raises:
        HdbenchError: the Hub cannot be asked, or the owner has no benchmark.
    """
    from huggingface_hub import HfApi  # noqa: PLC0415  slow to import

    namespace = folder / owner
    hub = HfApi()
    with one_line_errors(owner, _ADVICE):
        for dataset in hub.list_datasets(author=owner):
            name = dataset.id.partition("/")[2]
            if name == RESULTS or hub.file_exists(dataset.id, _MARK, repo_type="dataset"):
                _fetch(dataset.id, namespace / name)
    if not namespace.is_dir():
        raise HdbenchError(
            "{place}: has no benchmark on the Hub: use hdbench publish first", place=owner
        )
    return namespace


def follow_results(namespace: Path, every: float = EVERY) -> None:
    """Fetch newly merged runs from time to time, until the process ends.

    Args:
        namespace: see `fetch_namespace`.
        every: seconds between checks.
    """

    def follow() -> None:
        repository = f"{namespace.name}/{RESULTS}"
        while True:
            time.sleep(every)
            try:
                with one_line_errors(repository, "it is tried again"):
                    _fetch(repository, namespace / RESULTS)
            except HdbenchError as error:
                print(error, file=sys.stderr)  # noqa: T201  the operator's log

    if (namespace / RESULTS).is_dir():
        threading.Thread(target=follow, daemon=True).start()


def _fetch(repository: str, folder: Path) -> None:
    from huggingface_hub import snapshot_download  # noqa: PLC0415  slow to import

    snapshot_download(repository, repo_type="dataset", local_dir=folder, ignore_patterns=PDFS)
