"""A process that changes items until it is killed: writer.py FOLDER ANNOTATOR SEED.

What it prints as saved has to be there afterwards: the item, the field and the value.
"""

import json
import random
import sys
from pathlib import Path

from hdbench.collections.truth.event_files import ChangedError
from hdbench.collections.truth.store import Store


def main(folder, annotator, seed):
    rng = random.Random(seed)
    with Store(Path(folder), annotator) as store:
        print("open", flush=True)
        for number in range(10**9):
            item = rng.choice(store.items)
            field, to = f"{annotator}_{rng.randrange(5)}", f"{seed}:{number}" + "ü" * 300
            head = store.state(item).head["ground_truth"]
            try:
                store.change(item, "ground_truth", field, to, after=head, how="blind")
            except ChangedError:  # the other one was faster
                continue
            print("saved", json.dumps([item, field, to]), flush=True)
            if number % 7 == 0:
                store.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
