"""A third language is a catalogue and its registration: then no command prints English."""

import pytest
import typer
from cli.test_help import walk as commands_of
from helpers.collection import READERS, TRUTH
from helpers.english import words
from helpers.pseudo_locale import PseudoLocale, Walk, book_texts, foreign, page_texts
from helpers.pseudo_walks import WALKS
from report.test_plots import texts as plot_texts

from hdbench.answers.answer import STATUSES
from hdbench.cli import app
from hdbench.scoring import make_metric

pytestmark = pytest.mark.slow

COMMANDS = {" ".join(path): each for path, each in commands_of(typer.main.get_command(app)) if path}

ZETTEL_F1 = make_metric("zettel_f1")

NAMES = {
    *words(["cards karten leer probe wrong theirs nothing", *READERS, *TRUTH, "diss titel jahr"]),
    *words(["shelfmark imprint keywords century all out zettelkatalog anna ben a"]),
    *STATUSES,  # beside their translation
    *words([*(each.name for each in ZETTEL_F1.figures), *ZETTEL_F1.statistics]),
    *("precision", "recall", "threshold", "weights", "lists", "documented", "published", "blind"),
    *("sample", "images", "licence", "said", "publication", "sha", "http", "python", "status"),
    *("model", "image", "manuscripts", "other", "library_reference"),
    *("type", "required"),  # of a JSON Schema
    *("author", "url"),  # of BibTeX
}
"""What stays: names of files, fields, figures and values."""

OF_HELP = (
    NAMES
    | {
        word
        for name, command in COMMANDS.items()
        for word in (
            *words([name]),
            *(word for each in command.params for word in words([str(each.default)])),
        )
    }
    | {"load_dataset", "auth", "login", "proposed", "auto"}
)
"""In the help, also names of commands and functions, and values of options."""

ALL_HELP = """
import sys
from hdbench.cli import app
for name in sys.argv[1:]:
    try:
        app([*name.split(), "--help"], prog_name="hdbench")
    except SystemExit as ended:
        assert ended.code == 0, name
"""
"""Shows the help of each command in one process, which imports what they share only once."""

KEPT = ("hdb", "other", "karten", "leer", "probe", "out")
"""Folders with files for programs."""


@pytest.fixture(scope="module")
def pseudo(pseudo_locale):
    modules = "hdbench.cli hdbench.compare hdbench.datasets.building.builder hdbench.cli.score"
    made = PseudoLocale(pseudo_locale, *modules.split(), "hdbench.evaluation.verify")
    yield made
    made.forks.close()


def files_below(folder):
    """The files that people read, apart from those in folders for programs."""
    for path in sorted(folder.rglob("*.*")):
        name = path.relative_to(folder)
        if name.parts[0] not in KEPT:
            yield name.as_posix(), path


def texts_of(path):
    """The texts in a page, a workbook or a plot."""
    if path.suffix == ".html":
        return page_texts(path.read_text())
    if path.suffix == ".xlsx":
        return book_texts(path)
    return plot_texts(path.read_text()) if path.suffix == ".svg" else []


@pytest.mark.nightly
@pytest.mark.parametrize("name", WALKS)
def test_commands_and_their_files_have_no_english(pseudo, tmp_path, name):
    prepare, steps = WALKS[name]
    walk = Walk(NAMES)
    with prepare(tmp_path) as url:
        for line, status in steps:
            done = pseudo.run(*line.format(url=url).split(), cwd=tmp_path)
            assert done.returncode == status, (line, done.stdout, done.stderr)
            assert done.stdout or done.stderr
            is_page = done.stdout.startswith("<!DOCTYPE html>")
            walk.read(page_texts(done.stdout) if is_page else done.stdout.splitlines(), line)
            walk.read(done.stderr.splitlines(), line)
    for file, path in files_below(tmp_path):
        walk.read(texts_of(path), file)
    walk.check()


def test_every_command_is_on_a_walk():
    lines = [f"{line} " for _, steps in WALKS.values() for line, _ in steps]
    begun = {name for name in COMMANDS for line in lines if line.startswith(f"{name} ")}
    assert COMMANDS.keys() - begun == set()


def test_no_help_has_english(pseudo, tmp_path):
    names = ["", *COMMANDS]
    done = pseudo.forks.run("-c", ALL_HELP, *names, cwd=tmp_path, env=pseudo.environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(foreign("Usage: ")) == len(names)
    walk = Walk(OF_HELP)
    walk.read(done.stdout.splitlines(), "help")
    walk.check()
