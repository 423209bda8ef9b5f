"""The start of the command line: the application, what commands share, and how it ends."""

import math
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from hdbench import __version__
from hdbench.cli.helping import speak_of, usage_errors_told
from hdbench.cli.saying import said
from hdbench.common.told import VARIABLE, speak, spoken
from hdbench.errors import HdbenchError, escaped, is_full, os_reason, write_reason

MAKE = "Make a benchmark"
RUN = "Run a model"
SCORE = "Score answers"
COMPARE = "Compare models"
TRUST = "Trust the figures"
SHARE = "Share"

_ORDER = (
    *("demo", "sample", "new", "annotate", "agreement", "check", "build", "errata"),
    *("run", "status", "eval"),
    *("score", "report", "export"),
    *("compare", "leaderboard"),
    *("trust", "forecast", "verify", "audit", "cite"),
    *("space", "space-account", "publish"),
)


class _AllCommands(TyperGroup):
    """Lists the commands in the order in which a user comes to need them, in any language."""

    def list_commands(self, ctx: object) -> list[str]:
        """The names of all commands."""
        return sorted(self.commands, key=_ORDER.index)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Read the arguments, for the language first: help and errors are already in it."""
        lenient = typer.Context(self, resilient_parsing=True, ignore_unknown_options=True)
        given, _, _ = self.make_parser(lenient).parse_args([*args])
        language = given.get("_language") or os.environ.get(VARIABLE)
        speak(language)
        if spoken() != "en":
            speak_of(self)
            if "_language" in given:  # so that a command that is shown can be copied
                info_name = f"{info_name} --language {language}"
        with usage_errors_told():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with usage_errors_told():
            return super().invoke(ctx)


app = typer.Typer(
    cls=_AllCommands,
    help="Benchmarks of the digital humanities: build, load, run and score them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

DEFAULT_OUT = Path("hdb")

Protocol = Annotated[
    str,
    typer.Option(
        help="The rules to score by. documented: as the benchmark's authors describe them. "
        "published: as its published results were computed."
    ),
]
ErrataChoice = Annotated[
    str,
    typer.Option(
        "--errata",
        help="Which corrections of ground-truth values count under documented. accepted: those "
        "that the data's owners accepted. proposed: all of them.",
    ),
]
BENCHMARK = "A benchmark, such as zettelkatalog: built here, or else taken from the Hub."
Runs = Annotated[
    list[Path],
    typer.Argument(
        help="Runs, each one model's answers to one benchmark: run folders, folders of them, or "
        "results of hdbench score --json; with --benchmark also answers in any form.",
        metavar="RUN…",
    ),
]
Revision = Annotated[
    str | None,
    typer.Option(
        help="The revision of the benchmark on the Hub: a tag such as hdbench-1.0.0, a branch or "
        "a commit.",
        metavar="REVISION",
    ),
]
Name = Annotated[
    str | None,
    typer.Option("--name", help="The model's name, if the answers do not say it.", metavar="MODEL"),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        help="The model's name, for answers that do not say it; given once for each of them, in "
        "their order.",
        metavar="MODEL",
    ),
]
OfBenchmark = Annotated[
    str | None,
    typer.Option(
        help="The benchmark, such as zettelkatalog; by default the one that a run names.",
        metavar="BENCHMARK",
    ),
]


PageLanguage = Annotated[
    Literal["en", "de"] | None,
    typer.Option(help="The page's language; by default that of hdbench --language."),
]
By = Annotated[
    str | None,
    typer.Option(
        help="A column of the benchmark, such as language: also show the headline for each of its "
        "values. Numbers with many values are cut into ranges.",
        metavar="COLUMN",
    ),
]


def finite(value: float | None) -> float | None:
    """Refuse NaN, which a range lets pass, and infinity."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hdbench {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    _debug: Annotated[
        bool, typer.Option("--debug", help="On an error, show the full traceback.")
    ] = False,
    _language: Annotated[
        Literal["en", "de"],
        typer.Option(
            "--language",
            envvar=VARIABLE,
            help="The language of everything that is printed.",
        ),
    ] = "en",
) -> None:
    """What every command has."""


def say_error(error: Exception) -> None:
    """Print an error as one line, as every command ends with."""
    typer.echo(f"{said('error')}: {one_line(error)}", err=True)


def one_line(error: Exception) -> str:
    """An error as one line for a terminal."""
    if isinstance(error, HdbenchError):
        return said(error.message)
    if isinstance(error, OSError) and error.strerror:
        why = write_reason(error) if is_full(error) else os_reason(error)
        if not error.filename:
            return said(why)
        return said("{place}: {why}", place=error.filename, why=why)
    return escaped(str(error))
