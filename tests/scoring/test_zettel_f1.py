import math

import pytest
from helpers.results import in_detail

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.zettel_f1 import ZettelF1

TITLE = (
    "Die hüftnahen Femurosteotomien unter Berücksichtigung der Form, Funktion und "
    "Beanspruchung des Hüftgelenkes"
)

# The worked example of the benchmark's description, card 00423152.
TRUTH = {
    "type": {"type": "Dissertation or thesis"},
    "author": {"last_name": "Müller", "first_name": "Maurice Edmond"},
    "publication": {
        "title": TITLE,
        "year": 1957,
        "place": "Stuttgart",
        "pages": "X,184",
        "publisher": "Thieme",
        "format": "4'",
    },
    "library_reference": {"shelfmark": "AT Zürich 7", "subjects": ""},
}
RESPONSE = {
    "type": {"type": "Dissertation or thesis"},
    "author": {"last_name": "Müller", "first_name": "Maurice"},
    "publication": {
        "title": TITLE,
        "year": 1957,
        "place": "Stuttgart",
        "pages": "X, 184",
        "publisher": "Thieme Verlag",
        "format": "4'",
    },
    "library_reference": {"shelfmark": "AT Zürich 7", "subjects": ""},
}


def figures(pairs, protocol="documented", **options):
    metric = ZettelF1(protocol, **options)
    candidates = [
        (Answer(answer, id=str(position)), metric.prepare(truth))
        for position, (answer, truth) in enumerate(pairs)
    ]
    return in_detail(score_items(metric, candidates, details=True))


def counts(answer, truth, protocol="documented", **options):
    result = figures([(answer, truth)], protocol, **options)
    names = ("true_positives", "false_positives", "false_negatives")
    return tuple(result[name] for name in names)


def test_the_description_s_example_under_documented():
    result = figures([(RESPONSE, TRUTH)])
    assert counts(RESPONSE, TRUTH) == (8, 3, 3)
    for name in ("precision_micro", "recall_micro", "f1_micro", "f1_macro"):
        assert result[name] == 8 / 11
    wrong = {f["field"] for f in result["per_item"][0]["fields"] if f["outcome"] != "correct"}
    assert wrong == {"author.first_name", "publication.pages", "publication.publisher"}


def test_the_description_s_example_under_published():
    # The empty subjects are absent there, so that one true positive is gone; 7 / 10.
    assert counts(RESPONSE, TRUTH, "published") == (7, 3, 3)
    result = figures([(RESPONSE, TRUTH)], "published")
    assert result["f1_micro"] == pytest.approx(7 / 10)
    assert result["f1_macro"] == 0.70


