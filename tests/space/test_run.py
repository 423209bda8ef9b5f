"""The tab that runs a local model: real server, real browser, a model of random weights."""

import json
import re
import shutil

import httpx
import pytest
from helpers.waiting import until
from playwright.sync_api import expect
from space.model_runs import image_of, processes
from space.pages import go_to_tab, report
from space.servers import serving, wait_for_client

from hdbench.api import score

pytestmark = pytest.mark.nightly

SERVED = """
import sys
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

limits = {"max_run_items": 6, "max_run_seconds": float(sys.argv[1])}
serve(SpaceContext(Path("hdb"), models=tuple(sys.argv[2:]), **limits))
"""


@pytest.fixture(scope="module")
def served(sample, models, tmp_path_factory):
    """A Space with these models, and where it keeps its temporary files."""
    scratch = tmp_path_factory.mktemp("scratch")
    named = (str(models / name) for name in ("quick", "slow", "absent"))
    settings = {"TMPDIR": str(scratch), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "300", *named, cwd=sample, **settings) as url:
        wait_for_client(url)
        yield url, scratch


@pytest.fixture
def visit(visit_at, served):
    """Open the tab, and choose a model."""

    def visit(model="quick", url=served[0], tab="Run a model", **options):
        page = visit_at(url, **options)
        go_to_tab(page, tab)
        page.locator("#run-model input").click()
        page.get_by_role("option", name=model).click()
        expect(page.locator("#run-model input")).to_have_value(model)
        return page

    return visit


def ask_items(page, number):
    page.locator("#run-items input[type=number]").fill(str(number))
    page.locator("#run-items input[type=number]").press("Tab")
    page.locator("#run-start").click()


def download(page, name, folder):
    with page.expect_download() as waiting:
        page.locator(f"#run-download-{name}").click()
    waiting.value.save_as(folder / waiting.value.suggested_filename)
    return folder / waiting.value.suggested_filename


def upload_image(page, content, name="card.jpg"):
    page.locator("#run-image input[type=file]").set_input_files(
        {"name": name, "mimeType": "image/jpeg", "buffer": content}
    )
    page.locator("#run-image").get_by_role("link").wait_for()


def ended(page, words):
    page.locator("#run-status").get_by_text(words).wait_for()
    return page.locator("#run-status").inner_text()


def runs_of(scratch):
    return list(scratch.glob("hdbench-*/running-*"))


def join(url, starts, data, session):
    """Start a page's private event with data that no page would send."""
    config = httpx.get(f"{url}config").json()
    of = [each["id"] for each in config["dependencies"] if started_by(config, each) == starts]
    body = {"data": data, "fn_index": of[0], "session_hash": session}
    return httpx.post(f"{url}gradio_api/queue/join", json=body)


def raw(url, starts, data):
    """What a private event answers."""
    posted = join(url, starts, data, "a")
    assert posted.status_code == 200, posted.text
    return httpx.get(f"{url}gradio_api/queue/data?session_hash=a", timeout=120).text


def started_by(config, dependency):
    """The id in the page of what starts an event."""
    parts = {each["id"]: each["props"].get("elem_id") for each in config["components"]}
    return parts.get(dependency["targets"][0][0])


def test_finished_run_has_answers_score_and_all_downloads(visit, sample, models, served, tmp_path):
    page = visit(accept_downloads=True)
    ask_items(page, 3)
    ended(page, "Finished: 3 of 3 answered")
    inside = report(page, "#run-report")
    expect(inside.locator(".item")).to_have_count(3)
    expect(page.locator("#run-answers li")).to_have_count(3)
    expect(page.locator("#run-answers li img")).to_have_count(3)
    expect(page.locator("#run-cancel")).to_be_hidden()
    expect(page.locator("#run-first")).to_contain_text(re.compile(r"0 of 3 \w+ need no correction"))

    file = download(page, "jsonl", tmp_path)
    assert file.name == "zettelkatalog_quick-answers.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    shown = [each.inner_text() for each in page.locator("#run-answers h3 bdi").all()]
    assert [line["id"] for line in lines] == shown[::-1]
    assert all(line["tokens"]["output"] >= 1 for line in lines)

    record = json.loads(download(page, "json", tmp_path).read_text())
    assert record["model"] == "quick"
    assert record["items"] == 3
    assert record["ids"] == [line["id"] for line in lines]
    run = score_of(sample, file, record["ids"])
    assert record["f1_micro"] == run["f1_micro"]
    html = download(page, "html", tmp_path).read_text()
    for text in (html, json.dumps(record), page.content(), json.dumps(lines)):
        assert str(models) not in text
        assert str(sample) not in text
        assert str(served[1]) not in text
    until(lambda: not runs_of(served[1]) and not processes())


def score_of(sample, answers, ids):
    """The figures of the items that were asked, by the Python API."""
    folder = answers.parent / "asked"
    folder.mkdir()
    shutil.copy(answers, folder / "answers.jsonl")
    run = {"run": "asked", "benchmark": "hdb/zettelkatalog", "model": "quick", "items": ids}
    (folder / "run.json").write_text(json.dumps(run))
    return score(str(sample / "hdb/zettelkatalog"), folder).figures


