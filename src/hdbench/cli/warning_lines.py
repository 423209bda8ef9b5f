"""The warnings of a result, as lines for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from hdbench.cli.said_tables import print_marked
from hdbench.cli.saying import said
from hdbench.common.told import spoken
from hdbench.evaluation.run_warning import gravest_first
from hdbench.results.warning_texts import in_language

GRAVEST = 3
"""How many warnings are printed, unless all of them are asked for: more would bury the score."""


def print_warnings(
    console: Console, warnings: Sequence[Mapping[str, Any]], *, all_of_them: bool
) -> None:
    """Print warnings, the gravest first, and how many more there are."""
    shown = len(warnings) if all_of_them else GRAVEST
    for warning in gravest_first(warnings)[:shown]:
        print_marked(console, "warning: ", in_language(warning, spoken()).text)
    if len(warnings) > shown:
        console.print(
            Text(said("{count} more: --warnings", count=len(warnings) - shown), "bold yellow")
        )
