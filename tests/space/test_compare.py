"""Comparing in the Space: what the tab says, and what `/compare` gives to a program."""

import html
import json
import re
import shutil
import socket

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from helpers.run_folders import RIGHT, SPEC, write_run
from space.servers import call, file, serving, wait_for_client
from space.visits import brought, looked, problem_of

from hdbench.errors import HdbenchError
from hdbench.space.comparison import (
    MAX_COMPARED,
    Wanted,
    compare_wanted,
    recorded_runs,
    verdict,
)
from hdbench.space.context import SpaceContext

pytestmark = pytest.mark.nightly

ITEMS = [f"card-{number:02}" for number in range(24)]
WRONG = {"title": "Stellingen", "year": 1942}  # one of two fields: F1 is 1 / 2
ATTACK = "window.attacked = true"
SERVED = """
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

serve(SpaceContext(Path("hdb")))
"""


def lines(answers, **more):
    rows = ({"id": key, "prediction": answer, **more} for key, answer in answers.items())
    return "".join(json.dumps(row) + "\n" for row in rows)


def run_of(answers):
    return {key: {"prediction": answer} for key, answer in answers.items()}


GOOD = dict.fromkeys(ITEMS, RIGHT)
POOR = dict.fromkeys(ITEMS, WRONG)
GOOD_OVER_POOR = (
    "good reads better than poor: F1 (micro) 1.000 against 0.500 (higher is better), "
    "a difference of 0.500 (p < 0.001)."
)


