"""The application: the list of commands, and how a command is found, loaded and explained."""

import gc
import os
import re
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hdbench.about import __version__
from hdbench.common.display.terminal import say, say_error
from hdbench.common.texts import VARIABLE, Language, set_language
from hdbench.errors import HdbenchError

_PANELS: dict[str | None, dict[str, str]] = {
    "In the browser": {
        "open": "Open a collection in the browser, from its scans to the finished records.",
    },
    "Make a benchmark": {
        "demo": "Build a small sample into ./hdb, load it, and score its example answers.",
        "new": "Make a benchmark from your own images, and a ground truth where there is one.",
        "check": "Find everything that is wrong with a folder of your own before it is built.",
        "build": "Build the datasets into a folder that stands for the Hub.",
    },
    "Annotate": {
        "annotate": "Make or correct the ground truth in the browser, the image beside a form.",
        "agreement": "How well do the people agree who annotated the same items?",
    },
    "Run a model": {
        "run": "Ask a vision model about every item, and keep its answers.",
    },
    "Score answers": {
        "score": "Score a file of answers.",
        "report": "Write a report on a run: every item, Excel, CSV and plots.",
    },
    "Compare models": {
        "compare": "Compare runs on the same items: can they be told apart?",
        "leaderboard": "Rank runs, with intervals and tests.",
    },
    "Trust the figures": {
        "trust": "Which values can be accepted unseen: plan, read a sample, decide.",
        "verify": "Compute a result or a decision again, and say what differs.",
        "audit": "Find ground truths that most good models contradict.",
    },
    "Share": {
        "space": "Serve the web application: score and compare in the browser.",
        "publish": "Publish datasets, metrics, runs and the Space on the Hub.",
    },
}

COMMANDS: dict[str | None, dict[str | None, dict[str, str]]] = {
    "": _PANELS,
    "trust": {
        None: {
            "plan": "Draw the values to check, and write down what will be decided, and how.",
            "learn": "Learn which values are probably wrong, and draw those to verify it.",
            "decide": "Decide what can be accepted, from what people read in the sample.",
            "apply": "Accept values, item by item, and list what people have to look at.",
            "control": "Estimate again how many of the accepted values are wrong, from the control "
            "sample alone.",
            "finish": "Write the whole collection as records: what was checked, accepted and "
            "worked off.",
        },
    },
}
"""Each group of commands, the application's being "": panel of its help → commands → first lines.

A command `trust plan` is the function `command` in the module `trust_plan`. That is imported only
when the command is run or its own help is shown, so that its imports can stand at its top.
"""

_ARGUMENTS = "\n\nArgs:\n"
_ARGUMENT = re.compile(r"^    (\w+): ", re.MULTILINE)


class _CommandGroup(TyperGroup):
    """A group of commands in separate modules, in the order in which a user needs them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._is_listing = False
        for panel, commands in COMMANDS[self.name].items():
            for name, first_line in commands.items():
                self.add_command(TyperCommand(name, help=first_line, rich_help_panel=panel))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, for which no command is loaded."""
        self._is_listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._is_listing = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, loaded unless it is only listed; None if there is none."""
        listed: Any = self.commands.get(cmd_name)
        if listed is None or self._is_listing:
            return listed
        if cmd_name in COMMANDS:
            loaded: Any = _CommandGroup(
                name=cmd_name,
                help=listed.help,
                rich_help_panel=listed.rich_help_panel,
                rich_markup_mode=self.rich_markup_mode,
                no_args_is_help=True,
            )
        else:
            loaded = _loaded(listed, f"{self.name}_{cmd_name}".strip("_").replace("-", "_"))
        return loaded


class _Command(TyperCommand):
    """A command whose usage line has its arguments as they are called, without further signs."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line behind the command's name."""
        pieces = [self.options_metavar or ""]
        parameters: list[Any] = self.get_params(ctx)
        for parameter in parameters:
            if parameter.param_type_name == "argument":
                name = parameter.metavar
                pieces.append(name if parameter.required else f"[{name}]")
        return pieces


def _loaded(listed: Any, module: str) -> Any:
    """Import a command, whose options are described in its docstring."""
    function = import_module(f"hdbench.cli.{module}").command
    alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    alone.command(listed.name, cls=_Command, rich_help_panel=listed.rich_help_panel)(function)
    loaded: Any = typer.main.get_command(alone)
    help_text, shared = loaded.help, import_module("hdbench.cli.arguments").__doc__
    texts = _descriptions(shared or "") | _descriptions(help_text)
    loaded.help = help_text.partition(_ARGUMENTS)[0]
    for parameter in loaded.params:
        parameter.help = parameter.help or texts.get(parameter.name)
        if parameter.param_type_name == "argument":
            parameter.metavar = parameter.metavar or parameter.name.upper()
            parameter.display_type_rich = _no_type
    return loaded


def _no_type(ctx: Any) -> None:
    """Say no type of an argument: it would be one of Python's, such as `list[Path]`."""


def _descriptions(docstring: str) -> dict[str, str]:
    """Return the description of each argument in a docstring."""
    _, *parts = _ARGUMENT.split(docstring.partition(_ARGUMENTS)[2])
    texts = (" ".join(text.split()) for text in parts[1::2])
    return dict(zip(parts[::2], texts, strict=True))


app = typer.Typer(
    cls=_CommandGroup,
    help="Benchmarks of the digital humanities: build, load, run and score them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
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
        Language,
        typer.Option(
            "--language",
            envvar=VARIABLE,
            help="The language of what is printed, and of pages.",
        ),
    ] = "en",
) -> None:
    """Options that every command has."""
    set_language(_language)


def main() -> None:
    """Run the command line; an error is one line on standard error, and exit status 2."""
    # What libraries start imports nothing from the working folder either.
    os.environ["PYTHONSAFEPATH"] = "1"
    # By default cycles are sought after 700 new objects, a twentieth of a short command's time.
    gc.set_threshold(20_000, *gc.get_threshold()[1:])
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        app(arguments)
    except KeyboardInterrupt:
        say("interrupted", err=True)
        sys.exit(130)
    except (HdbenchError, OSError) as error:
        if len(arguments) < len(sys.argv) - 1:  # --debug, wherever it stands
            raise
        say_error(error)
        sys.exit(2)
