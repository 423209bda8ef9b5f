import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from hdbench.collections.trust.probabilities import RIDGE, fit, probability


@st.composite
def observations(draw):
    """Columns of any size, some of them nearly copies of others, and outcomes of both kinds."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    rows, columns = draw(st.integers(2, 400)), draw(st.integers(1, 12))
    table = rng.normal(size=(rows, columns)) * draw(st.sampled_from([0.01, 1, 30]))
    table[:, -1] = table[:, 0] + draw(st.sampled_from([0, 1e-6, 1])) * table[:, -1]
    outcomes = rng.random(rows) < special.expit(draw(st.sampled_from([0, 3])) * table[:, 0] - 1)
    outcomes[:2] = True, False
    return table, outcomes


def loss(point, columns, outcomes):
    """The loss and its gradient as the definition has them."""
    logits = point[0] + columns @ point[1:]
    of_rows = -special.log_expit(np.where(outcomes, logits, -logits))
    off = special.expit(logits) - outcomes
    gradient = np.concatenate([[off.sum()], columns.T @ off + RIDGE * point[1:]])
    return of_rows.sum() + RIDGE / 2 * (point[1:] ** 2).sum(), gradient


@given(observations())
def test_the_gradient_is_nothing_at_the_minimum(drawn):
    columns, outcomes = drawn

    intercept, coefficients = fit(columns, outcomes)

    _, gradient = loss(np.array([intercept, *coefficients]), columns, outcomes)
    assert np.abs(gradient).max() < 1e-8


@pytest.mark.nightly
@given(observations())
def test_no_other_program_finds_a_better_point(drawn):
    columns, outcomes = drawn

    intercept, coefficients = fit(columns, outcomes)

    found = np.array([intercept, *coefficients])
    other = optimize.minimize(
        loss, np.zeros(len(found)), (columns, outcomes), jac=True, method="L-BFGS-B"
    )
    assert loss(found, columns, outcomes)[0] <= other.fun + 1e-9


def test_one_column_is_as_derived_by_hand():
    # By symmetry the intercept is 0; then 4 / (1 + e^b) = 10 b.
    intercept, (slope,) = fit(np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([0, 0, 1, 1]) > 0)

    assert intercept == pytest.approx(0, abs=1e-9)
    assert 4 / (1 + np.exp(slope)) == pytest.approx(10 * slope, abs=1e-9)


@pytest.mark.parametrize("outcome", [True, False])
def test_outcomes_of_one_kind_get_half_a_one_of_the_other(outcome):
    columns = np.array([[-1.0, 2.0], [1.0, -2.0], [0.0, 0.0]])

    intercept, coefficients = fit(columns, np.full(3, outcome))

    # The mean of the columns is 0: only the intercept says something, 3 to one half.
    assert intercept == pytest.approx(np.log(6) if outcome else -np.log(6), abs=1e-9)
    assert coefficients == pytest.approx([0, 0], abs=1e-9)


def test_a_full_step_that_leads_too_far_is_shortened():
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(3_000, 3)) * 1_000
    outcomes = columns[:, 0] > 0

    intercept, coefficients = fit(columns, outcomes)

    _, gradient = loss(np.array([intercept, *coefficients]), columns, outcomes)
    # Rounding alone moves the gradient by the size of the columns.
    assert np.abs(gradient).max() < 1e-8 * 1_000


@given(st.floats(-800, 800))
def test_probabilities_stay_between_0_and_1(logit):
    (found,) = probability(np.array([logit]))

    assert 0 <= found <= 1
    assert found == pytest.approx(special.expit(logit), abs=1e-15)
