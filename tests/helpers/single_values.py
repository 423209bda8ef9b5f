"""Decisions by single values: one made by hand, and a catalogue in which values are read."""

import json
from uuid import uuid4

from helpers.contradicted import contradicted
from helpers.invented_cards import MODELS, InventedCards
from helpers.people_files import add_events
from helpers.run_folders import SPEC, write_run
from PIL import Image

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.trust.decision import decide
from hdbench.collections.trust.decision_file import Decision
from hdbench.collections.trust.learning import learn_once
from hdbench.collections.trust.plan import PlanOptions, make_plan, read_plan, write_plan
from hdbench.collections.truth.events import Reading

STAGE = {
    "values": 300,
    "unreadable": 0,
    "damaged": 0,
    "unsettled": 0,
    "readers": {"anna": 270, "ben": 30},
    "twice": 30,
    "same": 29,
    "seconds": 8.0,
}
CUT = {
    "probability": 50_000_000,
    "values": 1_200,
    "unread": 1_100,
    "read": 400,
    "wrong": {"letter": 6, "threshold": 1},
    "upper": 0.028,
    "accepted": True,
}
FIELD = {"values": 1_000, "accepted": 350, "read": 200, "wrong": 3, "upper": 0.04}
DECISION = {
    "decision": 1,
    "hdbench": "0.3.0",
    "plan": "a" * 64,
    "learned": "b" * 64,
    "plan_file": "plan.yaml",
    "created": "2026-11-27T10:00:00+00:00",
    "decided": "2026-11-27T12:00:00+00:00",
    "benchmark": "hdb/cards",
    "benchmark_version": "1.0.0",
    "items": 1_000,
    "unanswered": 0,
    "values": 2_000,
    "runs": ["heron", "otter"],
    "limit": 0.05,
    "confidence": 0.9,
    "tries": 1,
    "right": "letter",
    "case": "counts",
    "seed": 0,
    "plans": 1,
    "each_field": False,
    "source": None,
    "learned_from": 300,
    "learned_wrong": 45,
    "first": STAGE,
    "second": STAGE | {"values": 600, "twice": 60, "same": 58, "seconds": 9.0},
    "readings_sha256": "c" * 64,
    "groups": [{"fields": ["title", "year"], "cuts": [CUT], "cut": 50_000_000}],
    "accepted": 700,
    "read": 900,
    "to_look_at": {"values": 400, "wrong": 0.25},
    "wrong": {
        "letter": {"count": 6, "rate": 0.015, "expected": 11, "at_most": 20},
        "threshold": {"count": 1, "rate": 0.0025, "expected": 2, "at_most": 7},
    },
    "by_field": {
        "title": FIELD | {"promised": False},
        "year": FIELD | {"promised": False},
    },
    "examples": [
        {"item": "0007", "field": "year", "value": "1924", "truth": "1942", "outcome": "value"},
        {"item": "0008", "field": "title", "value": "", "truth": "Else", "outcome": "value"},
        {"item": "0009", "field": "title", "value": "Ida", "truth": None, "outcome": "unreadable"},
    ],
    "expected": {"values": 2_000, "wrong": 0.15},
    "expected_by_field": {
        "title": {"values": 1_000, "wrong": 0.2},
        "year": {"values": 1_000, "wrong": 0.1},
    },
    "warnings": [],
}
"""Of 2,000 values 700 are accepted, 900 are read, and 400 are left to look at."""

FAILED = CUT | {"wrong": {"letter": 16, "threshold": 9}, "upper": 0.056, "accepted": False}
NOTHING = {
    "groups": [{"fields": ["title", "year"], "cuts": [FAILED], "cut": None}],
    "accepted": 0,
    "to_look_at": {"values": 1_100, "wrong": 0.2},
    "wrong": {},
    "by_field": {},
    "examples": [],
}
"""Of 400 values 16 are wrong: 4 %, but the bound is above 5 %."""


def made(**changes):
    """The decision by hand, with some of its parts changed."""
    return Decision.model_validate_json(json.dumps(DECISION | changes))


class ReadCatalogue:
    """Invented cards with images and the answers of three models, and a plan of single values.

    Args:
        folder: where all is written; the plan is `plan.yaml` in it, the benchmark `hdb/cards`.
        cards: how many there are.
        options: of the plan.
    """

    def __init__(self, folder, cards=800, **options):
        self.folder, self.path = folder, folder / "hdb/cards"
        self.cards = InventedCards(cards)
        (self.path / "images").mkdir(parents=True)
        Image.new("RGB", (60, 40), "beige").save(self.path / "images/card.png")
        text = {"type": "string"}
        fields = next(iter(self.cards.truths.values()))
        schema = {"type": "object", "properties": dict.fromkeys(fields, text)}
        (self.path / "benchmark.yaml").write_text(json.dumps(SPEC | {"media": "image"}))
        (self.path / "answer.schema.json").write_text(json.dumps(schema))
        rows = [
            {"id": item, "file_name": "images/card.png", "ground_truth": None}
            for item in self.cards.truths
        ]
        lines = [json.dumps(row) + "\n" for row in rows]
        (self.path / "metadata.jsonl").write_text("".join(lines))
        self.runs = [
            write_run(
                folder / model,
                {item: {"prediction": said} for item, said in self.cards.answers[model].items()},
                model=model,
            )
            for model in MODELS
        ]
        self.plan_file = folder / "plan.yaml"
        if options:
            plan = make_plan(self.benchmark, self.runs, PlanOptions(**options))
            write_plan(self.plan_file, plan, self.path)

    @property
    def benchmark(self):
        return load_benchmark(str(self.path))

    def read(self, values, sealed, stage, people=("anna", "ben")):
        """Have people read values as they stand on the cards: the first all, others a tenth."""
        lines = []
        for number, (item, field) in enumerate(values):
            for person in people if number % 10 == 0 else people[:1]:
                line = Reading(
                    id=uuid4().hex,
                    plan=sealed.hash(),
                    stage=stage,
                    item=item,
                    field=field,
                    by=person,
                    at="2026-11-27T10:00:00.000Z",
                    what="value",
                    value=self.cards.truths[item][field],
                    seconds=9.0,
                )
                lines.append(line)
        add_events(self.path, lines)

    def read_first(self):
        plan = read_plan(self.plan_file)
        self.read(plan.first_stage, plan, "learn")

    def read_second(self):
        plan = read_plan(self.plan_file)
        learned = learn_once(plan, self.benchmark, self.plan_file)
        self.read(learned.second_stage, plan, "verify")
        again = contradicted(self.path, self.plan_file)
        self.read(again, plan, "verify", ["carla"])

    def decide(self):
        plan = read_plan(self.plan_file)
        return decide(plan, self.benchmark, self.plan_file)
