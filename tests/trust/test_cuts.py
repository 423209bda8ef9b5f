"""Cuts, which follow from probabilities, against a plain procedure; and what they take."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import learned as naive
from scipy import stats

from hdbench.collections.trust.cuts import (
    BILLION,
    cuts_of,
    power,
    promised_fields,
    share_within,
    values_needed,
)

TENTH = Fraction(1, 10)


@st.composite
def probabilities(draw):
    """Probabilities in billionths, many of them equal, or none."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    drawn = rng.beta(draw(st.sampled_from([0.1, 0.5, 2])), 3, draw(st.integers(1, 300)))
    return np.rint(np.round(drawn, draw(st.sampled_from([1, 2, 9]))) * BILLION).astype(np.int32)


@given(probabilities(), st.sampled_from([0.01, 0.03, 0.05, 0.5]), st.booleans())
def test_cuts_are_those_of_the_plain_procedure(drawn, limit, each_field):
    found = cuts_of(drawn, limit, each_field=each_field)

    assert found == naive.cuts(drawn.tolist(), limit, each_field=each_field)


@given(probabilities(), st.sampled_from([0.01, 0.05, 0.5]))
def test_the_share_is_that_of_the_plain_procedure(drawn, limit):
    found = share_within(np.sort(drawn), limit)

    assert found == pytest.approx(float(naive.share_within(drawn.tolist(), limit)))


def test_cuts_by_hand():
    # 100 values of 0, 0.001, …, 0.099: their mean is at most 0.05 for all of them, at most 0.0075
    # for the first 16. So the shares are from 0.5 to 1, a fourteenth apart.
    ascending = np.arange(100, dtype=np.int32) * (BILLION // 1000)

    ranks = [50, 58, 65, 72, 79, 86, 93, 100]
    assert cuts_of(ascending, 0.05) == [(rank - 1) * BILLION // 1000 for rank in ranks]
    # For one field: at most 0.04 for the first 81, and seven tenths of them are 56.7.
    ranks = [57, 63, 69, 75, 81]
    found = cuts_of(ascending, 0.05, each_field=True)
    assert found == [(rank - 1) * BILLION // 1000 for rank in ranks]


def test_equal_probabilities_have_one_cut():
    assert cuts_of(np.full(50, 7, np.int32), 0.05) == [7]


def test_a_field_that_is_too_bad_has_no_cut_alone():
    half = np.full(50, BILLION // 2, np.int32)

    assert cuts_of(half, 0.05, each_field=True) == []
    assert cuts_of(half, 0.05) == [BILLION // 2]


@pytest.mark.parametrize(("wrong", "number"), [(0.01, 200), (0.02, 402), (0.03, 1026)])
def test_values_that_a_field_needs(wrong, number):
    assert values_needed(wrong, 0.05, Fraction(1, 110)) == number


def test_values_that_a_limit_needs_without_an_error():
    assert values_needed(0.0, 0.05, TENTH) == 45
    assert values_needed(0.05, 0.05, TENTH) is None


@pytest.mark.parametrize("wrong", [0.0, 0.02, 0.05])
def test_power_is_how_often_a_limit_is_shown_to_hold(wrong):
    shown = [naive.passes(10**7, 200, found, 0.05, TENTH) for found in range(201)]

    likely = stats.binom.pmf(range(201), 200, wrong)[shown].sum()

    assert power(10**7, 200, wrong, 0.05, TENTH) == pytest.approx(likely)


def test_fields_that_nobody_can_promise_are_left_out():
    rng = np.random.default_rng(1)
    good = (rng.beta(0.5, 60, 5_000) * BILLION).astype(np.int32)
    bad = np.full(5_000, BILLION // 3, np.int32)
    middling = (rng.beta(0.5, 8, 5_000) * BILLION).astype(np.int32)

    promised = promised_fields([bad, good, middling, good], 0.05, 600, TENTH)

    fields = [field.field for field in promised]
    assert fields == sorted(fields)
    assert {1, 3} <= set(fields) <= {1, 2, 3}
    # With the values that one field needs, only one is promised.
    few = promised_fields([bad, good, middling, good], 0.05, 60, TENTH)
    assert len(few) == 1
    assert promised_fields([bad], 0.05, 600, TENTH) == []
