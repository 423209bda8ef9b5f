"""Many visitors at once: each gets what is theirs, and the server stays small."""

import asyncio
import json
import random
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import pytest
import yaml
from gradio_client import handle_file
from gradio_client.exceptions import AppError
from PIL import Image
from playwright.sync_api import expect
from space.pages import upload
from space.servers import APP, free_port, serving, wait_for_client
from space.visitors import Visitor, peak_memory, run, until_told

from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs import scoring

pytestmark = pytest.mark.nightly

CARDS = 263
MEBIBYTE = 2**20


@pytest.fixture(scope="module")
def many_cards(tmp_path_factory):
    """A working directory with a benchmark of 263 cards, whose report has megabytes."""
    folder = tmp_path_factory.mktemp("many")
    made = folder / "hdb/cards"
    made.mkdir(parents=True)
    spec = {"name": "cards", "title": "Cards", "version": "1.0.0", "metric": "zettel_f1"}
    spec |= {"headline": "f1_micro", "higher_is_better": True, "media": "image", "split": "test"}
    (made / "benchmark.yaml").write_text(yaml.safe_dump(spec | {"licence": "", "citation": ""}))
    rows, random_bytes = [], random.Random(1).randbytes
    for number in range(CARDS):
        image = Image.frombytes("L", (40, 26), random_bytes(40 * 26)).resize((400, 260))
        image.save(made / f"{number}.jpg")
        truth = {"title": f"Stellingen {number}", "year": 1924}
        row = {"id": str(number), "file_name": f"{number}.jpg", "ground_truth": json.dumps(truth)}
        rows.append(json.dumps(row) + "\n")
    (made / "metadata.jsonl").write_text("".join(rows))
    return folder


