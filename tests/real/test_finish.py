"""263 real cards and three recorded runs, from a plan to records: each value's origin is confirmed.

What people read is what the published ground truth has. The confirmation reads the files that
people and commands have written, and shares no code with `hdbench trust finish`.
"""

import csv
import json
import shutil
import uuid
from collections import Counter

import pytest
import yaml
from helpers.people_files import add_events

from hdbench.annotating.events import Reading, WorkedValue

PEOPLE = "2026-11-27T{hour:02}:00:00.000Z"
RUNS = ("2025-11-25_T0420", "2026-01-24_T0230", "2025-09-30_T0160")
SEED = 1  # with which something is accepted
WORKED, WRONG = 40, 4

pytestmark = pytest.mark.nightly


@pytest.fixture
def folder(tmp_path, published):
    """The cards without their truths, and the truths by item."""
    shutil.copytree(published.folder / "hdb/zettelkatalog", tmp_path / "cards")
    for name in RUNS:
        run = published.folder / "hdb/results/zettelkatalog" / name
        shutil.copytree(run, tmp_path / "runs" / name)
    metadata = tmp_path / "cards/metadata.jsonl"
    rows = [json.loads(line) for line in metadata.read_text().splitlines()]
    truths = {row["id"]: json.loads(row["ground_truth"]) for row in rows}
    without = [
        {name: None if name.startswith("ground_truth") else value for name, value in row.items()}
        for row in rows
    ]
    metadata.write_text("".join(json.dumps(row) + "\n" for row in without))
    return tmp_path, truths


def at(record, path):
    for step in path.split("."):
        record = (record or {}).get(step)
    return record or None


def letters(value):
    """What counts of a value when two are compared: not case or spaces, nor text or number."""
    return " ".join(str(value or "").casefold().split())


def add_readings(folder, sealed, stage, values, hour):
    """What a person reads: item and field → value."""
    readings = [
        Reading(
            id=uuid.uuid4().hex, plan=sealed, stage=stage, item=item, field=field, by="anna",
            at=PEOPLE.format(hour=hour), what="value", value=value, seconds=9.0,
        )
        for (item, field), value in values.items()
    ]  # fmt: skip
    add_events(folder / "cards", readings)


def confirmed(folder, plan):
    """Item → field → origin and value, from the files of people and of `trust apply` alone."""
    states = {}
    for line in (folder / "out/values.jsonl").read_text().splitlines():
        row = json.loads(line)
        states[row["id"]] = {
            name: ("accepted" if value["decision"] == "taken" else "open", value["value"])
            for name, value in row["fields"].items()
        }
    for line in (folder / "cards/people/anna.jsonl").read_text().splitlines():
        reading = json.loads(line)
        fields, name, value = states[reading["item"]], reading["field"], reading["value"]
        origin = "checked"
        if reading["stage"] == "control" and letters(value) != letters(fields[name][1]):
            origin = "corrected"
        fields[name] = (origin, value)
    for line in (folder / "cards/people/ben.jsonl").read_text().splitlines():
        worked = json.loads(line)
        states[worked["item"]][worked["field"]] = ("worked", worked["value"])
    assert all(set(fields) == set(plan["fields"]) for fields in states.values())
    return states


def test_each_of_263_cards_has_each_value_with_its_origin(folder, run_hdbench):
    folder, truths = folder

    def run(*arguments):
        done = run_hdbench(*arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    runs = [f"runs/{name}" for name in RUNS]
    run("trust", "plan", "./cards", *runs, "--seed", str(SEED))
    plan = yaml.safe_load((folder / "plan.yaml").read_text())

    def read(pairs):
        return {(item, field): at(truths[item], field) for item, field in pairs}

    add_readings(folder, plan["hash"], "learn", read(plan["sample"]), 10)
    run("trust", "learn", "./cards", "plan.yaml")
    learned = yaml.safe_load((folder / "learned.yaml").read_text())
    add_readings(folder, plan["hash"], "verify", read(learned["sample"]), 11)
    run("trust", "decide", "./cards", "plan.yaml", "--json", "d.json")
    run("trust", "apply", "./cards", "plan.yaml", "--out", "out")

    control = yaml.safe_load((folder / "out/control.yaml").read_text())
    values = read(control["sample"])
    for pair in list(values)[:WRONG]:  # in which people find another value than was accepted
        values[pair] = "as it stands there"
    add_readings(folder, control["hash"], "control", values, 12)
    with (folder / "out/worklist.csv").open(encoding="utf-8-sig") as file:
        doubtful = [(row["id"], row["field"]) for row in csv.DictReader(file)]
    seal = json.loads((folder / "out/applied.json").read_text())["values_sha256"]
    worked = [
        WorkedValue(
            list=seal, id=uuid.uuid4().hex, item=item, field=field, by="ben",
            at=PEOPLE.format(hour=13), what="value", value=at(truths[item], field), how="typed",
        )
        for item, field in doubtful[:WORKED]
    ]  # fmt: skip
    add_events(folder / "cards", worked)
    run("trust", "finish", "./cards", "out", "--format", "marcxml")

    expected = confirmed(folder, plan)
    lines = (folder / "out/finished/records.jsonl").read_text().splitlines()
    found = {
        line["id"]: {
            name: (state["origin"], state["value"]) for name, state in line["fields"].items()
        }
        for line in map(json.loads, lines)
    }
    assert len(found) == 263
    differing = [
        (item, name, expected[item][name], state)
        for item, fields in found.items()
        for name, state in fields.items()
        if (state[0], state[1] or None)
        != (expected[item][name][0], expected[item][name][1] or None)
    ]
    assert differing == []
    counts = Counter(origin for fields in found.values() for origin, _ in fields.values())
    assert counts["worked"] == WORKED
    assert counts["corrected"] >= WRONG
    assert counts["checked"] + counts["corrected"] == 300 + 600 + 100
    assert (folder / "out/finished/records.xml").read_text().count("<leader>") > 100
