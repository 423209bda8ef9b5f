"""The page that runs a local model: real server, a model of random weights."""

import json
import re
import shutil
from types import SimpleNamespace

import httpx
import pytest
from helpers.waiting import until
from playwright.sync_api import expect
from space.model_runs import image_of, processes
from space.pages import report
from space.servers import serving, wait_for_client
from space.visits import brought, is_going, looked, problem_of

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.space.first_view import render
from hdbench.space.model_runs import Ended, ModelRun, ModelRunView, RunState
from hdbench.space.pages import PagePlace, run_values

pytestmark = pytest.mark.nightly

SERVED = """
import sys
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

limits = {"max_run_items": 6, "max_run_seconds": float(sys.argv[1])}
serve(SpaceContext(Path("hdb"), models=tuple(sys.argv[2:]), **limits))
"""

HOSTILE = "</pre><script>window.attacked = true</script><img src=x onerror=alert(1)>\u202e\x1b[31m"


@pytest.fixture(scope="module")
def served(sample, models, tmp_path_factory):
    """A Space with these models, and where it keeps its temporary files."""
    scratch = tmp_path_factory.mktemp("scratch")
    named = (str(models / name) for name in ("quick", "slow", "absent"))
    settings = {"TMPDIR": str(scratch), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "300", *named, cwd=sample, **settings) as url:
        wait_for_client(url)
        yield url, scratch


def asked(url, model="quick", items="3", **fields):
    """The address of a run, or the answer to who may not have one."""
    fields = {"benchmark": "zettelkatalog", "model": model, "items": items} | fields
    return brought(url, "run", fields.pop("files", ()), **fields)


def heading(page):
    return re.search(r'id="line">(.*?)</', page).group(1)


def test_answers_appear_as_they_come_and_survive_a_reload(visit_at, served, sample, tmp_path):
    page = visit_at(f"{served[0]}?tab=run", awaited="#run-start", accept_downloads=True)
    page.get_by_label("Items").fill("3")
    page.locator("#run-start").click()
    page.wait_for_url("**/*id=*")
    page.locator("#run-cancel").wait_for()
    page.reload()
    page.locator(".hdb-answers li").first.wait_for()
    assert "of 3" in page.locator("#line").inner_text()
    page.get_by_text("Finished: 3 of 3 answered").wait_for()
    expect(report(page).locator(".item")).to_have_count(3)
    expect(page.locator(".hdb-answers li img")).to_have_count(3)
    expect(page.locator("#run-cancel")).to_have_count(0)
    with page.expect_download() as waiting:
        page.locator("#run-download-jsonl").click()
    waiting.value.save_as(tmp_path / "answers.jsonl")
    ids = [json.loads(line)["id"] for line in (tmp_path / "answers.jsonl").open()]
    with page.expect_download() as waiting:
        page.locator("#download-json").click()
    waiting.value.save_as(tmp_path / "result.json")
    record = json.loads((tmp_path / "result.json").read_text())
    assert record["figures"] == json.loads(json.dumps(score_of(sample, tmp_path, ids)))
    assert str(sample) not in json.dumps(record)
    page.reload()
    page.get_by_text("Finished: 3 of 3 answered").wait_for()


def score_of(sample, folder, ids):
    """The figures of the items that were asked, by the Python API."""
    run = {"run": "asked", "benchmark": "hdb/zettelkatalog", "model": "quick", "items": ids}
    (folder / "asked").mkdir()
    shutil.copy(folder / "answers.jsonl", folder / "asked")
    (folder / "asked/run.json").write_text(json.dumps(run))
    return score(str(sample / "hdb/zettelkatalog"), folder / "asked").figures