def test_a_page_that_is_closed_ends_its_run(visit, served):
    page = visit("slow")
    ask_items(page, 6)
    page.locator("#run-status progress").wait_for()
    assert len(processes()) == 1
    page.context.close()
    until(lambda: not processes() and not runs_of(served[1]))


def test_one_model_runs_at_a_time_and_can_be_cancelled(visit, served):
    # Both pages are opened before the run begins, during which everything else must happen.
    first, waiting = visit("slow"), visit()
    ask_items(first, 6)
    first.locator("#run-status progress").wait_for()
    ask_items(waiting, 1)
    waiting.locator("#run-bar").get_by_text("queue: 1/1").wait_for()
    assert len(processes()) == 1

    first.locator("#run-status").get_by_text(re.compile("[1-5] of 6 answered")).wait_for()
    first.locator("#run-cancel").click()
    told = ended(first, "Cancelled:")
    [done] = re.findall(r"Cancelled: ([1-5]) of 6 answered. Only these count", told)
    report(first, "#run-report")
    expect(first.locator("#run-answers li")).to_have_count(int(done))
    expect(first.locator("#run-first")).to_contain_text(
        re.compile(rf"0 of {done} \w+ needs? no correction")
    )
    ended(waiting, "Finished: 1 of 1 answered")
    until(lambda: not processes() and not runs_of(served[1]))


def test_own_image_gets_an_answer_but_no_score(visit, sample):
    page = visit()
    go_to_tab(page, "Your own image")
    page.locator("#run-start-image").click()
    page.locator(".hdb-problem").get_by_text("choose an image first").wait_for()
    upload_image(page, image_of(sample).read_bytes())
    page.locator("#run-start-image").click()
    ended(page, "Finished: 1 of 1 answered")
    page.locator("#run-answers pre").wait_for()
    expect(page.locator("#run-report iframe")).to_have_count(0)
    page.locator("#run-download-jsonl").wait_for()
    expect(page.locator("#run-download-json")).to_be_hidden()


def test_what_is_no_image_is_refused_in_one_line(visit):
    page = visit()
    go_to_tab(page, "Your own image")
    upload_image(page, b"%PDF-1.7 no image")
    page.locator("#run-start-image").click()
    page.locator("#run-status .hdb-problem").wait_for()
    told = page.locator("#run-status .hdb-problem").inner_text()
    assert told.startswith("This cannot be run: card.jpg: not a readable image: take a JPEG")


def test_a_model_that_cannot_be_loaded_is_one_line_without_paths(visit, models):
    page = visit("absent")
    ask_items(page, 1)
    told = ended(page, "The model failed")
    assert str(models) not in told
    assert "/tmp" not in told
    assert re.search(r"^absent: ", told, re.MULTILINE)
    assert "Traceback" not in page.content()


def test_a_model_outside_of_the_list_is_refused(served, models):
    url, scratch = served
    for model in ("/tmp", "other/model", str(models / "slow"), None, ["quick", "other/model"]):
        told = raw(url, "run-start", ["zettelkatalog", model, 1])
        assert '"success":false' in told or "no model" in told, told
        assert str(models / "quick") not in told
        assert '"process_generating"' not in told
    assert runs_of(scratch) == []


@pytest.mark.parametrize("items", [0, 7, 1e9, -1, "NaN"])
def test_more_items_than_the_operator_allows_are_refused(served, items):
    told = raw(served[0], "run-start", ["zettelkatalog", "quick", items])
    assert '"process_generating"' not in told or "ask 1 to 6" in told
    assert processes() == []


def test_a_file_of_the_server_is_no_image(served, sample):
    for path in ("/etc/passwd", str(image_of(sample))):
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        asked = ["quick", "zettelkatalog", file, "Read it."]
        assert join(served[0], "run-start-image", asked, "a").status_code == 200
        told = httpx.get(f"{served[0]}gradio_api/queue/data?session_hash=a", timeout=60).text
        assert '"success":false' in told
        assert "root:" not in told
    assert processes() == []


def test_the_time_limit_ends_a_run_with_a_clear_line(visit, sample, models, tmp_path):
    settings = {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "2", str(models / "slow"), cwd=sample, **settings) as url:
        wait_for_client(url)
        page = visit("slow", url)
        ask_items(page, 6)
        told = "The time limit of 2 s was reached before the first answer."
        assert told in ended(page, told)
        until(lambda: not processes(), "the model's end")
        assert processes() == []
        page.close()  # before its server ends, of which it would complain


def test_a_server_that_ends_takes_its_run_along(sample, models, tmp_path):
    settings = {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "600", str(models / "slow"), cwd=sample, **settings) as url:
        wait_for_client(url)
        join(url, "run-start", ["zettelkatalog", "slow", 6], "a")
        assert until(processes, "the model's start")
    until(lambda: not processes(), "the model's end")
    assert processes() == []
