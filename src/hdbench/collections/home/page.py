"""What the pages of the home share: what is open, what a visitor asks for, and what a page is."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from starlette.responses import Response
from starlette.routing import Router

from hdbench.collections.home.collection import Collection, opened
from hdbench.collections.home.drafts import ADDED, NEW, CollectionDraft
from hdbench.collections.home.folder import key_of
from hdbench.collections.home.recent import Recent
from hdbench.collections.home.uploads import UploadedFile
from hdbench.collections.truth.events import as_name
from hdbench.collections.truth.server import Edited, routes_of
from hdbench.errors import HdbenchError

logger = logging.getLogger(__name__)


class EditedPage(NamedTuple):
    """A page on which a person edits something of a collection.

    Attributes:
        path: its address in the collection, with `{name}` for the person's name.
        open: opens what a person of some name edits there, in a language.
    """

    path: str
    open: Callable[[Collection, str, str | None], Edited]


class Home:
    """All collections that a person has opened, for the browser of this machine.

    Args:
        recent: what is remembered of them.
        language: the pages' language; None for the browser's.

    Attributes:
        recent: same as in Args.
        root: the first part of all addresses, behind its slash.
        chosen_language: `language` of Args.
        notes: the key of a collection → the line that its next page shows.
    """

    def __init__(self, recent: Recent, language: str | None = None) -> None:
        self.recent = recent
        self.root = f"/{recent.token()}"
        self.chosen_language = language
        self.notes: dict[str, str] = {}
        self._collections: dict[Path, Collection] = {}
        self._drafts: dict[Path, CollectionDraft] = {}
        self._edited: dict[tuple[str, ...], tuple[Edited, Router]] = {}
        self._lock, self._editing = Lock(), Lock()

    def close(self) -> None:
        """Close all that is edited."""
        for edited, _ in self._edited.values():
            _close(edited)

    def collection(self, key: str) -> Collection:
        """Return a collection that was opened before; in a thread, as it may read a lot.

        Raises:
            HdbenchError: there is none of that key, or it is no longer usable.
        """
        for name in self.recent.read().collections:
            folder = Path(name)
            if key_of(folder) == key:
                if not folder.is_dir():
                    raise HdbenchError(
                        "{place}: no such folder: if it was moved, open it where it is now",
                        place=folder,
                    )
                with self._lock:
                    if folder not in self._collections:
                        self._collections[folder] = opened(folder)
                    return self._collections[folder]
        raise HdbenchError("not one of the collections that were opened here")

    def draft(self, key: str) -> CollectionDraft:
        """Return a collection, or an addition to one, that is being made.

        Raises:
            HdbenchError: there is none of that key.
        """
        for name in self.recent.read().drafts:
            folder = Path(name)
            if key_of(folder) == key and folder.is_dir():
                return self._drafts.setdefault(folder, CollectionDraft(folder))
        raise HdbenchError("not one of the collections that are being made here")

    def made_of(self, key: str) -> str | None:
        """Return the key of the collection that has been made of a draft; None if none has."""
        for folder in map(Path, self.recent.read().collections):
            for ending in (NEW, ADDED):
                if key_of(folder.with_name(f".{folder.name}{ending}")) == key:
                    return key_of(folder)
        return None

    def edited(self, page: EditedPage, collection: Collection, name: str, *, anew: bool) -> Router:
        """Return what answers for what a person edits, opened unless it is.

        Args:
            page: the page.
            collection: the collection.
            name: the person's name.
            anew: whether it is opened again, so that it shows what the files say now.

        Raises:
            HdbenchError: it cannot be opened.
        """
        # What was drawn by another plan is another page.
        plan = collection.usable_plan()
        key = (page.path, collection.key, name, plan.hash if plan else "")
        with self._editing:
            if anew and key in self._edited:
                _close(self._edited.pop(key)[0])
            if key not in self._edited:
                edited = page.open(collection, name, self.chosen_language)
                for note in edited.notes:
                    logger.warning("%s", note)
                self._edited[key] = edited, Router(routes_of(edited))
            return self._edited[key][1]


def _close(edited: Edited) -> None:
    """Close what was edited; what cannot be written then is safe in the people's files."""
    try:
        edited.close()
    except HdbenchError as error:
        logger.warning("%s", error)


@dataclass
class Visit:
    """A request for a page.

    Attributes:
        home: the home.
        language: the page's language.
        parts: the parts of the address that differ: `key` for a collection, `draft` for a draft.
        query: what the address has behind its question mark.
        form: the fields of the form that was sent; empty if none was.
    """

    home: Home
    language: str
    parts: Mapping[str, Any]
    query: Mapping[str, str]
    form: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def collection(self) -> Collection:
        """Return the collection; see `Home.collection`."""
        return self.home.collection(self.parts["key"])

    @cached_property
    def draft(self) -> CollectionDraft:
        """Return the draft; see `Home.draft`."""
        return self.home.draft(self.parts["draft"])

    @property
    def folder(self) -> Path | None:
        """Return the folder in which files are that a page writes; None before any collection.

        Raises:
            HdbenchError: the collection, or the draft, is not there.
        """
        if "draft" in self.parts:
            return self.draft.folder
        return self.collection.beside if "key" in self.parts else None


class Done(NamedTuple):
    """Outcome of a form.

    Attributes:
        note: the line that the next page shows; none if it is empty.
        to: the address to go to, as `at` takes it; the form's own page if it is None.
    """

    note: str = ""
    to: str | None = None


Act = Callable[[Visit], Done | None]
"""Does what a form asks for; without an outcome, the form's page is shown again."""


class HomePage(NamedTuple):
    """A page of the home; all that it does runs in threads.

    Attributes:
        name: its address, in the collection if it is a page of one.
        show: returns the values for its template.
        forms: name → what a form of that name does.
        files: address → what answers with a file there.
        uploads: name → what takes in a file, and returns what the page's script gets to know, if
            anything.
        template: its template's file; by default its name's.
    """

    name: str
    show: Callable[[Visit], Mapping[str, Any]]
    forms: Mapping[str, Act] = {}
    files: Mapping[str, Callable[[Visit], Response]] = {}
    uploads: Mapping[str, Callable[[Visit, UploadedFile], Mapping[str, str] | None]] = {}
    template: str = ""


def open_editor(visit: Visit, page: EditedPage) -> Done:
    """Remember the name in a form, and open what this person edits on a page.

    Raises:
        HdbenchError: it is not a name, or nothing can be opened for it.
    """
    name = as_name(visit.form.get("name", ""))
    visit.home.recent.note_person(name)
    visit.home.edited(page, visit.collection, name, anew=True)  # what is wrong is said here
    return Done(to=f"{page.path.format(name=name)}/")
