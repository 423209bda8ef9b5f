"""Tesseract itself, on this project's own images."""

import json
import random
import shutil
from pathlib import Path

import pytest
from helpers.results import flat_of
from PIL import Image
from rapidfuzz.distance import Levenshtein

from hdbench.errors import HdbenchError
from hdbench.models.backend import Asked, Question
from hdbench.models.tesseract_backend import TesseractBackend

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"
CARD = SCRIPTS / "zettelkatalog/sample/images/sample-01.jpg"

pytestmark = [pytest.mark.needs("tesseract"), pytest.mark.nightly]


def backend(**asked):
    return TesseractBackend(Asked("tesseract", **asked), "", None)


def texts(*media):
    questions = [Question(str(number), list(files)) for number, files in enumerate(media)]
    replies = dict(backend().answer(questions))
    assert all(reply.finish_reason == "stop" for reply in replies.values())
    return [replies[question.id].text for question in questions]


def test_a_fraktur_page_is_read():
    sample = SCRIPTS / "avisblatt/sample"
    [page] = texts([sample / "images/sample-1.jpg"])
    first = json.loads((sample / "metadata.jsonl").read_text("utf-8").splitlines()[0])
    [right, *_] = first["ground_truth"]["advertisements"]
    lines = page.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("1."))
    found = " ".join(lines[begin:])[: len(right["text"])]
    assert Levenshtein.normalized_distance(found, right["text"]) < 0.2


def test_a_typed_card_is_read_and_the_same_each_time():
    first, second = texts([CARD], [CARD])
    assert first == second
    assert "Stuttgart" in first
    assert "1957" in first


def test_an_items_images_are_read_together():
    files = sorted((SCRIPTS / "rheinschifffahrt/sample/images").glob("sample-1_p*.jpg"))
    assert len(files) == 2
    alone = texts(*([file] for file in files))
    assert texts(files) == ["\f".join(alone)]


def test_records_are_refused_before_anything_is_read(sample, run_hdbench):
    for dry in ([], ["--dry-run"]):
        done = run_hdbench("run", "hdb/zettelkatalog", "--model", "tesseract", *dry, cwd=sample)
        assert done.returncode == 2
        assert done.stderr == (
            "error: --model tesseract: reads plain text, and the answers of hdb/zettelkatalog are "
            "records: choose a model that takes a prompt\n"
        )
    assert not (sample / "runs").exists()


def test_its_texts_are_scored_where_a_benchmark_asks_for_one(run_hdbench, tmp_path):
    sample = SCRIPTS / "avisblatt/sample"
    (tmp_path / "scans").mkdir()
    shutil.copy(sample / "images/sample-1.jpg", tmp_path / "scans/page.jpg")
    first = json.loads((sample / "metadata.jsonl").read_text("utf-8").splitlines()[0])
    page = "\n".join(ad["text"] for ad in first["ground_truth"]["advertisements"])
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth/page.txt").write_text(page)
    for command in (
        ("new", "pages", "scans", "--truth", "truth"),
        ("build", "pages", "--accept-licence"),
        ("run", "hdb/pages", "--model", "tesseract", "-o", "runs/tesseract"),
        ("leaderboard", "hdb/pages", "runs/tesseract", "truth", "--format", "json"),
        ("score", "hdb/pages", "runs/tesseract", "--json", "result.json"),
    ):
        done = run_hdbench(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        if command[0] == "leaderboard":
            [board] = json.loads(done.stdout)["leaderboards"]  # neither was asked with a prompt
            assert [row["model"] for row in board["rows"]] == ["truth", "tesseract"]
    result = flat_of(tmp_path / "result.json")
    assert result["answered"] == 1
    assert result["bwer"] <= result["wer"] < 1


def test_undecodable_image_fails_only_its_own_item(tmp_path):
    damaged = tmp_path / "damaged.jpg"
    damaged.write_bytes(b"no image")
    questions = [
        Question("a", [damaged]),
        Question("b", [CARD]),
        Question("c", [tmp_path / "none"]),
    ]
    replies = dict(backend().answer(iter(questions)))
    assert [replies[item].error is None for item in "abc"] == [False, True, False]
    assert "damaged.jpg: cannot be read" in replies["a"].error
    assert replies["a"].text is None


def test_noise_that_takes_too_long_is_its_items_error(tmp_path):
    noise = Image.frombytes("L", (1500, 1500), random.Random(0).randbytes(1500 * 1500))
    noise.save(tmp_path / "noise.png")
    [(_, reply)] = backend(timeout=0.1).answer([Question("a", [tmp_path / "noise.png"])])
    assert reply.error == "tesseract was stopped after 0.1 seconds"


def test_missing_language_data_are_said_with_debians_packages(monkeypatch, tmp_path):
    (tmp_path / "deu.traineddata").write_bytes(b"")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    with pytest.raises(
        HdbenchError, match=r"no language data 'Fraktur'.*tesseract-ocr-script-frak"
    ):
        backend()


def test_settings_hold_what_can_change_an_answer_and_are_json():
    settings = backend().settings()
    assert settings.keys() >= {"tesseract", "languages", "max_side", "pages"}
    assert settings["tesseract"].startswith("5.")
    assert json.loads(json.dumps(settings)) == settings


def test_questions_are_taken_as_they_can_be_worked_on():
    taken = []

    def questions():
        for number in range(20):
            taken.append(number)
            yield Question(str(number), [])

    replies = backend(concurrency=2).answer(questions())
    next(replies)
    assert len(taken) <= 4
    replies.close()
