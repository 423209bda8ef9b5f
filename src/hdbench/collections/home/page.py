"""A page of the home: what its template shows, and what its forms do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hdbench.collections.home.collection import Collection

if TYPE_CHECKING:
    from hdbench.collections.home.app import Home


@dataclass(frozen=True)
class Visit:
    """A request for a page.

    Attributes:
        home: the home.
        collection: the collection.
        language: the page's language.
        query: what the address has behind its question mark.
        form: the fields of the form that was sent; empty if none was.
    """

    home: "Home"
    collection: Collection
    language: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)


class Done(NamedTuple):
    """Outcome of a form.

    Attributes:
        note: the line that the next page shows; none if it is empty.
        to: the address to go to, as `at` takes it; the form's own page if it is None.
    """

    note: str = ""
    to: str | None = None


Show = Callable[[Visit], Mapping[str, Any]]
Act = Callable[[Visit], Done]


class HomePage(NamedTuple):
    """A page of a collection.

    Attributes:
        name: the last part of its address, and the name of its template.
        show: returns the values for its template.
        forms: name → what a form of that name does.
    """

    name: str
    show: Show = lambda _: {}
    forms: Mapping[str, Act] = {}
