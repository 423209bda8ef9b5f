import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import acceptance as naive
from scipy import stats

from hdbench.statistics.acceptance import (
    GRID,
    bounds_of_share,
    by_betting,
    by_rule,
    capital,
    last_accepted,
    least_items,
    upper_bound,
    walk,
)

FIELDS = 4


@st.composite
def catalogues(draw, least=1, most=40):
    """Counts by item: how many of its values pass, and how many of these are wrong."""
    of = st.integers(0, FIELDS)
    passing = draw(st.lists(of, min_size=least, max_size=most))
    wrong = [draw(st.integers(0, number)) for number in passing]
    return passing, wrong


@st.composite
def checked(draw):
    """Scores, None where no run has an answer, and whether each value is wrong."""
    score = st.one_of(st.none(), st.sampled_from([0, 0.4, 0.9, 0.92, 0.95, 1.0]), st.floats(0, 1))
    rows = draw(
        st.lists(st.lists(score, min_size=FIELDS, max_size=FIELDS), min_size=2, max_size=30)
    )
    share = draw(st.sampled_from([0.0, 0.02, 0.2]))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    wrong = (rng.random((len(rows), FIELDS)) < share).tolist()
    return rows, wrong


@given(catalogues())
def test_the_upper_bound_is_that_of_the_plain_procedure(counts):
    passing, wrong = counts

    found = upper_bound(np.array(passing), np.array(wrong))

    assert found == pytest.approx(naive.upper_bound(passing, wrong), rel=1e-9)


@given(catalogues(), st.sampled_from([0.01, 0.05, 0.3]))
def test_the_capital_is_that_of_the_plain_procedure(counts, limit):
    passing, wrong = counts

    found = capital(np.array(passing), np.array(wrong), FIELDS, limit)

    assert found == pytest.approx(naive.capital(passing, wrong, FIELDS, limit), rel=1e-9)


@given(checked(), st.sampled_from([0.05, 0.2, 0.5]), st.sampled_from([1, 5]))
def test_walks_are_those_of_the_plain_procedure(sample, limit, least):
    rows, wrong = sample
    scores = np.array([[np.nan if score is None else score for score in row] for row in rows])

    def rule(passing, errors):
        return naive.upper_bound(passing, errors) <= limit

    def betting(passing, errors):
        return naive.capital(passing, errors, FIELDS, limit) >= 10

    for verdict, holds in ((by_rule(limit), rule), (by_betting(FIELDS, limit), betting)):
        steps = walk(scores, np.array(wrong), verdict, least=least)
        last = last_accepted(steps)
        expected = naive.walk(rows, wrong, holds, GRID, least)
        assert (last and last.threshold) == expected
        assert all(step.accepted for step in steps[:-1])  # the first that fails ends it


def test_a_sample_without_errors_by_hand():
    # 100 items with 5 values: 500 values are worth 500 / 3, less what estimating costs.
    worth = 500 / 3 / (stats.t.ppf(0.9, 99) / stats.norm.ppf(0.9)) ** 2

    found = upper_bound(np.full(100, 5), np.zeros(100, dtype=int))

    assert (1 - found) ** worth == pytest.approx(0.1)  # no error with a chance of 10 %


def test_errors_in_whole_items_count_for_more():
    passing = np.full(100, 4)
    scattered, together = np.zeros(100, dtype=int), np.zeros(100, dtype=int)
    scattered[:20] = 1
    together[:5] = 4

    # r = 20 / 400. e is 4 - 0.2 in five items and -0.2 in the others, so that the design effect is
    # 100 / 99 * (5 * 3.8**2 + 95 * 0.2**2) / 400**2 / (0.05 * 0.95 / 400) = 4.04.
    effect = 100 / 99 * (5 * 3.8**2 + 95 * 0.2**2) / 400**2 / (0.05 * 0.95 / 400)
    worth = 400 / effect / (stats.t.ppf(0.9, 99) / stats.norm.ppf(0.9)) ** 2
    assert effect == pytest.approx(4.0404, abs=1e-4)
    assert upper_bound(passing, together) == pytest.approx(
        stats.beta.ppf(0.9, 0.05 * worth + 1, 0.95 * worth)
    )
    assert upper_bound(passing, scattered) < upper_bound(passing, together)


@pytest.mark.parametrize(
    ("passing", "wrong"), [([3], [0]), ([0, 0, 0], [0, 0, 0]), ([2, 1], [2, 1])]
)
def test_where_nothing_is_known_all_may_be_wrong(passing, wrong):
    assert upper_bound(np.array(passing), np.array(wrong)) == 1.0


def test_the_first_bet_by_hand():
    # Two items, nothing wrong, all passes: x = 0. The first stake is sqrt(2 ln 10 / (2 * 0.25)) =
    # 3.03, above 0.999 / 0.95. The second: mean = 0.25, variance = (0.25 + 0.0625) / 2, so that
    # it is above it, too.
    stake = 0.999 / 0.95

    found = capital(np.array([4, 4]), np.array([0, 0]), 4, 0.05)

    assert found == pytest.approx((1 + stake * 0.05) ** 2)


def test_values_that_do_not_pass_neither_win_nor_lose():
    assert capital(np.zeros(50, dtype=int), np.zeros(50, dtype=int), 4, 0.05) == 1.0


def test_the_capital_counts_at_its_highest():
    # 60 items without an error win; 60 that are all wrong then lose everything.
    passing = np.full(120, 4)
    wrong = np.repeat([0, 4], 60)

    assert capital(passing, wrong, 4, 0.05) >= 10
    assert capital(passing, wrong[::-1], 4, 0.05) < 1.1


@pytest.mark.parametrize(("limit", "items"), [(0.05, 45), (0.02, 114), (0.1, 22), (0.5, 4)])
def test_least_items(limit, items):
    assert least_items(limit) == naive.least_items(limit) == items


@given(st.integers(1, 200), st.data())
def test_bounds_of_a_share_are_the_binomial_tests(total, data):
    errors = data.draw(st.integers(0, total))

    found = bounds_of_share(errors, total)
    lower, upper = found.lower, found.upper

    if errors < total:
        assert stats.binom.cdf(errors, total, upper) == pytest.approx(0.1)
    else:
        assert upper == 1
    if errors:
        assert stats.binom.sf(errors - 1, total, lower) == pytest.approx(0.1)
    else:
        assert lower == 0


def test_too_few_items_stop_the_walk():
    scores = np.ones((44, FIELDS))
    wrong = np.zeros((44, FIELDS), dtype=bool)

    steps = walk(scores, wrong, by_rule(0.05), least=least_items(0.05))

    assert len(steps) == 1
    assert steps[0].bound < 0.05
    assert not steps[0].accepted


def test_a_value_without_a_score_never_passes():
    scores = np.full((60, 2), np.nan)
    scores[:, 0] = 1

    (last,) = walk(scores, np.zeros((60, 2), bool), by_rule(0.05), least=45, grid=[0.0])

    assert (last.items, last.passing) == (60, 60)
