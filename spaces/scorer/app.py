"""The Space on the Hub, with what its settings say (see README.md)."""

import os
import sys
from pathlib import Path

from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext, fetch_namespace


def namespace() -> Path:
    """The folder with the benchmarks: the operator's own, or what this Space's owner published."""
    folder = Path(os.environ.get("HDBENCH_NAMESPACE", "hdb"))
    owner = os.environ.get("SPACE_ID", "").partition("/")[0]  # the Hub sets it
    if folder.is_dir() or not owner:
        return folder
    return fetch_namespace(owner, Path("fetched"))


if __name__ == "__main__":
    # Not above: each process that scores a file loads this one too, and Gradio takes long to load.
    from hdbench.space.app import serve

    settings = SpaceContext(
        namespace(),
        models=tuple(os.environ.get("HDBENCH_MODELS", "").split()),
        contact=os.environ.get("HDBENCH_CONTACT"),
    )
    try:
        serve(settings)
    except HdbenchError as error:
        sys.exit(f"error: {error}")
