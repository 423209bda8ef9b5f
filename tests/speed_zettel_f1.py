"""How fast Zettel F1 is: python tests/speed_zettel_f1.py [FOLDER OF THE RECORDED RUNS' REPOSITORY]

Not a test: nothing here passes or fails by the clock. Rates are compared within one run only.
"""

import gzip
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import naive_zettel_f1 as naive

from hdbench.scoring.flatten import flatten
from hdbench.scoring.result import Candidate, score_items
from hdbench.scoring.zettel_f1 import ZettelF1

SHARED = Path(__file__).parents[2] / "shared"
ROUNDS = 9
CATALOGUE = 700_000


def main() -> None:
    """Print all the figures."""
    with tempfile.TemporaryDirectory() as folder:
        if SHARED.is_dir():
            recorded(SHARED)
        else:
            print("no ../shared beside this checkout: the recorded answers are left out")
        start_up(Path(folder))
        catalogue(Path(folder))


def recorded(shared: Path) -> None:
    """Score the recorded answers, beside the plain transcription and beside flattening alone."""
    with gzip.open(shared / "recorded/library_cards.jsonl.gz", "rt") as file:
        answers = [answer for line in file for answer in json.loads(line)["answers"]]
    truths_folder = shared / "upstream/humanities_data_benchmark/benchmarks/library_cards"
    truths = {
        file.stem: json.loads(file.read_text())["response_text"]
        for file in (truths_folder / "ground_truths").glob("*.json")
    }
    pairs = [(answer["answer"], truths[answer["id"]]) for answer in answers]
    records = [answer for answer, _ in pairs if answer is not None]
    print(f"{len(pairs)} recorded answers, {len(records)} of them with a record")
    for protocol in ("documented", "published"):
        metric = ZettelF1(protocol)
        prepared = {name: metric.prepare(truth) for name, truth in truths.items()}
        candidates = [Candidate(a["id"], prepared[a["id"]], a["answer"]) for a in answers]
        split = protocol == "published"
        tasks: dict[str, Callable[[], object]] = {
            "hdbench": lambda: score_items(metric, candidates).figures(),
            "transcription": lambda: naive.score(pairs, protocol),
            "flattening, hdbench's": lambda: [flatten(r, split_keys=split) for r in records],
            "flattening, transcribed": lambda: [dict(naive.flatten(r)) for r in records],
        }
        seconds = {name: median_seconds(task) for name, task in tasks.items()}
        print(f"\n{protocol}")
        for name, taken in seconds.items():
            ratio = taken / seconds["hdbench"]
            print(f"  {name:24} {len(pairs) / taken:10,.0f} answers/s   {ratio:5.2f} × hdbench's time")
        figures = score_items(metric, candidates).figures()
        names = ("f1_micro", "f1_macro", "true_positives", "false_positives", "false_negatives")
        *theirs, = naive.score(pairs, protocol)
        print(f"  identical: {[figures[name] for name in names] == theirs}")


def median_seconds(task: Callable[[], object]) -> float:
    """The median of some rounds; the first, which warms up, does not count."""
    taken = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        task()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:])
