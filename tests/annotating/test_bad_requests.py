"""Every route of the two pages, with requests that nobody's browser makes."""

from contextlib import contextmanager

import pytest
from annotating.pages import Served, write_collection
from annotating.reviews import entry, write_list
from helpers.bad_requests import Client, refused

pytestmark = pytest.mark.nightly

CHANGE = {"what": "ground_truth", "field": "title", "to": "Faust", "after": None, "settled": True}
EDITOR = [
    ("GET", "/", None),
    ("GET", "/editor.js", None),
    ("GET", "/start", None),
    ("GET", "/search", None),
    ("GET", "/suggest", None),
    ("GET", "/waiting", None),
    ("POST", "/leave", {"item": 0, "seconds": 5}),
    ("GET", "/items/{n}", None),
    ("POST", "/items/{n}/change", CHANGE),
    ("POST", "/items/{n}/draft", {"draft": 0, "after": None}),
    ("POST", "/items/{n}/undo", {}),
    ("GET", "/items/{n}/drafts", None),
    ("GET", "/items/{n}/pages/0", None),
    ("GET", "/items/0/pages/{n}", None),
]
REVIEW = [
    ("GET", "/", None),
    ("GET", "/review.js", None),
    ("GET", "/start", None),
    ("GET", "/entries/{n}", None),
    ("POST", "/entries/{n}/read", {"value": "Faust", "after": None}),
    ("POST", "/entries/{n}/judge", {"verdict": "slip", "new": "F", "evidence": "x", "after": None}),
    ("POST", "/entries/{n}/undo", {"after": None}),
    ("GET", "/entries/{n}/pages/0", None),
    ("GET", "/entries/0/pages/{n}", None),
]


@contextmanager
def logging(folder, log, review):
    """The address of a page, whose server writes its log into a file."""
    with log.open("w") as errors:
        served = Served(folder, "--as", "anna", review=review, errors=errors)
    try:
        yield served.url
    finally:
        assert served.end() == 0


@pytest.mark.parametrize(("routes", "kind"), [(EDITOR, "editor"), (REVIEW, "review")])
def test_bad_requests_neither_crash_pages_nor_log_tracebacks(tmp_path, routes, kind):
    folder = write_collection(tmp_path / "cards", [{"title": "Faust"}])
    review = None
    if kind == "review":
        review = write_list(tmp_path / "list.jsonl", entry("b1", "title", "A", "B"))
    with logging(folder, tmp_path / "log", review) as url:
        tried, wrong, log = refused(Client(url), routes, tmp_path / "log")
        assert Client(url).ask("GET", "/start")[0] == 200
    assert tried > 1_000
    assert wrong == []
    assert set(log.splitlines()) <= {"WARNING:  Invalid HTTP request received."}
