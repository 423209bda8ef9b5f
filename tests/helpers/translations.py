"""The catalogues of translations, as they are written and as pybabel finds their texts."""

from functools import cache
from pathlib import Path

from babel.messages import pofile
from babel.messages.frontend import CommandLineInterface

import hdbench

PACKAGE = Path(hdbench.__file__).parent
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def catalogue(language):
    """The catalogue of a language, as Babel reads it."""
    with (PACKAGE / f"locale/{language}/LC_MESSAGES/hdbench.po").open("rb") as file:
        return pofile.read_po(file, abort_invalid=True)


def forms(entry):
    """Each text of an entry, with its translation: for one thing and for several, or the one."""
    ids, texts = entry.id, entry.string
    return zip(ids, texts, strict=True) if isinstance(ids, tuple) else [(ids, texts)]


@cache
def german():
    """Text → translation, of the German catalogue, with both forms of those that have two."""
    return {text: told for entry in catalogue("de") if entry.id for text, told in forms(entry)}


def extracted(folder):
    """What pybabel finds to translate, as its own command writes it into a folder."""
    target = folder / "hdbench.pot"
    command = ["pybabel", "-q", "extract", "-F", str(PYPROJECT), "-o", str(target), str(PACKAGE)]
    CommandLineInterface().run(command)
    with target.open("rb") as file:
        return pofile.read_po(file)
