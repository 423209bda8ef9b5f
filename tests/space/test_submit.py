"""A scored upload goes to the leaderboard, to a Hub on the loopback."""

import asyncio
import gzip
import json
import os
import re
import subprocess
import sys

import httpx
import pytest
from helpers.forks import Forks
from helpers.plain import PLAIN
from hub.server import WRITER, serving_hub
from playwright.sync_api import expect
from space.pages import assert_contrast, report, settled, upload
from space.servers import APP, serving, wait_for_client
from space.visitors import Visitor, run, texts_of

from hdbench.api import score
from hdbench.datasets.building.results_dataset import build_results

pytestmark = pytest.mark.nightly

EXAMPLE = "hdb/zettelkatalog/example_predictions.jsonl"
HOSTILE = "`<img src=x onerror='window.attacked = true'>`` @all [x](http://e.example) **b**"


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def results(tmp_path_factory, sample):
    """The files of a results dataset with one recorded run."""
    place = tmp_path_factory.mktemp("recorded")
    run = {
        "run": "2025-01-02/T0001",
        "provider": "someone",
        "model": "older",
        "prompt": "prompt.txt",
        "scores": {},
        "answers": [{"id": "sample-01", "answer": {}, "text": "{}"}],
    }
    (place / "library_cards.jsonl.gz").write_bytes(gzip.compress(json.dumps(run).encode()))
    return tree(build_results(place / "hdb", place).folder)


@pytest.fixture(scope="module")
def hub_of_all():
    with serving_hub() as hub:
        yield hub


@pytest.fixture(scope="module")
def serving_space(hub_of_all, sample, tmp_path_factory):
    """Serve a Space that knows this Hub."""
    home = {"HF_HOME": str(tmp_path_factory.mktemp("home"))}
    process = Forks("hdbench.space.app", **home, **hub_of_all.environment())

    def serving_space(*arguments, token=WRITER, **settings):
        settings |= home | hub_of_all.environment(token)
        return serving(*arguments, cwd=sample, process=process, **settings)

    yield serving_space
    process.close()


@pytest.fixture(scope="module")
def space_url(serving_space):
    with serving_space(APP, HDBENCH_RESULTS_REPOSITORY="hdb/results") as url:
        wait_for_client(url)
        yield url


@pytest.fixture
def hub(hub_of_all, results):
    """The Hub, with a results dataset as it was built."""
    hub = hub_of_all
    accounts = dict(hub.accounts)
    hub.requests.clear()
    hub.faults.clear()
    hub.large.clear()
    hub.add("datasets", "hdb/results", results)
    yield hub
    hub.accounts |= accounts


@pytest.fixture
def repository(hub):
    return hub.repositories["datasets", "hdb/results"]


@pytest.fixture
def scored_page(space_url, hub, visit_at, sample):
    """A page of the Space with a scored file, and the panel opened."""

    def scored_page(name="answers of mine.jsonl", content=None, panel="Submit", **options):
        page = visit_at(space_url, **options)
        upload(page, name, content or (sample / EXAMPLE).read_bytes())
        report(page)
        page.locator("#submit-panel").get_by_role("button", name=panel).first.click()
        page.locator("#submit-model").wait_for()
        settled(page)
        return page

    return scored_page


def fill(page, *, model="Qwen/Qwen3-VL", provider="somebody", name="A library", consent=True):
    for key, value in {"model": model, "provider": provider, "name": name}.items():
        if value is not None:
            page.locator(f"#submit-{key}").locator("textarea, input").fill(value)
    if consent:
        page.locator("#submit-consent input").check()


def submit(page, waiting_for="#submit-told .hdb-summary, #submit-told .hdb-problem"):
    page.locator("#submit-send").click()
    page.locator(waiting_for).wait_for()
    return page.locator("#submit-told").inner_text()


