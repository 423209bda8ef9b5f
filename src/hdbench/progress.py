"""Progress of long work, for a person at a terminal."""

from collections.abc import Iterable
from typing import TypeVar

from rich.console import Console
from rich.progress import track

Element = TypeVar("Element")


def progress(
    elements: Iterable[Element], title: str, total: int | None = None
) -> Iterable[Element]:
    """The elements, with a bar on standard error while they are gone through, if it is a terminal.

    Args:
        elements: what is gone through.
        title: what stands before the bar.
        total: how many there are, if that is known.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        return elements
    return track(elements, title, total=total, console=console, transient=True)
