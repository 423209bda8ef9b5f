"""The page of a decision: its figures by hand, its words, and what is hostile in it."""

import json
import re
from datetime import datetime

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.planned_cards import RIGHT, Catalogue, agreeing
from report.test_languages import is_number, seen
from report.test_page import Page

from hdbench.errors import HdbenchError
from hdbench.output.report.trust_page import EDGES, chart_of, decision_page, write_decision_page
from hdbench.trust.decision import Decision

HOSTILE = '"><script>window.attacked = true</script>\u202e{x}'


@pytest.fixture(scope="module")
def decision(tmp_path_factory):
    """Two of three runs agree on the place of even items, and all are wrong there.

    They pass from 0.9 on. In three odd items, the title on which all agree is wrong to the letter.
    """
    catalogue = Catalogue(tmp_path_factory.mktemp("decided"))
    for name in "ab":
        catalogue.run(name, RIGHT)
    catalogue.run("c", lambda number: RIGHT | ({} if number % 2 else {"place": "Basel 1"}))
    sample = catalogue.plan(100).sample
    odd = [item for item in sample if int(item) % 2][:3]

    def truth(place):
        item = sample[place]
        if int(item) % 2 == 0:
            return RIGHT | {"place": "Bern"}
        return RIGHT | ({"title": "Stellingen."} if item in odd else {})

    catalogue.check(sample, truth)
    return catalogue.decide()


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """Every title is wrong: the field is left out. So are 6 of 100 years, which is too many."""
    catalogue = agreeing(tmp_path_factory.mktemp("refused"))
    sample = catalogue.plan(100, fields=["title", "year"]).sample
    catalogue.check(
        sample, lambda place: RIGHT | {"title": "Else"} | ({"year": 1} if place < 6 else {})
    )
    return catalogue.decide()


def hostile(decision):
    """The same decision with hostile text wherever others' text can be."""
    said = decision.model_dump(mode="json")
    said |= {"benchmark": HOSTILE, "benchmark_version": HOSTILE, "plan_file": HOSTILE}
    said |= {"runs": [HOSTILE] * 3, "scores": HOSTILE, "provenance": {HOSTILE: 100}}
    said["outcome"]["by_field"] = {
        HOSTILE + name: field for name, field in said["outcome"]["by_field"].items()
    }
    walks = [walk | {"left_out": {HOSTILE: {"lower": 0.5, "upper": 0.9}}} for walk in said["walks"]]
    twins = {"key": "twins", "values": {"one": HOSTILE, "other": "b", "same": 1, "either": 1}}
    return Decision.model_validate_json(
        Decision.model_validate(said | {"walks": walks, "warnings": [twins]}).model_dump_json()
    )


def rows(html):
    return [[" ".join(cell.split()) for cell in row] for row in Page(html).rows]


def test_the_sentence_comes_first_and_then_what_must_be_checked(decision):
    text = " ".join(Page(decision_page(decision)).text.split())
    even = sum(point.passing for point in decision.curve[-1:]) - decision.outcome.passing
    look = round(even / 300 * 6000)

    assert text.index("How much must be checked?") < text.index("About ")
    assert text.index("may be accepted without being looked at") < text.index("of all values")
    assert f"{even / 3:.1f}% of all values must be looked at: about {look:,} of 6,000" in text
    assert "is no promise" not in text


def test_the_table_of_thresholds_by_hand(decision):
    table = {row[0]: row[1:] for row in rows(decision_page(decision)) if row[0].startswith("from ")}
    passing = decision.outcome.passing
    even = 300 - passing

    assert len(table) == 17
    chosen = table["from 0.92"]
    assert chosen[0] == f"{passing} ({passing / 3:.1f}%)"
    assert chosen[1] == f"3 ({3 / passing:.1%})"
    assert chosen[3] == "0 (0.0%)"
    assert chosen[5] == "chosen"
    loose = table["from 0.25"]
    assert loose[0] == "300 (100.0%)"
    assert loose[1] == f"{3 + even} ({(3 + even) / 300:.1%})"
    assert loose[3] == f"{even} ({even / 300:.1%})"
    assert loose[5] == "not tested"
    assert table["from 0.94"][5] == "passes"
    assert table["from 0.9"][5] == "fails"


