"""Command that prints a citation."""

from pathlib import Path

import typer

from hdbench.common.translation import current_language
from hdbench.errors import escaped
from hdbench.evaluation.cite import cite as citation


def command(
    path: Path,
) -> None:
    """Print BibTeX, and a sentence for the methods section.

    Args:
        path: A result of hdbench score --json, or a built benchmark.
    """
    for line in citation(path, current_language()).expandtabs(2).split("\n"):
        typer.echo(escaped(line))
