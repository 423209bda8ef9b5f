"""How long the editor of 10,000 items takes to open, and to go from one item to the next.

Run by hand: PYTHONPATH=src:tests python -m speed.annotate_page
"""

import shutil
import tempfile
import time
from pathlib import Path

import httpx
from annotating.pages import serving, write_collection
from playwright.sync_api import expect, sync_playwright

ITEMS = 10_000
STEPS = 20


def main():
    record = {
        "title": "Stellingen",
        "kind": "book",
        "year": 1924,
        "keywords": ["Diss", "Leiden"],
        "persons": [{"name": "Frey, Emma", "roles": ["author"]}, {"name": "May", "roles": []}],
        "text": "Frey, Emma.\nStellingen.\nLeiden 1924." * 5,
    }
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        records = [record | {"title": f"Stellingen {number}"} for number in range(ITEMS)]
        collection = write_collection(Path(folder) / "cards", records)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        with serving(collection) as served:
            httpx.get(served.url)  # what is measured has its imports done
        start = time.perf_counter()
        with serving(collection) as served:
            print(f"the server answers after {time.perf_counter() - start:.2f} s")
            page = browser.new_page(locale="en-GB")
            start = time.perf_counter()
            page.goto(served.url)
            expect(page.get_by_label("Title")).to_have_value("Stellingen 0")
            print(f"the page shows the first item after {time.perf_counter() - start:.2f} s")
            times = []
            for number in range(1, STEPS + 1):
                page.get_by_label("Year").fill(str(1900 + number))
                start = time.perf_counter()
                page.keyboard.press("Alt+ArrowRight")
                expect(page.get_by_label("Title")).to_have_value(f"Stellingen {number}")
                times.append(time.perf_counter() - start)
            middle, most = sorted(times)[STEPS // 2], max(times)
            print(f"an entry and the next item: {middle:.2f} s, {most:.2f} s at most")
            start = time.perf_counter()
            page.keyboard.press("Escape")
            page.keyboard.press("/")
            page.keyboard.type("Stellingen 9999")
            expect(page.locator("#found")).to_have_text("1 found")
            print(f"a search: {time.perf_counter() - start:.2f} s")
        browser.close()


if __name__ == "__main__":
    main()
