"""The look of all pages: tokens and common rules as style sheets, and icons.

The icons are those of lucide-static as they are; icons/LICENSE is their license.
"""

from functools import cache
from pathlib import Path

from markupsafe import Markup

_FOLDER = Path(__file__).parent
ICONS = _FOLDER / "icons"

TOKENS = _FOLDER / "tokens.css"
"""Colors, sizes and fonts as custom properties, with which every other sheet is written."""

BASE = _FOLDER / "base.css"
"""Rules that all pages of our own have in common."""


@cache
def icon(name: str) -> Markup:
    """Return an icon for a page in one file, which has the color of the text around it.

    Args:
        name: its name in Lucide; the file is in `icons/`.
    """
    drawing = (ICONS / f"{name}.svg").read_text(encoding="utf-8").partition("-->")[2].strip()
    return Markup(f'<span class="icon" aria-hidden="true">{drawing}</span>')  # noqa: S704  own file
