"""The benchmarks and recorded runs of a Space on the Hub: those in its namespace."""

from pathlib import Path

from hdbench.benchmarks.model_facts import RESULTS
from hdbench.common.hub import one_line_errors
from hdbench.errors import HdbenchError

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
    from huggingface_hub import HfApi, snapshot_download  # noqa: PLC0415  slow to import

    namespace = folder / owner
    hub = HfApi()
    with one_line_errors(owner, _ADVICE):
        for dataset in hub.list_datasets(author=owner):
            name = dataset.id.partition("/")[2]
            if name == RESULTS or hub.file_exists(dataset.id, _MARK, repo_type="dataset"):
                snapshot_download(
                    dataset.id,
                    repo_type="dataset",
                    local_dir=namespace / name,
                    ignore_patterns=PDFS,
                )
    if not namespace.is_dir():
        raise HdbenchError(
            "{place}: has no benchmark on the Hub: use hdbench publish first", place=owner
        )
    return namespace
