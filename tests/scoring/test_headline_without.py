"""`rates_without`: the score as if the benchmark did not have a field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric

VALUES = st.sampled_from(["a", "b", "", None])
RECORDS = st.fixed_dictionaries(
    {"year": VALUES, "author": st.fixed_dictionaries({"last": VALUES, "first": VALUES})}
)
ANSWERS = st.one_of(st.none(), RECORDS)


def scored(metric, pairs):
    """The result of pairs of an answer and its truth."""
    return score_items(
        metric, [(Answer(a, id=str(n)), metric.prepare(t)) for n, (a, t) in enumerate(pairs)]
    )


def without(metric, pairs, field):
    result = scored(metric, pairs)
    return metric.rates_without(result.totals, result.outcomes, field)


def removed(record, field):
    if record is None:
        return None
    group, _, name = field.rpartition(".")
    if not group:
        return {key: value for key, value in record.items() if key != name}
    return {**record, group: removed(record[group], name)}


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", ["documented", "published"])
@pytest.mark.parametrize("weights", [None, {"author": 0.1, "year": 3}])
@given(pairs=st.lists(st.tuples(ANSWERS, RECORDS), max_size=6))
def test_cards_without_a_field_score_as_if_no_record_had_it(protocol, weights, pairs):
    metric = make_metric("zettel_f1", protocol, weights=weights)
    for field in ("year", "author.first"):
        fewer = [(removed(answer, field), removed(truth, field)) for answer, truth in pairs]
        expected = scored(metric, fewer).figures
        rates = without(metric, pairs, field)
        assert next(iter(rates)) == "f1_micro"
        for name, value in rates.items():
            assert value == pytest.approx(expected[name], abs=1e-12), (field, name)


def test_cards_without_their_only_field_score_zero():
    metric = make_metric("zettel_f1", weights={"year": 0.1})
    rates = without(metric, [({"year": 1}, {"year": 1})] * 3, "year")
    assert set(rates.values()) == {0.0}


LETTER = {
    "send_date": ["1929-03-12"],
    "sender_persons": [{"name": "Muster, Anna", "alternateName": []}],
    "receiver_persons": [{"name": "Beispiel, Hans", "alternateName": []}],
}
LETTER_ANSWER = {
    "send_date": ["1929-03-12"],
    "sender_persons": ["Muster AG", "Muster & Co."],
    "receiver_persons": ["Beispiel, Hans", "Nachbar, Max"],
}


def test_letters_without_a_category_have_rates_of_the_others():
    rates = without(make_metric("letters_f1"), [(LETTER_ANSWER, LETTER)], "sender_persons")
    assert rates == {
        "f1_micro": pytest.approx(4 / 5),  # 2 right, 1 wrong
        "f1_macro": pytest.approx((1 + 2 / 3) / 2),
        "precision_micro": pytest.approx(2 / 3),
        "recall_micro": 1.0,
    }


def test_accuracy_without_a_field_is_the_mean_of_the_others():
    paper = {"kind": "paper", "doi": "1", "title": "a", "author": "b", "pub_time": "1917"}
    ebook = {"kind": "ebook", "isbn": "1", "title": "a"}
    pairs = [
        ({**paper, "pub_time": "", "title": ""}, paper),  # 4 of 6 right, as empty ones are
        ({**ebook, "title": ""}, ebook),  # 6 of 7 right
    ]
    metric = make_metric("sciencemeta_accuracy")
    assert scored(metric, pairs).figures["overall_accuracy"] == pytest.approx((4 / 6 + 6 / 7) / 2)
    assert without(metric, pairs, "pub_time") == {
        "overall_accuracy": pytest.approx((4 / 5 + 5 / 6) / 2)
    }
    assert without(metric, pairs, "doi") == {"overall_accuracy": pytest.approx((3 / 5 + 6 / 7) / 2)}


@pytest.mark.parametrize("field", ["advertisements", "advertisements.text", "tags_section"])
def test_advertisements_have_no_score_without_what_pairs_them(field):
    truth = {"advertisements": [{"tags_section": "A", "text": "1. Wein"}]}
    assert without(make_metric("avisblatt_cer"), [(truth, truth)], field) == {}
