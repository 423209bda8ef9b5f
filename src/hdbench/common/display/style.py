"""The style of all figures: sizes for a paper, colors, labels, and the same bytes each time."""

import io
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import font_manager, style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import ScalarFormatter

from hdbench.common.texts import decimal
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

DPI = 200
"""Dots per inch of a picture."""

MAX_LABEL = 40
"""Maximum characters of an untrusted label."""

_FONT = "DejaVu Sans"  # which comes with matplotlib
_SIZE = 7.5
_MARGIN = 0.04  # inches
_MAX_LINES = 4
_LINE = 0.15  # inches
_SIGNS_PER_INCH = 15.5  # at that size

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
    "text.hinting": "no_hinting",  # a text is as wide at any number of dots per inch
    "text.parse_math": False,  # untrusted text is no formula
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

    def bytes_of(self, kind: str, *, transparent: bool = False) -> bytes:
        """Return the figure as a file.

        Args:
            kind: `pdf`, `png` or `svg`.
            transparent: leave out its white ground.
        """
        data = io.BytesIO()
        self.savefig(data, format=kind, transparent=transparent)
        return data.getvalue()

    def _repr_svg_(self) -> tuple[str, dict[str, str]]:
        """Return what a notebook shows, and the figure in words as its metadata."""
        return self.bytes_of("svg").decode(), {"alt": self.alt}


def new_plot(width: float, height: float, title: str = "") -> tuple[Plot, Axes]:
    """Return a figure with its title, and its axes.

    Args:
        width: its width in inches.
        height: its height without the title.
        title: untrusted text; a line for each of its lines, or more where it is long.
    """
    lines = [part for line in title.splitlines() for part in wrapped(line, width)][:_MAX_LINES]
    height += _LINE * len(lines)
    layout = ConstrainedLayoutEngine(w_pad=_MARGIN, h_pad=_MARGIN)
    plot = Plot(figsize=(width, height), layout=layout)
    if lines:
        plot.suptitle("\n".join(lines), x=_MARGIN / width, ha="left")
    return plot, plot.subplots()


def finished(plot: Plot, alt: str) -> Plot:
    """Return a figure with what it says in words, its places computed once."""
    plot.alt = alt
    engine = plot.get_layout_engine()
    if engine is not None:
        engine.execute(plot)
        plot.set_layout_engine(None)  # with "none", a save would draw twice
    return plot


def label_below(plot: Plot, text: str) -> None:
    """Write what the x axis shows below it, at the right, and make room for its lines."""
    width, height = plot.get_size_inches()
    lines = [part for line in text.split("\n") for part in wrapped(line, width)]
    plot.set_size_inches(width, height + _LINE * (len(lines) - 1))
    plot.supxlabel("\n".join(lines), x=1 - _MARGIN / width, ha="right", size=_SIZE)


def wrapped(text: str, width: float) -> list[str]:
    """Return untrusted text as lines that fit into so many inches."""
    signs = int(width * _SIGNS_PER_INCH)
    return textwrap.wrap(short(text, _MAX_LINES * signs), signs)


def short(value: str, most: int = MAX_LABEL) -> str:
    """Return untrusted text as a label: its middle cut, with escapes for what cannot be shown.

    What differs is at the end of some names and at the start of others.
    """
    if len(value) > 2 * most:  # however long it is
        value = value[:most] + value[-most:]
    font = font_manager.get_font(font_manager.findfont(_FONT))
    label = "".join(
        sign if font.get_char_index(ord(sign)) else ascii(sign)[1:-1] for sign in escaped(value)
    )
    if len(label) <= most:
        return label
    end = most // 3
    return f"{label[: most - 1 - end]}…{label[-end:]}"


def longest_label(width: float) -> int:
    """Return how many characters a row's label may have beside axes in so many inches."""
    return min(MAX_LABEL, int(width * _SIGNS_PER_INCH * 0.45))


class TickNumbers(ScalarFormatter):
    """Numbers on an axis as a language writes them.

    Args:
        language: one of `hdbench.common.texts.LANGUAGES`.
        signed: write a plus sign too.
    """

    def __init__(self, language: str, *, signed: bool = False) -> None:
        super().__init__(useOffset=False, useMathText=False)
        self.set_scientific(False)
        self._language = language
        self._signed = signed

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick."""
        number = decimal(super().__call__(x, pos), self._language)
        return f"+{number}" if self._signed and x > 0 else number
