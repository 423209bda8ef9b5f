"""The pages as they are sent: what their address asks for, and nothing of anybody else."""

import html
import json
import re
import shutil
import time

import httpx
import pytest
from space.visits import brought, is_going, looked, problem_of, scored

pytestmark = pytest.mark.slow

ATTACK = "<img src=x onerror='attacked()'>"


def answer(value, item="sample-01-0", **more):
    line = {"id": item, "prediction": {"publication": {"title": value}}} | more
    return json.dumps(line) + "\n"


def files_of(page):
    """Kind → the address of a download."""
    return dict(re.findall(r'id="download-(\w+)" href="([^"]+)"', page))


@pytest.fixture(scope="module")
def url(furnished_url):
    return furnished_url


def test_an_address_brings_a_result_back_and_its_files_too(url):
    address = brought(url, files=[("mine.jsonl", answer("Stellingen"))], benchmark="zettelkatalog")
    page = looked(address)
    assert "mine.jsonl, scored on hdb/zettelkatalog" in page
    assert httpx.get(address).text == page
    published = httpx.URL(address).copy_add_param("protocol", "published")
    assert "published protocol" in looked(published)
    in_german = looked(httpx.URL(address).copy_add_param("lang", "de"))
    assert '<html lang="de"' in in_german
    assert "mine.jsonl, bewertet" in in_german
    files = {kind: httpx.get(f"{url}{path}") for kind, path in files_of(page).items()}
    assert [*files] == ["xlsx", "csv", "json", "html"]
    record = files["json"].json()
    assert record["answers"]["path"] == "mine.jsonl"
    for each in files.values():
        assert each.headers["content-disposition"].startswith("attachment")
    [report] = re.findall(r'<iframe [^>]*src="([^"]+)"', page)
    shown = httpx.get(f"{url}{report}")
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "Stellingen" in shown.text


def test_two_visitors_see_only_their_own(url):
    pages = [scored(url, f"of-{who}.jsonl", answer(f"word-of-{who}")) for who in ("anna", "ben")]
    for page, other in zip(pages, ("ben", "anna"), strict=True):
        seen = page + "".join(httpx.get(f"{url}{path}").text for path in files_of(page).values())
        assert f"of-{other}" not in seen
    for path in ("", "config", "?tab=compare", "?tab=leaderboard"):
        assert "of-anna" not in httpx.get(f"{url}{path}").text


@pytest.mark.parametrize("name", ["x" * 32, "../files", "..", "a", "%00"])
def test_what_is_not_there_is_said_and_reveals_nothing(url, name):
    for path in (f"?id={name}", f"?tab=run&id={name}", f"?tab=compare&id={name}"):
        answer = httpx.get(f"{url}{path}")
        assert answer.status_code == 404
        assert "This is no longer here" in answer.text
    for path in (
        f"file/{name}/answers.jsonl",
        f"file/{name}/../../files/x",
        f"file/{name}/a/b.html",
    ):
        assert httpx.get(f"{url}{path}").status_code == 404


def test_a_files_address_leads_only_to_what_was_made_of_it(url):
    page = scored(url, "a.jsonl", answer("x"))
    [folder] = {path.split("/")[1] for path in files_of(page).values()}
    for path in ("files/0/a.jsonl", "../files/0/a.jsonl", "%2e%2e/files/0/a.jsonl", "/etc/passwd"):
        assert httpx.get(f"{url}file/{folder}/{path}").status_code == 404


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("tab=../etc&benchmark=x&protocol=y&lang=fr&__theme=z", ""),
        ("tab=compare&benchmark=zettelkatalog&protocol=published", "compare"),
        (f"tab={ATTACK}&benchmark={ATTACK}&recorded={ATTACK}&run={ATTACK}", ""),
    ],
)
def test_an_address_asks_only_for_what_there_is(url, query, kept):
    answer = httpx.get(f"{url}?{query}")
    assert answer.status_code == 200
    assert "<img src=x" not in html.unescape(re.sub(r'"[^"]*"', "", answer.text))
    current = re.findall(r'href="([^"]+)" aria-current="page"', answer.text)
    assert ["compare" in each for each in current] == [bool(kept)]


def test_the_first_screen_shows_what_the_best_and_the_worst_model_read(url):
    page = looked(url)
    assert page.count("<article>") == 3
    assert "Best: reader-large. Worst: reader-tiny." in page
    assert "<ins>" in page
    for path in re.findall(r'src="(picture/[^"]+)"', page):
        picture = httpx.get(f"{url}{html.unescape(path)}")
        assert (picture.status_code, picture.headers["content-type"]) == (200, "image/webp")
    begun = time.monotonic()
    assert not is_going(httpx.get(f"{url}?tab=leaderboard").text)
    assert time.monotonic() - begun < 2  # it was ranked before anybody asked


