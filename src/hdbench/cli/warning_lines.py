"""The warnings of a result, as lines for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from hdbench.common.printing import MAX_NOTE, printable
from hdbench.evaluation.run_warning import gravest_first

GRAVEST = 3
"""How many warnings are printed, unless all of them are asked for: more would bury the score."""


def print_warnings(
    console: Console, warnings: Sequence[Mapping[str, Any]], *, all_of_them: bool
) -> None:
    """Print warnings, the gravest first, and how many more there are."""
    shown = len(warnings) if all_of_them else GRAVEST
    for warning in gravest_first(warnings)[:shown]:
        text = printable(warning["message"], MAX_NOTE)
        console.print(Text.assemble(("warning: ", "bold yellow"), text), soft_wrap=True)
    if len(warnings) > shown:
        console.print(Text(f"{len(warnings) - shown} more: --warnings", "bold yellow"))
