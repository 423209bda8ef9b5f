"""A small collection that three runs have read: every figure of its forecast follows by hand."""

import json

from helpers.run_folders import SPEC, write_run

TRUTH = {"title": "Diss. 1961, 745", "year": "1924", "place": "Basel"}
FORM = {"properties": {name: {"type": "string"} for name in TRUTH}}
READERS = ("one", "two", "three")


def read(item, reader):
    """What a reader made of an item from 0 to 19; None if it has no answer.

    Of 20 items, all three have the first ten right. In five, the first one has `Bassel`. In three,
    all have the year 1942. In one, the first one has no answer, the others are right. In the last
    one, the first two have `744`.
    """
    if item < 10:
        return TRUTH
    if item < 15:
        return TRUTH | {"place": "Bassel"} if reader == "one" else TRUTH
    if item < 18:
        return TRUTH | {"year": "1942"}
    if item == 18:
        return None if reader == "one" else TRUTH
    return TRUTH if reader == "three" else TRUTH | {"title": "Diss. 1961, 744"}


def write_collection(folder, items=20, **spec):
    """The benchmark in hdb/cards, and three runs in runs/; more than 20 items repeat the 20."""
    made = folder / "hdb/cards"
    made.mkdir(parents=True)
    (made / "benchmark.yaml").write_text(json.dumps(SPEC | spec))
    (made / "answer.schema.json").write_text(json.dumps(FORM))
    truth = json.dumps(TRUTH)
    rows = [{"id": f"{n:04}", "ground_truth": truth} for n in range(items)]
    write_rows(folder, rows)
    for reader in READERS:
        answers = {}
        for n in range(items):
            record = read(n % 20, reader)
            if record is not None:
                first = n % 20 < 10
                used = {"input": 1000 if first else 2000, "output": 100 if first else 200}
                answers[f"{n:04}"] = {"prediction": record, "tokens": used, "seconds": 3.6}
        write_run(folder / "runs" / reader, answers, model=reader)
    return folder


def write_rows(folder, rows):
    lines = [json.dumps(row) + "\n" for row in rows]
    (folder / "hdb/cards/metadata.jsonl").write_text("".join(lines))


def runs_of(folder):
    return [folder / "runs" / reader for reader in READERS]