@pytest.mark.parametrize(
    ("answer", "truth", "documented", "published"),
    [
        # equal, null and absent
        ({"a": "x"}, {"a": "x"}, (1, 0, 0), (1, 0, 0)),
        ({"a": None}, {"a": None}, (0, 0, 0), (0, 0, 0)),
        ({}, {"a": "x"}, (0, 0, 1), (0, 0, 1)),
        ({"a": "x"}, {}, (0, 1, 0), (0, 1, 0)),
        ({"a": "x"}, {"a": None}, (0, 1, 0), (0, 1, 0)),
        ({"a": None}, {"a": "x"}, (0, 0, 1), (0, 0, 1)),
        # the empty string
        ({"a": ""}, {"a": ""}, (1, 0, 0), (0, 0, 0)),
        ({"a": ""}, {"a": None}, (0, 0, 0), (0, 0, 0)),
        ({"a": ""}, {}, (0, 0, 0), (0, 0, 0)),
        ({"a": None}, {"a": ""}, (0, 0, 0), (0, 0, 0)),
        ({}, {"a": ""}, (0, 0, 0), (0, 0, 0)),
        ({"a": ""}, {"a": "x"}, (0, 1, 1), (0, 0, 1)),
        ({"a": "x"}, {"a": ""}, (0, 1, 1), (0, 1, 0)),
        # numbers: equal by value or by their text
        ({"a": "1957"}, {"a": 1957}, (1, 0, 0), (1, 0, 0)),
        ({"a": 1957.0}, {"a": 1957}, (1, 0, 0), (1, 0, 0)),
        ({"a": 1958}, {"a": 1957}, (0, 1, 1), (0, 1, 1)),
        ({"a": 0}, {"a": None}, (0, 1, 0), (0, 1, 0)),
        ({"a": float("nan")}, {"a": float("nan")}, (1, 0, 0), (1, 0, 0)),
        # a parent beside its child, on either side: no field of the ground truth is hidden by it
        ({"a": {"b": "", "c": "y"}, "d": "z"}, {"a": "x", "d": "z"}, (1, 1, 1), (1, 1, 0)),
        ({"a": "x"}, {"a": {"b": "y"}}, (0, 1, 1), (0, 0, 1)),
        ({"a": {"b": "y"}}, {"a": "x"}, (0, 1, 1), (0, 1, 0)),
        ({"a": {"b": None}}, {"a": "x"}, (0, 0, 1), (0, 0, 0)),
        ({"a": ["x"]}, {"a": "x"}, (0, 1, 1), (0, 1, 0)),
        ({"ab": "x"}, {"a": {"b": "x"}}, (0, 1, 1), (0, 1, 1)),
        # lists
        ({"a": ["x", "y"]}, {"a": ["x", "z"]}, (1, 1, 1), (1, 1, 1)),
        ({"a": [{"b": 1}, [2]]}, {"a": [{"b": 1}, [2]]}, (2, 0, 0), (2, 0, 0)),
        ({"a": []}, {"a": "x"}, (0, 0, 1), (0, 0, 1)),
        # keys that look like paths
        ({"a.b": "x"}, {"a.b": "x"}, (1, 0, 0), (0, 0, 0)),
        ({"a.b": "x"}, {"a": {"b": "x"}}, (0, 1, 1), (0, 0, 1)),
        ({"a[0]": "x"}, {"a": ["x"]}, (0, 1, 1), (0, 0, 1)),
        ({"a.b": {"c": "x"}}, {"a": {"b": {"c": "x"}}}, (0, 1, 1), (0, 0, 1)),
        ({"a": {"b": "z"}, "a.b": "x"}, {"a": {"b": "x"}}, (0, 2, 1), (0, 1, 1)),
        ({"a.b": "x", "a": {"b": "z"}}, {"a": {"b": "x"}}, (0, 2, 1), (0, 1, 1)),
        ({"": "x"}, {"a": ["x"]}, (0, 1, 1), (0, 1, 1)),
        ({"a": {"": "x"}}, {"a": "x"}, (0, 1, 1), (0, 1, 0)),
        ({"a": {"": "x"}}, {"a.": "x"}, (0, 1, 1), (0, 1, 0)),
        ({"a\\.b": "x"}, {"a\\": {"b": "x"}}, (0, 1, 1), (0, 0, 1)),
        ({"": {"b": "x"}}, {".b": "x"}, (0, 1, 1), (0, 1, 0)),
        ({"a": "x", "a.b": "y"}, {"a": "x"}, (1, 1, 0), (0, 0, 0)),
        ({}, {"a": [{"b": None}], "a[0]": {"b": "x"}}, (0, 0, 1), (0, 0, 0)),
        # fields that the published results leave out
        ({"examination": {"year": 1}}, {"a": "x"}, (0, 1, 1), (0, 0, 1)),
        ({"examination": ["x"], "a": "x"}, {"a": "x"}, (1, 1, 0), (1, 0, 0)),
        ({"examinations": "x"}, {}, (0, 1, 0), (0, 1, 0)),
        ({"publication": {"reprint_note": "x"}}, {}, (0, 1, 0), (0, 0, 0)),
        ({"library_reference": {"publication_number": 1}}, {}, (0, 1, 0), (0, 0, 0)),
        # an answer that is only an error
        ({"error": "timeout"}, {"a": "x", "b": ""}, (0, 0, 2), (0, 1, 1)),
        ({"error": "timeout", "a": "x"}, {"a": "x"}, (1, 1, 0), (1, 1, 0)),
        # no answer: every truth field that is not null (published: and not empty)
        (None, {"a": "x", "b": "", "c": None}, (0, 0, 2), (0, 0, 1)),
        (["x"], {"a": "x", "b": ""}, (0, 0, 2), (0, 0, 1)),
        (None, {}, (0, 0, 0), (0, 0, 0)),
    ],
)
def test_each_rule_by_hand(answer, truth, documented, published):
    assert counts(answer, truth) == documented
    assert counts(answer, truth, "published") == published


def test_the_threshold_is_reached_at_exactly_that_similarity():
    # Indel similarity of 25 letters, one of them replaced: 1 - 2 / 50 = 0.96; two: 0.92.
    truth = {"a": "abcdefghijklmnopqrstuvwxy"}
    two_wrong = {"a": "#bcdefghijklmnopqrstuvwx#"}
    assert counts(two_wrong, truth) == (1, 0, 0)
    assert counts(two_wrong, truth, threshold=0.9200001) == (0, 1, 1)
    assert counts({"a": "other"}, truth, threshold=0) == (1, 0, 0)
    assert counts(two_wrong, truth, threshold=1) == (0, 1, 1)


