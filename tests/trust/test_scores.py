"""The medoid and its trust score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel
from reference import learned as naive

from hdbench.collections.trust.runs import choose, similarity

TEXTS = st.lists(
    st.one_of(st.none(), st.sampled_from(["", "Basel", "Bassel", "basel", "Bern"]), st.text()),
    min_size=1,
    max_size=6,
)


@given(TEXTS)
def test_the_medoid_is_that_of_the_plain_procedure(texts):
    found = choose(texts)
    run = naive.chosen(texts)

    assert found.run == run
    if run is not None:
        similar = [naive.alike(texts[run], text) for at, text in enumerate(texts) if at != run]
        assert found.score == pytest.approx(sum(similar) / max(1, len(similar)), abs=1e-9)


def test_similarity_by_hand():
    # "Basel" and "Bassel" have 5 + 6 characters; one of them has to go.
    assert similarity("Basel", "Bassel") == pytest.approx(1 - 1 / 11)
    assert similarity("Basel", "basel") == pytest.approx(1 - 2 / 10)  # case counts
    assert similarity("Basel", "Bern") == pytest.approx(
        Indel.normalized_similarity("Basel", "Bern")
    )
    assert similarity("", "") == 1
    assert similarity("", "Basel") == similarity("Basel", "") == 0
    assert similarity(None, None) == similarity(None, "") == 0


def test_a_majority_wins_whatever_the_order():
    for texts in (["Bern", "Basel", "Basel"], ["Basel", "Bern", "Basel"]):
        chosen = choose(texts)
        assert texts[chosen.run] == "Basel"
        assert chosen.score == (1 + similarity("Basel", "Bern")) / 2


def test_two_runs_always_tie_and_the_first_is_preferred():
    assert choose(["Basel", "Bern"]).run == choose(["Bern", "Basel"]).run == 0


def test_run_without_an_answer_is_never_chosen_but_lowers_score():
    assert choose([None, "Basel"]) == (1, 0)
    assert choose([None, "Basel", "Basel"]) == (1, 0.5)
    assert choose([None, None]) == (None, 0)


def test_empty_values_that_agree_are_trusted():
    assert choose(["", "", ""]) == (0, 1)
    assert choose(["Basel", "", ""]) == (1, 0.5)