def test_one_model_runs_at_a_time_and_can_be_cancelled(served):
    url, _ = served
    first, waiting = asked(url, "slow", "6"), asked(url, items="1")
    assert "Waiting for a place: one other comes first" in httpx.get(waiting).text
    until(lambda: re.search("[1-5] of 6 answered", httpx.get(first).text), "an answer")
    assert len(processes()) == 1
    name = httpx.URL(first).params["id"]
    httpx.post(f"{url}stop", data={"id": name, "benchmark": "zettelkatalog"})
    page = looked(first)
    [done] = re.findall(r"Cancelled: ([1-5]) of 6 answered. Only these count", heading(page))
    assert re.search(rf"0 of {done} \w+ needs? no correction", page)
    assert heading(looked(waiting)).startswith("Finished: 1 of 1 answered")
    until(lambda: not processes(), "the model's end")


def test_own_image_gets_an_answer_but_no_score(served, sample):
    url, _ = served
    own = {"own": "on", "prompt": "Read it."}
    assert "choose an image first" in asked(url, **own).text
    image = ("card.jpg", image_of(sample).read_bytes())
    page = looked(asked(url, files=[image], **own))
    assert heading(page).startswith("Finished: 1 of 1 answered")
    assert page.count("<pre") == 1
    assert 'src="data:image/webp;base64,' in page
    assert 'id="report"' not in page
    told = problem_of(asked(url, files=[("card.jpg", b"%PDF-1.7 no image")], **own).text)
    assert told.startswith("card.jpg: not a readable image: take a JPEG")


def test_a_model_that_cannot_be_loaded_is_one_line_without_paths(served, models):
    page = looked(asked(served[0], "absent", "1"))
    assert "The model failed" in heading(page)
    assert problem_of(page).startswith("absent: ")
    assert str(models) not in page
    assert "/tmp" not in page
    assert "Traceback" not in page


@pytest.mark.parametrize(
    "fields",
    [
        *({"model": name} for name in ("/tmp", "other/model", "slow/../quick", "")),
        *({"items": number} for number in ("0", "7", "1e9", "-1", "NaN", "x")),
        {"benchmark": "../hdb", "model": "none"},
    ],
)
def test_what_the_operator_does_not_offer_is_refused(served, fields):
    answer = asked(served[0], **fields)
    assert answer.status_code == 422
    assert re.search("no model|ask 1 to 6", problem_of(answer.text))
    assert processes() == []


def test_a_models_text_is_escaped_wherever_it_is_shown(sample):
    benchmark = load_benchmark(str(sample / "hdb/zettelkatalog"))
    answers = [{"id": HOSTILE, "text": HOSTILE * 200, "seconds": 1.5, "finish_reason": "length"}]
    answers.append({"id": HOSTILE, "error": HOSTILE})
    for own in (True, False):
        run = ModelRun(sample, "reader", benchmark, [], [], own_image=own)
        state = RunState(answers, 3, 1, None, Ended.FAILED if own else None, HOSTILE, HOSTILE)
        view = ModelRunView(run, state, None, [(HOSTILE, HOSTILE)] * 300)
        around = {"gone": False, "tabs": [], "languages": {}, "benchmarks": [], "view": None}
        around |= {
            "place": PagePlace("run", "zettelkatalog"),
            "work": SimpleNamespace(is_done=False),
        }
        page = render("asked.html", "en", **around, **run_values(view, "en", 60))
        assert "<script>" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;" in page
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert len(page) < 500_000


def test_the_time_limit_ends_a_run_with_a_clear_line(sample, models, tmp_path):
    settings = {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "2", str(models / "slow"), cwd=sample, **settings) as url:
        wait_for_client(url)
        page = looked(asked(url, "slow", "6"))
        assert heading(page) == "The time limit of 2 s was reached before the first answer."
        until(lambda: not processes(), "the model's end")


def test_a_server_that_ends_takes_its_run_along(sample, models, tmp_path):
    settings = {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "600", str(models / "slow"), cwd=sample, **settings) as url:
        wait_for_client(url)
        assert is_going(httpx.get(asked(url, "slow", "6")).text)
        assert until(processes, "the model's start")
    until(lambda: not processes(), "the model's end")
