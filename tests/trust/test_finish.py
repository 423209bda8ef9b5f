"""The whole collection: every value with its origin, delivered again and again."""

import csv
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

import pytest
from helpers.forks import Forks
from helpers.people_files import add_events
from helpers.planned_values import PlannedValues
from openpyxl import load_workbook
from pymarc import Field, Indicators, MARCReader, Record, Subfield
from trust.collection import Collection, value_of, values

from hdbench.collections.records.forms import writer_of
from hdbench.collections.trust.control import read_control
from hdbench.collections.trust.delivery import finish
from hdbench.collections.trust.folder import read_applied
from hdbench.collections.trust.seals import write_sealed
from hdbench.collections.truth.events import Change, WorkedValue
from hdbench.common import progress
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.slow


@pytest.fixture
def collection(tmp_path):
    said = {0: [{"title": "aa", "year": 1}, {"title": "bb", "year": 2}, {"title": "cc", "year": 3}]}
    made = Collection(tmp_path, given=said | {1: [None, None, None]})
    made.apply()
    return made


def finished(collection):
    benchmark = collection.benchmark
    return finish(collection.folder / "out", benchmark, collection.folder / "out/finished")[0]


def records(collection):
    lines = (collection.folder / "out/finished/records.jsonl").read_text().splitlines()
    return {line["id"]: line["fields"] for line in map(json.loads, lines)}


def work_off(collection, item, field, value, *, minute=0, **how):
    worked = {
        "id": uuid.uuid4().hex,
        "item": item,
        "field": field,
        "by": "ben",
        "at": f"2026-11-27T10:{minute:02}:00.000Z",
        "how": "typed",
        "value": value,
    }
    seal = read_applied(collection.folder / "out").values_sha256
    add_events(collection.path, [WorkedValue(list=seal, **worked | how)])


def test_every_value_of_every_item_has_its_origin(collection):
    applied, control = values(collection.out), collection.control()
    first, *others = control.sample
    collection.read_as(control, "control", [first], title="?", year=1, imprint={"place": "?"},
                       keywords=["?"])  # fmt: skip
    collection.read_as(control, "control", others)
    silent, torn = "c0001", collection.rest[-1]
    work_off(collection, torn, "shelfmark", "S 9")
    work_off(collection, silent, "year", None)

    said = finished(collection)
    found = records(collection)

    assert list(found) == collection.ids
    origins = {}
    for item, fields in found.items():
        for name, state in fields.items():
            right = value_of(collection.truth(item), name)
            if (item, name) == first:
                expected = (
                    "corrected",
                    ["?"] if name == "keywords" else 1 if name == "year" else "?",
                )
            elif (item, name) == (torn, "shelfmark"):
                expected = ("worked", "S 9")
            elif (item, name) == (silent, "year"):
                expected = ("worked", None)
            elif (item, name) in {*collection.read, *others}:
                expected = ("checked", right)
            else:
                is_taken = applied[item][name]["decision"] == "taken"
                expected = ("accepted" if is_taken else "open", applied[item][name]["value"])
            assert (state["origin"], state["value"]) == expected, (item, name)
            origins[state["origin"]] = origins.get(state["origin"], 0) + 1
    assert {origin: said.counts.of(origin) for origin in origins} == origins
    assert origins["corrected"] == 1
    complete = [
        all(state["origin"] != "open" for state in each.values()) for each in found.values()
    ]
    assert said.counts.complete == sum(complete)


def test_a_person_wins_and_the_later_one_over_the_earlier(collection):
    torn = collection.rest[0]
    work_off(collection, torn, "shelfmark", "first", minute=1)
    work_off(collection, torn, "shelfmark", "second", minute=5, by="anna")
    work_off(collection, torn, "keywords", ["Recht"], minute=2)  # was accepted
    finished(collection)
    state = records(collection)[torn]
    assert state["shelfmark"] == {"origin": "worked", "value": "second"}
    assert state["keywords"] == {"origin": "worked", "value": ["Recht"]}


