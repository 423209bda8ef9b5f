"""A small collection with three runs, of which a sample has been checked by hand.

The runs say the same of nearly all items, and are right, but have a wrong shelfmark everywhere:
this field is left out. In ten items of the sample they give three different, wrong years without a
digit in common (trust score 0), so that the threshold is the last but one: 0.25.
"""

import json
from pathlib import Path

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.trust.plan import PlanOptions, make_plan, write_plan

SPEC = {
    "name": "cards",
    "title": "Cards",
    "version": "1.0.0",
    "metric": "record_f1",
    "headline": "f1_micro",
    "higher_is_better": True,
    "media": "image",
    "split": "test",
    "licence": "cc0-1.0",
    "citation": "",
    "report_errors_at": "https://huggingface.co/datasets/hdb/cards/discussions/new",
}
TEXT = {"type": ["string", "null"]}
SCHEMA = {
    "type": "object",
    "required": ["title"],
    "properties": {
        "title": TEXT,
        "year": {"type": ["integer", "null"]},
        "imprint": {"type": "object", "properties": {"place": TEXT}},
        "keywords": {"type": "array", "items": {"type": "string"}},
        "shelfmark": TEXT,
    },
}
FIELDS = ["title", "year", "imprint.place", "keywords", "shelfmark"]
RUNS = ("one", "two", "three")
CHECKED = 60
SCATTERED = 10


def truth(item):
    """The ground truth of an item, which is called by its number."""
    number = int(item.lstrip("c"))
    return {
        "title": f"Titel {number}",
        "year": 1800 + number,
        "imprint": {"place": "Basel" if number % 3 else None},
        "keywords": ["Recht", "Diss."],
        "shelfmark": f"S {number}",
    }


class Collection:
    """The collection, its runs and its plan.

    Args:
        folder: where all is written.
        number: how many items it has.
        given: what the three runs say, by the place among the items outside of the sample; None for
            no answer.
        ids: what to call an item, by its number.
    """

    def __init__(self, folder, number=150, given=None, ids="c{:04}".format):
        self.folder = folder
        self.ids = [ids(place) for place in range(number)]
        self.numbers = {item: f"c{place}" for place, item in enumerate(self.ids)}
        self.benchmark = folder / "hdb/cards"
        self.benchmark.mkdir(parents=True)
        (self.benchmark / "benchmark.yaml").write_text(json.dumps(SPEC))  # JSON is YAML
        (self.benchmark / "answer.schema.json").write_text(json.dumps(SCHEMA))
        self.write_truths({})
        self._write_runs({})
        sample = self._plan().sample
        self.rest = [item for item in self.ids if item not in set(sample)]
        said = {self.rest[place]: values for place, values in (given or {}).items()}
        for item in sample[:SCATTERED]:
            years = (11111, 22222, 33333)
            said[item] = [self.truth(item) | {"year": year, "shelfmark": "X"} for year in years]
        self._write_runs(said)
        self.plan = self._plan()
        assert self.plan.sample == sample
        write_plan(folder / "plan.yaml", self.plan)
        self.write_truths({item: self.truth(item) for item in sample})

    def truth(self, item):
        return truth(self.numbers[item])

    def write_truths(self, truths, provenance="blind"):
        rows = []
        for item in self.ids:
            known = json.dumps(truths[item]) if item in truths else None
            row = {"file_name": "images/card.png", "id": item, "ground_truth": known}
            rows.append(json.dumps(row | ({"provenance": provenance} if known else {})) + "\n")
        (self.benchmark / "metadata.jsonl").write_text("".join(rows))

    def checked(self):
        """The truths of the plan's sample."""
        return {item: self.truth(item) for item in self.plan.sample}

    def _write_runs(self, said):
        for place, run in enumerate(RUNS):
            lines = []
            for item in self.ids:
                record = said.get(item, [self.truth(item) | {"shelfmark": "X"}] * 3)[place]
                if record is not None:
                    line = {"id": item, "seconds": place, "prediction": {"shelfmark": "X"} | record}
                    lines.append(json.dumps(line) + "\n")
            (self.folder / f"{run}.jsonl").write_text("".join(lines))

    def _plan(self):
        runs = [self.folder / f"{run}.jsonl" for run in RUNS]
        return make_plan(load_benchmark(str(self.benchmark)), runs, PlanOptions(number=CHECKED))


def values(out):
    """Id → the fields of its line."""
    lines = (Path(out) / "values.jsonl").read_text().splitlines()
    return {line["id"]: line["fields"] for line in map(json.loads, lines)}
