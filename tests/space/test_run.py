"""The tab that runs a local model: real server, real browser, a model of random weights."""

import json
import os
import re
import shutil
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from report.test_browser import CONTRAST
from space.servers import serving, wait_for_client

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.reading.titles import FieldTitles
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.running_model import (
    GOING,
    MAX_PROMPT,
    Ended,
    Progress,
    ask,
    fields_of,
    model_names,
    run_on_image,
    run_on_items,
    still_wanted,
    watched,
    with_gpu,
)
from hdbench.space.server.limits import sweep
from hdbench.space.tabs.run_view import run_answers, run_record, run_status, time_left

pytestmark = pytest.mark.slow

SERVED = """
import sys
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

limits = {"max_run_items": 6, "max_run_seconds": float(sys.argv[1])}
serve(SpaceContext(Path("hdb"), models=tuple(sys.argv[2:]), **limits))
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two models of random weights: one whose answers soon end, and one whose answers do not."""
    from helpers.tiny_llava import save_tiny_llava  # noqa: PLC0415  slow to import

    folder = tmp_path_factory.mktemp("secret-models")
    save_tiny_llava(folder / "slow")
    shutil.copytree(folder / "slow", folder / "quick")
    path = folder / "quick/generation_config.json"
    ends = {"eos_token_id": list(range(2, 300, 4))}
    path.write_text(json.dumps(json.loads(path.read_text()) | ends))
    return folder


@pytest.fixture(scope="module")
def served(sample, models, tmp_path_factory):
    """A Space with these models and Tesseract, and where it keeps its temporary files."""
    scratch = tmp_path_factory.mktemp("scratch")
    named = (str(models / "quick"), str(models / "slow"), "tesseract", str(models / "absent"))
    settings = {"TMPDIR": str(scratch), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "300", *named, cwd=sample, **settings) as url:
        wait_for_client(url)
        yield url, scratch


@pytest.fixture
def visit(visit_at, served):
    """Open the tab, and choose a model."""

    def visit(model="quick", url=served[0], tab="Run a model", **options):
        page = visit_at(url, **options)
        page.get_by_role("tab", name="Score" if tab == "Run a model" else "Bewerten").wait_for()
        open_tab(page, tab)
        choose(page, "#run-model", model)
        return page

    return visit


def open_tab(page, name):
    page.get_by_role("tab", name=name).click()
    page.locator("#run-model").wait_for()


def choose(page, field, name):
    page.locator(f"{field} input").click()
    page.get_by_role("option", name=name).click()


def ask_items(page, number):
    page.locator("#run-items input[type=number]").fill(str(number))
    page.locator("#run-items input[type=number]").press("Tab")
    page.locator("#run-start").click()


def image_of(sample):
    return load_benchmark(str(sample / "hdb/zettelkatalog")).media()["sample-01"][0]


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
    return list(scratch.glob("hdbench-space-*/running-*"))


def wait_until(true):
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def processes():
    """The command lines of all processes that run a model for a Space of this worker's."""
    worker = f"PYTEST_XDIST_WORKER={os.environ.get('PYTEST_XDIST_WORKER', '')}"
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().decode(errors="replace").split("\0")
            is_ours = worker in path.with_name("environ").read_text(errors="replace")
        except OSError:  # it has ended
            continue
        if "hdbench.cli.model_process" in command and (is_ours or worker.endswith("=")):
            found.append(command)
    return found


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
    return httpx.get(f"{url}gradio_api/queue/data?session_hash=a", timeout=60).text


def started_by(config, dependency):
    """The id in the page of what starts an event."""
    parts = {each["id"]: each["props"].get("elem_id") for each in config["components"]}
    return parts.get(dependency["targets"][0][0])


def test_a_run_to_its_end_has_its_answers_its_score_and_all_downloads(
    visit, sample, models, served, tmp_path
):
    page = visit(accept_downloads=True)
    ask_items(page, 3)
    ended(page, "Finished: 3 of 3 answered")
    page.locator("#run-report iframe").wait_for()
    assert page.locator("#run-answers li").count() == 3
    assert page.locator("#run-answers li img").count() == 3
    assert not page.locator("#run-cancel").is_visible()
    assert re.search(r"0 of 3 \w+ need no correction", page.locator("#run-first").inner_text())
    assert page.frame_locator("#run-report iframe").locator(".item").count() == 3

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
    wait_until(lambda: not runs_of(served[1]) and not processes())


