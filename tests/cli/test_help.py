"""Help and usage errors in other languages."""

import re
from string import Formatter

import pytest
import typer
from typer import rich_utils

from hdbench.cli import app
from hdbench.cli.helping import (
    paragraphs,
    translated_usage_error,
    translated_usage_errors,
    typer_words,
)
from hdbench.common.texts import LANGUAGES
from hdbench.common.translation import set_language

OTHERS = [language for language in LANGUAGES if language != "en"]
OF_TYPER = r"Usage|Options|Arguments|Commands|COMMAND|default|required|env var|range|this message"


def places(template):
    """The names of the placeholders of a template."""
    return sorted(name for _, name, _, _ in Formatter().parse(template) if name)


def walk(command, *words):
    """Each command and group, with the words that lead to it."""
    yield words, command
    for name in getattr(command, "commands", ()):
        yield from walk(command.get_command(typer.Context(command), name), *words, name)


HDBENCH = typer.main.get_command(app)
COMMANDS = list(walk(typer.main.get_command(app)))


@pytest.fixture(autouse=True)
def _english_afterwards(monkeypatch):
    """Typer's own words are constants of its module, which stay changed in this process."""
    for name in typer_words("de")["panels"]:
        monkeypatch.setattr(rich_utils, name, getattr(rich_utils, name))


