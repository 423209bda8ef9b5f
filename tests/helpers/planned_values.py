"""A catalogue with a plan of single values, and people who read what is there."""

import json
import uuid

from helpers.contradicted import contradicted
from helpers.people_files import add_events
from helpers.planned_cards import RIGHT, Catalogue

from hdbench.collections.trust.acceptance import apply
from hdbench.collections.trust.control import check_control, read_control
from hdbench.collections.trust.decision import decide
from hdbench.collections.trust.fields import value_of
from hdbench.collections.trust.learning import learn_once, open_verification, read_learned
from hdbench.collections.trust.plan import PlanOptions, make_plan, read_plan, write_plan
from hdbench.collections.trust.runs import fields_called
from hdbench.collections.truth.events import Reading
from hdbench.common.jsonio import write_json

WRONG = {"year": 1900}


class PlannedValues(Catalogue):
    """Cards with three fields and a plan beside them, whose runs say the same of most.

    Every fourth year is wrong in the first two runs, and the third one says something else.

    Args:
        folder: where it is written.
        items: how many items it has.
    """

    def __init__(self, folder, items=300):
        super().__init__(folder, items)
        for name in ("a", "b", "c"):
            self.run(name, lambda number, name=name: self.said(number, name))
        self.plan_file = folder / "values/plan.yaml"
        self.plan_file.parent.mkdir()
        self.decision_file = folder / "decision.json"
        self.out = folder / "out"

    @staticmethod
    def said(number, run):
        if number % 4:
            return RIGHT
        return RIGHT | ({"year": 1911} if run == "c" else WRONG)

    def plan(self, number=60, verify=150, **options):
        options = PlanOptions(learn=number, verify=verify, **options)
        plan = make_plan(self.benchmark, self.runs, options)
        write_plan(self.plan_file, plan, self.path)
        return plan

    @property
    def readings_file(self):
        return self.path / "people" / "anna.jsonl"

    def read(self, values, plan, stage, by="anna", what="value", **truth):
        """Let somebody read values: what is right, or `truth` instead."""
        fields = {
            field.path: field for field in fields_called(("title", "place", "year"), self.benchmark)
        }
        lines = []
        for key in values:
            reading = Reading(
                id=uuid.uuid4().hex,
                plan=plan.hash(),
                stage=stage,
                item=key.item,
                field=key.field,
                by=by,
                at="2026-11-27T10:00:00.000Z",
                what=what,
                value=None if what != "value" else value_of(RIGHT | truth, fields[key.field]),
            )
            lines.append(reading)
        add_events(self.path, lines)

    def planned(self):
        return read_plan(self.plan_file)

    def learned(self):
        return read_learned(self.planned(), self.plan_file)

    def learn_only(self):
        return learn_once(self.planned(), self.benchmark, self.plan_file)

    def learn(self):
        plan = self.planned()
        self.read(plan.first_stage, plan, "learn")
        return self.learn_only()

    def verify(self, **truth):
        plan, learned = self.planned(), self.learned()
        open_verification(plan, learned, self.benchmark, self.plan_file)  # as its page does
        self.read(learned.second_stage, plan, "verify", **truth)
        self.read_again(**truth)

    def read_again(self, **truth):
        """Let somebody else read what contradicts the runs."""
        again = contradicted(self.path, self.plan_file)
        self.read(again, self.planned(), "verify", by="ben", **truth)

    def decide(self):
        return decide(self.planned(), self.benchmark, self.plan_file)

    def decided(self):
        """Plan, learn, verify and decide; the decision is written."""
        self.plan()
        self.learn()
        self.verify()
        decision = self.decide()
        write_json(self.decision_file, decision.model_dump(mode="json"))
        return decision

    def apply(self, control=40):
        return apply(self.planned(), self.benchmark, self.plan_file, self.out, control=control)

    def control(self):
        """Let somebody read the control sample, and say what was found."""
        sample = read_control(self.out / "control.yaml")
        self.read(sample.values, sample, "control")
        return check_control(self.out, self.benchmark)

    def taken(self):
        """Item and field → the value that is accepted."""
        lines = map(json.loads, (self.out / "values.jsonl").read_text().splitlines())
        return {
            (line["id"], name): value["value"]
            for line in lines
            for name, value in line["fields"].items()
            if value["decision"] == "taken"
        }
