"""The style that all figures share: sizes for a paper, colors, labels, and the same bytes each time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import font_manager, style
from matplotlib.figure import Figure

from hdbench.errors import escaped

ONE_COLUMN, TWO_COLUMNS = 3.5, 7.0
"""Widths in inches of a figure in one column of a paper, and across two."""

# Okabe and Ito's colors, which the color-blind can tell apart.
BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
)
TEXT, DARK, GREY, PALE = "#222222", "#3A3A3A", "#767676", "#DDDDDD"

DPI = 300
"""Dots per inch of a picture."""

MAX_LABEL = 40
"""Maximum characters of an untrusted label."""

_FONT = "DejaVu Sans"  # which comes with matplotlib
_SIZE = 7.5

_SETTINGS: Any = {
    "font.family": _FONT,
    "font.size": _SIZE,
    "axes.titlesize": _SIZE + 0.5,
    "axes.labelsize": _SIZE,
    "xtick.labelsize": _SIZE,
    "ytick.labelsize": _SIZE,
    "legend.fontsize": _SIZE - 0.5,
    "legend.frameon": False,
    "figure.dpi": 150,
    "figure.titlesize": _SIZE + 0.5,
    "text.color": TEXT,
    "axes.edgecolor": GREY,
    "axes.labelcolor": TEXT,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.5,
    "grid.color": PALE,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.0,
    "hatch.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "pdf.fonttype": 42,  # journals refuse the other kind
    "svg.fonttype": "path",  # looks the same wherever it is opened, and needs no font there
    "svg.hashsalt": "hdbench",  # otherwise the ids in it are random
}

# matplotlib's settings belong to the whole process, so only one thread may change them.
_LOCK = threading.RLock()

_WITHOUT_DATE = {"pdf": "CreationDate", "png": "Software", "svg": "Date"}


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw in this style until the block ends, whatever a person's own settings are."""
    with _LOCK, style.context(["default", _SETTINGS]):
        yield


class Plot(Figure):
    """A figure in this style, which is saved in it too; no window system is involved.

    Attributes:
        alt: the figure in words, for those who do not see it.
    """

    alt: str = ""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Save the figure as `matplotlib.figure.Figure` does; the same figure gives the same bytes.

        Args:
            fname: a path or an open file.
            options: those of matplotlib.
        """
        named = Path(fname).suffix[1:] if isinstance(fname, str | Path) else "png"
        kind = str(options.get("format") or named).lower()
        if kind in _WITHOUT_DATE:
            options["metadata"] = {_WITHOUT_DATE[kind]: None} | (options.get("metadata") or {})
        with paper_style():
            super().savefig(fname, **{"dpi": DPI} | options)
