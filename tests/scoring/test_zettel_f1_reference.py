"""Agreement with the naive reference, on records of every shape."""

import pytest
from helpers.records import keys_shuffled, like_path_items
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import zettel_f1 as naive

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.zettel_f1 import ZettelF1

PROTOCOLS = ("documented", "published")

texts = st.sampled_from(["", "Müller", "Mueller", "Thieme", "Thieme Verlag", "8°", "8'"]) | st.text(
    max_size=30
)
leaves = st.none() | texts | st.integers(1500, 2000) | st.booleans() | st.floats(allow_nan=False)
keys = st.sampled_from(
    ["a", "b", "type", "author", "publication", "reprint_note", "examination", "last name", "a-b"]
)
odd_keys = keys | st.sampled_from(["a.b", "a[0]", "author.last_name", ".", "]", "b."])


def records(names):
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
        max_leaves=12,
    )


def objects(names):
    return st.dictionaries(names, records(names), max_size=5)


@st.composite
def cards(draw, names=keys):
    """A truth, and an answer that is partly it: unrelated records would hardly ever agree."""
    truth = draw(objects(names))
    answer = draw(objects(names)) if draw(st.booleans()) else {}
    for key, value in truth.items():
        if draw(st.booleans()):
            answer[key] = value
    return answer, truth


def counts(metric, answer, truth):
    statistics = metric.score(answer, metric.prepare(truth)).statistics
    names = ("true_positives", "false_positives", "false_negatives")
    return tuple(statistics[name] for name in names)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=20)
@given(card=cards())
def test_records_of_every_shape(protocol, card):
    assert counts(ZettelF1(protocol), *card) == naive.counts(*card, protocol)


@given(item=like_path_items(), seed=st.integers(0, 99))
def test_no_two_fields_are_one_whatever_their_keys_are(item, seed):
    answer, truth = item
    found = counts(ZettelF1(), answer, truth)
    assert found == naive.counts(answer, truth)
    moved = keys_shuffled(answer, seed), keys_shuffled(truth, seed + 1)
    assert found == counts(ZettelF1(), *moved)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=20)
@given(card=cards(odd_keys))
def test_keys_that_look_like_paths(protocol, card):
    assert counts(ZettelF1(protocol), *card) == naive.counts(*card, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=20)
@given(card=cards(), threshold=st.floats(0, 1))
def test_any_threshold(protocol, card, threshold):
    metric = ZettelF1(protocol, threshold=threshold)
    assert counts(metric, *card) == naive.counts(*card, protocol, threshold)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=20)
@given(truth=objects(odd_keys))
def test_an_unanswered_card(protocol, truth):
    metric = ZettelF1(protocol)
    assert counts(metric, None, truth) == naive.counts(None, truth, protocol)


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=20)
@given(pairs=st.lists(cards(), min_size=1, max_size=20))
def test_figures_of_many_cards(protocol, pairs):
    metric = ZettelF1(protocol)
    candidates = [(Answer(answer), metric.prepare(truth)) for answer, truth in pairs]
    result = score_items(metric, candidates).figures
    micro, macro, *summed = naive.score(pairs, protocol)
    names = ("true_positives", "false_positives", "false_negatives")
    assert [result[name] for name in names] == summed
    assert result["f1_micro"] == micro
    assert result["f1_macro"] == pytest.approx(macro, abs=1e-12)


@settings(max_examples=20)
@given(card=cards(odd_keys))
def test_counting_and_explaining_agree(card):
    answer, truth = card
    metric = ZettelF1()
    prepared = metric.prepare(truth)
    score = metric.score(answer, prepared)
    explained = {}
    for match in metric.explain(score):
        explained.setdefault(match.outcome, []).append(match.field)
    assert explained == {outcome: list(paths) for outcome, paths in score.fields.items() if paths}
    wrong = sum(len(paths) for outcome, paths in explained.items() if outcome != "correct")
    assert score.statistics["corrections"] == wrong
    assert score.statistics["values"] == sum(map(len, explained.values()))