def test_what_readers_doubt_is_no_longer_accepted(tmp_path, run_hdbench):
    cards = PlannedValues(tmp_path)
    cards.decided()
    cards.apply()
    control = read_control(cards.out / "control.yaml")
    first, second, third, *_ = control.values
    another = {"title": "another", "place": "another", "year": 1}
    cards.read([first, second], control, "control", **another)
    cards.read([first], control, "control", by="ben")  # one says so, the other that
    cards.read([third], control, "control")
    cards.read([third], control, "control", what="unreadable")

    finish(cards.out, cards.benchmark, tmp_path / "finished")
    lines = map(json.loads, (tmp_path / "finished/records.jsonl").read_text().splitlines())
    found = {line["id"]: line["fields"] for line in lines}
    origins = [found[key.item][key.field]["origin"] for key in (first, second, third)]
    assert origins == ["open", "corrected", "open"]
    done = run_hdbench("trust", "finish", str(cards.path), str(cards.out), cwd=tmp_path)
    assert "2 values are open that people could not read" in " ".join(done.stdout.split())


def test_records_that_did_not_change_stay_byte_for_byte(collection):
    folder = collection.folder / "out/finished"
    first = finished(collection)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix}
    again = finished(collection)
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix}
    assert (first.delivery, first.counts.changed) == (1, len(collection.ids))
    assert (again.delivery, again.counts.changed, after) == (1, 0, before)

    torn = collection.rest[0]
    work_off(collection, torn, "title", "Titel")
    third = finished(collection)
    new = (folder / "records.jsonl").read_bytes().splitlines()
    old = before["records.jsonl"].splitlines()
    differ = [place for place, pair in enumerate(zip(old, new, strict=True)) if len(set(pair)) > 1]
    assert differ == [collection.ids.index(torn)]
    *_, change = map(json.loads, (folder / "changes.jsonl").read_text().splitlines())
    line = json.loads(new[differ[0]])
    body = json.dumps({"fields": line["fields"], "id": torn}, sort_keys=True, separators=(",", ":"))
    assert (third.delivery, third.counts.changed, line["delivery"]) == (2, 1, 2)
    assert line["hash"] == hashlib.sha256(body.encode()).hexdigest() == change["hash"]
    assert change["before"] == json.loads(old[differ[0]])["hash"]
    assert (change["id"], change["fields"], change["delivery"]) == (torn, ["title"], 2)


def test_only_what_was_looked_at_of_a_listed_item_is_a_persons(collection):
    # In the form, somebody typed one field of an item of the work list: the others, which are
    # empty there, say nothing about values that were accepted.
    torn = collection.rest[0]
    change = Change(
        by="anna", at="2026-11-27T10:00:00.000Z", kind="ground_truth", item=torn,
        field="shelfmark", value="S", how="blind",
    )  # fmt: skip
    add_events(collection.path, [change])
    collection.write_truths({torn: {"shelfmark": "S"}})
    finished(collection)
    state = records(collection)[torn]
    assert (state["shelfmark"]["origin"], state["shelfmark"]["value"]) == ("worked", "S")
    assert state["imprint.place"]["origin"] == "accepted"


def test_values_that_were_changed_are_not_delivered(collection):
    path = collection.folder / "out/values.jsonl"
    path.write_text(path.read_text().replace("Titel 9", "Titel 8", 1))
    with pytest.raises(HdbenchError, match=r"values\.jsonl: was changed after it was written"):
        finished(collection)
    assert not (collection.folder / "out/finished").exists()


@pytest.mark.parametrize("name", ["records.jsonl", "changes.jsonl"])
def test_a_strangers_file_of_that_name_is_not_replaced(collection, name):
    path = collection.folder / "out/finished" / name
    path.parent.mkdir()
    path.write_text('{"title": "mine"}\n')
    with pytest.raises(HdbenchError, match=f"{name}:1: not written by hdbench trust finish"):
        finished(collection)
    assert path.read_text() == '{"title": "mine"}\n'


