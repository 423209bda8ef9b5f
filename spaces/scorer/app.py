"""The Space on the Hub, with what its settings say (see README.md)."""

import os
from pathlib import Path

from hdbench.space.context import SpaceContext
from hdbench.space.jobs.from_hub import fetch_namespace, follow_results


def namespace() -> Path:
    """The folder with the benchmarks: the operator's own, or what this Space's owner published."""
    folder = Path(os.environ.get("HDBENCH_NAMESPACE", "hdb"))
    owner = os.environ.get("SPACE_ID", "").partition("/")[0]  # the Hub sets it
    if folder.is_dir() or not owner:
        return folder
    fetched = fetch_namespace(owner, Path("fetched"))
    follow_results(fetched)
    return fetched


def held_out() -> Path | None:
    """The folder with held-out ground truths, if the operator has one."""
    folder = os.environ.get("HDBENCH_HELD_OUT")
    return Path(folder) if folder else None


if __name__ == "__main__":
    # Not above: each process that scores a file loads this one too, and Gradio takes long to load.
    from hdbench.space.app import serve

    serve(
        SpaceContext(
            namespace(),
            results_repository=os.environ.get("HDBENCH_RESULTS_REPOSITORY"),
            models=tuple(os.environ.get("HDBENCH_MODELS", "").split()),
            held_out=held_out(),
        )
    )
