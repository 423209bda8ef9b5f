"""How much is accepted of recorded runs: half of the cards to learn from, the other to accept.

The other half stands for a large collection: it is drawn from with replacement.
"""

from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from hdbench.collections.trust.cuts import BILLION, choose_cuts, walk_cuts
from hdbench.collections.trust.fields import chosen_fields, texts_of
from hdbench.collections.trust.probabilities import (
    ChosenValues,
    Scales,
    chosen_values,
    columns_of,
    fit,
    names_of_columns,
    probabilities_of,
)
from hdbench.collections.trust.runs import Runs, fields_called, opened_run
from hdbench.collections.truth.events import Reading, ValueKey
from hdbench.collections.truth.readings import ReadingStage, mark_of, settled
from hdbench.common.value_text import folded

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
    """What a sample accepts: the share of all values, and whether more is wrong than the limit.

    And how many values were read again.
    """

    share: float
    is_broken: bool
    again: int


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


def draw(runs, terms, learn=300, learned_from=None, slips=0.0):
    """Learn from a random half of the cards, and accept of the other one.

    Args:
        runs: the runs.
        terms: what the plan says; its seed draws everything.
        learn: how many values are read to learn from.
        learned_from: other runs of the same benchmark, 300 of whose values were read before.
        slips: the share of readings to verify it in which somebody makes a mistake.
    """
    rng = np.random.default_rng([terms.seed, 1])
    items = rng.permutation(len(runs.values.items))
    first, rest = np.split(items, [len(items) // 2])
    scales = _scales(runs.columns(rest))
    shared, prior = set(runs.names), None
    if learned_from is not None:
        known = first[first < len(learned_from.values.items)]
        of_source = _scales(learned_from.columns(known))
        shared = {
            name
            for name, varies in zip(learned_from.names, of_source.varies, strict=True)
            if varies
        }
    used = [
        place for place, name in enumerate(runs.names) if name in shared and scales.varies[place]
    ]
    if learned_from is not None:
        picked = rng.integers(known.size * len(runs.values.fields), size=300)
        columns = of_source.scaled(learned_from.columns(known)[picked])
        places = [learned_from.names.index(runs.names[place]) for place in used]
        _, prior = fit(columns[:, places], learned_from.wrong[known].ravel()[picked])
    picked = rng.integers(first.size * len(runs.values.fields), size=learn)
    columns, wrong = runs.columns(first)[picked], runs.wrong[first].ravel()[picked]
    intercept, fitted = fit(scales.scaled(columns)[:, used], wrong, prior)
    names = [runs.names[place] for place in used]
    coefficients = dict(zip(names, np.round(fitted, 6).tolist(), strict=True))
    probabilities = probabilities_of(runs.values, scales, round(intercept, 6), coefficients)
    by_item = probabilities.reshape(runs.wrong.shape)[rest]
    return _accepted(by_item, runs.wrong[rest], terms, rng, slips)


def _scales(columns):
    constant = columns.min(axis=0) == columns.max(axis=0)
    return Scales(columns.mean(axis=0), np.where(constant, 0.0, columns.std(axis=0)))


def _accepted(by_item, wrong, terms, rng, slips):
    assert by_item.max() <= BILLION
    chosen = choose_cuts(terms, np.tile(by_item, (COPIES if terms.each_field else 1, 1)))
    accepted, again, is_broken = 0, 0, False
    for fields, cuts in chosen:
        probabilities, is_wrong = by_item[:, fields].ravel(), wrong[:, fields].ravel()
        candidates = np.flatnonzero(probabilities <= cuts[-1])
        read = candidates[rng.integers(len(candidates), size=terms.verify // len(chosen))]
        large = [(cut, LARGE) for cut in cuts]
        risk = terms.risk / len(chosen)
        seen, more = people_see(is_wrong[read], slips, rng)
        again += more
        steps = walk_cuts(large, probabilities[read], seen, terms.limit, risk)
        passed = [cut for cut, step in zip(cuts, steps, strict=False) if step.accepted]
        if passed:
            passes = probabilities <= passed[-1]
            accepted += int(passes.sum())
            is_broken |= is_wrong[passes].mean() > terms.limit
    return Drawn(accepted / wrong.size, is_broken, again)


def people_see(wrong, slips, rng):
    """Which values are wrong by what people read, and how many readings came after the first ones.

    Models say something else than the truth of wrong values; no two slips are the same. Each
    reading is by another person.
    """
    keys = [ValueKey("item", str(place)) for place in range(len(wrong))]
    stage = ReadingStage("verify", keys, "counts", [mark_of("models", "counts")] * len(keys))
    readings, turn = {}, 0
    while to_read := stage.to_read(readings):
        for key in to_read:
            truth = "truth" if wrong[int(key.field)] else "models"
            said = f"slip {turn}" if rng.random() < slips else truth
            made = {"item": key.item, "field": key.field, "what": "value", "value": said}
            reading = Reading.model_construct(**made, by=f"person {turn}", turn=1)
            readings.setdefault(key, []).append(reading)
        turn += 1
    outcomes = [settled(readings[key], "counts") for key in keys]
    more = sum(map(len, readings.values())) - len(keys)
    return np.array([outcome.value != "models" for outcome in outcomes]), more
