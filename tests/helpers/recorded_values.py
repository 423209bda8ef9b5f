"""How much is accepted of recorded runs: half of the cards to learn from, the other to accept.

The other half stands for a large collection: it is drawn from with replacement.
"""

from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from hdbench.common.letters import folded
from hdbench.statistics.logistic import fit
from hdbench.trust.chosen import (
    ChosenValues,
    Scales,
    chosen_values,
    columns_of,
    names_of_columns,
)
from hdbench.trust.cuts import BILLION, choose_cuts, walk_cuts
from hdbench.trust.learning import probabilities_of
from hdbench.trust.runs import Runs, fields_called, opened_run
from hdbench.trust.values import chosen_fields, texts_of

LARGE = 10**7
"""So many unread values stand for very many: then all that matters is how many are read."""

COPIES = 40
"""So many copies of the values of a field let it be expected what reading them would show."""


class Recorded(NamedTuple):
    """All values of some runs, and which of them are wrong to the letter."""

    values: ChosenValues
    wrong: np.ndarray

    @property
    def names(self):
        return names_of_columns(self.values)

    def columns(self, items):
        """The columns of some items: item by item, field by field."""
        fields = len(self.values.fields)
        positions = (items[:, np.newaxis] * fields + np.arange(fields)).ravel()
        return columns_of(self.values, positions)


class Drawn(NamedTuple):
    """What a sample accepts: the share of all values, and whether more is wrong than the limit."""

    share: float
    is_broken: bool


def recorded(benchmark, paths):
    """Read runs, with the ground truths of the benchmark."""
    ids, (fields, _) = list(benchmark.ids()), chosen_fields(benchmark, ())
    located, metric = fields_called(fields, benchmark), benchmark.spec.make_metric("documented")
    with ExitStack() as stack:
        answers = [stack.enter_context(opened_run(path, benchmark)).answers for path in paths]
        runs = Runs(answers, metric, located)
        values = chosen_values(runs, ids, fields)
        truths = {
            item.id: texts_of(metric.right_answer(item.reference(metric.protocol)), located)
            for item in benchmark.items()
        }
        wrong = [
            [
                folded(choice.text, "ignored") != folded(truth, "ignored")
                for choice, truth in zip(
                    runs.judged(runs.records(ids[item])), truths[ids[item]], strict=True
                )
            ]
            for item in values.items.tolist()
        ]
    return Recorded(values, np.array(wrong))


def draw(runs, terms, learn=300, learned_from=None):
    """Learn from a random half of the cards, and accept of the other one.

    Args:
        runs: the runs.
        terms: what the plan says; its seed draws everything.
        learn: how many values are read to learn from.
        learned_from: other runs of the same benchmark, whose values were read to learn from.
    """
    rng = np.random.default_rng([terms.seed, 1])
    items = rng.permutation(len(runs.values.items))
    first, rest = np.split(items, [len(items) // 2])
    scales = _scales(runs.columns(rest))
    source, of_source = runs, scales
    if learned_from is not None:
        first = first[first < len(learned_from.values.items)]
        source, of_source = learned_from, _scales(learned_from.columns(first))
    picked = rng.integers(first.size * len(runs.values.fields), size=learn)
    columns, wrong = source.columns(first)[picked], source.wrong[first].ravel()[picked]
    shared = [
        name
        for name, varies in zip(source.names, of_source.varies, strict=True)
        if varies and scales.varies[runs.names.index(name)]
    ]
    used = [source.names.index(name) for name in shared]
    intercept, fitted = fit(of_source.scaled(columns)[:, used], wrong)
    coefficients = dict(zip(shared, np.round(fitted, 6).tolist(), strict=True))
    probabilities = probabilities_of(runs.values, scales, round(intercept, 6), coefficients)
    by_item = probabilities.reshape(runs.wrong.shape)[rest]
    return _accepted(by_item, runs.wrong[rest], terms, rng)


def _scales(columns):
    constant = columns.min(axis=0) == columns.max(axis=0)
    return Scales(columns.mean(axis=0), np.where(constant, 0.0, columns.std(axis=0)))


def _accepted(by_item, wrong, terms, rng):
    assert by_item.max() <= BILLION
    chosen = choose_cuts(terms, np.tile(by_item, (COPIES if terms.each_field else 1, 1)))
    accepted, is_broken = 0, False
    for fields, cuts in chosen:
        probabilities, is_wrong = by_item[:, fields].ravel(), wrong[:, fields].ravel()
        candidates = np.flatnonzero(probabilities <= cuts[-1])
        read = candidates[rng.integers(len(candidates), size=terms.verify // len(chosen))]
        large = [(cut, LARGE) for cut in cuts]
        risk = terms.risk / len(chosen)
        steps = walk_cuts(large, probabilities[read], is_wrong[read], terms.limit, risk)
        passed = [cut for cut, step in zip(cuts, steps, strict=False) if step.accepted]
        if passed:
            passes = probabilities <= passed[-1]
            accepted += int(passes.sum())
            is_broken |= is_wrong[passes].mean() > terms.limit
    return Drawn(accepted / wrong.size, is_broken)
