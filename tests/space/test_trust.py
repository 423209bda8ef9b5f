"""Decisions in the Space: an uploaded one, whatever is in it, and the example."""

import json
from concurrent.futures import wait

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.planned_cards import RIGHT, SCHEMA, agreeing
from helpers.run_folders import SPEC, write_run
from helpers.single_values import made
from hypothesis import given
from hypothesis import strategies as st
from report.test_trust_page import hostile
from space.german import Walk
from space.pages import go_to_tab, report, still
from space.servers import serving, wait_for_client

from hdbench.common.translation import translated
from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.deciding import (
    EXAMPLE_BENCHMARK,
    EXAMPLE_RUNS,
    MAX_DECISION,
    ExampleDecision,
    decide_example,
    write_example,
    write_uploaded,
)
from hdbench.trust.applying import apply

ITEMS = [f"{number:04}" for number in range(900)]
SERVED = """
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

serve(SpaceContext(Path("hdb")))
"""


@pytest.fixture(scope="module")
def decision(tmp_path_factory):
    """All runs say the same; of 90 checked items, two titles are wrong."""
    catalogue = agreeing(tmp_path_factory.mktemp("decided"), items=700)
    sample = catalogue.plan(90).sample
    catalogue.check(sample, lambda place: RIGHT | ({"title": "Else"} if place < 2 else {}))
    return catalogue.decide()


def as_file(decision):
    return json.dumps(decision.model_dump(mode="json"))


def write_example_run(folder, name, answers, **about):
    about |= {"benchmark": f"hdb/{EXAMPLE_BENCHMARK}"}
    write_run(folder / "hdb/results" / EXAMPLE_BENCHMARK / name, answers, **about)


