from pathlib import Path
from typing import NamedTuple

import pytest

BENCHMARKS = (
    *("zettelkatalog", "avisblatt", "rheinschifffahrt"),
    *("bibliography", "blacklist", "companylists", "manuscripts", "advertxml"),
)


class Published(NamedTuple):
    """A folder whose hdb/ has the published benchmarks and the recorded runs.

    Attributes:
        folder: the working directory.
        said: what building them said.
    """

    folder: Path
    said: str


@pytest.fixture(scope="session")
def published(built_once, shared) -> Published:
    """The published data, built once by the command line; tests write beside hdb/, not in it."""
    source = shared / "upstream/humanities_data_benchmark"
    options = ("--source", source, "--allow-missing", "--accept-licence")
    runs = ("results", "--source", shared / "recorded")
    folder = built_once("published", (*BENCHMARKS, *options), runs)
    return Published(folder, (folder / "said.txt").read_text())
