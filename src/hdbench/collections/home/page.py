"""A page of the home: what its template shows, and what its forms do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request

from hdbench.collections.home.collection import Collection
from hdbench.collections.truth.server import bounded_body
from hdbench.errors import HdbenchError, Message

if TYPE_CHECKING:
    from hdbench.collections.home.app import Home

MAX_FORM = 4 * 2**20
"""Maximum number of bytes of a form."""

MAX_FIELDS = 20_000
"""Maximum number of fields of a form."""


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


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent; of several with one name, the last.

    Raises:
        HdbenchError: it is not a form, or is too large.
    """
    if request.headers.get("content-type") != "application/x-www-form-urlencoded":
        raise HdbenchError("must be a form")
    data = await bounded_body(request, MAX_FORM)
    try:
        pairs = parse_qsl(
            data.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError as error:
        raise HdbenchError("not a form: {why}", why=Message(str(error))) from error
    # Browsers end lines in forms with CR LF.
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def is_ours(request: Request) -> bool:
    """Return whether a request that changes something says that it comes from these pages."""
    return request.headers.get("origin") == f"http://{request.headers.get('host')}"
