import os
import shutil

import pytest

# More threads than free cores make so small a model a hundred times slower.
os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture
def here(sample, tmp_path):
    """A working directory with the sample's eight cards."""
    shutil.copytree(sample / "hdb", tmp_path / "hdb", symlinks=True)
    return tmp_path


@pytest.fixture
def hdbench(here, run_hdbench):
    """The command line in that directory."""
    return lambda *arguments, **environment: run_hdbench(*arguments, cwd=here, **environment)