@pytest.fixture(scope="module")
def space(tmp_path_factory, sample):
    """A folder with 24 cards and recorded runs of them, and another benchmark without any."""
    folder = tmp_path_factory.mktemp("compared")
    cards = folder / "hdb/cards"
    cards.mkdir(parents=True)
    (cards / "benchmark.yaml").write_text(json.dumps(SPEC))  # JSON is YAML
    rows = [{"id": item, "ground_truth": json.dumps(RIGHT)} for item in ITEMS]
    (cards / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.copytree(sample / "hdb/zettelkatalog", folder / "hdb/zettelkatalog")
    runs = folder / "hdb/results/cards"
    write_run(runs / "run-good", run_of(GOOD), model="recorded-good", run="R1")
    write_run(runs / "run-poor", run_of(POOR), model="recorded-poor", run="R2")
    part = dict(list(GOOD.items())[:20])
    write_run(runs / "run-part", run_of(part), model="part", run="R3", items=list(part))
    write_run(runs / "run-bad", {}, model=f"<img src=x onerror='{ATTACK}'>\u202e", run="R4")
    write_run(runs / "run-damaged", {})
    (runs / "run-damaged/run.json").write_text("{")
    write_run(folder / "elsewhere", run_of(GOOD), model="elsewhere")
    (runs / "run-linked").symlink_to(folder / "elsewhere")
    return folder


@pytest.fixture(scope="module")
def context(space):
    return SpaceContext(space / "hdb")


@pytest.fixture(scope="module")
def served(space):
    with serving("-c", SERVED, cwd=space) as url:
        wait_for_client(url)
        yield url


@pytest.fixture(scope="module")
def client(served):
    return Client(served, verbose=False)


def words(comparison, language="en"):
    return re.sub(r"<[^>]+>", "", verdict(comparison, language)).replace("&lt;", "<")


def test_hostile_names_run_nothing_and_are_cut(served):
    tag = f"<img src=x onerror='{ATTACK}'>"
    files = {
        f"{ATTACK}<img src=x onerror={ATTACK}>.jsonl": lines(GOOD),
        "b.jsonl": lines(
            {key: RIGHT | {tag: "\u202e", "\ud800": 1} for key in ITEMS}, model=tag + "\u202e"
        ),
        "c.jsonl": lines(POOR, model="long" * 1000),
    }
    sent = [(name, content.encode()) for name, content in files.items()]
    page = looked(brought(served, "compare", sent, benchmark="cards", recorded=["run-bad"]))
    assert page.count("<li>") >= 6
    assert "<img" not in page
    assert "&lt;img src=x onerror=" in page
    assert "\u202e" not in page
    assert "long" * 30 not in page


def test_a_comparison_and_its_errors_are_of_the_files_that_were_sent(served):
    files = [("poor.jsonl", lines(POOR)), ("good.jsonl", lines(GOOD))]
    page = looked(brought(served, "compare", files, benchmark="cards"))
    said = re.sub(r"<[^>]+>", "", re.search(r"<li>(.*?)</li>", page, re.DOTALL).group(1))
    assert html.unescape(said).strip() == GOOD_OVER_POOR
    assert "part (R3, 20/24)" in page  # offered
    files[0] = ("letters.pdf", "%PDF-1.7 ...")
    told = problem_of(looked(brought(served, "compare", files, benchmark="cards")))
    assert told.startswith("These cannot be compared: letters.pdf: this is a PDF")
    assert "/tmp" not in told


def test_the_answer_to_a_program_is_that_of_hdbench_compare(client, space, run_hdbench, tmp_path):
    (tmp_path / "good.jsonl").write_text(lines(GOOD))
    (tmp_path / "poor.jsonl").write_text(lines(POOR))
    files = [handle_file(tmp_path / name) for name in ("good.jsonl", "poor.jsonl")]
    compared = client.predict("cards", files, [], "documented", api_name="/compare")
    command = ("compare", space / "hdb/cards", "good.jsonl", "poor.jsonl")
    assert run_hdbench(*command, "--json", "c.json", cwd=tmp_path).returncode == 0
    assert compared == json.loads((tmp_path / "c.json").read_text())
    assert compared["comparisons"][0]["better"] == "good"


def test_a_program_compares_an_upload_with_a_recorded_run(client, tmp_path):
    (tmp_path / "good.jsonl").write_text(lines(GOOD))
    file = handle_file(tmp_path / "good.jsonl")
    compared = client.predict("cards", [file], ["run-poor"], api_name="/compare")
    (found,) = compared["comparisons"]
    assert (found["a"], found["b"], found["better"]) == ("good", "recorded-poor", "good")
    with pytest.raises(AppError, match=r"do not have the same items: 4 \('card-20'"):
        client.predict("cards", [file], ["run-part"], api_name="/compare")


@pytest.mark.parametrize(
    "name", ["../cards/run-good", "/etc", "..", "", "run-linked", "run-missing", 5, {"a": 1}]
)
def test_only_a_listed_run_is_looked_up(client, tmp_path, name):
    (tmp_path / "good.jsonl").write_text(lines(GOOD))
    file = handle_file(tmp_path / "good.jsonl")
    with pytest.raises(AppError, match="no recorded run") as error:
        client.predict("cards", [file], [name], "documented", api_name="/compare")
    assert "/tmp" not in str(error.value)


def test_only_what_was_uploaded_is_compared(served, space):
    """Neither files that the server can read nor addresses, though the answers in them are good."""
    secret = [space / "secret.jsonl", space / "hdb/cards/secret.jsonl"]
    for path in secret:
        path.write_text(lines(GOOD, model="unseen"))
    with socket.create_server(("127.0.0.1", 0)) as fetched:
        address = f"http://127.0.0.1:{fetched.getsockname()[1]}/secret.jsonl"
        for path in (*map(str, secret), "hdb/cards/secret.jsonl", f"file://{secret[0]}", address):
            told = call(served, ["cards", [file(path)] * 2, ["run-good"], "documented"], "compare")
            assert "comparisons" not in told, path
            assert "unseen" not in told, path
        fetched.setblocking(False)
        with pytest.raises(BlockingIOError):
            fetched.accept()


def test_names_that_no_text_can_hold_reach_a_program_as_escapes(client, tmp_path):
    (tmp_path / "a.jsonl").write_text(lines(GOOD, model="\ud800"))
    (tmp_path / "b.jsonl").write_text(lines({key: RIGHT | {"\ud800": 1} for key in ITEMS}))
    files = [handle_file(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    (found,) = client.predict("cards", files, [], api_name="/compare")["comparisons"]
    assert found["a"] == r"\ud800"
    assert found["fields"][r"\ud800"]["a"] is None


def test_where_lower_is_better_the_lower_one_reads_better(sample, run_hdbench, tmp_path):
    assert run_hdbench("build", "avisblatt", "--sample", cwd=tmp_path).returncode == 0
    folder = tmp_path / "hdb/avisblatt"
    row = json.loads((folder / "metadata.jsonl").read_text().splitlines()[0])
    del row["file_name"]
    rows = [row | {"id": item} for item in ITEMS]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    spec = (folder / "benchmark.yaml").read_text()
    spec = spec.replace("headline: fuzzy", "headline: cer").replace("better: true", "better: false")
    (folder / "benchmark.yaml").write_text(spec)
    truth = json.loads(row["ground_truth"])
    cut = [each | {"text": each["text"][:-10]} for each in truth["advertisements"]]
    (tmp_path / "full.jsonl").write_text(lines(dict.fromkeys(ITEMS, truth)))
    (tmp_path / "cut.jsonl").write_text(lines({key: {"advertisements": cut} for key in ITEMS}))
    files = [tmp_path / "cut.jsonl", tmp_path / "full.jsonl"]
    _, (found,) = compare_wanted(
        SpaceContext(tmp_path / "hdb"), Wanted("avisblatt", tuple(files), ())
    )
    assert found.figures["cer"].difference > 0
    told = "full reads better than cut: character error rate 0.000 against 0."
    assert words(found).startswith(told)
    assert "(lower is better)" in words(found)
    assert "interval −" not in words(found)


def test_too_many_runs_are_refused(context, tmp_path):
    one = tmp_path / "one.jsonl"
    one.write_text(lines(GOOD))
    many = tmp_path / "many.jsonl"
    models = range(MAX_COMPARED + 1)
    many.write_text("".join(lines({ITEMS[0]: RIGHT}, model=f"m{n}") for n in models))
    for files in ([one] * (MAX_COMPARED + 1), [many], [many, one]):
        with pytest.raises(HdbenchError, match=f"at most {MAX_COMPARED} runs"):
            compare_wanted(context, Wanted("cards", tuple(files), ()))


def test_runs_of_one_model_are_told_apart_by_their_files(context, tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.jsonl").write_text(lines(GOOD, model="recorded-good"))
    files = [tmp_path / "first.jsonl", tmp_path / "second.jsonl", tmp_path / "first.jsonl"]
    runs, comparisons = compare_wanted(
        context, Wanted("cards", tuple(files), ("run-good", "run-poor"))
    )
    assert list(runs) == [
        "recorded-good (first)",
        "recorded-good (second)",
        "recorded-good (first) (2)",
        "recorded-good (R1)",
        "recorded-poor",
    ]
    assert len(comparisons) == 10


def test_a_listing_leaves_out_what_cannot_be_compared(context, space):
    runs = recorded_runs(context, "cards")
    assert [run.folder for run in runs if run.whole] == ["run-bad", "run-good", "run-poor"]
    assert [(run.folder, run.label) for run in runs if not run.whole] == [
        ("run-part", "part (R3, 20/24)")
    ]
    assert recorded_runs(context, "zettelkatalog") == []
