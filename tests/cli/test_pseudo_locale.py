"""A third language is a catalogue and its registration: then nothing is left in English."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from babel.messages import pofile
from helpers.collection import READERS, TRUTH, write_collection
from helpers.english import words
from helpers.translations import PACKAGE, extracted, forms, german
from report.test_page import Page

from hdbench.answers.answer import STATUSES

pytestmark = pytest.mark.slow

RUNS = [f"runs/{reader}" for reader in READERS]

LETTERS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβχδεφγηιϳκλμνοπϙρστυϋωξψζ")

NAMES = {
    *("hdbench", "cards", "runs", *READERS, *TRUTH, "diss", "python", "documented", "nothing"),
    *STATUSES,  # beside their translation
    *(
        "precision",
        "recall",
        "threshold",
        "weights",
        "xlsx",
        "json",
        "decide",
        "plan",
        "prompt.txt",
        "folder",
        "only",
    ),
}
"""What stays: names of commands, files, fields and values."""


def foreign(text):
    """The text in letters that English does not have; placeholders, commands and tags stay."""
    parts = re.split(r"(\{[^}]*\}|<[^>]*>|`[^`]*`|--[a-z-]+|&\w+;)", text)
    return "".join(
        part.translate(LETTERS) if number % 2 == 0 else part for number, part in enumerate(parts)
    )


@pytest.fixture(scope="module")
def hdbench(tmp_path_factory):
    """The command line of a copy that has one more language, in a folder with runs."""
    folder = tmp_path_factory.mktemp("pseudo")
    package = folder / "hdbench"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.mo"))
    for name in ("metrics", "dataset_scripts", "spaces"):
        shutil.copytree(PACKAGE.parents[1] / name, package / name)
    catalogue = extracted(folder)
    for entry in catalogue:
        if entry.id:
            told = tuple(foreign(text) for text, _ in forms(entry))
            entry.string = told if isinstance(entry.id, tuple) else told[0]
    path = package / "locale/el/LC_MESSAGES/hdbench.po"
    path.parent.mkdir(parents=True)
    catalogue.locale = "el"
    with path.open("wb") as file:
        pofile.write_po(file, catalogue)
    registered = package / "common/texts.py"
    text = registered.read_text()
    languages = 'Literal["en", "de", "fr"'
    assert text.count(languages) == 1
    registered.write_text(text.replace(languages, f'{languages}, "el"'))
    write_collection(folder, items=100)

    def run(*arguments, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "hdbench", *arguments],
            cwd=folder,
            env=os.environ
            | {"PYTHONPATH": str(folder), "HDBENCH_LANGUAGE": "el", "COLUMNS": "200"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stderr
        return f"{done.stdout}\n{done.stderr}"

    run.folder = folder
    return run


ENGLISH = {word for word in words(german()) if len(word) > 3} - NAMES


STAYS = r"\||Card, Moran and Newell"
"""Lines with a signature, or a publication's title."""


def left(text):
    """The lines that have a word of our English texts, with these words."""
    lines = {
        line: {word for word in words([line]) if word in ENGLISH} for line in text.splitlines()
    }
    return {line: found for line, found in lines.items() if found and not re.search(STAYS, line)}


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("score", "cards", f"runs/{READERS[0]}"), 0),
        (("compare", f"runs/{READERS[0]}", f"runs/{READERS[1]}"), 0),
        (("leaderboard", "runs"), 0),
        (("export", "cards", f"runs/{READERS[0]}", "--out", "a.csv"), 0),
        (("forecast", "cards", *RUNS, "--total", "2000", "--wage", "30"), 0),
        (("trust", "plan", "cards", *RUNS, "-n", "60", "-o", "plan.yaml"), 0),
        (("trust", "decide", "plan.yaml"), 0),
        (("run", "cards", "--model", "m", "--endpoint", "nonsense", "--out", "x"), 2),
        (("score", "cards", "nothing"), 2),
        (("check", "nothing"), 2),
    ],
)
def test_a_command_prints_no_english(hdbench, arguments, status):
    assert left(hdbench(*arguments, status=status)) == {}


def test_help_has_no_english_of_ours(hdbench):
    text = hdbench("score", "--help")
    assert "Σχορε" in text or "Sχορε" in text
    assert "A file" not in text


@pytest.mark.parametrize("command", ["report", "leaderboard"])
def test_a_page_has_no_english(hdbench, command):
    if command == "report":
        hdbench("report", "cards", f"runs/{READERS[0]}", "--out", "page")
        html = (hdbench.folder / "page/index.html").read_text()
    else:
        html = hdbench("leaderboard", "runs", "--format", "html")
    page = Page(html)
    assert '<html lang="el"' in html
    texts = [" ".join(text.split()) for text in page.texts]
    assert left("\n".join(texts)) == {}
