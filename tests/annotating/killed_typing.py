"""Somebody types into the editor; after the first save, browser or server is killed at random."""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from annotating.pages import Served
from helpers.waiting import until
from playwright.sync_api import Error

from hdbench.collections.truth.store import Store

# At one instant: what the page says, and what is in its fields.
SHOWN = """() => ({
  state: document.getElementById("saving").dataset.state,
  values: ["title", "text"].map((field) => document.getElementById(`f:${field}`).value),
})"""


@contextmanager
def own_chromium(chromium):
    """A Chromium whose process is known; the page and a function that kills all of it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        program = [shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu"]
        process = subprocess.Popen(
            [*program, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

        def kill():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

        try:
            told = Path(profile) / "DevToolsActivePort"
            until(lambda: told.exists() and told.read_text().count("\n"), "Chromium's start")
            port = told.read_text().split()[0]
            browser = chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
            yield browser.contexts[0].pages[0], kill
        finally:
            kill()
            process.wait(timeout=120)


class Typist:
    """What was typed into title and transcription, and what of it was shown as saved."""

    def __init__(self):
        self.typed, self.saved = ["", ""], ["", ""]
        self.has_saved = threading.Event()

    def type(self, page, rng, killed):
        fields = [page.get_by_label("Title", exact=True), page.get_by_label("Transcription")]
        number = 0
        while not killed.is_set():
            which, number = rng.randrange(2), number + 1
            self.typed[which] += f"w{number}-"
            fields[which].press("Control+End")
            fields[which].press_sequentially(f"w{number}-")
            page.wait_for_timeout(rng.choice((0, 300, 1200)))
            shown = page.evaluate(SHOWN)
            if shown["state"] == "saved":
                self.saved = shown["values"]
                self.has_saved.set()


def kill_while_typing(folder, chromium, seed, what):
    """Type, kill `browser` or `server` at a random moment after a save, and look at what is left.

    Returns:
        How many characters were shown as saved.
    """
    rng, typist, killed = random.Random(seed), Typist(), threading.Event()
    served = Served(folder, "--as", "anna")
    try:
        with own_chromium(chromium) as (page, kill_browser):

            def kill():
                typist.has_saved.wait(300)
                time.sleep(rng.uniform(0, 3.5))
                kill_browser() if what == "browser" else served.process.kill()
                killed.set()

            page.goto(served.url)
            page.locator("#id:not(:empty)").wait_for()
            killer = threading.Thread(target=kill)
            killer.start()
            with suppress(Error):  # the browser is gone
                typist.type(page, rng, killed)
            killer.join()
    finally:
        if what == "browser":
            served.end()
        else:
            served.process.wait(timeout=120)
    with Store(folder, "anna") as store:
        record = store.state("b1").record or {}
    for name, typed, saved in zip(("title", "text"), typist.typed, typist.saved, strict=True):
        there = record.get(name) or ""
        assert there.startswith(saved), (name, saved, there)
        assert typed.startswith(there), (name, typed, there)
    return sum(map(len, typist.saved))
