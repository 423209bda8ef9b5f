"""An install without extras: what needs none works, and what needs one says so in one line."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from helpers.forks import Forks
from helpers.plain import PLAIN
from packaging.requirements import Requirement

from hdbench.common.extras import install_command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
OF_ALL = ("endpoint", "excel", "pdf", "plots", "truths")
HIDDEN = {
    extra: [Requirement(line).name.replace("-", "_") for line in DECLARED[extra]]
    for extra in (*OF_ALL, "cluster")
} | {"space": ["gradio", "starlette", "uvicorn"]}
MAIN = """
import sys
hidden = sys.argv.pop(1).split(",")
assert not sys.modules.keys() & set(hidden)
sys.modules.update(dict.fromkeys(hidden))  # None hides a module
from hdbench.cli.app import main
main()
"""


@pytest.fixture(scope="module")
def run_without():
    """Run the command line where the packages of some extras are not installed."""
    modules = ("hdbench.cli", "hdbench.benchmarks.building.builder", "hdbench.models.run")
    forks = Forks(*modules, **PLAIN)

    def run_without(*extras, arguments, cwd):
        hidden = ",".join(name for extra in extras for name in HIDDEN[extra])
        return forks.run(
            *("-c", MAIN, hidden, *map(str, arguments)),
            cwd=cwd,
            env=os.environ | PLAIN | _caches(cwd) | {"COLUMNS": "100"},
        )

    yield run_without
    forks.close()


def _caches(folder):
    """Nothing is kept from other tests, such as thumbnails, for which no PDF need be opened."""
    return {"HF_HOME": str(folder / "cache"), "HDBENCH_CACHE": str(folder / "cache/hdbench")}


def assert_is_missing(done, what, extra):
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == f"error: {what}: install it with: {install_command(extra)}\n"


@pytest.fixture
def answers(samples):
    """A working directory with all samples, and answers to the cards as a workbook too."""
    lines = samples / "hdb/zettelkatalog/example_predictions.jsonl"
    shutil.copy(lines, samples / "answers.jsonl")
    pd.DataFrame({"id": ["0001"], "text": ["{}"]}).to_excel(samples / "answers.xlsx", index=False)
    return samples


def test_the_extra_all_has_every_one_of_them():
    assert [Requirement(line).extras for line in DECLARED["all"]] == [set(OF_ALL)]


def test_the_demo_and_scoring_need_none_of_them(run_without, tmp_path):
    done = run_without(*OF_ALL, arguments=["demo"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = "hdb/zettelkatalog"
    score = ["score", folder, f"{folder}/example_predictions.jsonl"]
    done = run_without(*OF_ALL, arguments=score, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0.6719" in done.stdout


def test_report_without_extras_is_page_and_csv_with_notes(run_without, answers, run_hdbench):
    arguments = ["report", "hdb/zettelkatalog", "answers.jsonl", "-o"]
    assert run_hdbench(*arguments, "whole", cwd=answers).returncode == 0
    done = run_without(*OF_ALL, "space", arguments=[*arguments, "part"], cwd=answers)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "note: no report.xlsx: Excel files need xlsxwriter: install it with: "
        + install_command("excel"),
        f"note: no plots: plots need matplotlib: install it with: {install_command('plots')}",
    ]
    whole, part = ({path.name for path in (answers / name).iterdir()} for name in ("whole", "part"))
    assert whole - part == {"report.xlsx", "plots"}
    assert part < whole
    for name in ("index.html", "items.csv"):
        less, more = ((answers / folder / name).read_text() for folder in ("part", "whole"))
        assert less == re.sub(r'<li><a href="(report\.xlsx|plots/).*?</li>\n', "", more)


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_no_server_is_asked_without_the_endpoint_extra(run_without, answers, more):
    arguments = ["run", "hdb/zettelkatalog", "--model", "m", "--endpoint", "http://localhost:1"]
    done = run_without("endpoint", arguments=arguments + more, cwd=answers)
    assert_is_missing(done, "models need openai", "endpoint")
    assert not (answers / "runs").exists()


NOWHERE = ["--model", "x", "--endpoint", "http://127.0.0.1:1", "-o", "run"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "sciencemetabench", "--sample", "--out", "made"],
        ["run", "hdb/sciencemetabench", *NOWHERE],
        ["run", "hdb/sciencemetabench", *NOWHERE, "--dry-run"],
        ["run", "hdb/zettelkatalog", "--images", "hdb/sciencemetabench/pdf", *NOWHERE],
        [
            *("report", "hdb/sciencemetabench"),
            *("hdb/sciencemetabench/example_predictions.jsonl", "-o", "made"),
        ],
    ],
    ids=["build", "run", "dry run", "own images", "report"],
)
def test_pdfs_are_not_opened_without_the_extra_pdf(run_without, samples, arguments):
    done = run_without("pdf", arguments=arguments, cwd=samples)
    assert_is_missing(done, "PDFs need pypdfium2", "pdf")
    assert not (samples / "run").exists()
    assert not list(samples.glob("made/*"))


@pytest.mark.parametrize(
    ("reader", "what"),
    [
        ("marc_reading.read_marc", "MARC files need pymarc"),
        ("page_files.read_page_files", "XML files need lxml"),
    ],
)
def test_xml_and_marc_truths_are_not_read_without_truths_extra(tmp_path, reader, what):
    (tmp_path / "a.xml").write_text("<alto/>")
    module, function = reader.split(".")
    code = f"""
import sys
from pathlib import Path
sys.modules.update(dict.fromkeys({HIDDEN["truths"]!r}))
from hdbench.collections.truth.{module} import {function}
try:
    {function}(Path("a.xml"))
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == f"{what}: install it with: {install_command('truths')}\n", done.stderr