def score_of(sample, answers, ids):
    """The figures of the items that were asked, by the Python API."""
    folder = answers.parent / "asked"
    folder.mkdir()
    shutil.copy(answers, folder / "answers.jsonl")
    run = {"run": "asked", "benchmark": "hdb/zettelkatalog", "model": "quick", "items": ids}
    (folder / "run.json").write_text(json.dumps(run))
    return score(str(sample / "hdb/zettelkatalog"), folder).figures()


def test_a_page_that_is_closed_ends_its_run(visit, served):
    page = visit("slow")
    ask_items(page, 6)
    page.locator("#run-status progress").wait_for()
    assert len(processes()) == 1
    page.context.close()
    wait_until(lambda: not processes() and not runs_of(served[1]))


def test_one_model_runs_at_a_time_and_who_waits_may_leave_or_cancel(visit, served):
    first = visit("slow")
    ask_items(first, 6)
    first.locator("#run-status progress").wait_for()
    leaving, waiting = visit("slow"), visit(language="de", tab="Modell ausführen")
    ask_items(leaving, 1)
    ended(leaving, "Waiting for a free place, you are next")
    ask_items(waiting, 1)
    ended(waiting, "Warten auf einen freien Platz, 1 vor Ihnen")
    leaving.context.close()
    ended(waiting, "Warten auf einen freien Platz, Sie sind als Nächstes dran")
    assert len(processes()) == 1

    cancelling = visit("slow")
    ask_items(cancelling, 1)
    ended(cancelling, "Waiting for a free place, 1 ahead of you")
    cancelling.locator("#run-cancel").click()
    assert ended(cancelling, "Cancelled") == "Cancelled before the first answer."
    cancelling.locator("#run-cancel").wait_for(state="hidden")
    wait_until(lambda: len(runs_of(served[1])) == 2)
    assert len(processes()) == 1

    first.locator("#run-status").get_by_text(re.compile("[1-5] of 6 answered")).wait_for()
    first.locator("#run-cancel").click()
    told = ended(first, "Cancelled:")
    assert re.search(r"Cancelled: [1-5] of 6 answered. Only these count", told)
    done = first.locator("#run-answers li").count()
    first.locator("#run-report iframe").wait_for()
    said = first.locator("#run-first").inner_text()
    assert re.search(rf"0 of {done} \w+ needs? no correction", said)
    ended(waiting, "Fertig: 1 von 1 beantwortet")
    wait_until(lambda: not processes() and not runs_of(served[1]))


@pytest.mark.needs("tesseract")
def test_an_own_image_gets_its_answer_and_its_record_but_no_score(visit, sample):
    page = visit("tesseract")
    page.get_by_role("tab", name="Your own image").click()
    page.locator("#run-start-image").click()
    page.locator(".hdb-problem").get_by_text("choose an image first").wait_for()
    upload_image(page, image_of(sample).read_bytes())
    page.locator("#run-start-image").click()
    ended(page, "Finished: 1 of 1 answered")
    page.locator("#run-first table").wait_for()
    answer = json.loads(page.locator("#run-answers pre").inner_text())
    rows = [each.inner_text().split("\t") for each in page.locator("#run-first tbody tr").all()]
    assert ["type.type", answer["type"]["type"]] in rows
    assert page.locator("#run-report iframe").count() == 0
    page.locator("#run-download-jsonl").wait_for()
    assert not page.locator("#run-download-json").is_visible()


def test_what_is_no_image_is_refused_in_one_line(visit):
    page = visit()
    page.get_by_role("tab", name="Your own image").click()
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
        told = raw(url, "run-start", [model, "zettelkatalog", 1])
        assert '"success":false' in told or "no model" in told, told
        assert str(models / "quick") not in told
        assert '"process_generating"' not in told
    assert runs_of(scratch) == []


@pytest.mark.parametrize("items", [0, 7, 1e9, -1, "NaN"])
def test_more_items_than_the_operator_allows_are_refused(served, items):
    told = raw(served[0], "run-start", ["quick", "zettelkatalog", items])
    assert '"process_generating"' not in told or "ask 1 to 6" in told
    assert processes() == []


def test_a_file_of_the_server_is_no_image(served, sample):
    for path in ("/etc/passwd", str(image_of(sample))):
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        asked = ["quick", "zettelkatalog", file, "Read it."]
        answer = join(served[0], "run-start-image", asked, "a")
        assert (answer.status_code, list(answer.json())) == (400, ["detail"])
    assert processes() == []


def test_the_time_limit_ends_a_run_with_a_clear_line(visit, sample, models, tmp_path):
    settings = {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "2", str(models / "slow"), cwd=sample, **settings) as url:
        wait_for_client(url)
        page = visit("slow", url)
        ask_items(page, 6)
        told = "The time limit of 2 s was reached before the first answer."
        assert told in ended(page, told)
        wait_until(lambda: not processes())
        assert processes() == []


