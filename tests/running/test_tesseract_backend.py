"""Tesseract itself, on this project's own images."""

import json
import random
from pathlib import Path

import pytest
from PIL import Image
from rapidfuzz.distance import Levenshtein

from hdbench.errors import HdbenchError
from hdbench.running.backend import Asked, Question
from hdbench.running.tesseract_backend import TesseractBackend

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "dataset_scripts"

pytestmark = [pytest.mark.needs("tesseract"), pytest.mark.nightly]


def backend_for(benchmark, **options):
    schema = json.loads((SCRIPTS / benchmark / "answer.schema.json").read_text("utf-8"))
    return TesseractBackend(Asked("tesseract"), "", schema, **options)


def sample(benchmark, name):
    return SCRIPTS / benchmark / "sample" / name


def records(backend, *media):
    questions = [Question(str(number), list(files)) for number, files in enumerate(media)]
    replies = dict(backend.answer(questions))
    assert all(reply.finish_reason == "stop" for reply in replies.values())
    return [json.loads(replies[question.id].text) for question in questions]


def test_a_fraktur_page_is_read_ad_by_ad():
    [page] = records(backend_for("avisblatt"), [sample("avisblatt", "images/sample-1.jpg")])
    rows = sample("avisblatt", "metadata.jsonl").read_text("utf-8").splitlines()
    truth = json.loads(rows[0])["ground_truth"]["advertisements"]
    found = page["advertisements"]
    assert [ad["text"].split(".")[0] for ad in found] == ["1", "2", "3", "4", "5", "6", "7"]
    assert {ad["date"] for ad in found} == {"1743-10-15"}
    sections = [ad["tags_section"].replace("ff", "f") for ad in found]
    assert sections == [ad["tags_section"].replace("ff", "f") for ad in truth]
    errors = [
        Levenshtein.distance(ad["text"], right["text"]) / len(right["text"])
        for ad, right in zip(found, truth, strict=True)
    ]
    assert sum(errors) / len(errors) < 0.1


def test_a_typed_card_is_read_and_the_same_each_time():
    image = [sample("zettelkatalog", "images/sample-01.jpg")]
    first, second = records(backend_for("zettelkatalog"), image, image)
    assert first == second
    assert first["publication"]["year"] == 1957
    assert first["publication"]["place"] == "Stuttgart"
    assert first["author"]["last_name"] == "Müller"


def test_a_letters_pages_are_read_together():
    files = sorted(sample("rheinschifffahrt", "images").glob("sample-1_p*.jpg"))
    [letter] = records(backend_for("rheinschifffahrt"), files)
    assert len(files) == 2
    assert letter["send_date"] == ["1929-03-12"]


def test_a_papers_pdf_is_read():
    rows = map(
        json.loads, sample("sciencemetabench", "metadata.jsonl").read_text("utf-8").splitlines()
    )
    row = next(row for row in rows if row["ground_truth"]["kind"] == "paper")
    [paper] = records(
        backend_for("sciencemetabench"), [sample("sciencemetabench", row["file_name"])]
    )
    assert paper["doi"] == row["ground_truth"]["doi"]
    assert paper["title"] == row["ground_truth"]["title"]


def test_plain_text_is_enough_for_a_schema_that_asks_for_it():
    backend = TesseractBackend(Asked("tesseract"), "", {"properties": {"text": {"type": "string"}}})
    [found] = records(backend, [sample("zettelkatalog", "images/sample-01.jpg")])
    assert "Stuttgart" in found["text"]


def test_a_transcription_has_the_text_where_its_schema_has_it():
    [found] = records(backend_for("manuscripts"), [sample("zettelkatalog", "images/sample-01.jpg")])
    [folio] = found.pop("folios")
    assert found == {}
    assert "Stuttgart" in folio["text"]


def test_undecodable_image_fails_only_its_own_item(tmp_path):
    damaged = tmp_path / "damaged.jpg"
    damaged.write_bytes(b"no image")
    good = sample("zettelkatalog", "images/sample-01.jpg")
    questions = [
        Question("a", [damaged]),
        Question("b", [good]),
        Question("c", [tmp_path / "none"]),
    ]
    replies = dict(backend_for("zettelkatalog").answer(iter(questions)))
    assert [replies[item].error is None for item in "abc"] == [False, True, False]
    assert "damaged.jpg: cannot be read" in replies["a"].error
    assert replies["a"].text is None


def test_noise_that_takes_too_long_is_its_items_error(tmp_path):
    noise = Image.frombytes("L", (1500, 1500), random.Random(0).randbytes(1500 * 1500))
    noise.save(tmp_path / "noise.png")
    backend = backend_for("avisblatt", timeout=0.05)
    [(_, reply)] = backend.answer([Question("a", [tmp_path / "noise.png"])])
    assert reply.error == "tesseract was stopped after 0.05 seconds"


def test_missing_language_data_are_said_with_debians_packages(monkeypatch, tmp_path):
    (tmp_path / "eng.traineddata").write_bytes(b"")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    with pytest.raises(
        HdbenchError, match=r"no language data 'Fraktur'.*tesseract-ocr-script-frak"
    ):
        backend_for("avisblatt")


def test_settings_hold_what_can_change_an_answer_and_are_json():
    settings = backend_for("avisblatt").settings()
    assert settings.keys() >= {"tesseract", "languages", "rules", "max_side", "pages"}
    assert settings["tesseract"].startswith("5.")
    assert json.loads(json.dumps(settings)) == settings


def test_questions_are_taken_as_they_can_be_worked_on():
    taken = []

    def questions():
        for number in range(20):
            taken.append(number)
            yield Question(str(number), [])

    replies = backend_for("zettelkatalog", at_once=2).answer(questions())
    next(replies)
    assert len(taken) <= 4
    replies.close()