def test_the_table_of_fields_by_hand(decision):
    fields = {row[0]: row[1:] for row in rows(decision_page(decision)) if len(row) == 6}

    # Clopper-Pearson's upper bound of 3 in 100 is the 90 % quantile of Beta(4, 97): 6.6 %.
    assert fields["title"] == ["100 (100.0%)", "3", "6.6%, above the limit", "0", "0"]
    assert fields["year"] == ["100 (100.0%)", "0", "2.3%", "0", "0"]  # 1 - 0.1 ** (1 / 100)
    assert fields["place"][1:2] == ["0"]


def test_the_curve_has_each_threshold_where_its_shares_are(decision):
    chart = chart_of(decision)
    across, upwards = chart.across, chart.upwards

    # Marks are at their shares, and every dot is between those around it.
    assert (across[-1].share, across[-1].place) == pytest.approx((1, EDGES.right))
    assert (upwards[0].share, upwards[0].place) == (0, EDGES.bottom)
    first = chart.lines["letter"][0]
    span = (first.x - across[0].place) / (across[-1].place - across[0].place)
    share = across[0].share + span * (1 - across[0].share)
    assert share == pytest.approx(decision.outcome.passing / 300)
    height = (EDGES.bottom - first.y) / (EDGES.bottom - EDGES.top) * upwards[-1].share
    assert height == pytest.approx(3 / decision.outcome.passing)
    assert chart.chosen == first.x
    limit = (EDGES.bottom - chart.limit) / (EDGES.bottom - EDGES.top) * upwards[-1].share
    assert limit == pytest.approx(0.05)
    # 1 to 0.92 pass; 0.9 fails, and what is looser was not tested.
    assert [dot.passes for dot in chart.lines["letter"]] == [True] * 5 + [False] * 12
    for dots in chart.lines.values():
        assert all(EDGES.left <= dot.x <= EDGES.right + 1e-9 for dot in dots)
        assert all(EDGES.top <= dot.y <= EDGES.bottom for dot in dots)


def test_picture_has_a_dot_per_threshold_and_a_description(decision):
    page = Page(decision_page(decision))

    (picture,) = page.all("svg")
    assert picture["role"] == "img"
    assert "the share of wrong values against the share" in picture["aria-label"]
    dots = page.all("circle")
    assert [dot["class"] for dot in dots] == ["letter"] * 5 + ["letter open"] * 12
    assert "Chosen: 0.92" in page.text


def test_a_refused_decision(refused):
    html = decision_page(refused)
    text = " ".join(Page(html).text.split())

    assert refused.outcome is None
    assert text.index("Nothing can be accepted") < text.index("100.0%")
    assert "100.0% of all values must be looked at: 4,000" in text
    assert "All values of all fields have to be looked at." in text
    assert "Chosen" not in text
    (strict, *others) = [row for row in rows(html) if row[0].startswith("from ")]
    assert (strict[0], strict[1], strict[2]) == ("from 1", "100 (50.0%)", "6 (6.0%)")
    assert strict[-1] == "fails"
    assert {row[-1] for row in others} == {"not tested"}


def test_where_every_field_is_left_out_there_is_no_curve(tmp_path):
    catalogue = agreeing(tmp_path)
    catalogue.check(catalogue.plan(150, fields=["title"]).sample, RIGHT | {"title": "Else"})
    decision = catalogue.decide()

    page = Page(decision_page(decision))

    assert decision.curve == ()
    assert page.all("svg") == []
    assert "In every field, even the values" in page.text


def test_what_is_no_promise_says_so_first(decision):
    known = {"key": "known", "values": {"known": 9, "items": 100}, "voids": True}
    void = Decision.model_validate(decision.model_dump() | {"warnings": (known,)})

    text = Page(decision_page(void)).text

    assert text.index("This is no promise: About ") < text.index("would have to be looked at if")
    assert "must be looked at: about" not in text


def test_hostile_names_are_text(decision):
    html = decision_page(hostile(decision))
    page = Page(html)  # all its elements are closed in order

    assert "<script" not in html
    assert "\u202e" not in html
    assert page.text.count("<script>window.attacked = true</script>") >= 9
    assert "\\u202e" in page.text


def test_a_very_long_name_does_not_bury_the_page(decision):
    said = decision.model_copy(update={"runs": ("W" * 10_000,) * 3, "benchmark": "W" * 10_000})

    assert len(decision_page(said)) < len(decision_page(decision)) + 5_000


