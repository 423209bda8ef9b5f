"""A catalogue without ground truths, and the answers of runs to all of it."""

import json

from helpers.run_folders import SPEC, write_run

from hdbench.benchmarks.benchmark import load_benchmark

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {"title": TEXT, "place": TEXT, "year": {"type": "integer"}},
}
RIGHT = {"title": "Stellingen", "place": "Basel", "year": 1924}
FIELDS = ("title", "place", "year")


class Catalogue:
    """A benchmark in a folder, beside the runs that answer it.

    Args:
        folder: where it is written.
        items: how many items it has, called `0000` and so on.
        schema: of its answers.
        columns: name → the value of each item, in order.
    """

    def __init__(self, folder, items=2000, schema=SCHEMA, **columns):
        self.folder, self.path = folder, folder / "hdb/cards"
        self.ids = [f"{number:04}" for number in range(items)]
        self.runs = []
        self.path.mkdir(parents=True)
        named = dict.fromkeys(columns, "string")
        (self.path / "benchmark.yaml").write_text(json.dumps(SPEC | {"columns": named}))
        (self.path / "answer.schema.json").write_text(json.dumps(schema))
        self.rows = [
            {"id": item, "ground_truth": None, **{name: of[i] for name, of in columns.items()}}
            for i, item in enumerate(self.ids)
        ]
        self.write()

    def write(self):
        lines = [json.dumps(row) + "\n" for row in self.rows]
        (self.path / "metadata.jsonl").write_text("".join(lines))

    @property
    def benchmark(self):
        return load_benchmark(str(self.path))

    def run(self, name, answer):
        """Write a run.

        `answer` is the record for each item, or gives it for its number; None for no answer.
        """
        answers = {item: _of(answer, number) for number, item in enumerate(self.ids)}
        # What counts for nothing makes the files of answers differ.
        given = {
            item: {"prediction": each | {"note": name}}
            for item, each in answers.items()
            if each is not None
        }
        self.runs.append(write_run(self.folder / name, given, model=name, cost_usd=2.5))
        return self.runs[-1]

    def check(self, ids, truth=RIGHT, how="blind"):
        """Write ground truths; `truth` is that of every item, or gives it for a place in `ids`."""
        places = {item: place for place, item in enumerate(ids)}
        for row in self.rows:
            if row["id"] in places:
                row["ground_truth"] = json.dumps(_of(truth, places[row["id"]]))
                row.update({"provenance": how} if how else {})
        self.write()


def agreeing(folder, items=2000, runs=("a", "b", "c"), **columns):
    """A catalogue in which all runs say the same, which is right."""
    found = Catalogue(folder, items, **columns)
    for name in runs:
        found.run(name, RIGHT)
    return found


def _of(given, number):
    return given(number) if callable(given) else given