@pytest.mark.nightly
def test_what_is_submitted_scores_as_the_visitor_saw_it(
    scored_page, hub, sample, run_hdbench, tmp_path
):
    repository = hub.repositories["datasets", "hdb/results"]
    page = scored_page()
    seen = page.locator(".hdb-score b").inner_text().split()[-1].rstrip(".")
    fill(page, model=HOSTILE)
    page.locator("#submit-own-prompt input").check()
    page.locator("#submit-note").locator("textarea, input").fill("twice | as long")
    told = submit(page)
    assert told.startswith("Submitted.")
    assert f"f1_micro {seen}" in told
    link = page.locator("#submit-told a").get_attribute("href")
    assert link == f"{hub.url}/datasets/hdb/results/discussions/1"
    assert page.evaluate("window.attacked") is None

    # The token goes to the Hub alone.
    with_token = {each.path.split("/")[1] for each in hub.requests if each.token}
    assert with_token <= {"api", "lfs", "datasets"}
    assert {each.token for each in hub.requests if each.method == "PUT"} == {None}

    files = {
        path: content
        for path, content in repository.files("refs/pr/1").items()
        if path not in repository.files()
    }
    (folder,) = {path.rpartition("/")[0] for path in files}
    assert re.fullmatch(r"zettelkatalog/\d{4}-\d\d-\d\d_img-src-x-[a-z.-]*-[0-9a-f]{12}", folder)
    assert {path.rpartition("/")[2] for path in files} == {
        *("run.json", "answers.jsonl", "run.parquet", "answers.parquet")
    }
    for path, content in files.items():
        (tmp_path / "hdb/results" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "hdb/results" / path).write_bytes(content)
    done = run_hdbench(
        *("score", "hdb/zettelkatalog", tmp_path / "hdb/results" / folder),
        *("--json", tmp_path / "result.json"),
        cwd=sample,
    )
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "result.json").read_text())
    expected = score(str(sample / "hdb/zettelkatalog"), sample / EXAMPLE)
    assert record["f1_micro"] == expected.figures()["f1_micro"]
    assert f"{record['f1_micro']:.4f}" == seen
    assert record["signature"] == expected.figures()["signature"]
    board = run_hdbench("leaderboard", tmp_path / "hdb/results", "--format", "json", cwd=sample)
    assert board.returncode == 0, board.stderr
    assert f"{record['f1_micro']:.4f}" in board.stdout or str(record["f1_micro"]) in board.stdout

    run = json.loads(files[f"{folder}/run.json"])
    assert run["model"] == HOSTILE
    assert run["provider"] == "somebody"
    assert run["submitted"]["name"] == "A library"
    assert run["submitted"]["licence"] == "CC-BY-4.0"
    assert run["submitted"]["prompt_note"] == "twice | as long"
    assert run["prompt"]["name"] == "prompt.txt"
    assert "answers of mine" not in json.dumps(run)
    about = repository.pulls[0].description
    assert f"**{seen}**, 8 items: too few for an interval; single items 0.0000 to 1.0000" in about
    assert "8 items: 5 answered, 2 unanswered, 1 unparsable" in about
    assert f"``` {HOSTILE} ```" in about


@pytest.mark.nightly
def test_what_is_merged_is_loaded_from_the_hub(scored_page, hub, repository, tmp_path):
    page = scored_page()
    fill(page, model="newer", provider=None)
    page.locator("#submit-local input").check()
    page.locator("#submit-provider").wait_for(state="hidden")
    submit(page)
    repository.merge(1)
    code = """
import json
from datasets import load_dataset
runs = load_dataset("hdb/results", "runs", split="test")
answers = load_dataset("hdb/results", "zettelkatalog", split="test")
print(json.dumps([list(zip(runs["model"], runs["provider"], runs["items"], runs["answered"])),
    sorted(set(answers["model"]))]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | PLAIN | hub.environment() | {"HF_HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        [["older", "someone", 1, 1], ["newer", "local", 8, 6]],
        ["newer", "older"],
    ]


def test_nothing_is_submitted_without_consent_and_names(scored_page, hub, repository):
    page = scored_page()
    fill(page, consent=False)
    assert (
        submit(page)
        == "Nothing was submitted: tick the box to confirm that the answers may be published"
    )
    page.locator("#submit-consent input").check()
    fill(page, provider=" ")
    page.locator("#submit-send").click()
    page.locator("#submit-told").get_by_text("enter who ran the model").wait_for()
    fill(page, model="a\u202eb")
    page.locator("#submit-provider").locator("textarea, input").fill("somebody")
    page.locator("#submit-send").click()
    page.locator("#submit-told").get_by_text("invisible characters").wait_for()
    assert repository.pulls == []
    assert hub.requests == []


@pytest.mark.nightly
def test_the_same_answers_are_proposed_once(scored_page, hub, repository):
    page = scored_page()
    fill(page)
    submit(page)
    fill(page, model="another name")
    page.locator("#submit-send").click()
    page.locator("#submit-told").get_by_text("have already been proposed").wait_for()
    assert "/discussions/1" in page.locator("#submit-told").inner_text()
    repository.merge(1)
    page.locator("#submit-send").click()
    page.locator("#submit-told").get_by_text("already on the leaderboard").wait_for()
    assert len(repository.pulls) == 1


@pytest.mark.nightly
def test_what_the_hub_refuses_is_one_line_without_the_token(
    scored_page, space_url, hub, repository
):
    page = scored_page()
    fill(page)

    def told(reason):
        page.locator("#submit-send").click()
        page.locator("#submit-told").get_by_text(reason).wait_for()
        lines = page.locator("#submit-told").inner_text().strip().splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("Nothing was submitted: ")
        assert WRITER not in page.content()
        assert "127.0.0.1" not in lines[0]

    account = hub.accounts[WRITER]
    hub.accounts[WRITER] = account._replace(may_write=False)
    told("may not propose anything to hdb/results")
    del hub.accounts[WRITER]
    told("does not accept this Space's token")
    hub.accounts[WRITER] = account
    hub.fail("GET /api/datasets/hdb/results$", status=503)
    told("status 503")
    hub.fail("POST .*/commit/")
    told("status 500")
    hub.cut("GET /api/datasets/hdb/results$")
    told("cannot be reached")
    hub.repositories.clear()
    told("has no dataset hdb/results")
    assert repository.pulls == []
    assert list(repository.branches) == ["main"]
    config = httpx.get(f"{space_url}config").text
    assert "submit_consent" in config
    assert WRITER not in config
    assert WRITER not in httpx.get(space_url).text


HASTY = """
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext
from hdbench.space.jobs import submit_hub

