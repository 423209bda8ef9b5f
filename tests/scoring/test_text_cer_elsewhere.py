"""Published examples of jiwer, dinglehopper and KaMI, where their definitions agree with ours.

dinglehopper divides by the longer text: of its examples, these have none longer than the reference.
"""

import json
import unicodedata

import pytest

from hdbench.integrations.evaluate_module import score_by_position
from hdbench.scoring import make_metric

GRAPHEMES = {"unit": "grapheme"}
WORDS_ALONE = {"normalize": ["punctuation"]}


def figure_of(name, references, predictions, **options):
    lists = [[each] if isinstance(each, str) else each for each in (predictions, references)]
    encoded = ([json.dumps(text) for text in texts] for texts in lists)
    return score_by_position(make_metric("text_cer", **options), None, *encoded).rates[name]


@pytest.mark.parametrize(
    ("name", "references", "predictions", "expected"),
    [
        ("wer", "hello world", "hello duck", 1 / 2),
        ("wer", ["hello world", "i like monthy python"], ["hello duck", "i like python"], 2 / 6),
        ("cer", ["i can spell", "i hope"], ["i kan cpell", "i hop"], 3 / 17),
        ("wer", "This is a test", "", 1),
        ("wer", "This is a test", "This test", 2 / 4),
        ("wer", "X", "X X Y Y", 3),
        ("wer", "X Y X", "X Z", 2 / 3),
        ("wer", "X", "Y Z", 2),
    ],
)
def test_examples_of_jiwer(name, references, predictions, expected):
    assert figure_of(name, references, predictions) == expected


@pytest.mark.parametrize(
    ("name", "reference", "prediction", "options", "expected"),
    [
        ("cer", "a", "b", {}, 1),
        ("cer", "Foo", "Bar", {}, 1),
        ("cer", "Foo", "", {}, 1),
        ("cer", "Fnord", "Food", {}, 2 / 5),
        ("cer", "Müll", "Mull", {}, 1 / 4),
        ("cer", "Abstand", "Sand", {}, 4 / 7),
        ("cer", "Schlyñ lorem ipsum.", "Schlyñ lorem ipsum!", {}, 1 / 19),
        ("cer", "Schlyñ", "Schlym\u0303", GRAPHEMES, 1 / 6),
        ("cer", "Schlym\u0303", "Schlyñ", GRAPHEMES, 1 / 6),
        ("wer", "Dies ist ein Beispielsatz!", "Dies ist ein Beispielsarz:", {}, 1 / 4),
        ("wer", "Dies ist ein Beispielsatz!", "Dies ein ist Beispielsatz!", {}, 2 / 4),
        ("wer", "Dies. ist ein Satz!", "Dies ist ein Satz.", WORDS_ALONE, 0),
        (
            "wer",
            "Schlyñ lorem ipsum dolor sit amet,",
            "Schlym\u0303 lorem ipsum dolor sit amet.",
            WORDS_ALONE,
            1 / 6,
        ),
    ],
)
def test_examples_of_dinglehopper(name, reference, prediction, options, expected):
    decomposed = unicodedata.normalize("NFD", prediction)
    assert figure_of(name, reference, prediction, **options) == expected
    assert figure_of(name, reference, decomposed, **options) == expected


def test_the_example_of_kami():
    """The first example in the documentation of KaMI-lib 0.1.13."""
    reference = (
        "Les 13 ans de Maxime ? étaient, Déjà terriblement, savants ! - La Curée, 1871. En avant, "
        "pour la lecture."
    )
    prediction = (
        "Les 14a de Maxime ! étaient, djàteriblement, savants - La Curée, 1871. En avant? pour la "
        "leTTture."
    )
    metric = make_metric("text_cer")
    found = metric.score({"text": prediction}, metric.prepare({"text": reference})).statistics
    assert (found["cer_errors"], found["wer_errors"]) == (14, 8)
    assert (found["cer"], found["wer"]) == (0.13333333333333333, 0.4)
