"""A decision is made again, and every figure compared."""

import json
import shutil

import pytest
from helpers.planned_values import PlannedValues

from hdbench.collections.trust.decision import verify_decision
from hdbench.collections.trust.decision_file import is_decision
from hdbench.errors import HdbenchError


@pytest.fixture
def cards(tmp_path):
    made = PlannedValues(tmp_path)
    made.decided()
    return made


def test_an_equal_decision(cards):
    assert verify_decision(cards.decision_file) == []


def test_a_figure_that_was_changed(cards):
    said = json.loads(cards.decision_file.read_text())
    cards.decision_file.write_text(json.dumps(said | {"accepted": said["accepted"] + 1}))

    found = verify_decision(cards.decision_file)

    assert found == [f"accepted: {said['accepted'] + 1} → {said['accepted']}"]


def test_what_was_applied_is_no_decision(cards):
    cards.apply()
    assert is_decision(cards.out / "applied.json")
    assert not is_decision(cards.out / "plan.yaml")
    with pytest.raises(HdbenchError, match=r"applied\.json: not a decision: give the file that"):
        verify_decision(cards.out / "applied.json")


def test_a_plan_that_is_not_there(cards):
    kept = shutil.copy(cards.plan_file, cards.folder / "kept.yaml")
    cards.plan_file.unlink()
    with pytest.raises(HdbenchError, match=r"its plan .*plan\.yaml is not here"):
        verify_decision(cards.decision_file)
    shutil.move(kept, cards.plan_file)
    answers = cards.runs[0] / "answers.jsonl"
    answers.write_text(answers.read_text().replace("1924", "1925", 1))
    with pytest.raises(HdbenchError, match="not the answers that"):
        verify_decision(cards.decision_file)


@pytest.mark.parametrize("text", ["{}", "[]", '{"decision": 2}', '{"decision": 1}', "{", "\x00"])
def test_what_is_no_decision(tmp_path, text):
    path = tmp_path / "decision.json"
    path.write_text(text)

    assert is_decision(path) == text.startswith('{"decision"')
    with pytest.raises(HdbenchError, match=r"decision\.json:"):
        verify_decision(path)
