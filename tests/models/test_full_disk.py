"""Runs on a full disk: no answer that was recorded is lost or asked for twice."""

import json
from collections import Counter

import pytest
from helpers.small_disk import FORMS, PAGE, is_saved, small_disk
from models.scripted import Scripted

from hdbench.errors import HdbenchError
from hdbench.models.backend import Question
from hdbench.models.run import run_model
from hdbench.models.run_folder import AnswersFile, read_answers

IDS = [f"{number:04}" for number in range(240)]
QUESTIONS = [Question(item, []) for item in IDS]
SETTINGS = {"benchmark": "hdb/cards", "model": "scripted", "items": None}


def answer(item):
    return f"{item} " + "ü" * (int(item) * 37 % 400)


def recorded(folder):
    path = folder / "answers.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {line["id"]: line["text"] for line in map(json.loads, lines)}


@pytest.mark.parametrize("form", FORMS)
def test_run_resumes_after_a_full_disk_without_asking_twice(tmp_path, form):
    asked, refused = [], 0
    with small_disk(tmp_path / "disk", form) as disk:
        folder = disk.folder / "run"
        assert is_saved(run_model, Scripted(answer), QUESTIONS[:1], folder, SETTINGS)
        for _ in range(200):
            # A run.json is written beside itself when a sitting begins; there is little more room.
            disk.fill(pages=1 + ((folder / "run.json").stat().st_size + 500) // PAGE)
            backend = Scripted(answer)
            refused += not is_saved(run_model, backend, QUESTIONS, folder, SETTINGS)
            disk.make_room()
            # A backend is asked for the next answer once the one before it is on the disk.
            asked += backend.asked
            acknowledged = {IDS[0], *asked} - set(backend.asked[-1:])
            assert acknowledged <= recorded(folder).keys()
            if len(recorded(folder)) == len(IDS):
                break
            # A killed process would have left as much as a full disk does of a line.
            assert (folder / "answers.jsonl").read_bytes().endswith(b"\n")
        assert recorded(folder) == {item: answer(item) for item in IDS}
    assert refused > 10
    assert max(Counter(asked).values()) < 6  # what was refused is asked again, and nothing else
    assert len(asked) <= len(IDS) + refused


def test_answers_behind_a_failed_write_are_whole(tmp_path):
    """The file is written to though one answer was refused, as tasks of threads might do."""
    with small_disk(tmp_path / "disk") as disk:
        answers = AnswersFile(disk.folder / "answers.jsonl")
        kept = []
        for number in range(80):
            disk.fill()
            for length in (PAGE // 3 + number, 10):
                given = {"id": f"{number} {length}", "text": "x" * length}
                try:
                    answers.add(given)
                except OSError:
                    continue
                kept.append(given)
            disk.make_room()
        before = answers.path.read_bytes()
        assert list(read_answers(answers.path)) == kept
        assert answers.path.read_bytes() == before


def test_a_run_whose_folder_cannot_be_made_says_why(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(HdbenchError, match="file/run: cannot be written: File exists"):
        run_model(Scripted(answer), QUESTIONS, tmp_path / "file/run", SETTINGS)
