"""Values of the ground truth that most models contradict: whether it is right."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from hdbench.annotating.reviewing.accepted import record_review
from hdbench.annotating.reviewing.review import Review
from hdbench.errors import HdbenchError, Message
from hdbench.home.collection import Collection
from hdbench.home.comparison import usable
from hdbench.home.page import Done, HomePage, Visit
from hdbench.home.pages.truth import open_editor
from hdbench.home.reviews import ReviewView
from hdbench.output.audit.models import MAKERS

if TYPE_CHECKING:
    from hdbench.home.app import Home

REVIEWING = "look/{name}"
"""The address in a collection of the page on which values are read again."""

_LISTING = "review"


def review_editor(home: "Home", collection: Collection, name: str) -> Review:
    """Open the values that are read again for a person."""
    return Review(collection.built, _listed(collection).path, name, home.chosen_language)


def review_source(collection: Collection) -> Hashable:
    """Return which list people read again."""
    return _listed(collection).path


def _listed(collection: Collection) -> ReviewView:
    view = collection.reviews.view()
    if view is None:
        raise HdbenchError("no values are listed to be read again")
    return view


def _show(visit: Visit) -> Mapping[str, Any]:
    collection = visit.collection
    is_built, view, problem = collection.is_built(), None, ""
    try:
        view = collection.reviews.view() if is_built else None
    except HdbenchError as error:
        problem = error.message
    return {
        "is_built": is_built,
        "can_list": len(usable(collection)) >= MAKERS,
        "view": view,
        "problem": problem,
        "listing": collection.background.last(_LISTING),
        "name": visit.home.used.read().pseudonym,
        "has_plan": collection.decisions.has_plan(),
    }


def _list(visit: Visit) -> Done:
    """List the values that most models contradict."""
    collection = visit.collection
    if collection.reviews.view() is None:
        runs = [run.path for run in usable(collection)]
        collection.background.start(_LISTING, lambda: collection.reviews.make(runs))
    return Done()


def _read(visit: Visit) -> Done:
    return open_editor(visit, REVIEWING)


def _record(visit: Visit) -> Done:
    """Record the slips as corrections of the collection, all as one new version."""
    collection, form = visit.collection, visit.form
    accepted = form.get("accepted", "").strip()
    if "@" in accepted and ":" not in accepted:
        accepted = f"mailto:{accepted}"
    recorded = record_review(
        str(collection.folder),
        _listed(collection).path,
        approved_by=form.get("approved", "").strip(),
        accepted=accepted or None,
        out=collection.built.parent,
    )
    return Done(
        Message(
            "1 correction is recorded, in version {version}",
            plural="{count:,} corrections are recorded, in version {version}",
            count=len(recorded.outcome.accepted),
            version=recorded.added.version,
        ),
        "compare",
    )


PAGE = HomePage("review", _show, {"list": _list, "read": _read, "record": _record})
