"""How long `hdbench trust apply` takes beside reading the answers alone, and in how much memory.

    PYTHONPATH=tests python -m speed.trust_apply 100000 700000

generates a catalogue and three runs for each number of items, and measures, each in a process of
its own: `json.loads` of all lines, the answers as hdbench reads them, side by
side, and the command.
700,000 items take 15 minutes on a busy machine and 2.5 GB of disk. Not a test: nothing here passes
or fails by the clock.
"""

import json
import random
import sys
import tempfile
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from speed.catalogue import SAMPLE, WORDS
from speed.scale import measured

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.trust.deciding import read_plan
from hdbench.trust.plan import PlanOptions, make_plan, write_plan
from hdbench.trust.runs import opened_runs

RUNS = ("one", "two", "three")
WRONG, WRONG_IN_HARD, EVERY = 0.04, 0.5, 5
"""The shares of values that each run has wrong, independently of the others, in most cards and in
every fifth: seven in ten values are the same in all runs, as in those of three good models."""

CHECKED = 300

DISTINCT = 20_000
"""So many cards are different; then they come again, under other ids."""


def main() -> None:
    """Measure collections of the sizes that were asked for."""
    if sys.argv[1] == "--only":
        globals()[f"only_{sys.argv[2]}"]()
        return
    for number in map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_collection(folder, number)
            for way in ("json", "reading"):
                command = ["-m", "speed.trust_apply", "--only", way]
                measured(command, folder, way, number)
            command = ["-m", "hdbench", "trust", "apply", "plan.yaml", "-o", "out"]
            measured(command, folder, "apply", number)


def only_json() -> None:
    """Parse every line of the runs."""
    for run in RUNS:
        with Path(f"{run}.jsonl").open() as lines:
            for line in lines:
                json.loads(line)


def only_reading() -> None:
    """Read the answers of all runs, item by item."""
    plan = read_plan(Path("plan.yaml"))
    benchmark = load_benchmark(plan.benchmark)
    with opened_runs(plan, benchmark, Path("plan.yaml"), all_are_loaded=True) as runs:
        for item in benchmark.ids():
            runs.records(item)


def write_collection(folder: Path, number: int, seed: int = 1) -> list[Any]:
    """A catalogue, three runs, a plan of whole items, and a truth for each item of its sample.

    Returns:
        The truths of all items: that of an item is at its number, modulo how many there are.
    """
    built = folder / "hdb/cards"
    built.mkdir(parents=True)
    for name in ("benchmark.yaml", "answer.schema.json"):
        (built / name).write_text((SAMPLE / name).read_text())
    rng = random.Random(seed)
    truths = list(_truths(min(number, DISTINCT), rng))
    _write_truths(built, number, truths, ())
    for run in RUNS:
        texts = []
        for place, truth in enumerate(truths):
            record = _misread(truth, rng, WRONG if place % EVERY else WRONG_IN_HARD)
            texts.append(json.dumps(json.dumps(record, ensure_ascii=False)))
        with (folder / f"{run}.jsonl").open("w") as file:
            for place in range(number):
                file.write(f'{{"id": "{place:08}", "text": {texts[place % DISTINCT]}}}\n')
    paths = [folder / f"{run}.jsonl" for run in RUNS]
    plan = make_plan(load_benchmark(str(built)), paths, PlanOptions(number=CHECKED))
    write_plan(folder / "plan.yaml", plan)
    _write_truths(built, number, truths, frozenset(plan.sample))
    return truths


def _truths(number: int, rng: random.Random) -> Iterator[Any]:
    lines = (SAMPLE / "sample/metadata.jsonl").read_text().splitlines()
    cards = [json.loads(line)["ground_truth"] for line in lines]
    for _ in range(number):
        card = rng.choice(cards)
        publication = card["publication"] | {
            "title": " ".join(rng.choices(WORDS, k=rng.randint(4, 12))),
            "year": rng.randint(1850, 1980),
            "pages": str(rng.randint(20, 400)),
        }
        reference = card["library_reference"] | {"shelfmark": f"Diss. {rng.randint(1, 99999)}"}
        yield card | {"publication": publication, "library_reference": reference}


def _write_truths(built: Path, number: int, truths: list[Any], checked: Container[str]) -> None:
    with (built / "metadata.jsonl").open("w") as file:
        for place in range(number):
            item = f"{place:08}"
            row = {"file_name": f"images/{item}.jpg", "id": item, "ground_truth": None}
            if item in checked:
                truth = json.dumps(truths[place % DISTINCT], ensure_ascii=False)
                row |= {"ground_truth": truth, "provenance": "blind"}
            file.write(json.dumps(row) + "\n")


def _misread(truth: Any, rng: random.Random, wrong: float) -> Any:
    record = {}
    for name, value in truth.items():
        if isinstance(value, dict):
            record[name] = _misread(value, rng, wrong)
        elif rng.random() >= wrong:
            record[name] = value
        elif isinstance(value, int):
            record[name] = value + rng.randint(1, 9)
        else:
            record[name] = (value or "")[: rng.randint(0, 9)] + rng.choice(WORDS)
    return record


if __name__ == "__main__":
    main()
