"""The help of every command."""

import re

import pytest
import typer

from hdbench.cli.app import app


def walk(command, *words):
    """Each command and group, with the words that lead to it."""
    yield words, command
    for name in getattr(command, "commands", ()):
        yield from walk(command.get_command(typer.Context(command), name), *words, name)


HDBENCH = typer.main.get_command(app)
COMMANDS = list(walk(HDBENCH))


@pytest.fixture
def shown(monkeypatch, capsys):
    """What a command prints on a wide terminal: standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "1500")

    def run(*arguments):
        with pytest.raises(SystemExit):
            HDBENCH(arguments, prog_name="hdbench")
        return capsys.readouterr()

    return run


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_a_command_is_listed_with_the_first_line_of_its_help(words, command):
    for name, listed in getattr(command, "commands", {}).items():
        loaded = command.get_command(typer.Context(command), name)
        first, *_ = loaded.help.split("\n\n")
        assert " ".join(first.split()) == listed.help, (*words, name)
        assert loaded.rich_help_panel == listed.rich_help_panel


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_a_command_describes_all_that_it_takes(words, command):
    for each in command.get_params(typer.Context(command)):
        assert each.help or each.hidden, (*words, each.name)


def test_help_and_usage_errors_are_english_in_any_language(shown):
    assert shown("--language", "de", "--help") == shown("--help")
    refused = shown("--language", "xx", "score").err
    assert "'xx' is not one of 'en', 'de'." in refused
    assert "Missing argument '[BENCHMARK] ANSWERS'." in shown("--language", "de", "score").err


def test_help_names_no_type_of_python(shown):
    for words, _ in COMMANDS:
        out, _ = shown(*words, "--help")
        arguments = out.partition("─ Arguments ─")[2].partition("╰")[0]
        assert not re.search(r"list\[|<\w+>", arguments), words
        assert "list[Path]" not in out, words
        usage = out.partition("Usage: ")[2].partition("\n")[0].partition("[OPTIONS] ")[2].strip()
        of_group = "COMMAND [ARGS]..."
        assert usage == of_group or not re.search(r"[a-z{}<>.]", usage), words
