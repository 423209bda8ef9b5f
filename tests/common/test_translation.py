"""Messages in other languages."""

import ast
import os
import pickle
import re
from collections import Counter
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
import yaml
from helpers.translations import catalogue, extracted, forms

import hdbench
from hdbench.common import texts
from hdbench.common.texts import LANGUAGES, translated
from hdbench.errors import HdbenchError, Message

ROOT = Path(hdbench.__file__).parent
OTHERS = [language for language in LANGUAGES if language != "en"]


def places(template):
    return sorted(name for _, name, _, _ in Formatter().parse(template) if name)


MODULES = {path: path.read_text() for path in ROOT.rglob("*.py")}

MAKERS = {"HdbenchError", "Message", "localized", "unfit"} | {
    name for text in MODULES.values() for name in re.findall(r"class (\w+)\(HdbenchError\)", text)
} - {"TextError"}  # it takes a key of the Space's texts
"""What takes a template as its first argument; in `cli`, also `say`."""


@cache
def templates(path):
    """The templates of the messages that a module makes; None for one that is put together.

    With each, the names of the values that it is given; None if they are not written there.
    """
    makers = MAKERS | ({"say"} if path.parent.name == "cli" else set())
    found = []
    for node in ast.walk(ast.parse(MODULES[path])):
        called = getattr(node, "func", None)
        if getattr(called, "id", getattr(called, "attr", "")) in makers and node.args:
            first = node.args[0]
            either = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
            values = {keyword.arg for keyword in node.keywords}
            for template in either:
                if isinstance(template, ast.Constant):
                    found.append((template.value, None if None in values else values))
                elif isinstance(template, ast.JoinedStr | ast.BinOp):
                    found.append((None, None))
    return found


@pytest.mark.parametrize("language", OTHERS)
def test_the_catalogue_has_what_pybabel_finds_and_nothing_else(language, tmp_path):
    """Update it with the two commands in CONTRIBUTING.md."""
    found = {entry.id for entry in extracted(tmp_path) if entry.id}
    translated_texts = {entry.id: entry for entry in catalogue(language) if entry.id}
    assert len(found) > 2500
    assert found - translated_texts.keys() == set()
    assert translated_texts.keys() - found == set()
    assert not catalogue(language).obsolete
    assert [entry.id for entry in translated_texts.values() if entry.fuzzy] == []
    empty = [entry.id for entry in translated_texts.values() if not all(entry_texts(entry))]
    assert empty == []


def entry_texts(entry):
    return [told for _, told in forms(entry)]


def test_no_template_is_put_together():
    """Nobody could find its translation."""
    made = [str(path) for path in MODULES for template, _ in templates(path) if template is None]
    assert made == []


def test_a_message_is_given_every_value_of_its_template():
    missing = [
        (str(path.relative_to(ROOT)), template, names)
        for path in MODULES
        for template, values in templates(path)
        if values is not None and (names := set(places(template)) - values)
    ]
    assert missing == []


@pytest.mark.parametrize(
    "path", sorted(ROOT.rglob("*.yaml")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_a_file_of_texts_has_each_key_once(path):
    """PyYAML keeps the last of several without a word."""
    waiting, twice = [yaml.compose(path.read_text(encoding="utf-8"))], []
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            counted = Counter(key.value for key, _ in node.value)
            twice += [key for key, count in counted.items() if count > 1]
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
    assert twice == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_placeholders_of_its_template(language):
    for entry in catalogue(language):
        for text, told in forms(entry) if any(entry_texts(entry)) else ():
            # That for one thing may say it in words.
            assert set(places(told)) <= set(places(text)), text
            assert isinstance(entry.id, tuple) or places(told) == places(text), text


def test_a_plural_is_that_of_the_language_and_of_the_count():
    def items(count):
        return Message("{count:,} item", plural="{count:,} items", count=count)

    assert [*map(str, map(items, (0, 1, 1200)))] == ["0 items", "1 item", "1,200 items"]
    german = [translated(items(count), "de") for count in (0, 1, 1200)]
    assert german == ["0 Einträge", "1 Eintrag", "1.200 Einträge"]
    assert pickle.loads(pickle.dumps(items(1))).plural == "{count:,} items"


def test_a_catalogue_is_compiled_when_its_source_is_newer(tmp_path, monkeypatch):
    folder = tmp_path / "eo/LC_MESSAGES"
    folder.mkdir(parents=True)
    monkeypatch.setattr(texts, "_LOCALE", tmp_path)
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
    for number, told in enumerate(("eo: kaŝita", "eo: alia")):
        (folder / "hdbench.po").write_text(f'{header}msgid "hidden"\nmsgstr "{told}"\n')
        os.utime(folder / "hdbench.po", (2_000_000_000 + number, 2_000_000_000 + number))
        texts.catalogue.cache_clear()
        assert texts.translation("hidden", "eo") == told
    (folder / "hdbench.po").unlink()  # as in a wheel
    texts.catalogue.cache_clear()
    assert texts.translation("hidden", "eo") == "eo: alia"
    assert texts.translation("not there", "eo") == ""
    texts.catalogue.cache_clear()


def test_nested_messages_and_numbers_are_translated():
    kind = Message("a PDF")
    inner = HdbenchError("{place}: this is {kind}: {accepted}", place="a", kind=kind, accepted="x")
    error = HdbenchError("{place}: {why}", place="b", why=inner)
    assert str(error) == "b: a: this is a PDF: x"
    assert translated(error.message, "de") == "b: a: Das ist ein PDF: x"
    assert translated(
        Message("{place}: more than {most:,} columns", place="a", most=5_000), "de"
    ) == ("a: mehr als 5.000 Spalten")


def test_a_value_is_never_taken_for_a_message():
    """A file may be called like one of our messages, or have braces in its name."""
    error = HdbenchError("{place}: {why}", place="a PDF", why="{place}")
    assert translated(error.message, "de") == "a PDF: {place}"


def test_an_error_crosses_processes_with_its_values():
    error = pickle.loads(
        pickle.dumps(HdbenchError("{place}: larger than {most} MiB", place="{", most=2))
    )
    assert str(error) == "{: larger than 2 MiB"
    assert translated(error.message, "de") == "{: größer als 2 MiB"


def test_texts_in_a_message_can_be_changed():
    error = HdbenchError("{place}: {why}", place="/srv/a.csv", why=Message("/srv/b is gone"))
    assert str(error.message.changed(lambda text: text.replace("/srv/", ""))) == "a.csv: b is gone"
