"""263 real cards and three recorded runs, from a plan to records: each value's origin is confirmed.

What people read is what the published ground truth has. The confirmation reads the files that
people and commands have written, and shares no code with `hdbench trust finish`.
"""

import csv
import json
import shutil
import uuid
from collections import Counter
from xml.sax.saxutils import escape

import pytest
import yaml
from helpers.people_files import add_events
from pymarc import MARCReader, parse_xml_to_array
from real import confirming
from real.confirming import elements, records, text, why_none
from real.confirming import expected as expected_of
from real.confirming import found as found_in
from real.confirming import left as left_of

from hdbench.collections.records.mapping import CARDS
from hdbench.collections.truth.events import Reading, WorkedValue

PEOPLE = "2026-11-27T{hour:02}:00:00.000Z"
RUNS = ("2025-11-25_T0420", "2026-01-24_T0230", "2025-09-30_T0160")
SEED = 1  # with which something is accepted
WORKED, WRONG, LATER = 40, 4, 10

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
        record = {} if record is None else record.get(step)
    return record


def letters(value):
    """What counts of a value when two are compared: not case or spaces, nor text or number."""
    return " ".join(("" if value is None else str(value)).casefold().split())


def add_readings(folder, sealed, stage, values, *, hour, by="anna"):
    """What a person reads: item and field → value."""
    readings = [
        Reading(
            id=uuid.uuid4().hex, plan=sealed, stage=stage, item=item, field=field, by=by,
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
        fields, name, value = states[reading["item"]], reading["field"], reading.get("value")
        origin = "checked"
        if reading["stage"] == "control" and letters(value) != letters(fields[name][1]):
            origin = "corrected"
        fields[name] = (origin, value)
    for line in (folder / "cards/people/ben.jsonl").read_text().splitlines():
        worked = json.loads(line)
        states[worked["item"]][worked["field"]] = ("worked", worked.get("value"))
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

    add_readings(folder, plan["hash"], "learn", read(plan["sample"]), hour=10)
    run("trust", "learn", "./cards", "plan.yaml")
    learned = yaml.safe_load((folder / "learned.yaml").read_text())
    for by in ("anna", "carl"):  # so that all is read again that contradicts the models
        add_readings(folder, plan["hash"], "verify", read(learned["sample"]), hour=11, by=by)
    run("trust", "decide", "./cards", "plan.yaml", "--json", "d.json")
    run("trust", "apply", "./cards", "plan.yaml", "--out", "out")

    control = yaml.safe_load((folder / "out/control.yaml").read_text())
    values = read(control["sample"])
    for pair in list(values)[:WRONG]:  # in which people find another value than was accepted
        values[pair] = "as it stands there"
    add_readings(folder, control["hash"], "control", values, hour=12)
    with (folder / "out/worklist.csv").open(encoding="utf-8-sig") as file:
        doubtful = [(row["id"], row["field"]) for row in csv.DictReader(file)]
    seal = json.loads((folder / "out/applied.json").read_text())["values_sha256"]
    worked = [
        WorkedValue(
            list=seal, id=uuid.uuid4().hex, item=item, field=field, by="ben",
            at=PEOPLE.format(hour=13), value=at(truths[item], field), how="typed",
        )
        for item, field in doubtful[:WORKED]
    ]  # fmt: skip
    later = [
        event.model_copy(update={
            "id": uuid.uuid4().hex, "at": PEOPLE.format(hour=14),
            "value": "VON MÜLLER-LYER" if event.field.startswith("author.") else 0,
        })
        for event in worked[:LATER]
    ]  # fmt: skip
    assert {event.value for event in later} == {"VON MÜLLER-LYER", 0}
    add_events(folder / "cards", [*worked, *later])
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
        if (state[0], text(state[1])) != (expected[item][name][0], text(expected[item][name][1]))
    ]
    assert differing == []
    counts = Counter(origin for fields in found.values() for origin, _ in fields.values())
    assert counts["worked"] == WORKED
    assert counts["corrected"] >= WRONG
    assert counts["checked"] + counts["corrected"] == 300 + 600 + 100
    confirm_new(folder / "out/finished", expected)
    confirm_existing(folder, expected, run)
    confirm_elements_and_columns(folder, expected, run)


def left_out(finished, name):
    """Item → why it has no record, and the other values that are in none."""
    with (finished / name).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    values = {(row["id"], row["field"]) for row in rows if row["id"] and row["field"]}
    return {row["id"]: row["why"] for row in rows if not row["field"]}, values


def confirm_new(finished, expected):
    made = {}
    for record in records(finished / "records.xml"):
        (number,) = (subfields[0][1] for tag, subfields in record if tag == "035")
        made[number.removeprefix("(hdbench)")] = record
    left, values_left = left_out(finished, "not_in_records.xml.csv")
    assert made.keys() | left.keys() == expected.keys()
    assert not made.keys() & left.keys()
    assert len(made) > 100
    assert values_left == {(item, name) for item in made for name in left_of(expected[item])}
    values = 0
    for item, record in made.items():
        wanted, _ = expected_of(expected[item])
        assert found_in(record, wanted) == wanted, item
        values += sum(map(bool, wanted.values()))
    assert values > 300


def confirm_elements_and_columns(folder, expected, run):
    """Dublin Core, and a table whose columns have the same names, of the same items."""
    cards = yaml.load(CARDS.read_text(encoding="utf-8"), yaml.BaseLoader)
    cards["csv"] = cards["dublin-core"]
    (folder / "mapping.yaml").write_text(json.dumps(cards))
    for form in ("dublin-core", "csv"):
        command = ("trust", "finish", "./cards", "out", "-o", form, "--format", form)
        run(*command, "--mapping", "mapping.yaml")
    with (folder / "csv/records.csv").open(encoding="utf-8-sig", newline="") as file:
        columns = {row["identifier"]: row for row in csv.DictReader(file)}
    made = dict(elements(folder / "dublin-core/records.dc.xml"))
    without = {item for item, states in expected.items() if why_none(states)}
    assert list(made) == list(columns) == [item for item in expected if item not in without]
    left = left_out(folder / "dublin-core", "not_in_records.dc.xml.csv")
    assert left == left_out(folder / "csv", "not_in_records.csv")
    assert left[0].keys() == without
    assert left[1] == {(item, name) for item in made for name in left_of(expected[item])}
    for item, found in made.items():
        _, wanted = expected_of(expected[item])
        assert {name: found.get(name, "") for name in wanted} == wanted, item
        assert {name: confirming.letters(columns[item][name]) for name in wanted} == wanted, item


def confirm_existing(folder, expected, run):
    """Half of the records have a title of their own, all have a note; five cards have none."""
    items = list(expected)[:-5]
    own = "".join(
        f"<record><leader>00000cam a2200000 c 4500</leader><controlfield tag='001'>{escape(item)}"
        "</controlfield>"
        + (
            "<datafield tag='245' ind1='1' ind2='0'><subfield code='a'>Eigener</subfield>"
            "</datafield>" * (number % 2)
        )
        + "<datafield tag='500' ind1=' ' ind2=' '><subfield code='a'>Notiz 0</subfield>"
        "</datafield></record>"
        for number, item in enumerate([*items, "no card"])
    )
    xml = f"<collection xmlns='http://www.loc.gov/MARC21/slim'>{own}</collection>"
    (folder / "own.xml").write_text(xml)
    command = ("trust", "finish", "./cards", "out", "-o", "into", "--format", "marcxml")
    run(*command, "--records", "own.xml")
    with (folder / "into/changed_fields.csv").open(encoding="utf-8-sig", newline="") as file:
        changed = {(row["id"], row["field"]) for row in csv.DictReader(file)}
    left, _ = left_out(folder / "into", "not_in_records.xml.csv")
    assert set(list(expected)[-5:]) == {item for item in left if "no record has" in left[item]}
    assert left.keys() - {*list(expected)[-5:], ""} == {i for i in items if why_none(expected[i])}
    there = list(records(folder / "into/records.xml"))
    assert [dict(record)["001"] for record in there] == [*items, "no card"]
    confirmed_tags = set()
    for number, (item, record) in enumerate(zip([*items, "no card"], there, strict=True)):
        assert [part for tag, part in record if tag == "500"] == [[("a", "Notiz 0")]]
        wanted = dict.fromkeys(("100", "245", "264", "653", "852"), "")
        if item not in left and item in expected:
            wanted, _ = expected_of(expected[item])
        if number % 2:
            wanted["245"] = "Eigener"
        assert found_in(record, wanted) == wanted, item
        tags = {tag for tag in wanted if wanted[tag]} - ({"245"} if number % 2 else set())
        assert tags == {tag for each, tag in changed if each == item and tag in wanted}
        links = {
            part for tag, parts in record if tag == "883" for code, part in parts if code == "8"
        }
        for tag, parts in record:
            if tag in tags:
                assert {part for code, part in parts if code == "8"} & links, (item, tag)
        confirmed_tags |= tags
    assert confirmed_tags == set(wanted)

    with (folder / "own.mrc").open("wb") as file:
        for record in parse_xml_to_array(str(folder / "own.xml")):
            file.write(record.as_marc())
    run(*command[:5], "binary", *command[6:], "--records", "own.mrc")
    with (folder / "binary/records.mrc").open("rb") as file:
        binary = [record.as_dict()["fields"] for record in MARCReader(file)]
    again = parse_xml_to_array(str(folder / "into/records.xml"))
    assert binary == [record.as_dict()["fields"] for record in again]
