"""Help and usage errors in the current language: our own texts, and Typer's."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from hdbench.common.catalogues import translation
from hdbench.common.texts import words_of_library
from hdbench.common.translation import current_language

_FOLDER = Path(__file__).parent


class TranslatedContext(typer.Context):
    """The context of a command whose help is translated when it is shown."""

    def make_formatter(self) -> Any:
        """Return the formatter; whoever shows a command's help or usage asks for it first."""
        _put_into_language(self)
        formatter = super().make_formatter()
        usage = typer_words(current_language())["words"]["Usage: "]
        formatter.write_usage = partial(formatter.write_usage, prefix=usage)  # type: ignore[method-assign]
        return formatter


@contextmanager
def translated_usage_errors() -> Iterator[None]:
    """Translate usage errors into the current language."""
    try:
        yield
    except (typer.TyperException, typer.Abort) as error:
        if current_language() == "en":
            raise
        _name_panels()
        if isinstance(error, typer.Abort):
            raise
        context = getattr(error, "ctx", None)
        if context is not None:
            _put_into_language(context)  # as errors name a command's arguments
        if message := translated_usage_error(error.format_message(), current_language()):
            raise _TranslatedError(message, context) from error
        raise


class _TranslatedError(typer.BadParameter):
    """A usage error whose message says everything."""

    def format_message(self) -> str:
        """Return the message."""
        return self.message


def translated_usage_error(message: str, language: str) -> str | None:
    """Translate Typer's message about a mistake; None if there is no translation.

    Args:
        message: the whole message in English.
        language: one of `hdbench.common.texts.LANGUAGES`, except English.

    Example:
        >>> translated_usage_error("Missing option '--model'.", "de")
        "Die Option '--model' fehlt."
    """
    for template, translated in typer_words(language)["errors"].items():
        if match := _pattern(template).fullmatch(message):
            values = match.groupdict()
            for name in values.keys() & {"where", "why"}:  # which are Typer's words too
                values[name] = translated_usage_error(values[name], language) or values[name]
            return str(translated).format(**values)
    return None


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text, each on one line, as catalogues have them."""
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


@cache
def typer_words(language: str) -> dict[str, dict[str, str]]:
    """Return Typer's own texts: `panels`, `words` and `errors`, each English → translation."""
    return dict(words_of_library(_FOLDER / "typer_words", language))


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """Return a pattern for the messages of a template, with a group for each placeholder."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template)), re.DOTALL)


def _put_into_language(context: typer.Context) -> None:
    """Translate a command's help into the current language; it may be translated already."""
    _name_panels()
    words = typer_words(current_language())["words"]
    command: Any = context.command  # whose own type lacks what Typer adds
    command.help = _translated_help(command.help)
    command.options_metavar = words.get(command.options_metavar or "", command.options_metavar)
    for parameter in command.get_params(context):
        parameter.help = _translated_help(parameter.help)
        is_argument = parameter.param_type_name == "argument"
        by_default = parameter.name if is_argument else parameter.display_type(context)
        parameter.metavar = words.get(parameter.metavar or by_default, parameter.metavar)
    if isinstance(command, TyperGroup):
        arguments = command.subcommand_metavar
        command.subcommand_metavar = words.get(arguments, arguments)
        listed: list[Any] = [*command.commands.values()]
        for subcommand in listed:
            subcommand.help = _translated_help(subcommand.help)
            if isinstance(subcommand.rich_help_panel, str):
                subcommand.rich_help_panel = _translated_help(subcommand.rich_help_panel)


def _translated_help(text: str | None) -> str | None:
    if text is None:
        return None
    translate = partial(translation, language=current_language())
    return "\n\n".join(translate(part) or part for part in paragraphs(text))


def _name_panels() -> None:
    from typer import rich_utils  # noqa: PLC0415  slow to import

    for name, text in typer_words(current_language())["panels"].items():
        setattr(rich_utils, name, text)
