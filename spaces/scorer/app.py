"""The Space on the Hub: the benchmarks in its folder hdb, or where HDBENCH_NAMESPACE says."""

import os
from pathlib import Path

from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

if __name__ == "__main__":
    serve(SpaceContext(Path(os.environ.get("HDBENCH_NAMESPACE", "hdb"))))
