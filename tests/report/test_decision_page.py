"""The page of a decision: its figures by hand, its images, print and words."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.single_values import CUT, DECISION, FIELD, NOTHING, ReadCatalogue, made
from report.test_languages import is_number, seen
from report.test_page import Page

from hdbench.collections.trust import decision_page as pages
from hdbench.collections.trust.decision_file import Decision
from hdbench.collections.trust.outlook import work_left
from hdbench.errors import HdbenchError

HOSTILE = '"><script>window.attacked = true</script>\u202e{x}'
FIELDS = [f"library_reference.field_number_{number}" for number in range(11)]


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory):
    """Cards without the items of the examples, whose images are then not at hand."""
    return ReadCatalogue(tmp_path_factory.mktemp("cards"), cards=1).benchmark


@pytest.fixture(scope="module")
def decision_page(benchmark):
    def page(decision, language="en", benchmark=benchmark):
        return pages.decision_page(decision, work_left(decision), benchmark, language)

    return page


def hostile(decision):
    """The same decision with hostile text wherever others' text can be."""
    said = decision.model_dump(mode="json")
    said |= {"benchmark": HOSTILE, "benchmark_version": HOSTILE, "plan_file": HOSTILE}
    said |= {"runs": [HOSTILE] * 2}
    for part in ("by_field", "expected_by_field"):
        said[part] = {HOSTILE + name: field for name, field in said[part].items()}
    for example in said["examples"]:
        example |= {"item": HOSTILE, "field": HOSTILE, "value": HOSTILE}
    twins = {"key": "twins"}
    twins["values"] = {"one": HOSTILE, "other": "b", "same": 1, "either": 1}
    return Decision.model_validate_json(json.dumps(said | {"warnings": [twins]}))


def text_of(html):
    return " ".join(Page(html).text.split())


def rows(html):
    return [[" ".join(cell.split()) for cell in row] for row in Page(html).rows]