submit_hub.TIMEOUT = 0.5
serve(SpaceContext(Path("hdb"), results_repository="hdb/results"))
"""


async def told_of_submitting(url, content, address="192.0.2.1"):
    """What a visitor without a browser is told who scores a file and submits it."""
    async with Visitor(url, address) as visitor:
        file = await visitor.upload("mine.jsonl", content)
        await visitor.press("score", benchmark="zettelkatalog", file=file)
        said = {"model": "Qwen", "provider": "me", "name": "A library", "consent": True}
        fields = {f"submit-{key}": value for key, value in said.items()}
        async with asyncio.timeout(100):
            return texts_of(await visitor.press("submit-send", **fields))


@pytest.mark.nightly
def test_a_hub_that_does_not_answer_is_not_waited_for(hub, serving_space, sample):
    # It takes no timeout of its own, like the commit.
    hub.stall("GET /api/datasets/hdb/results/discussions$", times=100)
    with serving_space("-c", HASTY) as url:
        wait_for_client(url)
        told = run(told_of_submitting(url, (sample / EXAMPLE).read_bytes()))
    assert "cannot be reached" in told


SLOW = """
import time
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext
from hdbench.space.jobs import submit_hub

propose = submit_hub.HfApi.create_commit

def propose_late(*given, **named):
    time.sleep(3)
    return propose(*given, **named)

submit_hub.HfApi.create_commit = propose_late
serve(SpaceContext(Path("hdb"), results_repository="hdb/results"))
"""


@pytest.mark.nightly
def test_of_two_who_submit_the_same_at_once_one_is_refused(repository, serving_space, sample):
    async def visits(url):
        content = (sample / EXAMPLE).read_bytes()
        addresses = ("192.0.2.1", "192.0.2.2")
        return await asyncio.gather(
            *(told_of_submitting(url, content, address) for address in addresses)
        )

    with serving_space("-c", SLOW) as url:
        wait_for_client(url)
        told = run(visits(url))
    assert sorted("have already been proposed" in each for each in told) == [False, True]
    assert len(repository.pulls) == 1


@pytest.mark.nightly
def test_without_a_token_the_operator_is_named(hub, serving_space, sample, visit_at):
    with serving_space(APP, token=None, HDBENCH_RESULTS_REPOSITORY="hdb/results") as url:
        wait_for_client(url)
        page = visit_at(url)
        upload(page, "mine.jsonl", (sample / EXAMPLE).read_bytes())
        report(page)
        page.locator("#submit-panel").get_by_role("button", name="Submit").first.click()
        page.locator("#submit-model").wait_for()
        settled(page)
        fill(page)
        assert "its operator has to set the secret HF_TOKEN" in submit(page)
        page.close()
    assert [each for each in hub.requests if "datasets" in each.path] == []


def test_bad_file_after_a_good_one_removes_the_old_result(scored_page):
    page = scored_page()
    page.locator("#file").get_by_role("button").first.click()
    upload(page, "none.jsonl", '{"id": "nobody", "prediction": 1')
    page.locator("#first .hdb-problem").wait_for()
    expect(page.locator("#submit-panel")).to_be_hidden()
    expect(page.locator("#report iframe")).to_have_count(0)
    expect(page.locator(".hdb-big")).to_have_count(0)


@pytest.mark.nightly
def test_it_speaks_german(scored_page, repository):
    page = scored_page(language="de-CH", panel="Zur Rangliste")
    fill(page, consent=False)
    told = submit(page)
    assert told.startswith("Es wurde nichts eingereicht: Bitte kreuzen Sie an")
    page.locator("#submit-consent input").check()
    page.locator("#submit-send").click()
    page.locator("#submit-told").get_by_text("Eingereicht.").wait_for()
    assert len(repository.pulls) == 1


@pytest.mark.nightly
def test_a_phone_shows_it_without_scrolling_sideways(scored_page):
    page = scored_page(width=390)
    fill(page, model="m" * 100)
    submit(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert_contrast(page)
