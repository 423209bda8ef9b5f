"""Messages in other languages."""

import ast
import pickle
import re
from inspect import signature
from pathlib import Path
from string import Formatter

import pytest

import hdbench
from hdbench.annotating.annotation import Annotation
from hdbench.common.checked import validate
from hdbench.common.texts import LANGUAGES
from hdbench.common.told import told, translations
from hdbench.errors import HdbenchError, Message, joined, shortened

ROOT = Path(hdbench.__file__).parent
OTHERS = [language for language in LANGUAGES if language != "en"]


def places(template):
    return sorted(name for _, name, _, _ in Formatter().parse(template) if name)


MAKERS = {"HdbenchError", "Message", "said"} | {
    each.__name__
    for each in HdbenchError.__subclasses__()
    if "template" in signature(each).parameters
}
"""What takes a template as its first argument; in `cli`, also `say`."""

COMPLETE = ["annotating", "audit", "building", "collecting", "integrations", "leaderboard", "publishing", "report", "results", "running", "space", "statistics", "trust", "truths"]
"""The packages whose messages are all told in every language."""


def templates(path):
    """The templates of the messages that a module makes; None for one that is put together."""
    makers = MAKERS | ({"say"} if path.parent.name == "cli" else set())
    for node in ast.walk(ast.parse(path.read_text())):
        called = getattr(node, "func", None)
        if getattr(called, "id", getattr(called, "attr", "")) in makers and node.args:
            first = node.args[0]
            either = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
            for each in either:
                if isinstance(each, ast.Constant):
                    yield each.value
                elif isinstance(each, ast.JoinedStr | ast.BinOp):
                    yield None


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("package", COMPLETE)
def test_every_message_of_a_package_is_told_in_every_language(package, language):
    made = {
        (path.name, template)
        for path in (ROOT / package).rglob("*.py")
        for template in templates(path)
        if template is None or any(map(str.isalpha, re.sub(r"\{.*?\}", "", template)))
    }
    missing = {each for each in made if each[1] not in translations(language)}
    assert made
    assert missing == set()


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_placeholders_of_its_template(language):
    for template, translation in translations(language).items():
        assert places(template) == places(translation), template


def test_a_message_within_a_message_and_its_numbers_are_put_into_the_language():
    kind = Message("a PDF")
    inner = HdbenchError("{place}: this is {kind}: {accepted}", place="a", kind=kind, accepted="x")
    error = HdbenchError("{place}: {why}", place="b", why=inner)
    assert str(error) == "b: a: this is a PDF: x"
    assert told(error.message, "de") == "b: a: Das ist ein PDF: x"
    assert told(Message("{place}: more than {most:,} columns", place="a", most=5_000), "de") == (
        "a: mehr als 5.000 Spalten"
    )


def test_a_list_of_messages_is_put_into_the_language():
    found = shortened([Message("a PDF"), Message("a RAR archive"), "x.zip", "y.zip"], 3, "; ")
    assert found == "a PDF; a RAR archive; x.zip and 1 more"
    assert told(found, "de") == "ein PDF; ein RAR-Archiv; x.zip und 1 weitere"
    assert told(shortened([]), "de") == shortened([]) == ""


def test_what_a_validator_of_ours_says_is_put_into_the_language():
    said = {"assignments": [{"annotators": ["anna", "anna"], "items": ["b1"]}]}
    with pytest.raises(HdbenchError) as caught:
        validate(Annotation, said, Path("annotation.yaml"))
    message = caught.value.message
    where = "annotation.yaml: assignments.0: "
    assert message == f"{where}one of its annotators is named twice: leave it there once"
    assert told(message, "de") == (
        f"{where}etwas in annotators ist zweimal genannt: nur einmal stehen lassen"
    )


def test_a_value_is_never_taken_for_a_message():
    """A file may be called like one of our messages, or have braces in its name."""
    error = HdbenchError("{place}: {why}", place="a PDF", why="{place}")
    assert told(error.message, "de") == "a PDF: {place}"


def test_a_message_without_a_translation_stays_english():
    assert told(Message("{name} is new", name="x"), "de") == "x is new"


def test_what_has_no_words_needs_no_translation_but_its_values_do():
    both = joined([Message("a PDF"), Message("{rate:.1f}: {what}", rate=2.5, what="a PDF")])
    assert both == "a PDF, 2.5: a PDF"
    assert told(both, "de") == "ein PDF, 2,5: a PDF"
    assert told(shortened([Message("a PDF")] * 4, 1), "de") == "ein PDF und 3 weitere"
    assert told(Message("{"), "de") == "{"


def test_an_error_crosses_processes_with_its_values():
    error = pickle.loads(
        pickle.dumps(HdbenchError("{place}: larger than {most} MiB", place="{", most=2))
    )
    assert str(error) == "{: larger than 2 MiB"
    assert told(error.message, "de") == "{: größer als 2 MiB"


def test_texts_in_a_message_can_be_changed():
    error = HdbenchError("{place}: {why}", place="/srv/a.csv", why=Message("/srv/b is gone"))
    assert str(error.message.changed(lambda text: text.replace("/srv/", ""))) == "a.csv: b is gone"
