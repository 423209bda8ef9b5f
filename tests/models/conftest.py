import os
import shutil

import pytest
from PIL import Image

from hdbench.models.backend import Question

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


@pytest.fixture(scope="session")
def question(tmp_path_factory):
    """Questions by number, each with an image of its own."""
    folder = tmp_path_factory.mktemp("images")

    def make(number):
        path = folder / f"{number}.png"
        if not path.exists():
            Image.new("RGB", (4, 4), (number % 256, number // 256, 0)).save(path)
        return Question(f"item-{number}", [path])

    return make
