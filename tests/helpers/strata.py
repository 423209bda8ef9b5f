"""Populations in strata, samples of them, and how often intervals hold the true figure."""

from collections import Counter
from typing import NamedTuple

import numpy as np
from helpers.results import result_of

from hdbench.evaluation.parts import NO_DATASET, ScoredDataset
from hdbench.scoring import make_metric
from hdbench.scoring.metric import f1
from hdbench.statistics.bootstrap import figure_interval
from hdbench.statistics.resampling import bootstrap, tables


def cards(right, strata=None, sizes=None, fields=11):
    """Cards with so many of 11 fields right, from strata of those sizes in the whole."""
    right = [int(number) for number in right]
    wrong = [fields - number for number in right]
    statistics = {
        "true_positives": right,
        "false_positives": wrong,
        "false_negatives": wrong,
        "f1": [f1(a, b, b) for a, b in zip(right, wrong, strict=True)],
        "perfect": [int(not number) for number in wrong],
    }
    dataset = NO_DATASET
    if sizes is not None:
        sample = sample_of(sizes, Counter(strata))
        dataset = ScoredDataset(benchmark="hdb/cards", sample=sample)
    return result_of(
        make_metric("zettel_f1"),
        [f"{number:05}" for number in range(len(right))],
        statistics,
        dataset=dataset,
        strata=() if strata is None else [int(place) for place in strata],
    )


def sample_of(sizes, items):
    """What a benchmark says of its sample, by types a, b, c, …"""
    return {
        "of": sum(sizes),
        "by": ["type"],
        "seed": 0,
        "strata": [
            {"values": {"type": chr(97 + place)}, "of": size, "items": max(1, items.get(place, 0))}
            for place, size in enumerate(sizes)
        ],
    }


class Coverage(NamedTuple):
    """How often the interval held the true figure, and the means of both figures less the true."""

    held: float
    bias: float
    bias_unweighted: float


def coverage(sizes, means, allocation, draws, *, resamples=1_000, seed=1):
    """Stratified samples of a population in which each stratum has a mean share of fields right."""
    rng = np.random.default_rng(seed)
    population = [
        rng.binomial(11, rng.beta(8 * mean, 8 * (1 - mean), size))
        for size, mean in zip(sizes, means, strict=True)
    ]
    truth = sum(part.sum() for part in population) / (11 * sum(sizes))
    strata = np.repeat(np.arange(len(sizes)), allocation)
    held, weighted, unweighted = 0, [], []
    for number in range(draws):
        right = np.concatenate(
            [
                rng.choice(part, items, replace=False)
                for part, items in zip(population, allocation, strict=True)
            ]
        )
        run = cards(right, strata, sizes)
        [table] = tables([run], run.ids)
        [drawn] = bootstrap([table], ["f1_micro"], resamples, number)
        found = figure_interval(drawn[:, 0], table.effective, 0.95, number)
        held += found.low <= truth <= found.high
        weighted.append(run.rates["f1_micro"])
        unweighted.append(right.sum() / (11 * len(right)))
    return Coverage(
        held / draws, float(np.mean(weighted) - truth), float(np.mean(unweighted) - truth)
    )
