import csv
import os
import signal
import subprocess

import pytest
from helpers.people_files import add_events, readings_in
from trust.collection import FIELDS, Collection, values

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.trust.acceptance import apply
from hdbench.collections.trust.cuts import BILLION
from hdbench.collections.trust.folder import only_process
from hdbench.collections.trust.learning import read_learning
from hdbench.collections.trust.plan import read_plan
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.nightly

DERIVED = ("worklist.csv", "control.yaml", "decision.json", "plan.yaml", "values.jsonl")
HOSTILE = '=HYPERLINK("http://x")\x00\ud800 <script>'


def record(**changed):
    return {"title": "T", "year": 1850, "imprint": {"place": "Bern"}, "keywords": []} | changed


GIVEN = {
    0: [record(title="aaaa"), record(title="bbbb"), record(title="cccc")],
    1: [None, None, None],
    2: [record(title=HOSTILE)] * 3,
    3: [None, record(title="Faust"), record(title="Faust")],
    4: [record(title=None), record(title=""), record(title="null")],
}


@pytest.fixture
def collection(tmp_path):
    return Collection(tmp_path, given=GIVEN)


def test_each_value_is_accepted_to_be_looked_at_or_read(collection):
    done, decision = collection.apply(), collection.decide()
    found = values(collection.out)
    assert list(found) == collection.ids
    learning = read_learning(collection.plan, collection.benchmark, collection.plan_file)
    (group,) = decision.groups
    counts = {"taken": 0, "check": 0, "checked": 0}
    for item, probabilities in zip(collection.ids, learning.probabilities.tolist(), strict=True):
        for name, probability in zip(FIELDS, probabilities, strict=True):
            value = found[item][name]
            counts[value["decision"]] += 1
            if (item, name) in collection.read:
                assert value["decision"] == "checked"
            elif item == "c0001":
                assert value == {"value": None, "decision": "check", "reason": "no answer"}
            else:
                assert (value["decision"] == "taken") == (probability <= group.cut)
                assert value["score"] == round(1 - probability / BILLION, 9)
    assert counts == {"taken": done.taken, "check": sum(done.check.values()), "checked": 160}
    assert done.taken == decision.accepted > 1_000
    assert {name for name, count in done.by_field.items() if not count["taken"]} == {"shelfmark"}


def test_values_are_those_of_the_run_that_the_others_are_most_like(collection):
    collection.apply()
    found = values(collection.out)
    assert found["c0000"]["title"]["value"] == "aaaa"
    assert found["c0002"]["title"]["value"] == HOSTILE
    assert [found["c0003"]["title"][name] for name in ("value", "run")] == ["Faust", "two"]
    assert found["c0004"]["title"]["value"] is None
    other = collection.rest[6]
    assert found[other]["keywords"]["value"] == ["Recht", "Diss."]
    below = {"value": "X", "decision": "check", "reason": "score below threshold", "run": "one"}
    score = found[other]["shelfmark"].pop("score")
    assert (found[other]["shelfmark"], score < 0.5) == (below, True)
    for item, name in collection.read:
        right = collection.truth(item)
        for step in name.split("."):
            right = right[step]
        assert found[item][name] == {"value": right, "decision": "checked"}