def test_the_page_asks_for_nothing_and_runs_nothing(decision):
    page = Page(decision_page(decision))

    (policy,) = (each["content"] for each in page.all("meta") if "http-equiv" in each)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "script-src" not in policy
    assert page.all("script") + page.all("link") + page.all("img") == []
    assert all(each["href"].startswith("#") for each in page.all("a"))
    assert [each for _, each in page.elements if "style" in each] == []


def test_headings_are_in_order_and_tables_have_heads(decision):
    page = Page(decision_page(decision))

    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    assert {each["scope"] for each in page.all("th")} == {"col", "row"}
    targets = {each["href"][1:] for each in page.all("a")}
    assert targets <= {each["id"] for _, each in page.elements if "id" in each}


@pytest.mark.parametrize("which", ["decision", "refused"])
def test_on_the_german_page_nothing_is_english_but_names(which, request):
    decision = request.getfixturevalue(which)
    english, german = (decision_page(decision, language) for language in ("en", "de"))

    same = {text for text in seen(english) & seen(german) if not is_number(text)}

    assert same <= {"hdbench verify", *decision.runs}
    assert len(Page(german).elements) == len(Page(english).elements)
    text = Page(german).text
    assert "Wie viel muss geprüft werden?" in text
    assert ("auf 90\N{NO-BREAK SPACE}% Sicherheit kalibriert" in german) == (which == "decision")
    assert "die Regel schließt daraus, ob" in text
    assert "Was keine Datei zeigen kann" in text
    assert "Ob mehrere Startwerte versucht wurden" in text
    assert ("hdbench trust apply" in text) == (which == "decision")
    assert "\\xa0" not in german
    assert not re.search(r"\d%", text)


def test_decision_page_is_written_only_to_an_html_file(decision, tmp_path):
    write_decision_page(tmp_path / "page.html", decision, "de")
    assert (tmp_path / "page.html").read_text() == decision_page(decision, "de")

    (tmp_path / "plan.yaml").write_text("kept")
    with pytest.raises(HdbenchError, match=r"plan\.yaml: a page is HTML"):
        write_decision_page(tmp_path / "plan.yaml", decision)
    assert (tmp_path / "plan.yaml").read_text() == "kept"
    with pytest.raises(HdbenchError, match="cannot be written"):
        write_decision_page(tmp_path / "none/page.html", decision)


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_it_fits_and_axe_core_finds_nothing(
    decision, browser, tmp_path, width, scheme
):
    path = tmp_path / "page.html"
    write_decision_page(path, hostile(decision), "de")
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())

    assert page.evaluate("window.attacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") == width
    picture = page.locator("svg").bounding_box()
    for mark in page.locator("svg text").all():  # no letter is cut off
        box = mark.bounding_box()
        assert picture["x"] <= box["x"]
        assert box["x"] + box["width"] <= picture["x"] + picture["width"]
    assert Axe().run(page).response["violations"] == []
    assert (complaints, requests) == ([], [path.as_uri()])
    context.close()


# When it was computed


def test_page_says_when_it_was_computed_and_computes_nothing(decision):
    assert datetime.fromisoformat(decision.created) <= datetime.fromisoformat(decision.decided)
    at = "2026-03-01T23:59:59+00:00"
    decision = decision.model_copy(update={"decided": at})
    text = " ".join(Page(decision_page(decision)).text.split())
    by = f"Computed on 2026-03-01 by hdbench {decision.hdbench}. This page shows these figures"
    assert by in text
    assert text.count(at) == 1  # in the table
    text = " ".join(Page(decision_page(decision, "de", "meine <b>.json")).text.split())
    assert "Berechnet am 01.03.2026 mit" in text
    assert "Diese Seite zeigt meine <b>.json, wie es hochgeladen wurde" in text
    assert "nichts neu berechnet" in text


def test_a_file_of_an_earlier_version_does_not_say_when(decision):
    said = decision.model_dump(mode="json")
    del said["decided"]
    earlier = Decision.model_validate_json(json.dumps(said))
    text = " ".join(Page(decision_page(earlier)).text.split())
    assert f"Computed by hdbench {decision.hdbench} from a plan of {decision.created[:10]}." in text
