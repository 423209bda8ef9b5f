"""Ridge logistic regression, by iteratively reweighted least squares."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RIDGE = 10.0
"""The strength of the penalty: as if (RIDGE / 2) times the sum of squared coefficients were lost
from the log-likelihood."""

MAX_STEPS = 100

ROUNDING = 1e-12
"""Part of the loss by which it may seem to grow: so near the minimum, only because numbers are
rounded."""

GRADIENT = 1e-9
"""Where no part of the gradient is larger, the minimum is found: coefficients are right to ten
decimals."""


def fit(
    columns: Array, outcomes: NDArray[np.bool_], prior: Array | None = None
) -> tuple[float, Array]:
    """Return the intercept and the coefficients that minimise log-loss and penalty.

    The intercept is not penalised. With a penalty there is exactly one minimum; where all outcomes
    are the same, the intercept has none, and half an outcome of the other kind is added at the
    mean of the columns.

    Args:
        columns: a row for each observation; the columns have about mean 0 and standard deviation 1.
        outcomes: whether it is so in each row; at least one row.
        prior: the coefficients that cost nothing; 0 for each by default.

    Example:
        >>> columns = np.array([[-1.0], [-1.0], [1.0], [1.0]])
        >>> intercept, (slope,) = fit(columns, np.array([False, False, True, True]))
        >>> round(intercept, 6) + 0, round(float(slope), 6)
        (0.0, 0.181864)
    """
    rows = np.column_stack([np.ones(len(columns)), columns])
    weights, target = np.ones(len(rows)), outcomes.astype(float)
    if outcomes.all() or not outcomes.any():
        rows = np.vstack([rows, rows.mean(axis=0)])
        weights, target = np.append(weights, 0.5), np.append(target, 1 - target[0])
    penalty = np.full(rows.shape[1], RIDGE)
    penalty[0] = 0.0
    prior = np.zeros(columns.shape[1]) if prior is None else prior
    start = np.concatenate([[0.0], prior])
    coefficients = start

    def loss_of(tried: Array) -> float:
        logits = rows @ tried
        log_loss = np.logaddexp(0, logits) - target * logits
        return float(weights @ log_loss + 0.5 * penalty @ (tried - start) ** 2)

    loss = loss_of(coefficients)
    for _ in range(MAX_STEPS):
        chance = probability(rows @ coefficients)
        gradient = rows.T @ (weights * (chance - target)) + penalty * (coefficients - start)
        if np.abs(gradient).max() < GRADIENT:
            break
        curvature = (rows.T * (weights * chance * (1 - chance))) @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        most = loss + ROUNDING * (1 + loss)
        while True:
            tried = coefficients - step
            reached = loss_of(tried)
            if reached <= most:
                break
            step /= 2  # a full step may lead too far where probabilities are extreme
        coefficients, loss = tried, reached
    return float(coefficients[0]), coefficients[1:]


def probability(logits: Array) -> Array:
    """Return the probabilities that belong to logits."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * logits)))
