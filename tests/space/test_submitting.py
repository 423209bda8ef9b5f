"""What is submitted to the leaderboard, without a page."""

import json
import re
from datetime import date

import pytest
from space.pages import as_csv, as_xlsx, as_zip

from hdbench.api import score
from hdbench.evaluation.score import Settings
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.scoring import Upload
from hdbench.space.jobs.submit_hub import Hourly
from hdbench.space.jobs.submitting import (
    Statement,
    SubmissionError,
    description,
    make_submission,
)
from hdbench.space.texts import translations

pytestmark = pytest.mark.nightly

EXAMPLE = "hdb/zettelkatalog/example_predictions.jsonl"
DAY = date(2026, 1, 24)
SAID = Statement("Qwen/Qwen3", "somebody", False, True, "", "A library", True)


def submission(sample, path, statement=SAID, day=DAY, **upload):
    context = SpaceContext(sample / "hdb")
    return make_submission(context, Upload("zettelkatalog", path, **upload), statement, day)


def refused(sample, path, statement=SAID, **upload):
    with pytest.raises(SubmissionError) as error:
        submission(sample, path, statement, **upload)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def mine(sample, tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_bytes((sample / EXAMPLE).read_bytes())
    return path


@pytest.mark.parametrize("protocol", ["documented", "published"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "xlsx", "zip"])
def test_each_form_of_a_file_scores_the_same_when_submitted(sample, tmp_path, form, protocol):
    lines = [json.loads(line) for line in (sample / EXAMPLE).read_text().splitlines()]
    made = {"csv": as_csv, "xlsx": as_xlsx, "zip": as_zip}.get(form)
    path = tmp_path / f"mine.{form}"
    if made is None:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        pairs = [(each["id"], each.get("prediction", each.get("text"))) for each in lines]
        content = made(pairs)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    expected = score(str(sample / "hdb/zettelkatalog"), path, Settings(protocol))
    made = submission(sample, path, protocol=protocol)
    folder = tmp_path / "fetched"
    folder.mkdir()
    for name, content in made.files.items():
        (folder / name).write_bytes(content)
    fetched = score(str(sample / "hdb/zettelkatalog"), folder, Settings(protocol))
    assert fetched.statistics == expected.statistics
    assert fetched.figures()["signature"] == expected.figures()["signature"]
    assert made.result.figures()["benchmark"] == "hdb/zettelkatalog"
    assert ("--protocol published" in description(made)) == (protocol == "published")


def test_the_folder_s_name_says_day_model_and_answers(sample, mine):
    first = submission(sample, mine)
    assert re.fullmatch(r"zettelkatalog/2026-01-24_qwen-qwen3-[0-9a-f]{12}", first.folder)
    assert submission(sample, mine).folder == first.folder
    later = submission(sample, mine, day=date(2026, 1, 25))
    assert later.digest == first.digest
    mine.write_text('{"id": "sample-01", "prediction": {}}')
    assert submission(sample, mine).digest != first.digest


def test_a_number_that_json_does_not_have_is_submitted_as_null(sample, mine):
    mine.write_text('{"id": "sample-08", "prediction": {"publication": {"year": 1e999}}}')
    lines = submission(sample, mine).files["answers.jsonl"].splitlines()
    answers = {line["id"]: line["prediction"] for line in map(json.loads, lines)}
    assert answers["sample-08"] == {"publication": {"year": None}}


def test_what_cannot_be_submitted_is_said_in_one_line(sample, mine, monkeypatch):
    assert "without" in refused(sample, mine, strict=True)
    assert "without" in refused(sample, mine, reread=True)
    assert refused(sample, sample / EXAMPLE) == "the example is not a model's run"
    assert "already been deleted" in refused(sample, mine.with_name("gone.jsonl"))
    said = SAID.__dict__
    for key, value, reason in [
        ("model", "", "enter the model's name"),
        ("model", "m" * 101, "at most 100 characters"),
        ("model", "m" * 1_000_000, "at most 100 characters"),
        ("name", "a\0b", "control or invisible"),
        ("name", "\ud800", "control or invisible"),
        ("note", "n" * 301, "at most 300 characters"),
        ("consent", "yes", "tick the box"),
        ("consent", None, "tick the box"),
    ]:
        assert reason in refused(sample, mine, Statement(**said | {key: value}))
    monkeypatch.setattr("hdbench.space.jobs.submitting.MAX_ANSWERS", 100)
    assert "larger than" in refused(sample, mine)


def test_of_several_models_the_shown_one_is_submitted(sample, tmp_path):
    path = tmp_path / "two.jsonl"
    rows = [
        {"id": "sample-01", "prediction": {"publication": {"year": year}}, "model": model}
        for model, year in (("one", 1957), ("two", 1958))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    context = SpaceContext(sample / "hdb")
    made = make_submission(context, Upload("zettelkatalog", path, run="two"), SAID, DAY)
    assert b"1958" in made.files["answers.jsonl"]
    assert b"1957" not in made.files["answers.jsonl"]


def test_a_space_takes_so_many_submissions_an_hour():
    hourly = Hourly(2)
    hourly.take()
    hourly.take()
    with pytest.raises(SubmissionError, match="too many submissions"):
        hourly.take()


def test_every_reason_is_there_in_both_languages():
    texts = translations()
    keys = {key for key in texts["en"] if key.startswith("submit")}
    assert keys == {key for key in texts["de"] if key.startswith("submit")}
    for key in keys:
        places = [re.findall(r"\{\w*\}", texts[language][key]) for language in ("en", "de")]
        assert places[0] == places[1], key
