"""Which values are open: the records, the page and the counts say the same."""

import json
import random
import uuid
from contextlib import closing

import pytest
from helpers.people_files import add_events
from helpers.planned_cards import RIGHT
from helpers.planned_values import PlannedValues

from hdbench.collections.trust.control import read_control
from hdbench.collections.trust.delivery import finish
from hdbench.collections.trust.folder import read_applied
from hdbench.collections.trust.origins import doubtful_values
from hdbench.collections.trust.work_list import AppliedWorkList
from hdbench.collections.truth.events import ValueKey, WorkedValue

pytestmark = pytest.mark.nightly


class Moments(PlannedValues):
    """A decision that is applied, and what people do then, remembered in the simplest way."""

    def __init__(self, folder):
        super().__init__(folder)
        self.decided()
        self.apply()
        lines = map(json.loads, (self.out / "values.jsonl").read_text().splitlines())
        self.decisions = {
            ValueKey(line["id"], name): value["decision"]
            for line in lines
            for name, value in line["fields"].items()
        }
        self.listed = {key for key, decision in self.decisions.items() if decision == "check"}
        self.control_file = read_control(self.out / "control.yaml")
        self.known, self.worked, self.readings = set(), {}, {}
        self.later = 0

    def enter(self, draw):
        item = draw.choice([*self.ids, *(key.item for key in self.listed)])
        self.known.add(item)
        self.check([item])

    def take_back(self, draw):
        if self.known:
            item = draw.choice(sorted(self.known))
            self.known.remove(item)
            for row in self.rows:
                if row["id"] == item:
                    row["ground_truth"] = None
            self.write()

    def read_control(self, draw):
        key = draw.choice(self.control_file.values)
        by = f"reader{len(self.readings.get(key, []))}"
        is_right = draw.random() < 0.5
        self.readings.setdefault(key, []).append(is_right)
        truth = {} if is_right else {"title": "another", "place": "another", "year": 1}
        self.read([key], self.control_file, "control", by=by, **truth)

    def work_off(self, draw):
        key = draw.choice(sorted(self.listed))
        self._decide(key, how="typed", value=RIGHT[key.field])
        self.worked[key] = self.last

    def _decide(self, key, **made):
        self.later += 1
        self.last = uuid.UUID(int=self.later).hex
        at = f"2026-11-27T10:{self.later:02}:00.000Z"
        line = {"list": read_applied(self.out).values_sha256, "id": self.last, **key._asdict()}
        add_events(self.path, [WorkedValue(**line, by="ben", at=at, **made)])

    def is_doubted(self, key):
        first, second, *further = [*self.readings.get(key, []), None, None]
        return second is not None and first != second and not any(v is not None for v in further)

    def left(self):
        """The values of the work list that nobody has decided or entered."""
        return {key for key in self.listed if key.item not in self.known and key not in self.worked}

    def open(self):
        """All values that are open: those, and the accepted ones of which readers differ."""
        doubted = {key for key in self.readings if self.is_doubted(key)}
        return self.left() | {key for key in doubted if key.item not in self.known}


def asked(cards):
    """The values that the page of the work list has."""
    with closing(AppliedWorkList(cards.out / "worklist.csv", cards.path)) as work_list:
        return {
            ValueKey(item, name) for item in work_list.items for name in work_list.doubtful(item)
        }


@pytest.mark.parametrize("seed", range(3))
def test_all_agree_at_every_moment_on_what_is_open(tmp_path, seed):
    cards, draw = Moments(tmp_path), random.Random(seed)
    steps = [cards.enter, cards.take_back, cards.read_control, cards.work_off]
    for _ in range(15):
        draw.choice(steps)(draw)
        finished, _ = finish(cards.out, cards.benchmark, tmp_path / "finished")
        lines = map(json.loads, (tmp_path / "finished/records.jsonl").read_text().splitlines())
        opened = {
            ValueKey(line["id"], name)
            for line in lines
            for name, value in line["fields"].items()
            if value["origin"] == "open"
        }
        assert opened == cards.open()
        assert (finished.counts.of("open"), finished.counts.listed) == (
            len(opened),
            len(cards.left()),
        )
        doubtful = set(doubtful_values(cards.out, cards.benchmark))
        assert doubtful - cards.worked.keys() == cards.left()
        assert asked(cards) == doubtful
