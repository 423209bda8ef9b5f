"""Many visitors at once: each gets what is theirs, and the server stays small."""

import asyncio
import json
import random
import re
import signal
import subprocess
import sys
from contextlib import AsyncExitStack, contextmanager

import httpx
import pytest
import yaml
from PIL import Image
from space.servers import APP, free_port, serving, wait_for_client
from space.visitors import Visitor, peak_memory, run, until_told

from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs import scoring
from hdbench.space.tabs import shared

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
        report = (await visitor.fetch(re.search(r"scored/[\w-]+/[\w.-]+", told).group())).decode()
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

serve(SpaceContext(Path("hdb"), max_waiting=1))
"""

SCORING = "Reading and scoring the answers"


def long_file(models=40):
    """A file that takes long: each model takes a bootstrap."""
    lines = (
        {"id": str(number), "model": f"m{model}", "prediction": {"title": f"Stellingen {model}"}}
        for model in range(models)
        for number in range(CARDS)
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_whoever_finds_the_queue_full_is_refused_and_the_others_are_served(many_cards):
    async def visits(url):
        async with AsyncExitStack() as stack:
            *first, late = [await stack.enter_async_context(Visitor(url)) for _ in range(4)]
            going = []
            for visitor, told in zip(first, (*[SCORING] * shared.AT_ONCE, None), strict=True):
                file = await visitor.upload("long.jsonl", long_file())
                messages = visitor.pressed("score", benchmark="cards", file=file)
                await (until_told(messages, told) if told else anext(messages))
                going.append(messages)
            file = await late.upload("one.jsonl", answers(1))
            with pytest.raises(httpx.HTTPStatusError, match="503"):
                await late.press("score", benchmark="cards", file=file)
            for messages in going[: shared.AT_ONCE]:
                await messages.aclose()
            *_, done = [message async for message in going[-1] if "success" in message]
            assert done["success"]

    with serving("-c", NARROW, cwd=many_cards) as url:
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


def test_a_result_is_announced_where_a_screen_reader_watches(visit):
    page = visit(language="de-DE")
    ready = (
        "2 von 8 Karten brauchen keine Korrektur; im Durchschnitt sind je Karte 4,6 von 10 "
        "Feldern falsch. Der Bericht und die Dateien sind fertig."
    )
    region = page.locator("#announcement[role=status], #announcement [role=status]")
    assert region.text_content().strip() == ""
    region.evaluate("(element) => { window.watched = element; }")
    page.locator("#example").focus()
    page.keyboard.press("Enter")
    page.locator("#report iframe").wait_for()
    page.wait_for_function("(ready) => window.watched.textContent === ready", arg=ready)
    assert page.evaluate("window.watched.isConnected")
    assert page.evaluate("document.activeElement.id") == "example"
