"""How fast and how safe a store of ground truths is: PYTHONPATH=tests python -m speed.annotating

Not a test of speed: nothing here passes or fails by the clock. But it fails if anything that was
said to be saved is lost when processes are killed while they write.
"""

import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from helpers.killed_annotators import kill_while_writing

from hdbench.annotating.merging import hand_over, merge
from hdbench.annotating.store import Store

ITEMS = 10_000
CHANGES = 300
KILLS = 30


def main(folder: Path) -> None:
    """Print all the figures."""
    collection = written(folder / "large", ITEMS)
    speed(collection, f"{ITEMS:,} items of 1 kB, no history")
    with Store.open(collection, "ben") as store:
        for item in store.items:
            change(store, item, "title", "B")
    speed(collection, "the same, each changed once by somebody else")
    other = written(folder / "other", ITEMS)
    hand_over(collection, "ben", folder / "ben.zip")
    start = time.perf_counter()
    merged = merge(other, folder / "ben.zip", "anna", lambda _: None)
    print(f"merge of {merged.taken:,} changes {time.perf_counter() - start:.2f} s")
    kills(written(folder / "killed", 3))


def written(folder: Path, items: int) -> Path:
    """A collection of records of about 1 kB."""
    folder.mkdir()
    rng = random.Random(1)
    with (folder / "metadata.jsonl").open("w", encoding="utf-8") as file:
        for number in range(items):
            persons = [{"name": f"{rng.random():x<90}", "role": "author"} for _ in range(7)]
            truth = {"title": "A" * 60, "year": 1808, "persons": persons}
            row = {"file_name": f"{number}.jpg", "id": f"b{number}", "ground_truth": truth}
            file.write(json.dumps(row) + "\n")
    return folder


def change(store: Store, item: str, field: str, to: object) -> None:
    """Change an item as the editor does."""
    head = store.state(item).head["ground_truth"]
    store.change(item, "ground_truth", field, to, after=head, how="blind")


def speed(collection: Path, name: str) -> None:
    """How long opening, the states of all items, changes and writing the metadata take."""
    start = time.perf_counter()
    with Store.open(collection, "anna") as store:
        opened = time.perf_counter() - start
        start = time.perf_counter()
        for item in store.items:
            store.state(item)
        states = time.perf_counter() - start
        rng = random.Random(2)
        taken, flushed = [], []
        for number in range(CHANGES):
            start = time.perf_counter()
            change(store, rng.choice(store.items), f"persons[{number % 7}].name", str(number))
            taken.append(time.perf_counter() - start)
            if number % 20 == 0:
                start = time.perf_counter()
                store.flush()
                flushed.append(time.perf_counter() - start)
    print(
        f"{name}: open {opened:.2f} s, all states {states:.2f} s, change "
        f"{statistics.median(taken) * 1000:.1f} ms (at most {max(taken) * 1000:.1f}), metadata "
        f"{statistics.median(flushed) * 1000:.0f} ms (at most {max(flushed) * 1000:.0f})"
    )


def kills(collection: Path) -> None:
    """Two processes write, and are killed."""
    saved = sum(kill_while_writing(collection, seed) for seed in range(KILLS))
    print(f"{KILLS} times two processes killed: all of {saved:,} saved changes are there")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
