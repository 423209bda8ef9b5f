"""A plan by which nothing can be accepted: what people read is delivered all the same."""

import csv
import json
import shutil

import pytest
from helpers.people_files import add_events, readings_in
from helpers.planned_values import PlannedValues

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.trust.blind_reading import values_to_read
from hdbench.collections.trust.control import check_control
from hdbench.collections.trust.delivery import finish
from hdbench.collections.trust.folder import read_applied
from hdbench.collections.truth.events import WorkedValue
from hdbench.errors import HdbenchError

OTHER = {"title": "Thesen", "place": "Bern", "year": 1999}
"""What people read where the runs say something else."""


@pytest.fixture
def cards(tmp_path):
    """300 cards with 210 of 900 values read; whatever the models agree on is wrong."""
    made = PlannedValues(tmp_path)
    made.plan()
    made.learn()
    made.verify(**OTHER)
    return made


def read_by_people(cards):
    lines = map(json.loads, cards.readings_file.read_text().splitlines())
    return {(line["item"], line["field"]): line["value"] for line in lines}


def said_by_most(cards, item, field):
    """What at least two of the three runs say."""
    said = [cards.said(int(item), run)[field] for run in ("a", "b", "c")]
    return next(value for value in said if said.count(value) > 1)


def delivered(folder):
    """Item and field → the value and its origin."""
    lines = map(json.loads, (folder / "records.jsonl").read_text().splitlines())
    return {
        (line["id"], name): (value["value"], value["origin"])
        for line in lines
        for name, value in line["fields"].items()
    }


def test_what_people_read_and_worked_off_is_delivered(cards, tmp_path):
    read = read_by_people(cards)
    values = {(item, field) for item in cards.ids for field in OTHER}
    left = sorted(values - set(read))

    applied = cards.apply()

    assert cards.decide().accepted == applied.taken == 0
    assert (applied.checked, sum(applied.check.values())) == (210, 690)
    with (cards.out / "worklist.csv").open(encoding="utf-8-sig", newline="") as file:
        assert sorted((row["id"], row["field"]) for row in csv.DictReader(file)) == left

    worked = {key: OTHER[key[1]] for key in left[::100]}
    seal = read_applied(cards.out).values_sha256
    decisions = [
        WorkedValue(
            list=seal,
            id=f"{number:032x}",
            item=item,
            field=field,
            by="ben",
            at="2026-11-27T12:00:00.000Z",
            how="typed",
            value=value,
        )
        for number, ((item, field), value) in enumerate(worked.items())
    ]
    add_events(cards.path, decisions)
    finished, _ = finish(cards.out, cards.benchmark, tmp_path / "finished")

    still_open = values - set(read) - set(worked)
    assert delivered(tmp_path / "finished") == (
        {key: (value, "checked") for key, value in read.items()}
        | {key: (value, "worked") for key, value in worked.items()}
        | {key: (said_by_most(cards, *key), "open") for key in still_open}
    )
    assert (finished.records, finished.counts.of("open")) == (300, 683)
    assert cards.apply() == applied


def test_there_is_nothing_to_control(cards):
    cards.apply()
    control = cards.out / "control.yaml"
    with pytest.raises(HdbenchError, match="no value was accepted, so there is nothing to control"):
        check_control(cards.out, load_benchmark(str(cards.path)))
    with pytest.raises(HdbenchError, match="no value was accepted, so there is nothing to control"):
        values_to_read(control, cards.path)


def test_unread_values_are_still_refused(cards):
    readings = readings_in(cards.path)
    shutil.rmtree(cards.path / "people")
    add_events(cards.path, readings[:-1])
    with pytest.raises(HdbenchError, match="1 of 150 values have to be read once more"):
        cards.apply()
    assert not cards.out.exists()