def test_a_server_that_ends_takes_its_run_along(sample, models, tmp_path):
    settings = {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with serving("-c", SERVED, "600", str(models / "slow"), cwd=sample, **settings) as url:
        wait_for_client(url)
        join(url, "run-start", ["slow", "zettelkatalog", 6], "a")
        wait_until(processes)
        assert len(processes()) > 0
    wait_until(lambda: not processes())
    assert processes() == []


@pytest.mark.needs("tesseract")
def test_a_german_runs_a_model_on_a_phone_in_dark_mode(visit):
    phone = {"width": 390, "color_scheme": "dark"}
    page = visit("tesseract", tab="Modell ausführen", language="de-CH", **phone)
    ask_items(page, 2)
    assert "Fertig: 2 von 2 beantwortet" in ended(page, "Fertig")
    page.locator("#run-report iframe").wait_for()
    assert page.get_by_role("heading", name="Antworten des Modells").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = page.evaluate(CONTRAST)
    assert found["count"] > 30
    assert found["page"] < 0.1
    assert found["low"] == []


def test_every_control_has_a_label_and_the_prompt_is_that_of_the_benchmark(visit, sample):
    page = visit()
    page.get_by_role("button", name="Prompt").click()
    prompt = (sample / "hdb/zettelkatalog/prompt.txt").read_text()
    assert page.locator("#run-prompt textarea").input_value() == prompt
    assert not page.locator("#run-prompt textarea").is_enabled()
    unlabelled = """() => [...document.querySelectorAll("input, select, textarea, button")]
      .filter((each) => each.checkVisibility())
      .filter((each) => !each.labels?.length && !each.ariaLabel && !each.innerText.trim()
        && !each.title)
      .map((each) => each.outerHTML.slice(0, 150))"""
    assert page.evaluate(unlabelled) == []
    page.get_by_role("tab", name="Your own image").click()
    assert page.locator("#run-own-prompt textarea").is_enabled()
    assert page.evaluate(unlabelled) == []


HOSTILE = "</pre><script>window.attacked = true</script><img src=x onerror=alert(1)>\u202e\x1b[31m"


def test_a_models_text_is_escaped_wherever_it_is_shown():
    answers = [{"id": HOSTILE, "text": HOSTILE * 200, "seconds": 1.5, "finish_reason": "length"}]
    failed = [{"id": HOSTILE, "error": HOSTILE}]
    for html in (
        run_answers(answers, {HOSTILE: None}, "en"),
        run_answers(failed, {HOSTILE: None}, "de"),
        run_record([(HOSTILE, HOSTILE)] * 300, "en", FieldTitles(None, "en")),
        run_status(
            Progress(failed, Ended.FAILED, HOSTILE), 3, "en", elapsed=1, left=None, limit=60
        ),
    ):
        assert "<script" not in html
        assert "<img" not in html
        assert "&lt;script&gt;" in html
        assert "\u202e" not in html
        assert "\x1b" not in html
        assert len(html) < 500_000


def test_the_time_left_goes_by_the_answers_and_not_by_the_loading():
    assert time_left([], [], 5, 100.0) is None
    assert time_left([{"seconds": 4.0}], [30.0], 3, 31.0) == 4.0 * 2 - 1
    assert time_left([{}, {}], [30.0, 36.0], 4, 37.0) == 6.0 * 2 - 1
    assert time_left([{}, {}], [30.0, 36.0], 4, 99.0) == 0.0


def test_a_prompt_and_a_benchmark_from_anywhere_are_checked(sample, tmp_path):
    context = SpaceContext(sample / "hdb", models=("tesseract",))
    image = image_of(sample)
    for prompt in ("", " \n", "x" * (MAX_PROMPT + 1)):
        with pytest.raises(HdbenchError, match="the prompt must have 1 to 20,000 characters"):
            run_on_image(context, "tesseract", "zettelkatalog", image, prompt, tmp_path)
    with pytest.raises(HdbenchError, match=r"no benchmark '\.\./hdb'"):
        run_on_items(context, "tesseract", "../hdb", 1, tmp_path)
    with pytest.raises(HdbenchError, match="no model 'other' here: choose one of tesseract"):
        run_on_items(context, "other", "zettelkatalog", 1, tmp_path)
    with pytest.raises(HdbenchError, match="nan items: ask 1 to 20"):
        run_on_items(context, "tesseract", "zettelkatalog", float("nan"), tmp_path)


def test_the_same_number_of_items_is_always_the_same_items(sample, tmp_path):
    context = SpaceContext(sample / "hdb", models=("tesseract",))
    first, again = (
        run_on_items(context, "tesseract", "zettelkatalog", 4, tmp_path) for _ in range(2)
    )
    assert len(first.questions) == 4
    assert first.questions == again.questions


def test_two_models_of_one_name_are_refused(tmp_path):
    with pytest.raises(HdbenchError, match="a second model called 'llava'"):
        model_names(["/a/llava", "/b/llava"])


WRITES = """
import json, pathlib, sys, time
run = pathlib.Path(sys.argv[1])
run.mkdir()
asked = {"run": "a", "benchmark": "/srv/secret/zettelkatalog", "model": "a", "items": None}
(run / "run.json").write_text(json.dumps(asked))
with (run / "answers.jsonl").open("w") as file:
    file.write('{"id": "sample-01", "text": "{}"}\\n')
    file.write('{"id": "sample-02", "error": "/srv/secret/models/a: damaged"}\\n')
    file.write('{"id": "sample-03", "te')
time.sleep(600)
"""


def test_what_was_answered_in_time_is_kept_and_nothing_else_counts(sample, tmp_path):
    context = SpaceContext(sample / "hdb", models=("tesseract",), max_run_seconds=5)
    (tmp_path / GOING).touch()
    run = run_on_items(context, "tesseract", "zettelkatalog", 8, tmp_path)

    def slow(command, folder, seconds):
        assert command == run.command
        return watched([sys.executable, "-c", WRITES, str(run.path)], folder, seconds)

    last = list(ask(context, run, slow))[-1]
    assert last.ended == Ended.TIME
    assert last.answers == [
        {"id": "sample-01", "text": "{}"},
        {"id": "sample-02", "error": "a: damaged"},
    ]
    result = score(str(sample / "hdb/zettelkatalog"), run.path)
    assert result.ids == ["sample-01", "sample-02"]
    assert result.run["subset"] == "stopped after 2; of 8 items"
    assert "secret" not in run.path.joinpath("run.json").read_text()


def test_why_a_run_failed_is_told_in_the_visitor_s_language(sample, tmp_path, monkeypatch):
    monkeypatch.setenv("HDBENCH_LANGUAGE", "en")  # the operator's
    context = SpaceContext(sample / "hdb", models=("tesseract",))
    (tmp_path / GOING).touch()
    run = run_on_items(context, "tesseract", "zettelkatalog", 2, tmp_path)
    run = run._replace(model="/srv/secret/damaged", language="de")
    last = list(ask(context, run, watched))[-1]
    assert last.ended == Ended.FAILED
    log = (tmp_path / "log").read_text()
    assert "Fehler: " in log
    assert last.problem == log.splitlines()[-1].removeprefix("Fehler: ").replace("/srv/secret/", "")

    def silent(command, folder, seconds):
        return watched([sys.executable, "-c", "raise SystemExit(1)"], folder, seconds)

    last = list(ask(context, run, silent))[-1]
    assert last.problem.startswith("Der Prozess des Modells endete wortlos")


def test_a_run_that_waits_for_long_is_not_swept_away(tmp_path):
    (tmp_path / GOING).touch()
    for _ in range(2):
        os.utime(tmp_path / GOING, (0, 0))
        assert still_wanted(tmp_path)
        sweep(tmp_path, keep_seconds=60, max_bytes=1)
    (tmp_path / GOING).unlink()
    assert not still_wanted(tmp_path)


def test_a_run_that_is_left_ends_its_process(sample, tmp_path):
    context = SpaceContext(sample / "hdb", models=("tesseract",))
    (tmp_path / GOING).touch()
    run = run_on_items(context, "tesseract", "zettelkatalog", 2, tmp_path)
    with closing(ask(context, run, watched)) as states:
        assert next(states) == Progress([])
        wait_until(lambda: len(processes()) == 1)  # its name is known a moment after its start
    assert processes() == []


def test_fields_are_those_of_the_record_in_a_text(sample):
    benchmark = load_benchmark(str(sample / "hdb/zettelkatalog"))
    text = 'Here:\n```json\n{"type": {"type": "Reference"}, "author": {"last_name": null}}\n```'
    found = fields_of(benchmark, text)
    assert ("type.type", "Reference") in found
    assert ("author.last_name", "null") in found
    assert fields_of(benchmark, "no record") == []


def test_a_gpu_is_borrowed_where_the_package_for_it_is_there(tmp_path, monkeypatch):
    assert with_gpu(300) is watched
    lent = "def GPU(duration):\n    return lambda function: (duration, function)\n"
    (tmp_path / "spaces.py").write_text(lent)
    monkeypatch.delitem(sys.modules, "spaces", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert with_gpu(300) == (330, watched)
