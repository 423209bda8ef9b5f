"""A small collection with three runs, and a plan whose values people have read.

The runs say the same of nearly all items, and are right, but have a wrong shelfmark everywhere, of
which nothing is accepted.
"""

import json
import shutil
import uuid
from pathlib import Path

from helpers.contradicted import contradicted
from helpers.people_files import add_events

from hdbench.benchmarks.benchmark import LEDGER, PEOPLE, load_benchmark
from hdbench.collections.trust.acceptance import apply
from hdbench.collections.trust.control import read_control
from hdbench.collections.trust.decision import decide
from hdbench.collections.trust.learning import learn_once, learned_file
from hdbench.collections.trust.plan import PlanOptions, make_plan, write_plan
from hdbench.collections.truth.events import Reading

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
OPTIONS = {"learn": 80, "verify": 80, "limit": 0.1}


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
    """The collection, its runs and its plan; what the plan asks for is read.

    Args:
        folder: where all is written.
        number: how many items it has.
        given: what the three runs say of an item, by its number; None for no answer. None of its
            values is read for the plan.
        ids: what to call an item, by its number.
    """

    def __init__(self, folder, number=300, given=None, ids="c{:04}".format):
        self.folder = folder
        self.ids = [ids(place) for place in range(number)]
        self.numbers = {item: f"c{place}" for place, item in enumerate(self.ids)}
        self.path = folder / "hdb/cards"
        self.path.mkdir(parents=True)
        (self.path / "benchmark.yaml").write_text(json.dumps(SPEC))  # JSON is YAML
        (self.path / "answer.schema.json").write_text(json.dumps(SCHEMA))
        self.write_truths({})
        said = {self.ids[place]: values for place, values in (given or {}).items()}
        self._write_runs(said)
        self.plan_file, self.out = folder / "plan.yaml", folder / "out"
        for seed in range(100):
            self._plan(seed)
            if not {item for item, _ in self.read} & said.keys():
                break
        else:
            raise AssertionError("there is always some value of these items that is read")
        self.rest = [item for item in self.ids if item not in {item for item, _ in self.read}]

    @property
    def benchmark(self):
        return load_benchmark(str(self.path))

    def truth(self, item):
        return truth(self.numbers[item])

    def write_truths(self, truths, provenance="blind"):
        rows = []
        for item in self.ids:
            known = json.dumps(truths[item]) if item in truths else None
            row = {"file_name": "images/card.png", "id": item, "ground_truth": known}
            rows.append(json.dumps(row | ({"provenance": provenance} if known else {})) + "\n")
        (self.path / "metadata.jsonl").write_text("".join(rows))

    def read_as(self, sealed, stage, values, by="anna", **changed):
        """Let somebody read what is right, or else what is `changed`."""
        lines = []
        for item, field in values:
            reading = Reading(
                id=uuid.uuid4().hex,
                plan=sealed.hash(),
                stage=stage,
                item=item,
                field=field,
                by=by,
                at="2026-11-27T10:00:00.000Z",
                what="value",
                value=value_of(self.truth(item) | changed, field),
            )
            lines.append(reading)
        add_events(self.path, lines)

    def decide(self):
        return decide(self.plan, self.benchmark, self.plan_file)

    def apply(self, out="out", control=20):
        out = self.folder / out
        return apply(self.plan, self.benchmark, self.plan_file, out, control=control)

    def control(self):
        return read_control(self.out / "control.yaml")

    def _plan(self, seed):
        for path in (self.plan_file, learned_file(self.plan_file), self.path / LEDGER):
            path.unlink(missing_ok=True)
        shutil.rmtree(self.path / PEOPLE, ignore_errors=True)
        runs = [self.folder / f"{run}.jsonl" for run in RUNS]
        self.plan = make_plan(self.benchmark, runs, PlanOptions(**OPTIONS, seed=seed))
        write_plan(self.plan_file, self.plan, self.path)
        self.read_as(self.plan, "learn", self.plan.sample)
        self.learned = learn_once(self.plan, self.benchmark, self.plan_file)
        self.read_as(self.plan, "verify", self.learned.sample)
        self.read_as(self.plan, "verify", contradicted(self.path, self.plan_file), by="ben")
        self.read = {*self.plan.sample, *self.learned.sample}

    def _write_runs(self, said):
        for place, run in enumerate(RUNS):
            lines = []
            for item in self.ids:
                record = said.get(item, [self.truth(item) | {"shelfmark": "X"}] * 3)[place]
                if record is not None:
                    line = {"id": item, "seconds": place, "prediction": {"shelfmark": "X"} | record}
                    lines.append(json.dumps(line) + "\n")
            (self.folder / f"{run}.jsonl").write_text("".join(lines))


def value_of(record, name):
    for step in name.split("."):
        record = record[step]
    return record


def values(out):
    """Id → the fields of its line."""
    lines = (Path(out) / "values.jsonl").read_text().splitlines()
    return {line["id"]: line["fields"] for line in map(json.loads, lines)}
