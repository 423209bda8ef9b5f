"""How long a plan takes: `hdbench trust plan`, `learn` and `apply`, which decides.

    PYTHONPATH=tests python -m speed.trust_learn 70000 700000

generates a catalogue and three runs for each number of items, and measures, each in a process of
its own: `json.loads` of all lines, the commands, and the answers as hdbench reads them, side by
side. What people would read is the truth. 700,000 items take 20 minutes and 4 GB of disk. Not a
test: nothing here passes or fails by the clock.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from helpers.people_files import add_events
from speed.catalogue import SAMPLE, WORDS
from speed.scale import measured

from hdbench.annotating.events import Reading, StageName, ValueKey
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.trust.learned_files import read_learned
from hdbench.trust.plan import read_plan
from hdbench.trust.runs import fields_called, opened_runs
from hdbench.trust.values import value_of

PLAN = Path("values/plan.yaml")

RUNS = ("one", "two", "three")
WRONG, WRONG_IN_HARD, EVERY = 0.04, 0.5, 5
"""The shares of values that each run has wrong, independently of the others, in most cards and in
every fifth: seven in ten values are the same in all runs, as in those of three good models."""

DISTINCT = 20_000
"""So many cards are different; then they come again, under other ids."""


def main() -> None:
    """Measure collections of the sizes that were asked for."""
    if sys.argv[1] == "--only":
        globals()[f"only_{sys.argv[2]}"]()
        return
    more = [option for option in sys.argv[1:] if option.startswith("-")]
    for number in (int(size) for size in sys.argv[1:] if not size.startswith("-")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            truths = write_collection(folder, number)
            (folder / PLAN).parent.mkdir()
            runs = [f"{run}.jsonl" for run in RUNS]
            measured(["-m", "speed.trust_learn", "--only", "json"], folder, "json", number)
            trust = ["-m", "hdbench", "trust"]
            plan = [*trust, "plan", "hdb/cards", *runs, "-o", str(PLAN), *more]
            measured(plan, folder, "plan", number)
            measured(["-m", "speed.trust_learn", "--only", "reading"], folder, "reading", number)
            read_stage(folder, truths, "learn")
            measured([*trust, "learn", str(PLAN)], folder, "learn", number)
            read_stage(folder, truths, "verify")
            measured([*trust, "apply", str(PLAN), "-o", "out"], folder, "apply", number)


def only_json() -> None:
    """Parse every line of the runs."""
    for run in RUNS:
        with Path(f"{run}.jsonl").open() as lines:
            for line in lines:
                json.loads(line)


def only_reading() -> None:
    """Read the answers of all runs, item by item."""
    plan = read_plan(PLAN)
    benchmark = load_benchmark(plan.benchmark)
    opening = opened_runs(plan.runs, plan.fields, benchmark, PLAN, all_are_loaded=True)
    with opening as runs:
        for item in benchmark.ids():
            runs.records(item)


def write_collection(folder: Path, number: int, seed: int = 1) -> list[Any]:
    """A catalogue without ground truths, and three runs.

    Returns:
        The truths of all items: that of an item is at its number, modulo how many there are.
    """
    built = folder / "hdb/cards"
    built.mkdir(parents=True)
    for name in ("benchmark.yaml", "answer.schema.json"):
        (built / name).write_text((SAMPLE / name).read_text())
    rng = random.Random(seed)
    truths = list(_truths(min(number, DISTINCT), rng))
    with (built / "metadata.jsonl").open("w") as file:
        for place in range(number):
            item = f"{place:08}"
            row = {"file_name": f"images/{item}.jpg", "id": item, "ground_truth": None}
            file.write(json.dumps(row) + "\n")
    for run in RUNS:
        texts = []
        for place, truth in enumerate(truths):
            record = _misread(truth, rng, WRONG if place % EVERY else WRONG_IN_HARD)
            texts.append(json.dumps(json.dumps(record, ensure_ascii=False)))
        with (folder / f"{run}.jsonl").open("w") as file:
            for place in range(number):
                file.write(f'{{"id": "{place:08}", "text": {texts[place % DISTINCT]}}}\n')
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


def read_stage(folder: Path, truths: list[Any], stage: StageName) -> None:
    """Write what a person who makes no mistakes reads of the values of a stage."""
    plan = read_plan(folder / PLAN)
    benchmark = load_benchmark(str(folder / plan.benchmark))
    fields = {field.path: field for field in fields_called(plan.fields, benchmark)}
    values: Iterable[ValueKey] = plan.first_stage
    if stage == "verify":
        values = read_learned(plan, folder / PLAN).second_stage
    readings = []
    for number, key in enumerate(values):
        value = value_of(truths[int(key.item) % len(truths)], fields[key.field])
        reading = Reading(
            id=f"{number:032x}",
            plan=plan.hash(),
            stage=stage,
            item=key.item,
            field=key.field,
            by="anna",
            at="2026-07-01T10:00:00.000Z",
            what="value",
            value=value,
        )
        readings.append(reading)
    add_events(benchmark.folder, readings)


if __name__ == "__main__":
    main()
