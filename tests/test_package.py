"""The sdist, and the wheel alone, without the checkout, from any directory."""

import os
import re
import runpy
import subprocess
import sys
import tarfile
import zipfile
from gettext import GNUTranslations
from pathlib import Path

import pytest

import hdbench
from hdbench.benchmarks.spec import recipe_names
from hdbench.scoring import METRICS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def build(folder, *arguments, **environment):
    """Build as a release does, but with the tools that are here already."""
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def unpacked(wheel, folder):
    """A wheel's files, as pip would unpack them."""
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """A folder with the sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build(folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def installed(dist, tmp_path_factory) -> Path:
    (wheel,) = dist.glob("*.whl")
    return unpacked(wheel, tmp_path_factory.mktemp("site"))


def run(installed, *arguments, cwd):
    environment = {"PYTHONPATH": str(installed), "HF_HOME": str(cwd / "cache")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # the files stay those of the wheel
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_sdist_and_wheel_are_fit_for_the_package_index(dist):
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir())],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == 2


def test_it_is_whole_in_any_directory(installed, tmp_path):
    """Its demo and score are run by .ci/run, in an environment of its own."""
    where = run(installed, "-c", "import hdbench; print(hdbench.__file__)", cwd=tmp_path)
    assert Path(where.stdout.strip()).is_relative_to(installed)
    for folder in ("metrics", "dataset_scripts", "spaces"):
        names = {path.name for path in (ROOT / folder).iterdir() if path.name != "__pycache__"}
        assert {path.name for path in (installed / "hdbench" / folder).iterdir()} >= names


def test_it_has_its_translations_compiled(installed, tmp_path):
    done = run(installed, "-m", "hdbench", "--language", "de", "verify", "nothing", cwd=tmp_path)
    assert done.stderr.startswith("Fehler: nothing: ")
    assert not [*installed.rglob("*.po"), *installed.rglob("locale/*.yaml")]


def test_a_build_leaves_a_catalogue_whole_that_others_read(tmp_path):
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))["CatalogueHook"]
    folder = tmp_path / "src/hdbench/locale/de/LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "hdbench.po").write_text('msgid "card"\nmsgstr "Karte"\n')
    (folder / "hdbench.mo").write_bytes(b"the one before")
    with (folder / "hdbench.mo").open("rb") as read:
        hook(str(tmp_path), {}, None, None, "", "wheel").initialize("standard", {"artifacts": []})
        assert read.read() == b"the one before"
    with (folder / "hdbench.mo").open("rb") as file:
        assert GNUTranslations(file).gettext("card") == "Karte"
    assert sorted(path.name for path in folder.iterdir()) == ["hdbench.mo", "hdbench.po"]


def test_the_wheel_is_for_any_machine(dist):
    (wheel,) = dist.glob("*.whl")
    assert wheel.name == f"hdbench-{hdbench.__version__}-py3-none-any.whl"


def test_it_is_typed_and_licensed_and_carries_no_tests(installed):
    assert (installed / "hdbench/py.typed").is_file()
    assert list(installed.glob("hdbench-*.dist-info/licenses/LICENSE"))
    assert not list(installed.rglob("test_*.py"))
    assert not list(installed.rglob("__pycache__"))


def test_sdist_has_the_checkout_and_nothing_that_was_built(dist):
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "CHANGELOG.md", "tests/conftest.py"} <= names
    assert {f"dataset_scripts/{name}/benchmark.yaml" for name in recipe_names()} <= names
    assert {f"metrics/{name}/{name}.py" for name in METRICS} <= names
    assert not [name for name in names if name.startswith((".venv", "hdb/"))]


def test_the_package_s_version_stands_in_one_place_only():
    version = re.escape(hdbench.__version__)
    sources = [
        *ROOT.glob("src/hdbench/**/*.py"),
        *ROOT.glob("metrics/*/*"),
        *ROOT.glob("spaces/**/*.*"),
        ROOT / "pyproject.toml",
    ]
    said = [
        path.relative_to(ROOT).as_posix()
        for path in sources
        if path.suffix in {".md", ".py", ".toml", ".txt"}
        and re.search(rf"(?<![\d.]){version}(?![\d.])", path.read_text())
    ]
    assert said == ["src/hdbench/about.py"]


def test_the_installed_version_is_that_of_the_code(dist):
    version = hdbench.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    names = sorted(path.name for path in dist.iterdir())
    assert [name.split("-")[1].removesuffix(".tar.gz") for name in names] == [version, version]


def test_dataset_version_is_not_repeated_in_script_or_readme():
    for name in recipe_names():
        folder = ROOT / "dataset_scripts" / name
        for path in (folder / "build.py", *folder.glob("README*.md")):
            assert not re.search(r"\b\d+\.\d+\.\d+\b", path.read_text()), path
