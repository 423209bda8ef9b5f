"""What the plots for the docs share: readable on white and on black, the same bytes each time."""

from typing import Any

GREY, BLUE, ORANGE = "#7F7F7F", "#2E86D1", "#E07B1A"

SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "path",
    "svg.hashsalt": "hdbench",
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), GREY),
    **dict.fromkeys(("xtick.color", "ytick.color"), GREY),
}