def damaged(path, how):
    """Damage a file of a delivery; how it is said."""
    lines = path.read_text().splitlines(keepends=True)
    if how == "edited":
        lines[1] = lines[1].replace('"open"', '"checked"').replace('"accepted"', '"checked"')
        said = rf"{path.name}:2: was edited after it was delivered"
    else:
        del lines[1]
        other = "records.jsonl:2: was edited" if path.name[0] == "c" else "changes.jsonl:2: 'c0001'"
        said = other
    assert "".join(lines) != path.read_text()
    path.write_text("".join(lines))
    return said


@pytest.mark.parametrize(
    ("name", "how"),
    [("records.jsonl", "edited"), ("records.jsonl", "cut"), ("changes.jsonl", "cut")],
)
def test_a_delivery_that_was_edited_or_cut_is_refused(collection, name, how):
    finished(collection)
    folder = collection.folder / "out/finished"
    said = damaged(folder / name, how)
    before = delivered(folder)
    with pytest.raises(HdbenchError, match=said):
        finished(collection)
    assert delivered(folder) == before


def test_an_edited_table_is_not_replaced(collection):
    write_records(collection, "csv", "")
    path = collection.folder / "out/finished/records.csv"
    path.write_text("mine")
    with pytest.raises(HdbenchError, match=r"records\.csv: was edited after it was delivered"):
        write_records(collection, "csv", "")
    assert path.read_text() == "mine"


def test_zero_and_false_stay_values_in_every_form(collection):
    torn = collection.rest[0]
    work_off(collection, torn, "year", 0)
    work_off(collection, torn, "shelfmark", False)
    for form in ("csv", "dublin-core"):
        texts = '{title: "{id}", date: "{year}", rights: "{shelfmark}"}'
        write_records(collection, form, f"{form}: {texts}")
    fields = '{245: "$a{id}", 264|#1|: "$c{year}", 852: "$h{shelfmark}"}'
    write_records(collection, "marcxml", f"marc: {fields}")
    folder = collection.folder / "out/finished"
    table = folder.joinpath("records.csv").read_text("utf-8-sig").splitlines()
    assert f"{torn},0,false" in table
    dates = folder.joinpath("records.dc.xml").read_text().partition(f">{torn}<")[2]
    assert dates.index(">0</dc:date>") < dates.index(">false</dc:rights>") < dates.index("</oai")
    marc = folder.joinpath("records.xml").read_text().partition(f">{torn}<")[2]
    assert marc.index('code="c">0<') < marc.index('code="h">false<') < marc.index("</record>")
    state = records(collection)[torn]
    assert (state["year"]["value"], state["shelfmark"]["value"]) == (0, False)
    write_records(collection, "xlsx", "")
    rows = load_workbook(folder / "records.xlsx").active.iter_rows(values_only=True)
    row = next(row for row in rows if row[0] == torn)
    assert (0, "worked", "false") in {(*row[at : at + 2], row[-2]) for at in range(1, len(row))}


FULL = """
import resource, sys
from hdbench.cli.app import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
main()
"""


@pytest.mark.parametrize("form", ["csv", "xlsx", "marcxml"])
def test_a_full_disk_delivers_nothing(collection, form):
    (collection.folder / "marc.yaml").write_text(MARC)
    mapping = ("--mapping", "marc.yaml") if form == "marcxml" else ()
    command = ("trust", "finish", str(collection.path), "out", "--format", form, *mapping)

    def run(most):
        how = {"cwd": collection.folder, "capture_output": True, "text": True, "check": False}
        return subprocess.run([sys.executable, "-c", FULL, str(most), *command], **how)

    assert run(10**8).returncode == 0
    folder = collection.folder / "out/finished"
    before = delivered(folder)
    work_off(collection, collection.rest[0], "title", "Titel")
    for most in (1_000, 60_000):  # within the records, and within what has changed
        failed = run(most)
        assert failed.returncode != 0
        assert len(failed.stderr.splitlines()) == 1, failed.stderr
        assert delivered(folder) == before
    assert run(10**8).returncode == 0
    assert delivered(folder) != before


