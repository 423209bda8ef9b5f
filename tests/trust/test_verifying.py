"""A decision is made again, and every figure compared."""

import json
import shutil

import pytest
from helpers.planned_cards import RIGHT, agreeing

from hdbench.common.jsonio import write_json
from hdbench.errors import HdbenchError
from hdbench.trust.applying import apply
from hdbench.trust.decision import is_decision
from hdbench.trust.verifying import verify_decision


@pytest.fixture
def decided(tmp_path):
    catalogue = agreeing(tmp_path)
    plan = catalogue.plan()
    catalogue.check(plan.sample, lambda place: RIGHT | ({"year": 1900} if place < 3 else {}))
    path = tmp_path / "decision.json"
    write_json(path, catalogue.decide().model_dump(mode="json"))
    return catalogue, plan, path


def change(path, **values):
    said = json.loads(path.read_text())
    path.write_text(json.dumps(said | values))


def test_an_equal_decision(decided):
    _, _, path = decided
    said = json.loads(path.read_text())

    found = verify_decision(path)

    assert (found.differences, found.causes, found.notes) == ([], [], [])
    # 4 walks to 17 thresholds, with five numbers each, are most of them.
    assert found.figures > 4 * 17 * 5
    assert found.headline.startswith("equal under rules 3, reading 3: ")
    assert len(said["walks"][0]["steps"]) == 17


def test_a_figure_that_was_changed(decided):
    _, _, path = decided
    outcome = json.loads(path.read_text())["outcome"]
    change(path, outcome=outcome | {"passing_in_whole": 6001}, needed=7)

    found = verify_decision(path)

    assert found.differences == ["outcome.passing_in_whole: 6001 → 6000", "needed: 7 → null"]
    assert found.causes == [
        "plan, runs, ground truths and hdbench are the same: the file was changed"
    ]


def test_a_threshold_that_was_changed(decided):
    _, _, path = decided
    walks = json.loads(path.read_text())["walks"]
    walks[0]["steps"][2]["bound"] += 0.001
    walks[0]["threshold"] = 0.9
    curve = json.loads(path.read_text())["curve"]
    curve[3]["wrong"]["threshold"]["count"] = 0
    change(path, walks=walks, curve=curve)

    first, second, of_curve = verify_decision(path).differences

    assert of_curve == "curve.0.94.wrong.threshold.count: 0 → 3"
    assert first.startswith("walks.letter by rule.steps.0.96.bound: 0.0")
    assert second == "walks.letter by rule.threshold: 0.9 → 0.0"


def test_other_ground_truths_are_the_cause(decided):
    catalogue, plan, path = decided
    catalogue.check(plan.sample)

    found = verify_decision(path)

    assert "outcome.wrong.letter.count: 3 → 0" in found.differences
    (cause,) = found.causes
    assert cause.startswith("ground truths of the sample are others now (")


def test_another_version_of_hdbench_is_a_note_or_the_cause(decided):
    _, _, path = decided
    change(path, hdbench="0.9.1")
    assert verify_decision(path).notes[0].startswith("hdbench 0.9.1 then, ")

    change(path, needed=7)
    (cause,) = verify_decision(path).causes
    assert cause.startswith("it was decided by hdbench 0.9.1, and this is hdbench ")


def test_what_was_applied_is_no_result_either(decided):
    catalogue, plan, _ = decided
    out = catalogue.folder / "out"
    apply(plan, catalogue.benchmark, catalogue.plan_file, out, control=20)
    assert is_decision(out / "applied.json")
    assert not is_decision(out / "plan.yaml")
    with pytest.raises(HdbenchError, match=r"applied\.json: not a decision: give the file that"):
        verify_decision(out / "applied.json")


def test_the_benchmark_elsewhere(decided):
    catalogue, _, path = decided
    moved = catalogue.folder / "moved/cards"
    shutil.move(catalogue.path, moved)

    with pytest.raises(HdbenchError, match="no benchmark here"):
        verify_decision(path)
    assert verify_decision(path, benchmark=str(moved)).differences == []


def test_plan_and_decision_moved_together(decided):
    catalogue, _, path = decided
    (catalogue.folder / "kept").mkdir()
    for each in (path, catalogue.plan_file):
        shutil.move(each, catalogue.folder / "kept")

    assert verify_decision(catalogue.folder / "kept/decision.json").differences == []
    catalogue.plan_file = catalogue.folder / "kept/plan.yaml"
    catalogue.plan(seed=2)
    with pytest.raises(HdbenchError, match=r"not the plan of .*decision\.json \(its hash is"):
        verify_decision(catalogue.folder / "kept/decision.json")
    catalogue.plan_file.unlink()
    with pytest.raises(HdbenchError, match=r"its plan .*plan\.yaml is not here"):
        verify_decision(catalogue.folder / "kept/decision.json")


def test_other_answers_cannot_be_verified(decided):
    catalogue, _, path = decided
    answers = catalogue.runs[0] / "answers.jsonl"
    answers.write_text(answers.read_text().replace("1924", "1925", 1))

    with pytest.raises(HdbenchError, match="not the answers that"):
        verify_decision(path)


@pytest.mark.parametrize("text", ["{}", "[]", '{"decision": 2}', '{"decision": 1}', "{", "\x00"])
def test_what_is_no_decision(tmp_path, text):
    path = tmp_path / "decision.json"
    path.write_text(text)

    assert is_decision(path) == text.startswith('{"decision"')
    with pytest.raises(HdbenchError, match=r"decision\.json: "):
        verify_decision(path)
