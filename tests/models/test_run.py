"""The loop that asks: what is recorded, resumed, retried and told."""

import json
from pathlib import Path

import pytest
from models.scripted import Scripted

from hdbench.errors import HdbenchError
from hdbench.models.backend import Question, Reply
from hdbench.models.run import run_model

RIGHT = json.dumps({"title": "Stellingen", "year": 1924})
WRONG = json.dumps({"title": "Stellingen", "year": 1942})
IDS = ["0000", "0001", "0002", "0003"]
QUESTIONS = [Question(item, [Path(f"{item}.jpg")]) for item in IDS]
SETTINGS = {"benchmark": "hdb/cards", "model": "scripted", "items": None}


def all_of(text):
    return dict.fromkeys(IDS, text).get


def recorded(folder):
    return [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]


def test_each_answer_is_recorded_with_what_is_known_of_it(tmp_path):
    replies = {
        "0000": Reply("{}", {"input": 9, "output": 2}, 1.23456, "stop", constrained=True),
        "0001": Reply("{", finish_reason="length"),
        "0002": Reply(None, error="cannot be read"),
        "0003": Reply(None),
    }
    outcome = run_model(Scripted(replies.get), QUESTIONS, tmp_path / "run", SETTINGS)
    assert recorded(tmp_path / "run") == [
        {
            "id": "0000",
            "text": "{}",
            "tokens": {"input": 9, "output": 2},
            "seconds": 1.235,
            "finish_reason": "stop",
            "constrained": True,
        },
        {"id": "0001", "text": "{", "finish_reason": "length"},
        {"id": "0002", "error": "cannot be read"},
        {"id": "0003", "error": "an empty answer"},
    ]
    assert (outcome.items, outcome.answered, outcome.failed) == (4, 4, 2)


def test_a_run_that_broke_off_goes_on_and_asks_nothing_twice(tmp_path):
    def fails_at_the_third(item):
        if item == "0002":
            raise HdbenchError("the server is gone")
        return RIGHT

    first = Scripted(fails_at_the_third)
    with pytest.raises(HdbenchError, match="the server is gone"):
        run_model(first, QUESTIONS, tmp_path / "run", SETTINGS)
    second = Scripted(all_of(WRONG))
    run_model(second, QUESTIONS, tmp_path / "run", SETTINGS)
    assert second.asked == ["0002", "0003"]
    texts = [(line["id"], line["text"]) for line in recorded(tmp_path / "run")]
    assert texts == [("0000", RIGHT), ("0001", RIGHT), ("0002", WRONG), ("0003", WRONG)]


def test_a_complete_run_asks_nothing(tmp_path):
    run_model(Scripted(all_of(RIGHT)), QUESTIONS, tmp_path / "run", SETTINGS)
    again = Scripted(all_of(RIGHT))
    outcome = run_model(again, QUESTIONS, tmp_path / "run", SETTINGS)
    assert again.asked == []
    assert outcome.answered == 4
    assert len(json.loads((tmp_path / "run/run.json").read_text())["sittings"]) == 1


def test_failed_items_are_asked_again_only_on_request(tmp_path):
    failing = Scripted(lambda item: Reply(None, error="no") if item == "0001" else RIGHT)
    run_model(failing, QUESTIONS, tmp_path / "run", SETTINGS)
    left = Scripted(all_of(RIGHT))
    assert run_model(left, QUESTIONS, tmp_path / "run", SETTINGS).failed == 1
    assert left.asked == []
    outcome = run_model(left, QUESTIONS, tmp_path / "run", SETTINGS, retry_failed=True)
    assert left.asked == ["0001"]
    assert (outcome.answered, outcome.failed) == (4, 0)


def test_ctrl_c_ends_cleanly_and_keeps_what_came(tmp_path):
    def stops(item):
        if item == "0002":
            raise KeyboardInterrupt
        return RIGHT

    outcome = run_model(Scripted(stops), QUESTIONS, tmp_path / "run", SETTINGS)
    assert outcome.interrupted
    assert outcome.lines(tmp_path / "run") == [
        f"{tmp_path / 'run'}: 2 of 4 items answered, 2 not answered yet (run again: the command "
        "resumes where it stopped)"
    ]
    [sitting] = json.loads((tmp_path / "run/run.json").read_text())["sittings"]
    assert sitting["ended"] is not None