INTO = """
marc: {040: $bger, 245|00|: "$a{title}", 264|#1|: "$c{year}", 852: "$h{shelfmark}"}
"""


def own_record(number, *fields):
    record = Record(leader="00000cam a2200000 c 4500")
    record.add_field(Field("001", data=number))
    for tag, *pairs in fields:
        record.add_field(Field(tag, Indicators(" ", " "), [Subfield(*pair) for pair in pairs]))
    return record


@pytest.fixture
def into(collection, run_hdbench):
    """What puts the values of one item, which a person gave, into records that are there."""
    torn = collection.rest[0]
    for field, value in (("title", "Neu"), ("year", 0), ("shelfmark", "S 1")):
        work_off(collection, torn, field, value)
    folder = collection.folder

    def put(records, mapping=INTO):
        folder.joinpath("own.mrc").write_bytes(b"".join(each.as_marc() for each in records))
        folder.joinpath("marc.yaml").write_text(mapping)
        command = ("trust", "finish", str(collection.path), "out", "--format", "marcxml")
        done = run_hdbench(*command, "--records", "own.mrc", "--mapping", "marc.yaml", cwd=folder)
        out = folder / "out/finished"
        read = MARCReader(out.joinpath("records.mrc").read_bytes()) if not done.returncode else ()
        return done, [[str(field) for field in record.fields] for record in read]

    return torn, put, folder / "out/finished"


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [list(row.values()) for row in csv.DictReader(file)]


def test_records_keep_what_they_have_and_get_what_they_lack(into):
    torn, put, out = into
    own = [
        own_record(torn, ("245", ("a", "Alt")), ("500", ("8", r"1\p"), ("a", "Notiz"))),
        own_record("unknown", ("245", ("a", "Fremd"))),
    ]
    done, (first, second) = put(own)
    assert done.returncode == 0, done.stderr
    assert [line for line in first if not line.startswith("=883")] == [
        f"=001  {torn}",
        "=245  \\\\$aAlt",
        r"=264  \1$82\p$c0",
        r"=500  \\$81\p$aNotiz",
        r"=852  \\$83\p$hS 1",
    ]
    provenance = [line.rpartition("$d")[0] for line in first if line.startswith("=883")]
    assert provenance == [rf"=883  \\$8{number}\p$aread by people" for number in (2, 3)]
    assert second == ["=001  unknown", "=245  \\\\$aFremd"]
    assert table(out / "changed_fields.csv") == [
        [torn, torn, "264", "", "#1 $c0", "read by people"],
        [torn, torn, "852", "", "## $hS 1", "read by people"],
    ]
    left = table(out / "not_in_records.mrc.csv")
    assert ["", "001", "unknown", "no item has this number"] in left
    assert [row[:3] for row in left if "replace:" in row[3]] == [[torn, "title", "Neu"]]
    assert "1 of your 2 records changed, 299 items have none" in done.stdout

    done, (first, _) = put(own, INTO + "replace: ['245']\n")
    assert done.returncode == 0, done.stderr
    assert r"=245  00$82\p$aNeu" in first
    done, (first, _) = put([own_record(torn, ("245", ("a", "Edited since"))), own[1]])
    assert "=245  \\\\$aEdited since" in first


def test_records_that_cannot_be_told_apart_are_named(into):
    torn, put, out = into
    done, found = put([own_record(torn), own_record(torn)])
    assert done.returncode == 0, done.stderr
    assert found == [[f"=001  {torn}"]] * 2
    why = {row[0]: row[3] for row in table(out / "not_in_records.mrc.csv")}
    assert why[torn] == f"several records have the number {torn}"
    assert why["c0001"] == "no record has the number c0001"


def test_a_damaged_file_of_records_is_refused(into, collection, run_hdbench):
    torn, put, out = into
    assert put([own_record(torn)])[0].returncode == 0
    before = delivered(out)
    own = collection.folder / "own.mrc"
    own.write_bytes(own.read_bytes()[:-3])
    command = ("trust", "finish", str(collection.path), "out", "--format", "marcxml")
    given = ("--records", "own.mrc", "--mapping", "marc.yaml")
    done = run_hdbench(*command, *given, cwd=collection.folder)
    assert done.returncode == 2
    assert "own.mrc: record 1 (at byte 0) is cut off at the end of the file" in done.stderr
    assert delivered(out) == before


