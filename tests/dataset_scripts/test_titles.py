"""Titles of fields and figures: pages show them, in English and German, and never raw names."""

import json
import re
from collections import Counter

import pytest
from report.test_page import Page

from hdbench.about import installed_folder
from hdbench.answers.schema import AnswerSchema
from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.benchmarks.spec import recipe_names
from hdbench.benchmarks.titles import FieldTitles
from hdbench.collections.truth.form import form_of
from hdbench.common.json_schema import choices_of
from hdbench.common.texts import LANGUAGES
from hdbench.report.leaderboard.boards import leaderboards
from hdbench.report.leaderboard.tables import leaderboard_page
from hdbench.report.page import report_page
from hdbench.report.rendering import TEXTS
from hdbench.scoring import METRICS
from hdbench.scoring.metric import figure_heading, figure_title

FOLDER = installed_folder("dataset_scripts")
NAMES = recipe_names()

OFTEN = ("manuscripts", "zettelkatalog")
"""Benchmarks whose pages are made with every change, as the others' are each night."""


def schema_of(name):
    return json.loads((FOLDER / name / "answer.schema.json").read_text())


def objects(schema):
    """Yield the fields of each object in a schema."""
    for choice in choices_of(schema):
        if "anyOf" in choice:
            yield from objects(choice)
        if "items" in choice:
            yield from objects(choice["items"])
        if fields := choice.get("properties"):
            yield fields
            for field in fields.values():
                yield from objects(field)


def raw_names(name, metric):
    """Names of fields and figures that are not words of a page by themselves."""
    schema = AnswerSchema(schema_of(name))
    figures = {figure.name for figure in (*metric.figures, *metric.field_figures)}
    titles = FieldTitles(schema, "de")
    named = {field for field in schema.all_names if titles(field) != field}
    return (named | figures) - {figure_heading(figure, "de") for figure in figures}


def said(html):
    """The texts of a page, with labels of cells, before what says how to compute it again."""
    page = Page(html)
    texts = [text.strip() for text in page.texts]
    method = TEXTS.text("method", "de")
    if method in texts:
        texts = texts[: len(texts) - 1 - texts[::-1].index(method)]
    return texts + [attributes.get("data-label", "") for _, attributes in page.elements]


def assert_titled(html, names, headline):
    texts = [text for text in said(html) if "|protocol:" not in text]  # not a signature
    assert headline in texts
    assert names.isdisjoint(texts)
    # Of names that are words, only whole texts are looked at: a value may have the word.
    spelled = "|".join(re.escape(name) for name in names if "_" in name)
    assert re.findall(rf"\b(?:{spelled})\b", " ".join(texts)) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_field_has_titles_that_no_sibling_shares(name):
    schema = AnswerSchema(schema_of(name))
    for alternative in schema.alternatives:
        for fields in objects(alternative):
            for language in LANGUAGES:
                titles = Counter(field["titles"][language] for field in fields.values())
                assert max(titles.values()) == 1, fields.keys()


@pytest.mark.parametrize("metric", METRICS)
def test_every_figure_has_a_title(metric):
    figures = [*METRICS[metric].figures, *METRICS[metric].field_figures]
    for name in [METRICS[metric].item_figure, *(figure.name for figure in figures)]:
        assert figure_heading(name) != name
        for language in LANGUAGES:
            assert "_" not in figure_title(name, language)
    rates = [figure.name for figure in figures if figure.is_rate]
    for language in LANGUAGES:
        assert len({figure_title(name, language) for name in rates}) == len(rates)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in OFTEN else pytest.mark.nightly)
        for name in NAMES
    ],
)
def test_a_german_page_of_a_benchmark_has_titles_only(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    build(find_recipe(name, sample=True), tmp_path / "hdb", accept_licence=True)
    benchmark = load_benchmark(f"hdb/{name}")
    answers = tmp_path / "hdb" / name / "example_predictions.jsonl"
    result = score(benchmark.id, answers)
    names = raw_names(name, result.metric)
    headline = result.headline
    page = report_page(result, benchmark, language="de")
    assert_titled(page, names, figure_heading(headline, "de"))
    boards = leaderboards({"a": result, "b": result})
    titles = {board.kind.benchmark: benchmark.field_titles("de") for board in boards}
    page = leaderboard_page(boards, "de", titles)
    assert_titled(page, names, figure_title(headline, "de"))


@pytest.mark.parametrize("name", NAMES)
def test_the_editor_labels_every_field_by_its_titles(name):
    waiting = list(form_of(AnswerSchema(schema_of(name)))["fields"])
    for field in waiting:  # which grows
        inner = field.get("item", {})
        waiting += [*field.get("fields", ()), *inner.get("fields", ())]
        for language in LANGUAGES:
            assert field["label"][language] != field["name"]
