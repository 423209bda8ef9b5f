"""The parts that all plots share: settings, colors, labels, and the same bytes each time."""

import io
import threading
from typing import Any

from matplotlib import font_manager
from matplotlib.figure import Figure

from hdbench.errors import escaped

BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#CCCCCC"

DPI = 150
"""Dots per inch of a picture."""

_MAX_LABEL = 40
_FONT = "DejaVu Sans"  # which comes with matplotlib

SETTINGS: Any = {
    "font.family": _FONT,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "path",  # looks the same wherever it is opened, and needs no font there
    "svg.hashsalt": "hdbench",  # otherwise the ids in it are random
}

# matplotlib's settings belong to the whole process, so only one thread may change them.
LOCK = threading.Lock()


def as_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as a file.

    Args:
        figure: the figure.
        kind: `png` or `svg`.
    """
    data = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(data, format=kind, dpi=DPI, metadata=metadata)
    return data.getvalue()


def short(value: str, most: int = _MAX_LABEL) -> str:
    """Return untrusted text as a label: cut, and with escapes for what cannot be shown."""
    font = font_manager.get_font(font_manager.findfont(_FONT))
    label = "".join(
        sign if font.get_char_index(ord(sign)) else ascii(sign)[1:-1]
        for sign in escaped(value[: most + 1])
    )
    return label if len(label) <= most else label[: most - 1] + "…"