def test_a_control_sample_that_was_cut_is_refused(collection):
    path = collection.folder / "out/control.yaml"
    control = collection.control()
    write_sealed(path, control.model_copy(update={"sample": control.sample[:1]}))
    with pytest.raises(HdbenchError, match="not the control sample that was drawn"):
        finished(collection)


def test_fewer_items_and_another_order_are_refused(collection):
    collection.write_truths({item: collection.truth(item) for item in collection.ids[:2]})
    finished(collection)
    metadata = collection.path / "metadata.jsonl"
    lines = sorted(metadata.read_text().splitlines(keepends=True))
    metadata.write_text("".join(lines[::-1]))
    with pytest.raises(HdbenchError, match="not in the order of"):
        finished(collection)
    metadata.write_text("".join(lines[1:]))
    with pytest.raises(HdbenchError, match="its items are not those that"):
        finished(collection)


class Interruption:
    """Interrupts work, as Ctrl+C does, once so many items are done."""

    def __init__(self, after):
        self._after = after

    def __call__(self, done, total):
        if done == self._after:
            raise KeyboardInterrupt


@pytest.fixture
def often(monkeypatch):
    """Progress that is told of each item."""
    monkeypatch.setattr(progress, "EVERY", 0)


REMAINS = {".lock", ".delivered.json"}


