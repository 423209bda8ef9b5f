"""Many visitors at once: each gets what is theirs, and the server stays small."""

import json
import random
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml
from gradio_client import Client, handle_file
from PIL import Image
from space.servers import APP, free_port, serving, wait_for_client
from space.visits import brought, is_going, looked, scored

from hdbench.errors import HdbenchError
from hdbench.space import scoring
from hdbench.space.context import SpaceContext
from hdbench.space.pages import AT_ONCE

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


def with_a_page(url, number):
    """What a visitor gets who sends a file: only their own result, report and files."""
    page = scored(url, f"of-{number}.jsonl", answers(number), "cards")
    assert set(re.findall(r"of-\d+\.jsonl", page)) == {f"of-{number}.jsonl"}
    assert f"{CARDS - number} answered, {number} without an answer" in page
    report = httpx.get(
        url + re.search(r'iframe [^>]*src="([^"]+)"', page).group(1), timeout=60
    ).text
    assert of_whom(report) == {str(number)}
    assert len(report) > MEBIBYTE
    record = httpx.get(url + re.search(r'id="download-json" href="([^"]+)"', page).group(1)).json()
    assert record["answers"]["path"] == f"of-{number}.jsonl"
    assert record["figures"]["unanswered"] == number


def with_a_program(url, number):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"of-{number}.jsonl")
        file.write_text(answers(number))
        scored = Client(url, verbose=False).predict("cards", handle_file(file), api_name="/score")
    assert scored["runs"][0]["figures"]["answered"] == CARDS - number


def test_eight_visitors_get_their_own_results_in_bounded_memory(many_cards):
    def visit(url, numbers):
        with ThreadPoolExecutor(8) as pool:
            visits = [(with_a_page if n % 3 else with_a_program) for n in numbers]
            for done in [pool.submit(f, url, n) for f, n in zip(visits, numbers, strict=True)]:
                done.result()

    with measured(many_cards) as (url, server):
        visit(url, range(1, 4))
        few = peak_memory(server)
        visit(url, range(1, 9))
        growth = peak_memory(server) - few
    # A report kept in memory for each of those who see one would be 6 times some 8 MiB.
    assert growth < 30 * MEBIBYTE


NARROW = """
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

serve(SpaceContext(Path("hdb"), max_waiting=1))
"""


def long_file(models=40):
    """A file that takes long: each model takes a bootstrap."""
    lines = (
        {"id": str(number), "model": f"m{model}", "prediction": {"title": f"Stellingen {model}"}}
        for model in range(models)
        for number in range(CARDS)
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_who_waits_is_told_and_whoever_finds_the_queue_full_is_refused(many_cards):
    with serving("-c", NARROW, cwd=many_cards) as url:
        wait_for_client(url)
        files = [("long.jsonl", long_file())]
        pages = [brought(url, files=files, benchmark="cards") for _ in range(AT_ONCE + 2)]
        told = [httpx.get(page).text for page in pages]
        assert "Waiting for a place: 2 others come first" in told[AT_ONCE]
        assert "too many files wait already" in told[-1]
        looked(pages[AT_ONCE])


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
    with serving(APP, cwd=many_cards) as url:
        wait_for_client(url)
        page = brought(
            url, files=[("long.jsonl", long_file(models=50))], benchmark="cards", lang="de"
        )
        told = set()
        while is_going(text := httpx.get(page).text):
            told |= set(re.findall(r'<label for="bar">(.*?)</label>', text))
    for beginning, total in (("Antworten werden gelesen", 50 * CARDS), ("Bericht mit", CARDS)):
        counts = [re.search(r"(\S+) von (\S+)$", each) for each in told if beginning in each]
        done = [int(count[1].replace(".", "")) for count in counts if count]
        assert any(1 < each < total for each in done), told
        assert {int(count[2].replace(".", "")) for count in counts if count} == {total}


def peak_memory(pid):
    """Bytes that a process has had in memory, at most."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError(pid)
