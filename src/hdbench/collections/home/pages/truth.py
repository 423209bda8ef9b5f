"""The ground truth: who reads what, and how well people agree."""

from collections.abc import Mapping
from typing import Any

from hdbench.benchmarks.agreement import Agreement
from hdbench.benchmarks.benchmark import METADATA, PEOPLE
from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.benchmarks.titles import FieldTitles
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.page import Done, EditedPage, HomePage, Visit, open_editor
from hdbench.collections.home.stamps import stamp_of
from hdbench.collections.truth.agreement import agreement_of
from hdbench.collections.truth.choice_pages import SettlingPage
from hdbench.collections.truth.double import read_double, read_doubly_read
from hdbench.collections.truth.editor import Editor
from hdbench.common.texts import written
from hdbench.errors import HdbenchError

_AGREEING = "agreement"


def editor(collection: Collection, name: str, language: str | None) -> Editor:
    """Open the editor for a person."""
    return Editor(collection.folder, name, language=language)


def correcting_editor(collection: Collection, name: str, language: str | None) -> Editor:
    """Open the editor for a person, with what models read."""
    return Editor(
        collection.folder, name, [run.path for run in collection.answered_runs()], language
    )


def settling_page(collection: Collection, name: str, language: str | None) -> SettlingPage:
    """Open what people entered differently, for a person who settles it."""
    return SettlingPage(collection.folder, name, language)


def _show(visit: Visit) -> Mapping[str, Any]:
    return {
        "progress": visit.collection.progress(),
        "name": visit.home.recent.read().person,
        "has_drafts": bool(visit.collection.answered_runs()),
        "people": visit.collection.folder / PEOPLE,
    }


def _annotate(visit: Visit) -> Done:
    return open_editor(visit, CORRECTING if "drafts" in visit.form else EDITOR)


def _double(visit: Visit) -> Done:
    number, name = visit.form.get("items", "").strip(), visit.form.get("name", "")
    if not number.isdecimal() or len(number) > 8:  # noqa: PLR2004
        raise HdbenchError("{given}: must be a number of items", given=number[:20])
    read_double(visit.collection.folder, name, int(number))
    return open_editor(visit, EDITOR)


def _show_agreement(visit: Visit) -> Mapping[str, Any]:
    collection, folder = visit.collection, visit.collection.folder

    def counted() -> tuple[Agreement | None, int]:
        finished, unfinished = read_doubly_read(folder)
        return agreement_of(folder, finished), unfinished

    stamp = tuple(stamp_of(folder / name) for name in (METADATA, PEOPLE, DESCRIPTION))
    work = collection.background.computed(_AGREEING, stamp, counted)
    agreement, unfinished = work.value or (None, 0)
    return {
        "work": work,
        "agreement": agreement,
        "unfinished": unfinished,
        "titles": FieldTitles(collection.schema, visit.language),
        "number": lambda value: "–" if value is None else written(value, 2, visit.language),
    }


EDITOR = EditedPage("annotate/{name}", editor)
CORRECTING = EditedPage("correct/{name}", correcting_editor)
SETTLING = EditedPage("settle/{name}", settling_page)

PAGE = HomePage(
    "truth",
    _show,
    {
        "annotate": _annotate,
        "double": _double,
        "settle": lambda visit: open_editor(visit, SETTLING),
    },
)
AGREEMENT = HomePage("agreement", _show_agreement)