def delivered(folder):
    """The files of a folder; the time is left out at which a delivery was begun."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."}
    at = re.compile(rb'"at":"[^"]*"')
    return files | {"changes.jsonl": at.sub(b"", files["changes.jsonl"])}


MARC = """
marc: {008/07-10: "{year}", 008/35-37: ger, 245|00|: "$a{title}", 264|#1|: "$c{year}"}
dublin-core: {title: "{title}", date: "{year}"}
csv: {Titel: "{title}", Jahr: "{year}"}
"""
MAPPINGS = {
    "csv": "",
    "marcxml": MARC,
    "csv, mapped": MARC,
    "dublin-core": MARC,
}


def write_records(collection, form, mapping):
    """Write the finished records in a form, by a mapping if it is not empty."""
    path = collection.folder / "mapping.yaml" if mapping else None
    if path:
        path.write_text(mapping)
    benchmark, out = collection.benchmark, collection.folder / "out"
    write = writer_of(form.partition(",")[0], benchmark, collection.plan.fields, out, path, None)
    return finish(out, benchmark, out / "finished", write)[1]


@pytest.mark.parametrize("form", MAPPINGS)
def test_interrupted_records_are_as_they_were(collection, often, form):
    finished(collection)
    folder = collection.folder / "out/finished"
    result = write_records(collection, form, MAPPINGS[form])
    before = delivered(folder)
    work_off(collection, collection.rest[0], "title", "Titel")
    finished(collection)
    between = delivered(folder)
    assert between != before
    with pytest.raises(KeyboardInterrupt), progress.listening(Interruption(70)):
        write_records(collection, form, MAPPINGS[form])
    assert delivered(folder) == between
    assert {path.name for path in folder.iterdir() if path.name[0] == "."} == REMAINS
    write_records(collection, form, MAPPINGS[form])
    assert 1 <= len(delivered(folder).items() - between.items()) <= 2
    assert type(result) is type(write_records(collection, form, MAPPINGS[form]))


FINISH = """
import sys
from pathlib import Path
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.records.forms import writer_of
from hdbench.collections.trust.folder import read_begun
from hdbench.collections.trust.delivery import finish
out, benchmark = Path(sys.argv[1]) / "out", load_benchmark(sys.argv[2])
plan, _ = read_begun(out)
finish(out, benchmark, out / "finished", writer_of("csv", benchmark, plan.fields, out, None, None))
"""


@pytest.fixture
def processes():
    forks = Forks("hdbench.collections.trust.delivery", "hdbench.collections.records.forms")
    yield forks
    forks.close()


@pytest.mark.nightly
def test_a_kill_leaves_the_old_delivery_or_the_new_one(collection, processes):
    chance = random.Random(1)
    folder = collection.folder / "out/finished"
    command = ("-c", FINISH, str(collection.folder), str(collection.path))
    how = {"cwd": collection.folder, "env": dict(os.environ)}
    started = time.monotonic()
    first = processes.run(*command, **how)
    assert first.returncode == 0, first.stderr
    whole = time.monotonic() - started
    old = folder.with_name("old")
    given = {}
    for number in range(12):
        item = chance.choice(collection.rest)
        given[item] = f"Titel {number}"
        work_off(collection, item, "title", given[item], minute=number)
        shutil.copytree(folder, old)
        finished(collection)
        write_records(collection, "csv", "")
        new = delivered(folder)
        shutil.rmtree(folder)
        shutil.copytree(old, folder)
        process = processes.start(*command, **how)
        time.sleep(chance.uniform(0.1, 1.1) * whole)
        with suppress(ProcessLookupError):  # it has just ended
            process.kill()
        process.wait(60)
        left = delivered(folder)
        for name in ("records.jsonl", "records.csv"):
            assert left[name] in (delivered(old)[name], new[name])
        again = processes.run(*command, **how)
        assert again.returncode == 0, again.stderr
        assert delivered(folder) == new
        assert {path.name for path in folder.iterdir() if path.name[0] == "."} == REMAINS
        shutil.rmtree(old)
    found = records(collection)
    assert {item: found[item]["title"]["value"] for item in given} == given


def test_the_command_says_what_is_open_and_writes_a_table(collection, run_hdbench):
    control = collection.control()
    collection.read_as(control, "control", control.sample[:1], title="?", year=1,
                       imprint={"place": "?"}, keywords=["?"])  # fmt: skip
    command = ("trust", "finish", str(collection.path), "out", "--format", "csv")
    done = run_hdbench(*command, cwd=collection.folder)
    assert done.returncode == 0, done.stderr
    assert "300 records, " in done.stdout
    said = " ".join(done.stdout.split())
    assert "1 accepted value was found wrong: hdbench trust control out says whether" in said
    assert "19 of the control sample are not read yet" in said
    table = Path(collection.folder / "out/finished/records.csv").read_text("utf-8-sig").splitlines()
    assert table[0].startswith("id,title,title: origin,year,year: origin")
    assert len(table) == 1 + len(collection.ids)


SUBJECTS_MARC = """
marc:
  245: $a{title}
  650|#4|: "$a{keywords}$0{keywords: identifier}"
"""


def test_identifiers_of_an_authority_file_stand_in_records(collection, run_hdbench):
    out = collection.folder / "out/finished"
    (collection.folder / "known.csv").write_text("Diss.;4113937-9\n")

    def run(mapping):
        (collection.folder / "mapping.yaml").write_text(mapping)
        command = ("trust", "finish", str(collection.path), "out", "--format", "marcxml")
        given = ("--mapping", "mapping.yaml", "--identifiers", "keywords=known.csv")
        return run_hdbench(*command, *given, cwd=collection.folder)

    done = run(SUBJECTS_MARC)
    assert done.returncode == 0, done.stderr
    written = '<subfield code="a">Diss.</subfield><subfield code="0">(DE-588)4113937-9<'
    count = (out / "records.xml").read_text().count(written)
    assert count > 1
    assert f"\n{count} values have an identifier\n" in done.stdout
    without = SUBJECTS_MARC.replace("$0{keywords: identifier}", "")
    refused = run(without)
    assert refused.returncode == 2
    assert "mapping.yaml: has no place for identifiers: name one, as in" in refused.stderr
    refused = run(without.replace("$a{title}", '"$a{title}$0{title: identifier}"'))
    assert refused.returncode == 2
    assert "mapping.yaml: has no place for identifiers of keywords: name" in refused.stderr
