"""A language that nobody speaks: English in Greek letters, in a copy of the package."""

import os
import re
import shutil

import yaml
from babel.messages import pofile
from helpers.english import COMMON, words
from helpers.forks import Forks
from helpers.plain import PLAIN
from helpers.translations import PACKAGE, extracted, forms, german
from openpyxl import load_workbook
from report.test_page import Page
from space.german import SEEN

from hdbench.common.texts import read_texts

LANGUAGE = "fi"
"""Finnish, whose plural forms Babel knows and which Gradio has: else its page would be English."""

LETTERS = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "αβχδεφγηιϳκλμνοπϙρστυϋωξψζΑΒΧΔΕΦΓΗΙͿΚΛΜΝΟΠϘΡΣΤΥΫΩΞΨΖ",
)

_STAYS = re.compile(
    r"(\{(?:[^{}]|\{[^}]*\})*\}|<[^>]*>|`[^`]*`|--[a-z-]+|&\w+;|\]\([^)]*\)|\[/?blue\]|\$\d)"
)
"""What is no text: placeholders, tags, code, options, links and colors."""


def foreign(text):
    """The text in letters that English does not have."""
    parts = _STAYS.split(text)
    return "".join(
        part.translate(LETTERS) if number % 2 == 0 else part for number, part in enumerate(parts)
    )


def install(folder):
    """Copy the package into a folder, with the language added as CONTRIBUTING.md says."""
    package = folder / "hdbench"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.mo"))
    for name in ("metrics", "dataset_scripts", "spaces"):
        shutil.copytree(PACKAGE.parents[1] / name, package / name)
    catalogue = extracted(folder)
    for entry in catalogue:
        if entry.id:
            told = tuple(foreign(text) for text, _ in forms(entry))
            entry.string = told if isinstance(entry.id, tuple) else told[0]
    path = package / f"locale/{LANGUAGE}/LC_MESSAGES/hdbench.po"
    path.parent.mkdir(parents=True)
    catalogue.locale = LANGUAGE
    with path.open("wb") as file:
        pofile.write_po(file, catalogue)
    registered = package / "common/texts.py"
    text = registered.read_text()
    assert text.count('Literal["en", ') == 1
    registered.write_text(text.replace('Literal["en", ', f'Literal["en", "{LANGUAGE}", '))
    _of_libraries(package)
    return folder


def _of_libraries(package):
    """Write what Typer and Gradio say: the keys of the German files are English, but Typer's panels
    and Gradio's keys are names."""
    for name in ("cli/typer_words", "space/gradio_words"):
        german = read_texts(package / name / "de.yaml")
        made = {
            part: {
                key: foreign(text if part in ("panels", "keys", "patterns") else key)
                for key, text in texts.items()
            }
            for part, texts in german.items()
        }
        (package / name / f"{LANGUAGE}.yaml").write_text(
            yaml.safe_dump(made, allow_unicode=True, sort_keys=False)
        )


class PseudoLocale:
    """The copy of the package, and forks of a process that has imported it.

    Args:
        folder: where `install` has copied it.
        modules: what the process imports.
    """

    def __init__(self, folder, *modules):
        path = {"PYTHONPATH": os.pathsep.join([str(folder), PLAIN["PYTHONPATH"]])}
        self.environment = os.environ | path | {"HDBENCH_LANGUAGE": LANGUAGE, "COLUMNS": "240"}
        self.forks = Forks(*modules, **PLAIN | path)

    def run(self, *arguments, cwd):
        """Run a command to its end."""
        command = ("-m", "hdbench", *map(str, arguments))
        return self.forks.run(*command, cwd=cwd, env=self.environment)


_KEYS = {"alt"}
"""Keys that are called the same on keyboards in every language."""

ENGLISH = {word for word in words(german()) if len(word) > 2} - _KEYS | COMMON
"""The words of our own English texts."""

_NO_TEXT = re.compile(
    r"(?<!\w)--?[a-z][a-z-]*|\b[A-Z]+_[A-Z_]+\b"  # options, and variables of the environment
    r"|\b(?:hdbench|ηδβενχη)\b(?: (?:trust|errata))?(?: [a-z-]+)?"  # commands
    r"|[\w./~-]*[./]\w[\w./-]*"  # paths, and names of files and of nested fields
    r"|\"[^\"]*\"|<[^>]*>"  # values as JSON, and Typer's types
    r"|\S*\|protocol:\S*|[0-9a-f]{12,}"  # signatures, and hashes
)


_STAYS_WHOLE = re.compile(r"Card, Moran and Newell|^\s*(?:>>> |@\w+\{|\w+\s+= \{)")
"""A line with a publication's title, of Python, or of BibTeX."""


def english(line, names=()):
    """The English words in a line, apart from names, which stay as they are."""
    if _STAYS_WHOLE.search(line):
        return set()
    return (words([_NO_TEXT.sub(" ", line)]) & ENGLISH) - set(names)


class Walk:
    """A way through pages, files and what is printed.

    Args:
        names: words that stay as they are.
    """

    def __init__(self, names=()):
        self._names = names
        self._left = {}

    def see(self, page, state):
        """Read what a page or frame shows."""
        self.read(page.evaluate(SEEN), state)

    def check(self):
        """Assert that nothing was in English."""
        left = (f"{text} → {', '.join(sorted(found))}" for text, found in self._left.items())
        assert not self._left, "\n".join(left)

    def read(self, texts, state):
        """Read some texts."""
        for text in texts:
            if found := english(text, self._names):
                self._left[f"{state}: {' '.join(text.split())[:200]}"] = found


def page_texts(html):
    """The texts of a page, with those of its attributes."""
    named = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', html)
    return [" ".join(text.split()) for text in Page(html).texts] + named


def book_texts(path):
    """The names of a workbook's sheets, and the texts in its cells."""
    for sheet in load_workbook(path):
        yield sheet.title
        for row in sheet.values:
            yield from (cell for cell in row if isinstance(cell, str))
