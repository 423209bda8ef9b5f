"""The page in English and German."""

import json
import re
import string

import pytest
from helpers.run_folders import run_info
from report.test_page import Page

from hdbench.answers.answer import STATUSES
from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.texts import LANGUAGES
from hdbench.report.items import BANDS
from hdbench.report.page import report_page
from hdbench.report.rendering import TEXTS
from hdbench.scoring.error_classes import ERROR_CLASSES

SAME_IN_BOTH = {
    *("Prompt", "TP", "FP", "FN", "F1", "TP, FP, FN", "documented", "published"),
    *("DOI", "ISBN"),
    *(
        "hdbench compare",
        "hdbench trust plan",
        "hdbench trust decide",
        "\\u200b",
        "Precision",
        "Recall",
    ),
}
"""Words of both languages, and names of figures and programs."""

LABELS = (
    *("aria-label", "alt", "title", "placeholder", "data-label"),
    *("data-text", "data-all", "data-found", "data-none"),
)


def places(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_languages_have_the_same_texts_places_and_markup():
    texts = TEXTS.translations
    assert tuple(texts) == LANGUAGES
    assert texts["en"].keys() == texts["de"].keys()
    for key, english in texts["en"].items():
        german = texts["de"][key]
        assert places(english) == places(german), key
        assert re.findall("<[^>]*>", english) == re.findall("<[^>]*>", german), key
        assert english, key
        assert '"' not in re.sub("<[^>]*>", "", english + german), key  # they stand in attributes


def test_every_class_status_and_band_has_its_words():
    wanted = {
        *(f"error_{name}{end}" for name in ERROR_CLASSES for end in ("", "_means")),
        *(f"status_{status}" for status in STATUSES),
        *(f"band_{band.name}" for band in BANDS),
    }
    assert wanted <= TEXTS.translations["en"].keys()


def seen(html):
    """What a reader sees or hears, but for the title, foreign text (`bdi`) and BibTeX (`pre`)."""
    page = Page(re.sub(r"<(bdi|pre).*?</\1>", "", html, flags=re.DOTALL))
    labels = [
        attributes[name] for _, attributes in page.elements for name in LABELS if name in attributes
    ]
    return {" ".join(text.split()) for text in [*page.texts, *labels]}


def is_number(text):
    return not re.search("[A-Za-zÄÖÜäöüß]", text)


@pytest.fixture
def of_cards(cards):
    """A result with all statuses, many fields and errors, and too few items for an interval."""
    folder = cards / "hdb/cards"
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    rows[0]["file_name"], rows[1]["file_name"] = "none.jpg", "damaged.jpg"
    (folder / "damaged.jpg").write_bytes(b"no image")
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    invented = {f"invented_{number}": "x" for number in range(100)}
    answers = [
        {"id": "0000", "prediction": {"title": "STELLINGEN" * 500, "year": ""} | invented},
        {"id": "0001", "text": "no record"},
        {"id": "0002", "text": '```json\n{"title": "Stellimgen", "year": 1924}\n```'},
    ]
    (cards / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    result = score(str(folder), cards / "answers.jsonl")
    result = result.replaced(
        run=run_info(run="r", provider="p", date="d", cost_usd=0.5),
    )
    return result, load_benchmark(str(folder))


def of_sample(tmp_path, run_hdbench, name):
    done = run_hdbench("build", name, "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "hdb" / name
    result = score(str(folder), folder / "example_predictions.jsonl")
    return result, load_benchmark(str(folder))


def assert_german(result, benchmark):
    english, german = (
        report_page(result, benchmark, language=language) for language in ("en", "de")
    )
    assert '<html lang="de">' in german
    assert '<html lang="en">' in english
    rates = result.field_rates()
    names = {result.metric.item_figure, *result.metric.rates(result.totals)}
    names |= result.errors_by_class["fields"].keys()
    names |= {name for numbers in rates.values() for name in numbers if name != "both_empty"}
    same = {text for text in seen(english) & seen(german) if not is_number(text)}
    assert {text for text in same - SAME_IN_BOTH - names if text[0] != "@"} == set()  # BibTeX
    assert Page(german).all("article") != []
    assert len(Page(german).elements) == len(Page(english).elements)


def test_on_the_german_page_nothing_is_english_but_names(of_cards):
    assert_german(*of_cards)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["zettelkatalog", "avisblatt", "rheinschifffahrt", "sciencemetabench"]
)
def test_every_benchmark_has_a_german_page(tmp_path, run_hdbench, name):
    assert_german(*of_sample(tmp_path, run_hdbench, name))


def test_the_command_line_writes_a_german_page(cards, run_hdbench):
    (cards / "answers.jsonl").write_text('{"id": "0000", "prediction": {}}\n')
    arguments = ("report", "hdb/cards", "answers.jsonl", "-o", "out")
    done = run_hdbench("--language", "de", *arguments, cwd=cards)
    assert done.returncode == 0, done.stderr
    page = Page((cards / "out/index.html").read_text())
    assert ("html", {"lang": "de"}) in page.elements
    beside = [cards / "out" / link["href"] for link in page.all("a") if "download" in link]
    assert "report.xlsx" in [path.name for path in beside]
    assert [path for path in beside if not path.is_file()] == []
    done = run_hdbench("report", *arguments, "xx", cwd=cards)
    assert done.returncode == 2
