"""The items of a collection."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from starlette.responses import Response

from hdbench.collections.home.collection import Collection
from hdbench.collections.home.drafts import ADDED, CollectionDraft
from hdbench.collections.home.folder import key_of
from hdbench.collections.home.page import Done, HomePage, Visit
from hdbench.collections.truth.progress import ItemProgress

SHOWN = 60
"""Number of items on a page."""

TYPICAL = 3
"""Number of items that the first page of a collection shows large."""

EXCERPT = 200
"""Number of characters of an item's text."""


class ScanView(NamedTuple):
    """An item as pages show it.

    Attributes:
        number: its place in the collection, from 0.
        progress: how far it is.
        text: the beginning of its text; None if it has a picture.
    """

    number: int
    progress: ItemProgress
    text: str | None

    @property
    def word(self) -> str:
        """Return the key of the word for how far it is."""
        if self.progress.state.conflicts:
            return "to_settle"
        if self.progress.state.status != "open":
            return self.progress.state.status
        return "filled" if self.progress.has_truth else "open"


def views_of(collection: Collection, numbers: Iterable[int]) -> list[ScanView]:
    """Return items by their places in the collection."""
    items, media = collection.progress().items, collection.media
    views = []
    for number in numbers:
        text = media.text(items[number].state.item)
        views.append(ScanView(number, items[number], text and text[:EXCERPT]))
    return views


def _thumbnail(visit: Visit) -> Response:
    """Answer with the small picture of an item."""
    items, number = visit.collection.progress().items, visit.parts["n"]
    if number >= len(items):
        return Response("no such item", 404)
    made = visit.collection.media.thumbnail(items[number].state.item)
    return Response(made.data, media_type=made.media_type)


def _items(visit: Visit) -> Mapping[str, Any]:
    progress = visit.collection.progress()
    wanted = visit.query.get("show", "all")
    numbers = progress.places.get(wanted, range(len(progress.items)))
    given = visit.query.get("from", "0")
    start = int(given) if given.isdecimal() and len(given) < 9 else 0  # noqa: PLR2004
    start = min(start - start % SHOWN, max(0, len(numbers) - 1))
    return {
        "views": views_of(visit.collection, numbers[start : start + SHOWN]),
        "start": start,
        "count": len(numbers),
        "shown": SHOWN,
        "wanted": wanted if wanted in progress.places else "all",
        "filters": {
            "all": len(progress.items),
            **{name: len(places) for name, places in progress.places.items()},
        },
    }


def _overview(visit: Visit) -> Mapping[str, Any]:
    """Return items to show: the first that somebody has read, else the first of all."""
    progress = visit.collection.progress()
    numbers = list(progress.places["truth"][:TYPICAL])
    numbers += [n for n in range(min(TYPICAL, len(progress.items))) if n not in numbers]
    return {"typical": views_of(visit.collection, numbers[:TYPICAL])}


def _add(visit: Visit) -> Done:
    """Begin to add scans, or resume that."""
    draft = CollectionDraft.begin(visit.collection.folder, ADDED)
    visit.home.recent.add(draft.folder, is_draft=True)
    return Done(to=f"../new/{key_of(draft.folder)}")


OVERVIEW = HomePage("", _overview, template="overview.html")
PAGE = HomePage("scans", _items, {"add": _add}, files={"small/{n:number}": _thumbnail})
