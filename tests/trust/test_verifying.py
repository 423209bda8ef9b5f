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
    assert verify_decision(path) == []


def test_a_figure_that_was_changed(decided):
    _, _, path = decided
    outcome = json.loads(path.read_text())["outcome"]
    change(path, outcome=outcome | {"passing_in_whole": 6001}, needed=7)
    assert verify_decision(path) == ["outcome.passing_in_whole: 6001 → 6000", "needed: 7 → null"]


def test_other_ground_truths_give_another_decision(decided):
    catalogue, plan, path = decided
    catalogue.check(plan.sample)
    found = verify_decision(path)
    assert "outcome.wrong.letter.count: 3 → 0" in found
    assert any(line.startswith("truths_sha256: ") for line in found)


def test_what_was_applied_is_no_result_either(decided):
    catalogue, plan, _ = decided
    out = catalogue.folder / "out"
    apply(plan, catalogue.benchmark, catalogue.plan_file, out, control=20)
    assert is_decision(out / "applied.json")
    assert not is_decision(out / "plan.yaml")
    with pytest.raises(HdbenchError, match=r"applied\.json: not a decision: give the file that"):
        verify_decision(out / "applied.json")


def test_plan_and_decision_moved_together(decided):
    catalogue, _, path = decided
    (catalogue.folder / "kept").mkdir()
    for each in (path, catalogue.plan_file):
        shutil.move(each, catalogue.folder / "kept")

    assert verify_decision(catalogue.folder / "kept/decision.json") == []
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
