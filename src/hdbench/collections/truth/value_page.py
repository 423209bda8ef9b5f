"""The page on which people look at single values, whatever they look at them for."""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from threading import RLock
from typing import Any

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import SCHEMA
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import ValueKey, as_name, now
from hdbench.collections.truth.form import asked, form_of
from hdbench.collections.truth.media import BrowserImage, CollectionMedia
from hdbench.common.texts import Texts

_TEXTS = Texts(Path(__file__).parent / "texts")


class ValuePage(ABC):
    """Single values that one person looks at in the browser, one request at a time.

    Args:
        folder: the dataset, or the collection.
        person: the person's name.
        language: the page's language; None for the browser's.

    Raises:
        HdbenchError: a file is unusable, or the name is.
    """

    def __init__(self, folder: Path, person: str, language: str | None) -> None:
        self.folder, self.person = folder, as_name(person)
        self._language = language
        self.media = CollectionMedia(folder)
        self._form = form_of(AnswerSchema.load(folder / SCHEMA))
        self.lock = RLock()
        self.people = People(folder)
        with self.people.writing(self.person):
            pass  # so that what is wrong is said now

    @property
    def notes(self) -> Sequence[str]:
        """Return nothing: all that has to be known is said as an error."""
        return ()

    def close(self) -> None:  # noqa: B027  most have nothing to close
        """Close the files."""

    def start(self) -> dict[str, Any]:
        """Return the data that the page loads once."""
        return {
            "name": self.folder.resolve().name,
            "annotator": self.person,
            "language": self._language,
            "texts": _TEXTS.translations,
        }

    @property
    @abstractmethod
    def lists(self) -> Sequence[str]:
        """Return the names of the lists that numbers of requests stand for, that of now last."""

    @abstractmethod
    def state(self, after: int = -1) -> dict[str, Any]:
        """Return where it stands for this person.

        Its `phase` is `reading` while there are values for this person, `waiting` while others
        have to read some, `ready` when the next stage can be drawn, and `done` at the end. `next`
        has the numbers of the next values, `last` that of the last one.

        Args:
            after: the number of a value that this person leaves for later.
        """

    @abstractmethod
    def value(self, number: int) -> dict[str, Any]:
        """Return a value: where to look, what can be entered, and what may be seen of it."""

    @abstractmethod
    def read(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Save what this person says of a value, and return the state.

        Raises:
            ChangedError: somebody was faster.
            HdbenchError: it cannot be saved.
        """

    def now(self, _: int) -> dict[str, Any]:
        """Return the state, when somebody was faster."""
        return self.state()

    def go_on(self, _: dict[str, Any]) -> dict[str, Any]:
        """Return the state: there is no next stage."""
        return self.state()

    def picture(self, number: int, page: int) -> BrowserImage:
        """Return a page of a value's item."""
        return self.media.picture(self.key(number).item, page)

    @abstractmethod
    def key(self, number: int) -> ValueKey:
        """Return the value with a number.

        Raises:
            HdbenchError: there is none.
        """

    def signed(self) -> dict[str, Any]:
        """Return what a new line of this person's file has of itself: an id, the name, the time."""
        return {"id": uuid.uuid4().hex, "by": self.person, "at": now()}

    def asks(self, path: str) -> dict[str, Any]:
        """Return what a field is called in each language, and what can be entered."""
        return asked(self._form, path)
