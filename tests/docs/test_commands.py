"""The commands that the pages show: each exists, and so do its options."""

import re
from pathlib import Path

import pytest
import typer
from helpers.pages import commands

from hdbench.cli.app import app

ROOT = Path(__file__).parents[2]
HDBENCH = typer.main.get_command(app)
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(
        page
        for folder in ("docs", "metrics", "dataset_scripts", "spaces")
        for page in (ROOT / folder).glob("**/*.md")
    ),
]


def of_hdbench(page):
    """The words after `hdbench` in each command of a page."""
    lines = "\n".join(commands(page)).replace("\\\n", " ").splitlines()
    parts = [part for line in lines for part in re.split(r" # |\s&&\s", line)]
    found = [re.split(r"(?:^|/)hdbench\s+", part.strip(), maxsplit=1) for part in parts]
    return [each[1].split() for each in found if len(each) == 2 and " " not in each[0]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_option_that_a_page_shows_exists(page):
    for words in of_hdbench(page):
        # The application's own option stands before the command.
        command, rest = HDBENCH, words[2:] if words[0] == "--language" else list(words)
        while rest and rest[0] in getattr(command, "commands", {}):
            command = command.get_command(typer.Context(command), rest.pop(0))
        known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
        shown = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert not hasattr(command, "commands"), words
        assert shown <= known, words


def test_commands_are_found_in_the_pages():
    assert ["build", "zettelkatalog"] in of_hdbench(ROOT / "README.md")
    assert sum(len(of_hdbench(page)) for page in PAGES) > 50
