"""Browser and server of the editor killed at 30 random moments while somebody types.

Run by hand: PYTHONPATH=src:tests python -m speed.annotate_kills. It fails if anything is lost that
the page had shown as saved.
"""

import tempfile
from pathlib import Path

from annotating.killed_typing import kill_while_typing
from annotating.pages import write_collection
from playwright.sync_api import sync_playwright

KILLS = 30


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for seed in range(KILLS):
            what = ("browser", "server")[seed % 2]
            collection = write_collection(Path(folder) / str(seed))
            saved = kill_while_typing(collection, playwright.chromium, seed, what)
            print(f"{seed + 1}: {what} killed, {saved} characters shown as saved are there")


if __name__ == "__main__":
    main()
