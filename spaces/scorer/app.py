"""The Space on the Hub, with what its settings say (see README.md)."""

import os
from pathlib import Path

from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

if __name__ == "__main__":
    serve(
        SpaceContext(
            Path(os.environ.get("HDBENCH_NAMESPACE", "hdb")),
            results_repository=os.environ.get("HDBENCH_RESULTS_REPOSITORY"),
            models=tuple(os.environ.get("HDBENCH_MODELS", "").split()),
        )
    )
