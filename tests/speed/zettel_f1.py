"""How fast Zettel F1 is, and in how much memory: PYTHONPATH=tests python -m speed.zettel_f1

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import functools
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reference import zettel_f1 as naive
from speed.timing import medians

from hdbench.answers.answer import Answer
from hdbench.results.items import score_items
from hdbench.scoring.flatten import flatten
from hdbench.scoring.zettel_f1 import ZettelF1

SHARED = Path(__file__).parents[3] / "shared"
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
    """Score the recorded answers, beside the plain transcription and beside flattening alone.

    The truths are prepared once, before the clock starts.
    """
    with gzip.open(shared / "recorded/library_cards.jsonl.gz", "rt") as file:
        answers = [answer for line in file for answer in json.loads(line)["answers"]]
    source = shared / "upstream/humanities_data_benchmark/benchmarks/library_cards"
    truths = {
        file.stem: json.loads(file.read_text())["response_text"]
        for file in (source / "ground_truths").glob("*.json")
    }
    without = sum(answer["answer"] is None for answer in answers)
    print(f"{len(answers)} recorded answers, {without} of them null, medians of {ROUNDS} rounds")
    for protocol in ("documented", "published"):
        compare(protocol, answers, truths)


def compare(protocol: str, answers: list[Any], truths: dict[str, Any]) -> None:
    """Print how fast everything is under one protocol."""
    metric = ZettelF1(protocol)
    prepared = {name: metric.prepare(truth) for name, truth in truths.items()}
    candidates = [(Answer(a["answer"], id=a["id"]), prepared[a["id"]]) for a in answers]
    pairs = [(a["answer"], truths[a["id"]]) for a in answers]
    records = [a["answer"] for a in answers if a["answer"] is not None]
    split = protocol == "published"
    seconds = medians(
        {
            "hdbench": lambda: score_items(metric, candidates).figures(),
            "transcription": lambda: naive.score(pairs, protocol),
            "its flattening": lambda: exhaust(dict(naive.flatten(r)) for r in records),
            "hdbench's flattening": lambda: exhaust(flatten(r, split_keys=split) for r in records),
        },
        ROUNDS,
    )
    print(f"\n{protocol:22} answers/s   time, hdbench's being 1")
    for name, taken in seconds.items():
        print(f"{name:22} {len(pairs) / taken:9,.0f}   {taken / seconds['hdbench']:.2f}")
    figures = score_items(metric, candidates).figures()
    names = ("f1_micro", "f1_macro", "true_positives", "false_positives", "false_negatives")
    same = tuple(figures[name] for name in names) == naive.score(pairs, protocol)
    print(f"hdbench and the transcription give {'identical' if same else 'DIFFERENT'} figures")


def exhaust(values: Iterable[object]) -> None:
    """Go through values without keeping them."""
    deque(values, maxlen=0)


def start_up(folder: Path) -> None:
    """How long the command line takes from nothing to its end."""
    write_benchmark(folder, 263)
    commands = {
        "hdbench --help": ["--help"],
        "hdbench score, 263 cards": ["score", "hdb/cards", "predictions.jsonl"],
    }
    print("\nwall time of a new process, seconds")
    seconds = medians(
        {
            name: functools.partial(hdbench, arguments, folder)
            for name, arguments in commands.items()
        },
        ROUNDS,
    )
    for name, taken in seconds.items():
        print(f"{name:26} {taken:.2f}")


def catalogue(folder: Path) -> None:
    """Score the whole catalogue from files, and see how much memory that takes."""
    write_benchmark(folder, CATALOGUE)
    start = time.perf_counter()
    hdbench(["score", "hdb/cards", "predictions.jsonl"], folder)
    taken = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(
        f"\n{CATALOGUE:,} generated cards from files: {taken:.0f} s, "
        f"{CATALOGUE / taken:,.0f} cards/s, peak memory {peak:.2f} GiB"
    )


def hdbench(arguments: list[str], folder: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hdbench", *arguments],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def write_benchmark(folder: Path, cards: int) -> None:
    """Write a benchmark of made-up cards and a file of answers, in another order, to score."""
    benchmark = folder / "hdb/cards"
    benchmark.mkdir(parents=True, exist_ok=True)
    sample = Path(__file__).parents[2] / "dataset_scripts/zettelkatalog/benchmark.yaml"
    (benchmark / "benchmark.yaml").write_text(sample.read_text())
    rng = random.Random(1)
    ids = [f"{number:08}" for number in range(cards)]
    with (benchmark / "metadata.jsonl").open("w") as file:
        for name in ids:
            truth = json.dumps(card(rng))
            file.write(json.dumps({"id": name, "ground_truth": truth}) + "\n")
    rng.shuffle(ids)
    with (folder / "predictions.jsonl").open("w") as file:
        for name in ids:
            file.write(json.dumps({"id": name, "prediction": card(rng)}) + "\n")


def card(rng: random.Random) -> dict[str, object]:
    """A record of a card's shape and length."""
    words = "Beiträge zur Kenntnis der historischen Entwicklung im 19. Jahrhundert".split()  # noqa: SIM905
    title = " ".join(rng.choices(words, k=9))
    return {
        "type": {"type": "Dissertation or thesis"},
        "author": {"last_name": rng.choice(words), "first_name": rng.choice(words)},
        "publication": {
            "title": title,
            "year": rng.randint(1850, 1980),
            "place": rng.choice(("Basel", "Zürich", "Leipzig", None)),
            "pages": str(rng.randint(20, 400)),
            "publisher": rng.choice(("Thieme", "Reimer", "", None)),
            "format": rng.choice(("8°", "4°", "8'")),
        },
        "library_reference": {"shelfmark": f"Diss. {rng.randint(1, 9999)}", "subjects": ""},
    }


if __name__ == "__main__":
    main()
