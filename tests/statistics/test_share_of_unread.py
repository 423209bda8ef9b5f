from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hdbench.statistics.bootstrap import bounds_of_share
from hdbench.statistics.share_of_unread import (
    allowed,
    at_most_is_likely,
    least_read,
    limit_holds,
    most_wrong,
    upper_share,
)

TENTH = Fraction(1, 10)

RISKS = st.sampled_from([TENTH, Fraction(1, 20), Fraction(1, 110), Fraction(9, 10)])


@st.composite
def samples(draw, most=2_000):
    """A population, how many of it are drawn, and how many of these are wrong."""
    population = draw(st.integers(1, most))
    drawn = draw(st.integers(0, population))
    return population, drawn, draw(st.integers(0, drawn))


@given(samples(most=8), st.integers(0, 8), RISKS)
def test_likelihood_is_that_of_all_samples_counted(sample, wrong, risk):
    population, drawn, found = sample
    ways = list(combinations(range(population), drawn))

    few = sum(sum(value < wrong for value in way) <= found for way in ways)

    expected = wrong <= population and Fraction(few, len(ways)) > risk
    assert at_most_is_likely(population, wrong, drawn, found, risk) == expected


@given(samples(), st.floats(0, 1), RISKS)
def test_likelihood_is_that_of_scipy(sample, share, risk):
    population, drawn, found = sample
    wrong = round(share * population)

    likelihood = stats.hypergeom.cdf(found, population, wrong, drawn)

    if likelihood != pytest.approx(float(risk), rel=1e-6):
        assert at_most_is_likely(population, wrong, drawn, found, risk) == (likelihood > risk)


@given(samples(most=300), RISKS)
def test_the_bound_is_the_largest_number_that_is_likely(sample, risk):
    population, drawn, found = sample
    unread = population - drawn

    likely = [
        wrong
        for wrong in range(unread + 1)
        if at_most_is_likely(population, found + wrong, drawn, found, risk)
    ]

    assert most_wrong(population, drawn, found, risk) == max(likely)
    assert upper_share(population, drawn, found, risk) == (max(likely) / unread if unread else 0)


@given(samples(), st.sampled_from([0.01, 0.05, 0.29, 0.5]), RISKS)
def test_a_limit_holds_exactly_if_the_bound_is_within_it(sample, limit, risk):
    population, drawn, found = sample

    within = most_wrong(population, drawn, found, risk) <= allowed(limit, population - drawn)

    assert limit_holds(population, drawn, found, limit, risk) == within


@pytest.mark.parametrize(
    ("limit", "unread", "wrong"),
    # In floats 0.29 × 100 is 28.999…, and 0.07 × 100 is 7.000…01.
    [
        (0.29, 100, 29),
        (0.07, 100, 7),
        (0.05, 19, 0),
        (0.05, 20, 1),
        (0.05, 0, 0),
        (1e-05, 10**5, 1),
    ],
)
def test_a_share_is_taken_as_it_is_written(limit, unread, wrong):
    assert allowed(limit, unread) == wrong


@pytest.mark.parametrize("found", [0, 3, 20])
@pytest.mark.parametrize("drawn", [45, 600])
def test_in_a_large_collection_it_is_clopper_and_pearson(drawn, found):
    bound = upper_share(10**9, drawn, found, TENTH)

    # Theirs is two-sided by default: 80 % leaves 10 % above.
    assert bound == pytest.approx(bounds_of_share(found, drawn, 0.9).high, rel=1e-5)


def test_45_values_without_an_error_are_the_fewest_that_do():
    # 0.95^45 = 0.0994, 0.95^44 = 0.1047
    assert limit_holds(10**6, 45, 0, 0.05, TENTH)
    assert not limit_holds(10**6, 44, 0, 0.05, TENTH)


def test_a_small_collection_by_hand():
    # 10 values, 5 read, none wrong. Were 2 of the 5 unread ones wrong, that would have the
    # probability (8 over 5) / (10 over 5) = 56/252 = .22; with 3 it is 21/252 = .083.
    assert most_wrong(10, 5, 0, TENTH) == 2
    assert limit_holds(10, 5, 0, 0.5, TENTH)  # at most 2 of 5
    assert not limit_holds(10, 5, 0, 0.39, TENTH)  # at most 1 of 5


def test_where_all_or_none_are_read_nothing_is_promised():
    assert limit_holds(7, 7, 7, 0.05, TENTH)
    assert upper_share(7, 7, 7, TENTH) == 0
    assert not limit_holds(7, 0, 0, 0.5, TENTH)
    assert upper_share(7, 0, 0, TENTH) == 1


def test_thousands_of_values_of_millions_are_still_exact():
    # By scipy's survival function; 124 s before the terms were made one from the other.
    bound = most_wrong(7_700_000, 10_000, 450, TENTH)

    assert stats.hypergeom.cdf(450, 7_700_000, bound + 450, 10_000) > 0.1
    assert stats.hypergeom.cdf(450, 7_700_000, bound + 451, 10_000) <= 0.1


@pytest.mark.parametrize(("limit", "values"), [(0.05, 45), (0.02, 114), (0.1, 22), (0.5, 4)])
def test_least_to_read_by_hand(limit, values):
    assert least_read(limit) == values
    assert (1 - limit) ** values <= 0.1 < (1 - limit) ** (values - 1)


@given(st.integers(1, 200), st.data())
def test_bounds_of_a_share_are_the_binomial_tests(total, data):
    errors = data.draw(st.integers(0, total))

    found = bounds_of_share(errors, total)

    if errors < total:
        assert stats.binom.cdf(errors, total, found.high) == pytest.approx(0.1)
    if errors:
        assert stats.binom.sf(errors - 1, total, found.low) == pytest.approx(0.1)