@pytest.fixture
def namespace(tmp_path):
    """Cards of the example's benchmark, and its runs, which agree on all but the years."""
    cards = tmp_path / "hdb" / EXAMPLE_BENCHMARK
    cards.mkdir(parents=True)
    spec = SPEC | {"name": EXAMPLE_BENCHMARK, "title": "Zettelkatalog", "report_errors_at": None}
    (cards / "benchmark.yaml").write_text(json.dumps(spec))
    (cards / "answer.schema.json").write_text(json.dumps(SCHEMA))
    rows = [{"id": item, "ground_truth": json.dumps(RIGHT)} for item in ITEMS]
    (cards / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for place, name in enumerate(EXAMPLE_RUNS):
        answers = {item: {"prediction": RIGHT | {"year": 1800 + place}} for item in ITEMS}
        write_example_run(tmp_path, name, answers, model=f"model-{place}")
    return tmp_path


# The example


def test_example_is_decided_like_the_commands_without_a_promise(namespace):
    context = SpaceContext(namespace / "hdb")
    decision = decide_example(context)

    # Of each item, title and place are right, and the years are wrong: nearly a third.
    assert decision.expected.wrong == pytest.approx(1 / 3, abs=0.05)
    assert decision.by_field["year"].accepted == 0
    assert decision.wrong["letter"].count == 0
    # Of 1,800 values that are right, those that were read are not accepted anew.
    assert 600 < decision.accepted <= 1_800 - 600
    assert decision.runs == ("model-0", "model-1", "model-2")
    assert (decision.read, decision.items, decision.values) == (900, 900, 2_700)
    assert [warned.key for warned in decision.warnings if warned.voids] == ["example_readings"]
    assert not decision.holds
    assert decision.benchmark == f"hdb/{EXAMPLE_BENCHMARK}"
    assert str(namespace) not in as_file(decision)
    # Nothing is written, and what people read is nobody's.
    assert not list(namespace.rglob("checked-values.jsonl"))
    assert not list(namespace.rglob("learned.yaml"))
    assert not list(namespace.rglob("probabilities.npy"))
    write_example(context, decision, namespace / "page.html", "en")
    assert "This is no promise: " in (namespace / "page.html").read_text()


def test_example_is_decided_again_only_when_its_runs_change(namespace):
    context = SpaceContext(namespace / "hdb")
    made = []

    def decided():
        made.append(decide_example(context))
        return made[-1]

    example = ExampleDecision(context, decided)
    works = [example.work() for _ in range(3)]
    wait(works)
    assert [work.result() for work in works] == made * 3

    another = {item: {"prediction": RIGHT | {"place": "Bern"}} for item in ITEMS}
    write_example_run(namespace, EXAMPLE_RUNS[0], another, model="another")
    assert example.work().result().runs[0] == "another"
    assert len(made) == 2


def test_without_the_runs_or_the_benchmark_there_is_no_example(namespace, cards):
    (namespace / "hdb/results" / EXAMPLE_BENCHMARK / EXAMPLE_RUNS[1] / "run.json").unlink()
    for folder in (namespace, cards):
        assert ExampleDecision(SpaceContext(folder / "hdb"), pytest.fail).work() is None


def test_why_there_is_no_example_names_no_folder_of_the_server(namespace):
    (namespace / "hdb" / EXAMPLE_BENCHMARK / "answer.schema.json").write_text("{")
    with pytest.raises(HdbenchError) as refused:
        decide_example(SpaceContext(namespace / "hdb"))
    assert str(refused.value).startswith(f"hdb/{EXAMPLE_BENCHMARK}/answer.schema.json: ")


# What is uploaded


def test_invalid_decision_is_refused_without_revealing_folders(tmp_path, decision):
    path = tmp_path / "my.json"
    for content, why in [
        ("{", "my.json: not JSON"),
        ("[]", "my.json: the file: "),
        (as_file(decision).replace('"items": 700', '"items": -1'), "my.json: items: "),
        (as_file(decision) + " " * MAX_DECISION, "my.json: larger than 1 MiB"),
    ]:
        path.write_text(content)
        with pytest.raises(HdbenchError) as refused:
            write_uploaded(path, tmp_path / "page.html", "en")
        assert str(refused.value).startswith(why)
        assert not (tmp_path / "page.html").exists()


def test_file_beside_a_decision_is_refused_naming_the_right_one(tmp_path):
    catalogue = agreeing(tmp_path)
    plan = catalogue.plan()
    catalogue.check(plan.sample)
    out = tmp_path / "out"
    apply(plan, catalogue.benchmark, catalogue.plan_file, out, control=20)
    for name in ("applied.json", "plan.yaml", "control.yaml"):
        with pytest.raises(HdbenchError) as refused:
            write_uploaded(out / name, tmp_path / "page.html", "en")
        assert str(refused.value) == (
            f"{name}: not a decision: give the file that hdbench trust decide --json wrote, or "
            "decision.json from the folder of hdbench trust apply"
        )
        assert translated(refused.value.message, "de").startswith(
            f"{name}: keine Entscheidung: die"
        )
    assert not (tmp_path / "page.html").exists()
    write_uploaded(out / "decision.json", tmp_path / "page.html", "en")


def places(value, path=()):
    """The path of each value within a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*path, key))


def changed(value, path, other):
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], other)
    return copy


OTHERS = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        10**400,
        0.0,
        1e308,
        float("inf"),
        "",
        "{x}",
        "\ud800",
        [],
        [{}],
        {},
        {"a": 1},
    ]
)


def test_uploaded_decision_by_single_values_has_no_images(tmp_path):
    path = tmp_path / "my.json"
    path.write_text(as_file(made()))
    write_uploaded(path, tmp_path / "page.html", "en")
    page = (tmp_path / "page.html").read_text()
    assert "700 of the 2,000 values in 1,000 items (35.0%) can be accepted" in page
    assert "my.json as it was uploaded" in page
    assert "<img" not in page


@pytest.mark.parametrize("kind", ["items", "values"])
@given(st.data())
def test_a_decision_with_anything_in_it_is_shown_or_refused(decision, tmp_path_factory, kind, data):
    folder = tmp_path_factory.getbasetemp() / "anything"
    folder.mkdir(exist_ok=True)
    said = (decision if kind == "items" else made()).model_dump(mode="json")
    every = list(places(said))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(every))
        try:
            said = changed(said, path, data.draw(OTHERS))
        except (KeyError, IndexError, TypeError):  # within what was changed before
            continue
    (folder / "my.json").write_text(json.dumps(said))

    try:
        write_uploaded(folder / "my.json", folder / "page.html", "de")
    except HdbenchError as refused:
        shown = str(refused)
    else:
        shown = (folder / "page.html").read_text()
    assert shown.startswith(("my.json: ", "warnings: ", "<!DOCTYPE html>"))


# In a browser


def drop(page, content, name="my decision.json"):
    page.locator("#decision-file input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": content.encode()}
    )


@pytest.mark.slow
def test_uploaded_decision_is_shown_as_its_page_and_downloadable(visit, decision, tmp_path):
    page = visit(accept_downloads=True)
    go_to_tab(page, "How much to check?")
    drop(page, "{}", "none.json")
    page.locator("#decision .hdb-problem").wait_for()
    shown = page.locator("#decision .hdb-problem").inner_text()
    assert shown.startswith("This decision cannot be shown: none.json: ")
    assert "/tmp" not in shown

    page.locator("#decision-file").get_by_role("button", name="Clear").click()
    drop(page, as_file(hostile(decision)))
    inside = report(page, "#decision")
    inside.get_by_text("may be accepted without being looked at").wait_for()
    assert "my decision.json, as it is" in page.locator("#decision").inner_text()
    assert [frame.evaluate("window.attacked") for frame in page.frames] == [None, None]
    with page.expect_download() as waiting:
        page.locator("#decision-page").click()
    waiting.value.save_as(tmp_path / "page.html")
    kept = (tmp_path / "page.html").read_text()
    assert "<script" not in kept
    assert "my decision.json as it was uploaded: nothing was computed again" in " ".join(
        kept.split()
    )


@pytest.mark.nightly
def test_example_is_there_in_german_without_axe_core_violations(visit_at, namespace, decision):
    with serving("-c", SERVED, cwd=namespace) as url:
        wait_for_client(url)
        page = visit_at(url, width=390, language="de-CH")
        go_to_tab(page, "Wie viel prüfen?")
        report(page, "#decision").get_by_text("Das ist keine Zusage: ").wait_for()
        assert "sagt nichts zu" in " ".join(page.locator("#decision").inner_text().split())
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            still(page)
            found = Axe().run(page, {"include": [["#decision"], ["#decision-file"]]}).response
            assert [each["id"] for each in found["violations"]] == []
        walk = Walk(page)
        walk.see("example")
        drop(page, "{}", "keine.json")
        page.locator("#decision .hdb-problem").wait_for()
        walk.see("no decision")
        page.locator("#decision-file").get_by_role("button", name="Löschen").click()
        drop(page, as_file(decision))
        page.locator("#decision").get_by_text("my decision.json").wait_for()
        report(page, "#decision")
        walk.see("decision")
        [frame] = [each for each in page.frames if each != page.main_frame]
        within = Walk(frame)
        within.see("its page")
        assert walk.left | within.left == {}
        page.close()  # before its server ends, of which it would complain
