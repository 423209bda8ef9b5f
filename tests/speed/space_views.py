"""What a visitor of the Space waits for: PYTHONPATH=tests python -m speed.space_views

The seconds until the first view is there, in a browser that was never there before, and what it
takes over the wire; and, from the press of the button, until the sentence about 263 scored cards
can be read, and until their report is there. With arguments it takes a built benchmark, the first
in its folder, and a file of answers.

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from speed.space import made_up, serving

TIMES = 5


def main(benchmark: Path, answers: Path) -> None:
    """Print all the figures."""
    with serving(benchmark.parent) as (url, _), sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=arguments
        )
        each = [visit(browser, url, answers) for _ in range(TIMES + 1)]
        browser.close()
    print(f"the first visitor: {figures(*each[0])}")
    middle = (statistics.median(column) for column in zip(*each[1:], strict=True))
    print(f"the middle of {TIMES} after that: {figures(*middle)}")


def figures(first: float, size: float, sentence: float, report: float) -> str:
    """The figures of a visit in words."""
    return (
        f"first view {first:.2f} s and {size / 1000:,.0f} kB; sentence {sentence:.2f} s, report "
        f"{report:.2f} s after the press"
    )


def visit(browser: Browser, url: str, answers: Path) -> tuple[float, float, float, float]:
    """Seconds and bytes of the first view, and seconds of sentence and report."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    context.set_default_timeout(120_000)
    page = context.new_page()
    sizes = bytes_over_the_wire(page)
    start = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.locator(".hdb-look img").wait_for()
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    page.locator("#score").wait_for()
    first, size = time.perf_counter() - start, sum(sizes)

    page.locator("#file input[type=file]").set_input_files(answers)
    page.locator("#file").get_by_role("link").wait_for()
    start = time.perf_counter()
    page.locator("#score").click()
    page.locator("#first .hdb-big").wait_for()
    sentence = time.perf_counter() - start
    page.frame_locator("#report iframe").locator("h1").wait_for()
    report = time.perf_counter() - start
    context.close()
    return first, size, sentence, report


def bytes_over_the_wire(page: Page) -> list[float]:
    """The compressed size of each answer that the page gets from now on."""
    sizes: list[float] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda done: sizes.append(done["encodedDataLength"]))
    return sizes


def made_up_with_example(folder: Path) -> tuple[Path, Path]:
    """`made_up`, with the answers as the example that the first view shows."""
    benchmark, answers = made_up(folder)
    shutil.copy(answers, benchmark / "example_predictions.jsonl")
    return benchmark, answers


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(*(map(Path, sys.argv[1:]) if sys.argv[1:] else made_up_with_example(Path(scratch))))