def test_without_runs_the_first_screen_shows_the_example(samples_url):
    page = looked(f"{samples_url}?benchmark=manuscripts")
    assert "<article>" in page
    assert "Best:" not in page


def test_ids_of_another_benchmark_lead_there(samples_url, samples):
    row = json.loads((samples / "hdb/companylists/metadata.jsonl").read_text().splitlines()[0])
    page = scored(samples_url, "a.jsonl", json.dumps({"id": row["id"], "prediction": {}}) + "\n")
    assert "the ids in a.jsonl are those of Company lists, not of Zettelkatalog" in page
    [there] = re.findall(r'class="button first" href="([^"]+)"', page)
    assert "a.jsonl, scored on hdb/companylists" in looked(f"{samples_url}{html.unescape(there)}")


def test_a_refused_file_is_one_line(url):
    told = problem_of(scored(url, "cards.pdf", b"%PDF-1.7"))
    assert told.startswith("This file cannot be scored: cards.pdf: this is a PDF")
    assert "/tmp" not in told
    nothing = brought(url, "score", benchmark="zettelkatalog")
    assert nothing.status_code == 422
    assert "choose a file with answers first" in nothing.text
    many = [(f"{number}.jsonl", b"{}") for number in range(13)]
    assert brought(url, "compare", many, benchmark="zettelkatalog").status_code == 400


def test_each_model_of_a_file_has_its_address(url):
    lines = answer("a", model="one") + answer("b", model=f"two {ATTACK}")
    address = brought(url, files=[("two.jsonl", lines)], benchmark="zettelkatalog")
    page = looked(address)
    assert "<img src=x" not in page
    links = re.findall(r'href="([^"]+run=two[^"]*)"', page)
    other = looked(f"{url}{html.unescape(links[0])}")
    assert re.search(r'<p><b><bdi dir="auto">two &lt;img', other)


def test_files_and_recorded_runs_are_compared(url):
    runs = [f"2026-01-24_reader-{size}" for size in ("large", "tiny")]
    fields = {"benchmark": "zettelkatalog", "recorded": runs}
    address = brought(url, "compare", **fields)
    assert "id=" not in str(address)  # it can be shared for as long as there are these runs
    page = looked(address)
    assert re.search(r"reader-large</bdi></b> reads better than <b><bdi>reader-tiny", page)
    assert page.count("checked>") == 2
    [path] = re.findall(r'id="compare-json" href="([^"]+)"', page)
    [pair] = httpx.get(f"{url}{path}").json()["comparisons"]
    assert pair["better"] == "reader-large"
    told = looked(brought(url, "compare", benchmark="zettelkatalog", recorded=runs[:1]))
    assert "at least two runs are needed" in problem_of(told)
    with_file = brought(url, "compare", [("mine.jsonl", answer("x"))], **fields)
    assert "mine" in looked(with_file)


def test_a_benchmark_that_ranks_no_models_says_so(cards, run_hdbench):
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.testclient import TestClient  # noqa: PLC0415

    from hdbench.space.context import SpaceContext  # noqa: PLC0415
    from hdbench.space.pages import Pages  # noqa: PLC0415

    (cards / "hdb/results").mkdir()
    other = shutil.copytree(cards / "hdb/cards", cards / "hdb/lines")
    spec = json.loads((other / "benchmark.yaml").read_text())
    spec |= {"name": "lines", "ranked": False, "report_errors_at": None}
    (other / "benchmark.yaml").write_text(json.dumps(spec))
    client = TestClient(Starlette(routes=Pages(SpaceContext(cards / "hdb")).routes))
    page = client.get("/?tab=leaderboard&benchmark=lines").text
    assert "cannot rank models. These can: Cards" in problem_of(page)
    shutil.rmtree(cards / "hdb/cards")
    client = TestClient(Starlette(routes=Pages(SpaceContext(cards / "hdb")).routes))
    assert "Leaderboard" not in client.get("/").text


def test_an_id_without_a_file_of_answers_is_said_to_be_gone(cards, tmp_path, monkeypatch):
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.testclient import TestClient  # noqa: PLC0415

    from hdbench.space.context import SpaceContext  # noqa: PLC0415
    from hdbench.space.pages import Pages  # noqa: PLC0415
    from hdbench.space.visits import new_visit  # noqa: PLC0415

    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    client = TestClient(Starlette(routes=Pages(SpaceContext(cards / "hdb")).routes))
    page = client.get(f"/?id={new_visit()}")  # as a model's run has one
    assert (page.status_code, "no longer here" in page.text) == (200, True)
