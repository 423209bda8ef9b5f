"""What `hdbench score` and a configuration of a metric give for the same answers."""

import json
from pathlib import Path

from helpers.gold import COLUMNS
from helpers.plain_evaluate import evaluate
from helpers.results import flat

from hdbench.api import score

COVERAGE = ("items", "answered", "unanswered", "unparsable", "status", "unparsable_kinds")


def scored(benchmark, answers, protocol):
    """Everything that scoring a file gives, with intervals."""
    result = score(benchmark, answers, protocol=protocol)
    return {**flat(result.to_dict()), **result.spread_dict()}, result


def figures_of(by_score, result):
    """The figures, the coverage and the intervals: all but what is about the file and dataset."""
    kept = {*result.rates, *COVERAGE, "strictly", "protocol", *result.spread_dict()}
    return {name: value for name, value in by_score.items() if name in kept}


def computed(metric, benchmark, protocol, answers, **options):
    """What a metric's configuration gives for answers by id, and None for all other items.

    Figures that were renamed have their names of today only, as in what `score` gives.

    Args:
        metric: the metric's name with the namespace, or its module.
        benchmark: the folder of the built benchmark, named as its configuration is.
        protocol: the protocol.
        answers: id → a record or a text.
        options: options of `compute`.
    """
    with (Path(benchmark) / "metadata.jsonl").open() as file:
        rows = [json.loads(line) for line in file]
    ending = "-published" if protocol == "published" else ""
    loaded = evaluate.load(str(metric), Path(benchmark).name + ending)
    return loaded.compute(
        predictions=[answers.get(row["id"]) for row in rows],
        references=[row[COLUMNS[protocol]] for row in rows],
        **options,
    )