def test_coverage_counts_every_item_and_lost_ones_are_failures():
    truth = {"a": "x"}
    answers = [{"a": "x"}, None, "prose", ["a"], {"error": "timeout"}, {}]
    result = figures([(answer, truth) for answer in answers])
    coverage = [result[name] for name in ("items", "answered", "unanswered", "unparsable")]
    assert coverage == [6, 2, 1, 3]
    assert (result["true_positives"], result["false_negatives"]) == (1, 5)
    assert result["f1_macro"] == 1 / 6
    assert figures([(answer, truth) for answer in answers], "published")["answered"] == 3


def test_a_card_is_perfect_only_if_no_letter_needs_an_edit():
    near = {**TRUTH, "publication": {**TRUTH["publication"], "title": TITLE.replace(",", "")}}
    as_asked = {"a": "1957", "b": "", "c": ""}
    for protocol in ("documented", "published"):
        assert figures([(TRUTH, TRUTH)], protocol)["items_perfect"] == 1
        assert figures([(as_asked, {"a": 1957, "b": None})], protocol)["items_perfect"] == 1
        close = figures([(near, TRUTH)], protocol)
        assert close["f1_micro"] == 1.0
        assert close["items_perfect"] == 0
        for answer in (RESPONSE, {}, None, {**TRUTH, "note": "x"}):
            assert figures([(answer, TRUTH)], protocol)["items_perfect"] == 0


def test_micro_is_over_fields_and_macro_over_cards():
    pairs = [({"a": 1, "b": 2}, {"a": 1, "b": 2}), ({"a": 9}, {"a": 1})]
    result = figures(pairs)
    assert result["f1_micro"] == pytest.approx(2 / 3)
    assert result["f1_macro"] == 0.5


def test_published_rounds_the_f1_of_each_card():
    # Three right, one invented: F1 = 6 / 7 = 0.857…, rounded to 0.86.
    pair = ({"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 1, "b": 2, "c": 3})
    assert figures([pair], "published")["f1_macro"] == 0.86
    assert figures([pair])["f1_macro"] == pytest.approx(6 / 7)


def test_the_mean_of_many_cards_is_rounded_once_and_in_any_order():
    pairs = [(RESPONSE, TRUTH)] * 1000 + [({}, TRUTH)] * 7
    forward, backward = figures(pairs), figures(pairs[::-1])
    assert forward["f1_macro"] == backward["f1_macro"] == math.fsum([8 / 11] * 1000) / 1007


def test_fields_count_equally_and_a_list_counts_as_one_field():
    result = figures([({"s": ["x", "q"], "t": "y"}, {"s": ["x", "z"]})])
    assert result["fields"] == {
        "s": {
            "true_positives": 1,
            "false_positives": 1,
            "false_negatives": 1,
            "precision": 0.5,
            "recall": 0.5,
            "f1": 0.5,
        },
        "t": {
            "true_positives": 0,
            "false_positives": 1,
            "false_negatives": 0,
            "precision": 0.0,
            "recall": 0.0,
            "f1": 0.0,
        },
    }


def test_per_item_says_what_was_right_and_wrong():
    item = figures([({"a": "x", "b": "1", "d": 4}, {"a": "y", "b": 1, "c": 3})])["per_item"][0]
    assert {key: item[key] for key in ("id", "status", "perfect")} == {
        "id": "0",
        "status": "clean",
        "perfect": 0,
    }
    assert [
        (match["field"], match["outcome"], match["similarity"]) for match in item["fields"]
    ] == [
        ("d", "spurious", 0.0),
        ("c", "missing", 0.0),
        ("a", "substituted", 0.0),
        ("b", "correct", 1.0),
    ]


def test_weights_are_of_the_longest_name_that_fits():
    truth = {"author": {"last": "a", "first": "b"}, "year": 1, "s": ["p", "q"]}
    answer = {"author": {"last": "a", "first": "X"}, "year": 1, "s": ["p", "Y"]}
    weights = {"author": 2, "author.first": 3, "s": 0.5}
    # author.last 2, year 1 (no weight), s[0] 0.5 right; author.first 3, s[1] 0.5 wrong.
    assert counts(answer, truth, weights=weights) == (3.5, 3.5, 3.5)
    assert counts(answer, truth, weights={"author": 0, "s": 0}) == (1, 0, 0)
    weighted = figures([(answer, truth)], weights=weights)
    assert weighted["f1_micro"] == 0.5
    assert '|weights:{"author":2.0,"author.first":3.0,"s":0.5}|' in weighted["signature"]
