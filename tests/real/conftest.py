from pathlib import Path
from typing import NamedTuple

import pytest

BENCHMARKS = ("zettelkatalog", "avisblatt", "rheinschifffahrt")


class Published(NamedTuple):
    """A folder whose hdb/ has the three benchmarks and the recorded runs.

    Attributes:
        folder: the working directory.
        said: what building them said.
    """

    folder: Path
    said: str


@pytest.fixture(scope="session")
def published(tmp_path_factory, shared, run_hdbench) -> Published:
    """The published data, built once by the command line; tests write beside hdb/, not in it."""
    folder = tmp_path_factory.mktemp("published")
    source = shared / "upstream/humanities_data_benchmark"
    options = ("--source", source, "--allow-missing", "--accept-licence")
    said = ""
    for arguments in ((*BENCHMARKS, *options), ("results", "--source", shared / "recorded")):
        done = run_hdbench("build", *arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
        said += done.stdout
    return Published(folder, said)