def test_the_work_list_begins_with_what_is_most_doubtful(collection):
    collection.apply()
    with (collection.out / "worklist.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    silent = {"value": "", "one": "", "two": "", "three": "", "reason": "no answer"}
    assert rows[:5] == [{"id": "c0001", "field": name} | silent for name in FIELDS]
    found = values(collection.out)
    scores = [found[row["id"]]["shelfmark"]["score"] for row in rows[5:]]
    assert scores == sorted(scores)
    read = {item for item, name in collection.read if name == "shelfmark"}
    left = [item for item in collection.ids if item not in {*read, "c0001"}]
    assert sorted(row["id"] for row in rows[5:]) == left
    assert {row["field"] for row in rows[5:]} == {"shelfmark"}
    usual = next(row for row in rows[5:] if row["id"] == collection.rest[-1])
    said = dict.fromkeys(("one", "two", "three"), "X")
    assert usual == {**usual, "value": "", **said, "reason": "score below threshold"}


@pytest.mark.parametrize("kept", [0, 700, 20_000])
def test_what_was_torn_is_written_again_and_nothing_twice(collection, kept):
    collection.apply()
    whole = {name: (collection.folder / "out" / name).read_bytes() for name in DERIVED}
    again = collection.folder / "again"
    again.mkdir()
    for name in ("decision.json", "plan.yaml"):
        (again / name).write_bytes(whole[name])
    (again / "values.jsonl").write_bytes(whole["values.jsonl"][:kept])
    collection.apply("again")
    assert {name: (again / name).read_bytes() for name in DERIVED} == whole


@pytest.mark.parametrize(
    "wrong",
    [
        b'{"id": "c0007", "fields": {}}\n',
        b"\x00\x00\n",
        b"{}\n[]\n",
        b'{"id": "c0003", "fields": {"title": {"decision": "taken"}}}\n',
    ],
)
def test_a_line_that_is_not_as_it_should_be_is_written_again(collection, wrong):
    collection.apply()
    path = collection.folder / "out/values.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], wrong, *lines[4:9]]))
    (collection.folder / "out/applied.json").unlink()
    collection.apply()
    assert path.read_bytes() == whole


@pytest.fixture
def begun(tmp_path, forks):
    """A folder that a process was killed in when a thousand of 3,000 items were written."""
    Collection(tmp_path, number=3_000)
    command = ["-m", "hdbench", "trust", "apply", "plan.yaml", "-o", "out", "--control", "20"]
    seals = tmp_path / "out/.values.seals"
    with (tmp_path / "said").open("w") as said:
        settings = {"cwd": tmp_path, "env": dict(os.environ), "stdout": said, "stderr": said}
        process = forks.start(*command, **settings)
        while not seals.exists() or not seals.read_bytes().endswith(b"\n"):
            with pytest.raises(subprocess.TimeoutExpired):  # it is still at work
                process.wait(0.001)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
    assert not (tmp_path / "out/applied.json").exists()
    return tmp_path


def resumed(folder):
    plan, benchmark = folder / "plan.yaml", load_benchmark(str(folder / "hdb/cards"))
    return apply(read_plan(plan), benchmark, plan, folder / "out", control=20)


def test_lines_that_were_edited_before_it_resumes_are_refused(begun):
    path = begun / "out/values.jsonl"
    whole = path.read_bytes()
    for old, new in (
        (b'"decision": "check", "reason": "score below threshold"', b'"decision": "taken"'),
        (b'"Titel ', b'"Title '),
        (b'{"id": "c0003"', b'{"id": "c0004"'),
    ):
        assert old in whole
        path.write_bytes(whole.replace(old, new, 1))
        with pytest.raises(HdbenchError, match=r"values\.jsonl: was changed after it was written"):
            resumed(begun)
    path.write_bytes(whole.splitlines(keepends=True)[0])
    with pytest.raises(HdbenchError, match=r"values\.jsonl: was changed after it was written"):
        resumed(begun)
    path.write_bytes(whole)
    done = resumed(begun)
    assert (done.items, done.checked) == (3_000, 160)
    assert not (begun / "out/.values.seals").exists()


def test_command_without_terminal_reports_progress_and_result(collection, run_hdbench):
    told = run_hdbench("trust", "apply", "plan.yaml", "-o", "out", cwd=collection.folder)
    assert told.returncode == 0, told.stderr
    assert "300 of 300 done" in told.stderr
    assert " of 1,500 values accepted, in 300 items" in told.stdout
    *_, first, then = told.stdout.splitlines()
    assert first == (
        "first check the control sample, without drafts: hdbench annotate "
        f"{collection.path} --only out/control.yaml, then hdbench trust control out"
    )
    assert then.endswith(
        f" items to look at: hdbench annotate {collection.path} --only out/worklist.csv"
    )
    again = run_hdbench("trust", "apply", "plan.yaml", "-o", "out", cwd=collection.folder)
    assert again.stdout == told.stdout


def test_a_folder_is_for_one_decision(collection):
    collection.apply()
    (collection.folder / "out/applied.json").unlink()
    last = readings_in(collection.path)[-1]
    add_events(collection.path, [last.model_copy(update={"id": "f" * 32, "value": None})])
    with pytest.raises(HdbenchError, match="begun with other readings"):
        collection.apply()
    (collection.folder / "mine").mkdir()
    (collection.folder / "mine/thesis.txt").touch()
    with pytest.raises(HdbenchError, match=r"is not empty \(it has thesis.txt\)"):
        collection.apply("mine")


def test_finished_output_is_refused_if_values_or_control_changed(collection):
    done = collection.apply()
    assert collection.apply() == done
    with pytest.raises(HdbenchError, match=r"a control sample of 20 values already"):
        collection.apply(control=30)
    path = collection.folder / "out/values.jsonl"
    path.write_text(path.read_text().replace("Titel 7", "Titel 8"))
    with pytest.raises(HdbenchError, match=r"values.jsonl: was changed after it was written"):
        collection.apply()


def test_unmakeable_folder_and_unwritable_file_are_reported(collection):
    (collection.folder / "file").touch()
    with pytest.raises(HdbenchError, match="file: cannot be made: File exists: choose another"):
        collection.apply("file")
    (collection.folder / "begun/values.jsonl").mkdir(parents=True)
    collection.apply()
    for name in ("plan.yaml", "decision.json"):
        (collection.folder / "begun" / name).write_bytes(
            (collection.folder / "out" / name).read_bytes()
        )
    with pytest.raises(HdbenchError, match=r"values.jsonl: cannot be written: .*, which resumes"):
        collection.apply("begun")


def test_two_processes_do_not_write_the_same_folder(collection):
    with (
        only_process(collection.folder / "out"),
        pytest.raises(HdbenchError, match="another hdbench is writing into it"),
    ):
        collection.apply()
