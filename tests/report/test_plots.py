"""The plots: what they show is read from the SVG, which names each text in a comment."""

import warnings
from xml.etree import ElementTree

import pytest
from helpers.run_folders import run_info

from hdbench.answers.answer import Answer
from hdbench.evaluation.parts import ScoredDataset
from hdbench.evaluation.score import score_items
from hdbench.report.plots import plots
from hdbench.scoring import make_metric

pytestmark = pytest.mark.slow

NAMES = ("fields", "errors", "items")
TRUTH = {"title": "Stellingen", "year": 1924, "place": "Bern"}
ANSWER = {"title": "Stellingen", "year": 1942, "place": "BERN", "editor": "Glaser"}


def result_of(truth, *answers, metric="zettel_f1", **dataset):
    metric = make_metric(metric)
    prepared = metric.prepare(truth)
    items = [(Answer(answer, id=f"000{n}"), prepared) for n, answer in enumerate(answers)]
    dataset = {"benchmark": "hdb/cards", "dataset_version": "1.0.0"} | dataset
    return score_items(metric, items, details=True, dataset=ScoredDataset(**dataset))


def texts(svg):
    """The texts of a plot in the order in which they are drawn."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(svg, parser)
    return [e.text.strip() for e in root.iter() if e.tag is ElementTree.Comment]


def test_there_are_three_plots():
    made = plots(result_of(TRUTH, ANSWER, TRUTH))
    assert [name for name in made if len(texts(made[name])) > 5] == [f"{n}.svg" for n in NAMES]


def test_a_drawing_is_self_contained():
    for content in plots(result_of(TRUTH, ANSWER, TRUTH)).values():
        for element in ElementTree.fromstring(content).iter():
            assert element.tag.rpartition("}")[2] not in ("script", "image", "text", "a")
            for key, value in element.attrib.items():
                assert not key.endswith("href") or value.startswith("#")
                assert "url(" not in value or "url(#" in value
        assert b"font-face" not in content
        assert b"@import" not in content


def test_fields_are_sorted_by_f1_with_their_truth_counts():
    shown = texts(plots(result_of(TRUTH, ANSWER, TRUTH))["fields.svg"])
    labels = [text for text in shown if text in {*TRUTH, "editor"}]
    # From the top: both right; one right and one wrong; invented.
    assert labels[0] == "title"
    assert set(labels[1:3]) == {"place", "year"}
    assert labels[3] == "editor"
    assert "F1 of each field, higher is better" in shown
    counts = shown.index("in ground truth")
    assert shown[counts - 4 : counts] == ["2", "2", "2", "0"]


def test_the_classes_stand_with_their_numbers():
    shown = texts(plots(result_of(TRUTH, ANSWER, TRUTH))["errors.svg"])
    assert {"invented (1)", "number or date (1)"} <= set(shown)
    assert "missing (1)" not in shown


def test_items_plot_has_the_headline_and_separates_unanswered():
    result = result_of({"title": "a"}, *[{"title": "a"}, {"title": "a"}, None] * 7)
    result = result.replaced(model="gpt-5")
    shown = "\n".join(texts(plots(result)["items.svg"]))
    assert "F1 (micro) of all items: 0.800" in shown  # 2 * 2 / (2 * 2 + 1)
    assert "95% interval: 0." in shown
    assert "answered (14)" in shown
    assert "no usable answer (7)" in shown
    assert "F1 of an item, higher is better" in shown
    assert "hdb/cards 1.0.0, documented protocol\ngpt-5" in shown


HOSTILE = [
    "$x^2$",
    "$\\frac{1}{",
    "\\input{/etc/passwd} שלום 𝔘🙂",
    "--><script>alert(1)</script>",
    "中文書名 \u202egnp.exe",
    "\x00\x1b[31m\ud800\ufffe",
    "a\nb\r\tc",
    "x" * 10_000,
    "",
]


@pytest.mark.nightly
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_are_shown_as_they_are_without_a_warning(hostile):
    result = result_of({"title": "a"}, {"title": "a", hostile: "b"}, benchmark=hostile)
    result = result.replaced(
        model=hostile,
        run=run_info(run=hostile),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = plots(result)
    for name in NAMES:
        assert len(texts(made[f"{name}.svg"])) > 5
        assert float(ElementTree.fromstring(made[f"{name}.svg"]).get("height")[:-2]) < 360  # pt
    assert b"<script" not in made["fields.svg"]


def test_a_formula_is_not_set_as_one():
    shown = texts(plots(result_of({"title": "a"}, {"title": "a", "$x^2$": "b"}))["fields.svg"])
    assert "$x^2$" in shown


def test_of_many_invented_fields_thirty_are_shown():
    invented = {f"field{number}": "x" for number in range(500)}
    made = plots(result_of(TRUTH, TRUTH | invented))
    for name in ("fields", "errors"):
        shown = texts(made[f"{name}.svg"])
        assert sum("field" in text and "more" not in text for text in shown) <= 31
        wanted = 503 - 30 if name == "fields" else 500 - 30
        assert any(f"and {wanted} more fields" in text for text in shown)
    assert {"title", "year", "place"} <= set(texts(made["fields.svg"]))


@pytest.mark.parametrize(
    ("metric", "truth", "figure"),
    [
        (
            "letters_f1",
            {"send_date": ["1926-02-16"], "sender_persons": [], "receiver_persons": []},
            "F1 of an item",
        ),
        ("sciencemeta_accuracy", {"kind": "ebook", "title": "On Growth"}, "accuracy of an item"),
        (
            "avisblatt_cer",
            {"advertisements": [{"date": "1731-01-02", "text": "1. Wein"}]},
            "similarity of texts of an item",
        ),
    ],
)
def test_every_metric_has_its_plots(metric, truth, figure):
    made = plots(result_of(truth, None, {"title": "x"}, metric=metric))
    assert any(figure in text for text in texts(made["items.svg"]))
    shown = "".join(texts(made["fields.svg"]))
    assert "higher is better" in shown
    assert ("items with it" in shown) == (metric == "sciencemeta_accuracy")


def test_a_cer_is_not_among_bars_of_which_higher_is_better():
    truth = {"advertisements": [{"date": "1731-01-02", "text": "1. Wein"}]}
    shown = texts(plots(result_of(truth, truth, metric="avisblatt_cer"))["fields.svg"])
    assert {"Similarity of texts", "F1 (micro)", "Share of right dates"} <= set(shown)
    assert not any("error" in text for text in shown)
