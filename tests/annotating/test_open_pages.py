"""Pages that are opened when they are asked for, and closed when nobody uses them."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from annotating.pages import write_collection

from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.open_pages import OpenPages, _OpenPage
from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError


@pytest.fixture
def folder(tmp_path):
    return write_collection(tmp_path / "cards")


def test_requests_come_while_idle_pages_are_closed(folder):
    pages = OpenPages(idle=900)

    def ask():
        for _ in range(300):
            with pages.page("anna", partial(Editor, folder, "anna")) as router:
                assert router.routes

    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(ask) for _ in range(3)]
        while not all(each.done() for each in asked):
            pages.close_idle(0)
    pages.close()
    assert [each.exception() for each in asked] == [None] * 3
    Store(folder, "anna").close()


def test_request_waiting_while_the_server_ends_opens_nothing(folder, monkeypatch):
    pages = OpenPages(idle=900)
    ask = pages.page("anna", partial(Editor, folder, "anna"))

    class Waited(_OpenPage):
        """One whose turn comes when the server has ended."""

        def __init__(self):
            super().__init__()
            self.opening = self

        def acquire(self, timeout=0):
            if not pages._ended.is_set():
                pages.close()
            return True

        __enter__ = acquire

        def release(self, *_):
            pass

        __exit__ = release

    monkeypatch.setattr("hdbench.collections.truth.open_pages._OpenPage", Waited)
    with pytest.raises(HdbenchError, match="the server is shutting down"), ask:
        pass
    Store(folder, "anna").close()