def answers(visitor):
    """A file that all have differently: so many cards less, and a word of their own."""
    lines = [
        {"id": str(number), "prediction": {"title": f"word-of-{visitor}.", "year": 1924}}
        for number in range(visitor, CARDS)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def of_whom(text):
    """The visitors whose words stand in a text."""
    return set(re.findall(r"word-of-(\d+)\.", text))


@contextmanager
def measured(folder):
    """The address of a server, and its process."""
    command = [sys.executable, "-m", "hdbench", "space", "--port", str(free_port())]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip(), server.pid
        finally:
            server.send_signal(signal.SIGTERM)


async def with_the_button(url, number):
    """What a visitor gets who presses the button: only their own result, report and files."""
    async with Visitor(url, f"192.0.2.{number}") as visitor:
        file = await visitor.upload(f"of-{number}.jsonl", answers(number))
        messages = await visitor.press("score", benchmark="cards", file=file)
        (done,) = (each for each in messages if each["msg"] == "process_completed")
        assert done["success"], done
        told = json.dumps(messages)
        assert set(re.findall(r"of-\d+\.jsonl", told)) == {f"of-{number}.jsonl"}
        assert f"{CARDS - number} answered, {number} without an answer" in told
        report = (await visitor.fetch(re.search(r"report/[\w-]+", told).group())).decode()
        assert of_whom(report) == {str(number)}
        assert len(report) > MEBIBYTE
        record = re.search(r'"path": "([^"]+/hdbench-cards\.json)"', told).group(1)
        record = json.loads(await visitor.fetch(f"gradio_api/file={record}"))
        assert record["answers"]["path"] == f"of-{number}.jsonl"
        assert record["unanswered"] == number


async def with_a_program(url, number):
    async with Visitor(url, f"192.0.2.{number}") as visitor:
        file = await visitor.upload(f"of-{number}.jsonl", answers(number))
        event, (scored,) = await visitor.call("score", "cards", file, "documented")
        assert event == "complete"
        assert scored["runs"][0]["answered"] == CARDS - number


def test_eight_visitors_get_their_own_results_in_bounded_memory(many_cards):
    async def visit(url, numbers):
        await asyncio.gather(
            *((with_the_button if n % 3 else with_a_program)(url, n) for n in numbers)
        )

    with measured(many_cards) as (url, server):
        run(visit(url, range(1, 4)))
        few = peak_memory(server)
        run(visit(url, range(1, 9)))
        growth = peak_memory(server) - few
    # A report kept in memory for each of those who see one would be 6 times some 8 MiB.
    assert growth < 30 * MEBIBYTE


NARROW = """
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

serve(SpaceContext(Path("hdb"), max_waiting=1, at_once=1, {more}))
"""

FULL = {
    "en": "Too many visitors are waiting right now: please try again in a minute.",
    "de": "Im Moment warten zu viele Anfragen. Bitte versuchen Sie es in einer Minute noch einmal.",
}
OF_YOURS = "Many files from your address are already waiting: please try again in a minute."


def long_file(models=40):
    """A file that takes long: each model takes a bootstrap."""
    lines = (
        {"id": str(number), "model": f"m{model}", "prediction": {"title": f"Stellingen {model}"}}
        for model in range(models)
        for number in range(CARDS)
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


WAITING, SCORING = "Waiting for a free place", "Reading and scoring the answers"

LASTING = """
from hdbench.space.jobs import turns

turns.SLICE = 1_000
"""


async def begin(visitor, *told):
    """Have a long file scored until the progress bar tells so; the rest of the messages."""
    file = await visitor.upload("long.jsonl", long_file())
    messages = visitor.pressed("score", benchmark="cards", file=file)
    await until_told(messages, *told)
    return messages


def test_who_finds_the_queue_full_is_told_what_to_do(many_cards, visit_at, tmp_path):
    language = "de"  # the harder one: what a browser and a program send has to arrive
    (tmp_path / "one.jsonl").write_text(answers(1))

    async def fill(url, done):
        async with Visitor(url, "192.0.2.1") as first, Visitor(url, "192.0.2.2") as second:
            running = await begin(first, SCORING)
            waiting = await begin(second, WAITING)
            await asyncio.to_thread(done)
            await asyncio.gather(running.aclose(), waiting.aclose())

    with serving("-c", LASTING + NARROW.format(more=""), cwd=many_cards) as url:
        client = wait_for_client(url, headers={"Accept-Language": language})
        page = visit_at(url, language=language)
        filled, told = Event(), Event()

        def wait_until_told():
            filled.set()
            assert told.wait(timeout=300)

        with ThreadPoolExecutor(1) as thread:
            filling = thread.submit(asyncio.run, fill(url, wait_until_told))
            try:
                assert filled.wait(timeout=300)
                with pytest.raises(AppError, match=re.escape(FULL[language])):
                    client.predict("cards", handle_file(tmp_path / "one.jsonl"), api_name="/score")
                upload(page, "one.jsonl", answers(1))
                problem = page.locator("#first .hdb-problem")
                expect(problem).to_have_text(f"Nicht begonnen: {FULL[language]}")
                page.close()  # before its server ends, of which it would complain
            finally:
                told.set()
            filling.result()


def test_one_visitor_cannot_fill_the_queue(many_cards):
    async def score(url, address):
        async with Visitor(url, address) as visitor:
            file = await visitor.upload("one.jsonl", answers(1))
            return await visitor.call("score", "cards", file, "documented")

    async def visits(url):
        async with Visitor(url, "192.0.2.1") as visitor:
            messages = await begin(visitor, SCORING)
            assert (await score(url, "192.0.2.1"))[1]["error"] == OF_YOURS
            # Who says that a request of theirs was passed on for others is not believed.
            assert (await score(url, "198.51.100.1, 192.0.2.1"))[1]["error"] == OF_YOURS
            event, (scored,) = await score(url, "192.0.2.2")
            assert event == "complete"
            assert scored["runs"][0]["answered"] == CARDS - 1
            await messages.aclose()

    with serving("-c", NARROW.format(more="max_per_visitor=1"), cwd=many_cards) as url:
        wait_for_client(url)
        run(visits(url))


@pytest.mark.parametrize("details", [True, False])
def test_answers_with_more_fields_than_can_be_shown_are_refused(
    many_cards, tmp_path, monkeypatch, details
):
    # A card has two fields, so that two cards whose answers invent two more have eight.
    cards = [{"title": "x", "year": 0, "a": 1, "b": 2}] * 2 + [None] * (CARDS - 2)
    lines = [{"id": str(n), "prediction": card} for n, card in enumerate(cards) if card]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    upload = scoring.Upload("cards", tmp_path / "many.jsonl")
    context = SpaceContext(many_cards / "hdb")
    fields = 2 * CARDS + 4
    monkeypatch.setattr(scoring, "MAX_FIELDS", fields)
    assert len(scoring.score_upload(context, upload, details=details)[1]) == 1
    monkeypatch.setattr(scoring, "MAX_FIELDS", fields - 1)
    with pytest.raises(
        HdbenchError, match=rf"many\.jsonl: the answers have more than {fields - 1}"
    ):
        scoring.score_upload(context, upload, details=details)


def test_a_visitor_is_told_how_many_items_are_done(many_cards):
    async def press(url):
        async with Visitor(url, language="de") as visitor:
            file = await visitor.upload("long.jsonl", long_file(models=5))
            return await visitor.press("score", benchmark="cards", file=file)

    with serving(APP, cwd=many_cards) as url:
        wait_for_client(url)
        messages = run(press(url))
    told = [each["progress_data"][0] for each in messages if each["msg"] == "progress"]
    for beginning in (
        "Antworten werden gelesen und bewertet: ",
        "Bericht mit den Bildern wird erstellt: ",
    ):
        counts = [
            re.fullmatch(rf"(\d+) von {CARDS}", each["desc"].removeprefix(beginning))
            for each in told
            if each["desc"].startswith(beginning)
        ]
        assert None not in counts
        assert any(int(count.group(1)) > 1 for count in counts)
    assert len(told) < 300  # of more than a thousand answers: seldom enough for a browser


@pytest.mark.parametrize(
    ("language", "ready"),
    [
        (
            "en-GB",
            "2 of 8 cards need no correction; on average 4.6 of 10 fields per card are wrong. "
            "The report and the files are ready.",
        ),
        (
            "de-DE",
            "2 von 8 Karten brauchen keine Korrektur; im Durchschnitt sind je Karte 4,6 von 10 "
            "Feldern falsch. Der Bericht und die Dateien sind fertig.",
        ),
    ],
)
def test_a_result_is_announced_where_a_screen_reader_watches(visit, language, ready):
    page = visit(language=language)
    region = page.locator("#announcement[role=status], #announcement [role=status]")
    assert region.text_content().strip() == ""
    region.evaluate("(element) => { window.watched = element; }")
    page.locator("#example").focus()
    page.keyboard.press("Enter")
    page.locator("#report iframe").wait_for()
    page.wait_for_function("(ready) => window.watched.textContent === ready", arg=ready)
    assert page.evaluate("window.watched.isConnected")
    assert page.evaluate("document.activeElement.id") == "example"