@pytest.fixture
def shown(monkeypatch, capsys):
    """What a command prints on a wide terminal: standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "1500")

    def run(*arguments, command=HDBENCH):
        with pytest.raises(SystemExit):
            command(arguments, prog_name="hdbench")
        return capsys.readouterr()

    return run


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_a_command_is_listed_with_the_first_line_of_its_help(words, command):
    for name, listed in getattr(command, "commands", {}).items():
        loaded = command.get_command(typer.Context(command), name)
        assert paragraphs(loaded.help)[0] == listed.help, (*words, name)
        assert loaded.rich_help_panel == listed.rich_help_panel


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_a_command_describes_all_that_it_takes(words, command):
    for each in command.get_params(typer.Context(command)):
        assert each.help or each.hidden, (*words, each.name)


@pytest.mark.parametrize("language", OTHERS)
def test_each_word_that_stands_for_a_value_has_a_translation(language):
    written = {"Usage: ", "[OPTIONS]", "COMMAND [ARGS]...", "<int range>", "<float range>"}
    for _, command in COMMANDS:
        for each in command.params:
            name = each.name if each.param_type_name == "argument" else None
            written.add(each.metavar or name)
    assert typer_words(language)["words"].keys() == written - {None}


@pytest.mark.parametrize("language", OTHERS)
def test_the_help_of_every_command_has_nothing_in_english(shown, language):
    texts = [(command.help or "").split("\n\n")[0] for _, command in COMMANDS]
    texts += [each.help or "" for _, command in COMMANDS for each in command.params]
    english = [" ".join(text.replace("`", "").split()) for text in texts if text]
    assert len(english) > 200
    for words, _ in COMMANDS:
        out, _ = shown("--language", language, *words, "--help")
        assert [text for text in english if text in out] == []
        assert not re.search(OF_TYPER, out), words
        assert " ".join(["hdbench --language", language, *words, "["]) in out


def test_help_is_in_the_language_of_the_environment(shown, monkeypatch):
    monkeypatch.setenv("HDBENCH_LANGUAGE", "de")
    out, _ = shown()
    assert " Aufruf: hdbench [OPTIONEN] BEFEHL [ARGUMENTE]..." in out
    assert "─ Antworten bewerten ─" in out


def test_by_default_everything_is_in_english(shown):
    command = typer.main.get_command(app)
    out, _ = shown("--help", command=command)
    assert " Usage: hdbench [OPTIONS] COMMAND [ARGS]..." in out
    assert "─ Score answers ─" in out
    assert "Show this message and exit." in out
    assert "Missing argument '[BENCHMARK] ANSWERS'." in shown("score", command=command).err
    refused = shown("--language", "xx", "score", command=command).err
    assert "'xx' is not one of 'en', 'de'." in refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--nonsense", "Die Option --nonsense gibt es nicht."),
        (
            "score --protocl x",
            "Die Option --protocl gibt es nicht. Gemeint ist vielleicht --protocol.",
        ),
        ("", "Es fehlt ein Befehl."),
        ("scor", "Den Befehl 'scor' gibt es nicht. Gemeint ist vielleicht 'score'."),
        ("xyzzy", "Den Befehl 'xyzzy' gibt es nicht."),
        ("trust xyzzy", "Den Befehl 'xyzzy' gibt es nicht."),
        ("run", "Das Argument 'BENCHMARK' fehlt."),
        ("score", "Das Argument '[BENCHMARK] ANTWORTEN' fehlt."),
        ("check a b c", "Zu viele Argumente: b c"),
        ("run a", "Die Option '--model' fehlt."),
        ("run a --model", "Die Option '--model' braucht einen Wert."),
        ("--version=1", "Die Option '--version' nimmt keinen Wert an."),
        (
            "run a --model m --limit x",
            "Ungültiger Wert für '--limit': Das muss eine ganze Zahl sein.",
        ),
        (
            f"run a --model m --limit {'9' * 5000}",
            "Ungültiger Wert für '--limit': Diese Zahl ist zu groß.",
        ),
        ("run a --model m --top-p x", "Ungültiger Wert für '--top-p': Das muss eine Zahl sein."),
        (
            "run a --model m --top-p 2",
            "Ungültiger Wert für '--top-p': Der Wert darf höchstens 1 sein.",
        ),
        (
            "score a b --workers -1",
            "Ungültiger Wert für '--workers': Der Wert muss mindestens 0 sein.",
        ),
        (
            "run a --model m --temperature inf",
            "Ungültiger Wert für '--temperature': inf ist keine endliche Zahl.",
        ),
        (
            "run a --model m --concurrency 0",
            "Ungültiger Wert für '--concurrency': 0 ist weder auto noch eine Zahl ab 1.",
        ),
        (
            "annotate a --language xx",
            "Ungültiger Wert für '--language': 'xx' ist keiner der möglichen Werte 'en', 'de'.",
        ),
    ],
)
def test_a_usage_error_is_in_german(shown, arguments, message):
    out, error = shown("--language", "de", *arguments.split())
    assert out == ""
    assert f"│ {message} " in error
    assert "╭─ Fehler ─" in error
    assert not re.search(r"Usage|Try|for help|Error", error)


def test_whoever_says_no_is_told_so_in_german():
    set_language("de")
    with pytest.raises(typer.Abort), translated_usage_errors():
        raise typer.Abort
    assert rich_utils.ABORTED_TEXT == "Abgebrochen."


def test_what_was_typed_is_never_taken_for_a_message():
    assert translated_usage_error("Got unexpected extra argument(s) (Missing command.)", "de") == (
        "Zu viele Argumente: Missing command."
    )


@pytest.mark.parametrize("language", OTHERS)
def test_a_usage_error_has_the_placeholders_of_its_template(language):
    for template, translation in typer_words(language)["errors"].items():
        assert places(template) == places(translation), template


def test_help_names_no_type_of_python(shown):
    for words, _ in COMMANDS:
        out, _ = shown(*words, "--help")
        arguments = out.partition("─ Arguments ─")[2].partition("╰")[0]
        assert not re.search(r"list\[|<\w+>", arguments), words
        assert "list[Path]" not in out, words
        usage = out.partition("Usage: ")[2].partition("\n")[0].partition("[OPTIONS] ")[2].strip()
        of_group = "COMMAND [ARGS]..."
        assert usage == of_group or not re.search(r"[a-z{}<>.]", usage), words
