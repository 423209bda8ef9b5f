import csv
import json
import os
import signal
import subprocess

import pytest
from trust.collection import FIELDS, Collection, values

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.trust.applied_folder import only_process
from hdbench.trust.applying import apply
from hdbench.trust.deciding import read_plan
from hdbench.trust.plan import write_plan

pytestmark = pytest.mark.nightly

DERIVED = ("worklist.csv", "control.yaml", "decision.json", "plan.yaml", "values.jsonl")
HOSTILE = '=HYPERLINK("http://x")\x00\ud800 <script>'


def applied(collection, out="out", control=20):
    plan = collection.folder / "plan.yaml"
    benchmark = load_benchmark(str(collection.benchmark))
    return apply(read_plan(plan), benchmark, plan, collection.folder / out, control=control)


def record(**changed):
    return {"title": "T", "year": 1850, "imprint": {"place": "Bern"}, "keywords": []} | changed


GIVEN = {
    0: [record(title="aaaa"), record(title="bbbb"), record(title="cccc")],
    1: [None, None, None],
    2: [record(title=HOSTILE)] * 3,
    3: [None, record(title="Faust"), record(title="Faust")],
    4: [record(title=None), record(title=""), record(title="null")],
    5: [record(title="Diss. 1961"), record(title="Diss. 1962"), record(title="Diss. 1962")],
}


@pytest.fixture
def collection(tmp_path):
    return Collection(tmp_path, given=GIVEN)


def test_each_value_is_taken_over_to_be_looked_at_or_checked(collection):
    done = applied(collection)
    found = values(collection.folder / "out")
    assert list(found) == collection.ids
    scattered, silent, hostile, one_silent, empty, unlike = collection.rest[:6]
    other = collection.rest[6]
    assert found[other]["title"] == {
        "value": collection.truth(other)["title"],
        "decision": "taken",
        "score": 1,
        "run": "one",
    }
    assert found[other]["keywords"]["value"] == ["Recht", "Diss."]
    assert found[other]["shelfmark"] == {
        "value": "X",
        "decision": "check",
        "reason": "field left out",
        "score": 1,
        "run": "one",
    }
    below = {"decision": "check", "reason": "score below threshold", "score": 0.0, "run": "one"}
    assert found[scattered]["title"] == {"value": "aaaa"} | below
    no_answer = {"value": None, "decision": "check", "reason": "no answer"}
    assert found[silent] == dict.fromkeys(FIELDS, no_answer)
    assert found[hostile]["title"]["value"] == HOSTILE
    # Two agree (1), and neither with the third (0): half.
    taken = {"value": "Faust", "decision": "taken", "score": 0.5, "run": "two"}
    assert found[one_silent]["title"] == taken
    assert found[empty]["title"]["value"] is None
    assert found[empty]["title"]["score"] == 1
    # Of the second: 1 with the third, 0.9 with the first.
    assert found[unlike]["title"]["score"] == 0.95
    assert found[unlike]["title"]["run"] == "two"
    checked = collection.plan.sample[0]  # where the runs have three wrong years
    year = collection.truth(checked)["year"]
    assert found[checked]["year"] == {"value": year, "decision": "checked"}
    # 90 items are not in the sample; each of its 60 has 5 values.
    assert done.checked == 300
    assert done.check == {"field left out": 89, "score below threshold": 1, "no answer": 5}
    assert done.taken == 90 * 5 - 95
    assert done.by_field["title"] == {"taken": 88, "checked": 60, "no answer": 1} | {
        "score below threshold": 1
    }


