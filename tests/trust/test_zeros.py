"""0 is a value: what models and people read as 0 stays so, through every file."""

import json

from helpers.planned_cards import RIGHT
from helpers.planned_values import PlannedValues

from hdbench.collections.trust.delivery import finish

ZERO = {"year": 0}


class Zeros(PlannedValues):
    """Cards on all of which the year is 0; the first two runs say nothing of every fourth."""

    @staticmethod
    def said(number, run):
        return RIGHT | (ZERO if number % 4 or run == "c" else {"year": None})


def test_zeros_come_through(tmp_path):
    cards = Zeros(tmp_path)
    cards.plan()
    plan = cards.planned()
    cards.read(plan.first_stage, plan, "learn", **ZERO)
    cards.learn_only()
    cards.verify(**ZERO)
    assert cards.decide().wrong["letter"].count == 0
    assert cards.apply().taken
    finish(cards.out, cards.benchmark, cards.folder / "finished")

    read = {*plan.first_stage, *cards.learned().second_stage}
    lines = (cards.folder / "finished/records.jsonl").read_text().splitlines()
    states = {line["id"]: line["fields"]["year"] for line in map(json.loads, lines)}
    for item, state in states.items():
        if (item, "year") in read:
            assert state == {"origin": "checked", "value": 0}
        elif state["origin"] == "accepted":
            assert state["value"] == 0
    assert {"checked", "accepted"} <= {state["origin"] for state in states.values()}
    assert all(
        type(state["value"]) is int for state in states.values() if state["value"] is not None
    )