def test_sentences_and_figures_come_first(decision_page):
    text = text_of(decision_page(made()))
    parts = [
        "How much must be checked?",
        "700 of the 2,000 values in 1,000 items (35.0%) can be accepted",
        "35.0% accepted unseen: 700 of 2,000 values",
        "20.0% to be looked at: 400 values, about 60 minutes",
        "11 wrong values expected among those accepted; at most 20",
        "Next: hdbench trust apply plan.yaml --out OUT",
        "No. Of the values that were read, 1.5% were wrong",
        "We accept these values as described here.",
        "Name and signature",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_tables_by_hand(decision_page):
    table = rows(decision_page(made()))
    # Accepted of its values, read, wrong, bound, and what was expected among all its values.
    assert ["title", "350 (35.0%)", "200", "3 (1.5%)", "4.0%", "20.0%"] in table
    assert ["5.0%", "1,200 (60.0%)", "400", "6", "2.80%", "chosen"] in table


def test_a_field_above_the_limit_is_marked_and_others_say_none(decision_page):
    by_field = {
        "title": FIELD | {"wrong": 11, "promised": False},
        "year": FIELD | {"accepted": 1, "read": 0, "wrong": 0, "upper": 1.0, "promised": False},
    }
    expected = DECISION["expected_by_field"] | {"place": {"values": 1_000, "wrong": 0.3}}
    html = decision_page(made(by_field=by_field, expected_by_field=expected))
    # 11 of 200 are 5.5 %.
    assert '<span class="band band-partly">11 (5.5%)</span>' in html
    assert ["year", "1 (0.1%)", "0", "", "none was read", "10.0%"] in rows(html)
    assert ["place", "none", "30.0%"] in rows(html)


def test_where_nothing_is_accepted_there_is_nothing_to_sign_for(decision_page):
    html = decision_page(made(**NOTHING))
    text = text_of(html)
    assert text.index("Nothing can be accepted unseen") < text.index("0.0% accepted unseen")
    assert "More values to check would hardly help" in text
    assert "We accept these values" not in text
    assert "Name and signature" in text
    assert "hdbench trust apply" not in text
    assert ["title", "1,000", "20.0%"] in rows(html)
    assert Page(html).all("img") == []


def test_examples_say_what_is_on_the_image_and_what_differs(decision_page):
    html = decision_page(made())
    text = text_of(html)
    assert "Drawn at random from the 6 wrong ones that people found" in text
    # One has a 2 that the other lacks, and the other way round.
    assert "<dt>The models</dt><dd><div><bdi>19<del>2</del>4</bdi>" in html
    assert "<dt>On the image</dt><dd><div><bdi>194<ins>2</ins></bdi>" in html
    assert '<dt>The models</dt><dd><div><span class="none">empty</span></div>' in html
    assert '<dt>On the image</dt><dd><span class="none">cannot be read</span></dd>' in html
    assert Page(html).all("img") == []


def test_images_are_embedded_where_the_benchmark_is_at_hand(tmp_path, decision_page):
    catalogue = ReadCatalogue(tmp_path, cards=20)
    decision = made()
    html = decision_page(decision, benchmark=catalogue.benchmark)
    images = Page(html).all("img")
    assert [image["alt"] for image in images] == ["Image of 0007", "Image of 0008", "Image of 0009"]
    assert all(image["src"].startswith("data:image/webp;base64,") for image in images)
    assert str(tmp_path) not in html
    # An item that the benchmark does not have has no image.
    one = [DECISION["examples"][0] | {"item": "nowhere"}]
    html = decision_page(made(examples=one), benchmark=catalogue.benchmark)
    assert Page(html).all("img") == []


def test_hostile_names_are_text_in_a_page_that_asks_for_nothing(decision_page):
    html = decision_page(hostile(made()))
    page = Page(html)  # all its elements are closed in order
    assert "<script" not in html
    assert "\u202e" not in html
    assert page.text.count("<script>window.attacked = true</script>") >= 9
    (policy,) = (each["content"] for each in page.all("meta") if "http-equiv" in each)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "script-src" not in policy
    assert page.all("script") + page.all("link") == []
    assert all(each["href"].startswith("#") for each in page.all("a"))
    assert {each["href"][1:] for each in page.all("a")} <= {
        each["id"] for _, each in page.elements if "id" in each
    }
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert (levels[0], set(levels[1:])) == (1, {2})


EACH = {
    "each_field": True,
    "groups": [
        {"fields": ["title"], "cuts": [CUT], "cut": 50_000_000},
        {"fields": ["year"], "cuts": [CUT | {"accepted": False}], "cut": None},
    ],
    "by_field": {"title": FIELD | {"promised": True}},
    "source": "hdb/last-year",
}


@pytest.mark.parametrize("changes", [{}, NOTHING, EACH])
def test_on_the_german_page_nothing_is_english_but_names(changes, decision_page):
    decision = made(**changes)
    english, german = (decision_page(decision, language) for language in ("en", "de"))
    same = {text for text in seen(english) & seen(german) if not is_number(text)}
    names = {"hdbench verify", "title", "year", "title, year", "hdb/cards 1.0.0", "Ida", "Else"}
    assert same <= names | {"heron, otter", "hdb/cards", "hdb/last-year"}
    assert len(Page(german).elements) == len(Page(english).elements)
    assert "\\xa0" not in german
    assert not re.search(r"\d%", Page(german).text)


def test_a_page_is_written_whole_and_is_html(tmp_path, benchmark, decision_page):
    path, decision = tmp_path / "page.html", made()
    write(path, decision, benchmark)
    assert path.read_text() == decision_page(decision, "de")
    with pytest.raises(HdbenchError, match=r"plan\.yaml: a page is HTML"):
        write(tmp_path / "plan.yaml", decision, benchmark)


def write(path, decision, benchmark, language="de"):
    work = work_left(decision)
    pages.write_decision_page(path, decision, work, benchmark, language)


@pytest.fixture(scope="module")
def eleven(tmp_path_factory):
    """A decision over eleven fields, with five examples with images, and every warning."""
    catalogue = ReadCatalogue(tmp_path_factory.mktemp("eleven"), cards=20)
    example = DECISION["examples"][0] | {"field": FIELDS[0], "value": "Buchdruckerei " * 3}
    warnings = [
        {"key": "read_once", "values": {"values": 900}},
        {"key": "not_readable", "values": {"unreadable": 7, "damaged": 1, "values": 600}},
        {"key": "unsettled", "values": {"count": 3}},
        {
            "key": "fields_may_be_above",
            "values": {"fields": [{"name": name, "share": 0.06} for name in FIELDS[:4]]},
        },
    ]
    decision = made(
        groups=[{"fields": FIELDS, "cuts": [CUT], "cut": 50_000_000}],
        by_field={name: FIELD | {"promised": False} for name in FIELDS},
        expected_by_field={name: {"values": 1_000, "wrong": 0.1} for name in FIELDS},
        examples=[example | {"item": f"000{number}"} for number in range(5)],
        warnings=warnings,
    )
    return decision, catalogue.benchmark


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_it_prints_on_two_sides_of_paper(eleven, browser, tmp_path, language):
    from pypdfium2 import PdfDocument  # noqa: PLC0415

    decision, benchmark = eleven
    path = tmp_path / "page.html"
    write(path, decision, benchmark, language)
    page = browser.new_page()
    page.goto(path.as_uri())
    document = PdfDocument(page.pdf(prefer_css_page_size=True))
    assert len(document) <= 2
    last = document[len(document) - 1].get_textpage().get_text_range()
    assert ("Unterschrift" if language == "de" else "signature") in last
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_it_fits_and_axe_core_finds_nothing(eleven, browser, tmp_path, width, scheme):
    decision, benchmark = eleven
    path = tmp_path / "page.html"
    write(path, hostile(decision), benchmark)
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
    assert Axe().run(page).response["violations"] == []
    assert complaints == []
    assert {url for url in requests if not url.startswith("data:")} == {path.as_uri()}
    context.close()