def test_the_work_list_begins_with_what_is_most_doubtful(collection):
    applied(collection)
    with (collection.folder / "out/worklist.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    scattered, silent, *others = collection.rest
    assert rows[0] == {"id": silent, "fields": ", ".join(FIELDS), "doubt": "5.0"}
    assert rows[1] == {"id": scattered, "fields": "title, shelfmark", "doubt": "1.0"}
    half = others[1]  # one run has no answer, so that its shelfmark has a score of 0.5
    assert rows[2] == {"id": half, "fields": "shelfmark", "doubt": "0.5"}
    assert [row["id"] for row in rows[3:]] == [item for item in others if item != half]
    assert {row["fields"] for row in rows[3:]} == {"shelfmark"}


@pytest.mark.parametrize("kept", [0, 1, 700, 5_000, 20_000])
def test_what_was_torn_is_written_again_and_nothing_twice(collection, kept):
    applied(collection)
    whole = {name: (collection.folder / "out" / name).read_bytes() for name in DERIVED}
    again = collection.folder / "again"
    again.mkdir()
    for name in ("decision.json", "plan.yaml"):
        (again / name).write_bytes(whole[name])
    (again / "values.jsonl").write_bytes(whole["values.jsonl"][:kept])
    applied(collection, "again")
    assert {name: (again / name).read_bytes() for name in DERIVED} == whole


ODD = json.dumps({"decision": "taken", "score": "1"})


@pytest.mark.parametrize(
    "wrong",
    [
        b'{"id": "c0007", "fields": {}}\n',
        b"\x00\x00\n",
        b"{}\n[]\n",
        b"[]\n",
        b'{"id": "c0003"}\n',
        b'{"id": "c0003", "fields": {"title": {"decision": "taken"}}}\n',
        b'{"id": "c0003", "fields": {%s}}\n'
        % ", ".join(f'"{name}": {ODD}' for name in FIELDS).encode(),
    ],
)
def test_a_line_that_is_not_as_it_should_be_is_written_again(collection, wrong):
    applied(collection)
    path = collection.folder / "out/values.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], wrong, *lines[4:9]]))
    (collection.folder / "out/applied.json").unlink()
    applied(collection)
    assert path.read_bytes() == whole


def test_killed_and_interrupted_command_resumes_to_same_bytes(tmp_path, forks):
    collection = Collection(tmp_path, number=3_000)
    applied(collection, "whole")
    path, before = tmp_path / "out/values.jsonl", 0
    with (tmp_path / "said").open("w") as said:
        command = ["-m", "hdbench", "trust", "apply", "plan.yaml", "-o", "out", "--control", "20"]
        settings = {"cwd": tmp_path, "env": dict(os.environ), "stdout": said, "stderr": said}
        for how, status in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
            process = forks.start(*command, **settings)
            while not path.exists() or path.stat().st_size <= before:
                with pytest.raises(subprocess.TimeoutExpired):  # it is still at work
                    process.wait(0.001)
            os.kill(process.pid, how)
            assert process.wait(60) == status, (tmp_path / "said").read_text()
            assert not (tmp_path / "out/applied.json").exists()
            before = path.stat().st_size
        assert "interrupted: the same command resumes in out" in (tmp_path / "said").read_text()
        assert forks.start(*command, **settings).wait(60) == 0
    for name in DERIVED:
        if name != "decision.json":  # names the plan's file as it was given
            written = (tmp_path / "out" / name).read_bytes()
            assert written == (tmp_path / "whole" / name).read_bytes()


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
        (b'"decision": "check", "reason": "field left out"', b'"decision": "taken"'),
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
    assert (done.items, done.checked) == (3_000, 300)
    assert not (begun / "out/.values.seals").exists()


def test_it_resumes_though_the_list_is_in_another_order_by_now(begun):
    metadata = begun / "hdb/cards/metadata.jsonl"
    lines = metadata.read_text().splitlines(keepends=True)
    metadata.write_text("".join(reversed(lines)))
    resumed(begun)
    written = (begun / "out/values.jsonl").read_text().splitlines()
    ids = [json.loads(line)["id"] for line in written]
    assert ids == [json.loads(line)["id"] for line in reversed(lines)]


def test_command_without_terminal_reports_progress_and_result(collection, run_hdbench):
    told = run_hdbench("trust", "apply", "plan.yaml", "-o", "out", cwd=collection.folder)
    assert told.returncode == 0, told.stderr
    assert "150 of 150 done" in told.stderr
    assert "355 of 750 values accepted, in 150 items" in told.stdout
    *_, first, then = told.stdout.splitlines()
    assert first == (
        "first check the control sample, without drafts: hdbench annotate FOLDER --only "
        "out/control.yaml, then hdbench trust control out"
    )
    assert then == (
        f"90 items to look at: hdbench annotate {collection.benchmark} --only out/worklist.csv"
    )
    again = run_hdbench("trust", "apply", "plan.yaml", "-o", "out", cwd=collection.folder)
    assert again.stdout == told.stdout


def test_nothing_is_written_without_usable_values_or_a_promise(tmp_path):
    collection = Collection(tmp_path)
    wrong = {item: truth | {"title": "?"} for item, truth in collection.checked().items()}
    wrong = {item: truth | {"year": 1, "keywords": []} for item, truth in wrong.items()}
    wrong = {item: truth | {"imprint": {"place": "?"}} for item, truth in wrong.items()}
    collection.write_truths(wrong)
    with pytest.raises(HdbenchError, match="nothing can be accepted by this plan"):
        applied(collection)
    assert not (tmp_path / "out").exists()
    known = Collection(tmp_path / "known")
    plan = known.plan.model_copy(update={"known": 1})
    (known.folder / "plan.yaml").unlink()
    write_plan(known.folder / "plan.yaml", plan)
    with pytest.raises(HdbenchError, match="what it decides is no promise"):
        applied(known)
    assert not (known.folder / "out").exists()


def test_a_folder_is_for_one_decision(collection):
    applied(collection)
    (collection.folder / "out/applied.json").unlink()
    first = collection.plan.sample[-1]
    other = collection.checked()
    other[first] = other[first] | {"title": "another"}
    collection.write_truths(other)
    with pytest.raises(HdbenchError, match="begun with another checked sample"):
        applied(collection)
    (collection.folder / "mine").mkdir()
    (collection.folder / "mine/thesis.txt").touch()
    with pytest.raises(HdbenchError, match=r"is not empty \(it has thesis.txt\)"):
        applied(collection, "mine")


def test_finished_output_is_refused_if_values_or_control_changed(collection):
    done = applied(collection)
    assert applied(collection) == done
    with pytest.raises(HdbenchError, match=r"a control sample of 20 values already"):
        applied(collection, control=30)
    path = collection.folder / "out/values.jsonl"
    path.write_text(path.read_text().replace("Titel 7", "Titel 8"))
    with pytest.raises(HdbenchError, match=r"values.jsonl: was changed after it was written"):
        applied(collection)


def test_unmakeable_folder_and_unwritable_file_are_reported(collection):
    (collection.folder / "file").touch()
    with pytest.raises(HdbenchError, match="file: cannot be made: File exists: choose another"):
        applied(collection, "file")
    (collection.folder / "begun/values.jsonl").mkdir(parents=True)
    applied(collection)
    for name in ("plan.yaml", "decision.json"):
        (collection.folder / "begun" / name).write_bytes(
            (collection.folder / "out" / name).read_bytes()
        )
    with pytest.raises(HdbenchError, match=r"values.jsonl: cannot be written: .*, which resumes"):
        applied(collection, "begun")


def test_links_in_the_folder_are_not_followed(collection):
    out = collection.folder / "out"
    out.mkdir()
    (out / "values.jsonl").symlink_to(collection.folder / "precious")
    with pytest.raises(HdbenchError, match="is a symbolic link"):
        applied(collection)
    assert not (collection.folder / "precious").exists()


def test_two_processes_do_not_write_the_same_folder(collection):
    with (
        only_process(collection.folder / "out"),
        pytest.raises(HdbenchError, match="another hdbench is writing into it"),
    ):
        applied(collection)


def test_the_decision_is_kept_with_what_was_done(collection):
    done = applied(collection)
    out = collection.folder / "out"
    decision = json.loads((out / "decision.json").read_text())
    assert decision["outcome"]["threshold"] == 0.25
    assert decision["outcome"]["fields"] == FIELDS[:4]
    assert done.plan == decision["plan"] == collection.plan.hash()
    assert (out / "plan.yaml").read_bytes() == (collection.folder / "plan.yaml").read_bytes()
