"""The first page of a collection: where it stands, what comes next, and some of its items."""

from collections.abc import Mapping
from typing import Any

from hdbench.home.page import HomePage, Visit
from hdbench.home.pages.scans import views_of

TYPICAL = 3
"""Number of items that are shown large."""


def _show(visit: Visit) -> Mapping[str, Any]:
    """Return items to show: the first that somebody has read, else the first of all."""
    progress = visit.collection.progress()
    numbers = list(progress.places["truth"][:TYPICAL])
    numbers += [n for n in range(min(TYPICAL, len(progress.items))) if n not in numbers]
    return {"typical": views_of(visit.collection, numbers[:TYPICAL])}


PAGE = HomePage("", _show)
