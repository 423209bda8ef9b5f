import csv

import pytest
from trust.collection import FIELDS, Collection, values

from hdbench.collections.trust.cuts import BILLION
from hdbench.collections.trust.folder import only_process
from hdbench.collections.trust.learning import read_learning
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.nightly

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
    below = {"value": "X", "decision": "check", "reason": "not sure enough", "run": "one"}
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
    assert usual == {**usual, "value": "", **said, "reason": "not sure enough"}


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
    decision = collection.folder / "out/decision.json"
    decision.write_text(decision.read_text().replace(collection.plan.hash(), "f" * 64))
    with pytest.raises(HdbenchError, match="begun with another plan"):
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


def test_unmakeable_folder_is_reported(collection):
    (collection.folder / "file").touch()
    with pytest.raises(HdbenchError, match="file: cannot be made: File exists: choose another"):
        collection.apply("file")


def test_two_processes_do_not_write_the_same_folder(collection):
    with (
        only_process(collection.folder / "out"),
        pytest.raises(HdbenchError, match="another hdbench is writing into it"),
    ):
        collection.apply()
