"""Every route of two pages, with requests that nobody's browser makes."""

from contextlib import contextmanager

import pytest
from annotating.deciding.lists import ServedWork, prepared
from annotating.pages import Served
from helpers.bad_requests import Client, refused

pytestmark = pytest.mark.nightly

CHANGE = {"what": "ground_truth", "field": "title", "to": "Faust", "after": None, "settled": True}
EDITOR = [
    ("GET", "/", None),
    ("GET", "/editor.js", None),
    ("GET", "/start", None),
    ("GET", "/search", None),
    ("GET", "/suggest", None),
    ("POST", "/leave", {}),
    ("GET", "/items/{n}", None),
    ("POST", "/items/{n}/change", CHANGE),
    ("POST", "/items/{n}/draft", {"draft": 0, "after": None}),
    ("POST", "/items/{n}/undo", {}),
    ("GET", "/items/{n}/drafts", None),
    ("GET", "/items/{n}/pages/0", None),
    ("GET", "/items/0/pages/{n}", None),
]
WORK = [
    ("GET", "/", None),
    ("GET", "/value.js", None),
    ("GET", "/start", None),
    ("GET", "/state?after={n}", None),
    ("GET", "/values/{n}", None),
    ("POST", "/values/{n}/read", {"after": None, "place": 0, "value": "a"}),
    ("POST", "/go-on", {"stage": 0}),
    ("GET", "/values/{n}/pages/0", None),
    ("GET", "/values/0/pages/{n}", None),
]


@contextmanager
def logging(folder, log, kind):
    """The address of a page, whose server writes its log into a file."""
    with log.open("w") as errors:
        if kind == "work":
            served = ServedWork(folder, errors=errors)
        else:
            served = Served(folder, "--as", "anna", errors=errors)
    try:
        yield served.url
    finally:
        assert served.end() == 0


@pytest.mark.parametrize(("routes", "kind"), [(EDITOR, "editor"), (WORK, "work")])
def test_bad_requests_neither_crash_pages_nor_log_tracebacks(tmp_path, routes, kind):
    folder = prepared(tmp_path, {item: {"title": ["Faust"]} for item in ("b1", "b2")})
    with logging(folder, tmp_path / "log", kind) as url:
        tried, wrong, log = refused(Client(url), routes, tmp_path / "log")
        assert Client(url).ask("GET", "/start")[0] == 200
    assert tried > 1_000
    assert wrong == []
    assert set(log.splitlines()) <= {"WARNING:  Invalid HTTP request received."}
