import os
import shutil
from pathlib import Path

import pytest

# More threads than free cores make so small a model a hundred times slower.
os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> Path:
    """A folder with a LLaVA of random weights, always the same, and its processor."""
    import torch  # noqa: PLC0415  slow to import
    from helpers.tiny_llava import save_tiny_llava  # noqa: PLC0415

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("tiny") / "llava"
    save_tiny_llava(folder)
    return folder


@pytest.fixture
def here(sample, tmp_path):
    """A working directory with the sample's eight cards."""
    shutil.copytree(sample / "hdb", tmp_path / "hdb", symlinks=True)
    return tmp_path


@pytest.fixture
def hdbench(here, run_hdbench):
    """The command line in that directory."""
    return lambda *arguments, **environment: run_hdbench(*arguments, cwd=here, **environment)
