"""The wheel alone, without the checkout, from any directory."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with what the wheel holds, as pip would unpack it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    subprocess.run([*pip, "wheel", *options, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run(installed, *arguments, cwd):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(installed), "HF_HOME": str(cwd / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_it_builds_and_scores_from_any_directory(installed, tmp_path):
    where = run(installed, "-c", "import hdbench; print(hdbench.__file__)", cwd=tmp_path)
    assert Path(where.stdout.strip()).is_relative_to(installed)
    done = run(installed, "-m", "hdbench", "demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "8 items" in done.stdout
    assert (tmp_path / "hdb/zettel_f1/zettel_f1.py").is_file()


def test_it_is_typed_and_licensed_and_carries_no_tests(installed):
    assert (installed / "hdbench/py.typed").is_file()
    assert list(installed.glob("hdbench-*.dist-info/licenses/LICENSE"))
    assert not list(installed.rglob("test_*.py"))
    assert not list(installed.rglob("__pycache__"))
