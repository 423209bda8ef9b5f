"""What a work sheet changes where others have gone on meanwhile."""

import json
import uuid

import pytest
from trust.sheet.work_sheets import filled

from hdbench.annotating.own_file import now
from hdbench.annotating.working.worked_values import WorkedValue, WorkedValues


@pytest.fixture
def hdbench(desk, run_hdbench):
    def run(*arguments, by="anna"):
        command = ("trust", "read-sheet", desk.out, desk.sheet, "--yes", "--as", by, *arguments)
        done = run_hdbench(*map(str, command), cwd=desk.collection.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def decide(desk, value, *, by="ben", how="typed"):
    """Decide in the page."""
    decision = {
        "id": uuid.uuid4().hex,
        "item": desk.scattered,
        "field": "title",
        "by": by,
        "at": now(),
        "what": "value",
        "value": value,
        "how": how,
    }
    WorkedValues(desk.out).add([WorkedValue.model_validate(decision)])


def test_what_somebody_decided_meanwhile_stays_and_is_named(desk, hdbench):
    key = desk.scattered, "title"
    filled(desk.sheet, {key: "bbbb", (desk.silent, "title"): "Faust"})
    decide(desk, "Stellingen")
    told = hdbench()
    assert "values that were worked off otherwise meanwhile: 1" in told
    assert f"'bbbb', but ben has 'Stellingen': {desk.scattered}, title" in told
    assert "--overwrite takes the sheet's values instead" in told
    assert desk.worked() == {key: "Stellingen", (desk.silent, "title"): "Faust"}


@pytest.mark.parametrize(
    ("media", "nothing"), [("image", "(not on the image)"), ("text", "(not in the text)")]
)
def test_what_was_not_there_is_named_by_the_media(desk, hdbench, media, nothing):
    filled(desk.sheet, {(desk.scattered, "title"): "bbbb"})
    decide(desk, None, how="nothing")
    spec = desk.collection.benchmark / "benchmark.yaml"
    before = spec.read_text()
    spec.write_text(json.dumps(json.loads(before) | {"media": media}))
    try:
        assert f"'bbbb', but ben has {nothing}: {desk.scattered}, title" in hdbench()
    finally:
        spec.write_text(before)  # other tests have the same collection


def test_overwrite_takes_the_value_of_the_sheet(desk, hdbench):
    key = desk.scattered, "title"
    filled(desk.sheet, {key: "bbbb"})
    decide(desk, "Stellingen")
    assert "taken in: 1" in hdbench("--overwrite")
    assert desk.worked() == {key: "bbbb"}


def test_the_same_outcome_is_not_a_conflict(desk, hdbench):
    filled(desk.sheet, {(desk.scattered, "title"): "(not on the image)"})
    decide(desk, None, how="nothing")
    assert "values that are here already: 1" in hdbench()


def test_a_sheet_corrects_what_the_same_persons_sheet_said(desk, hdbench):
    key = desk.scattered, "title"
    filled(desk.sheet, {key: "aaaa"})
    hdbench()
    filled(desk.sheet, {key: "bbbb"})
    assert "values that were worked off otherwise meanwhile: 1" in hdbench(by="ben")
    assert desk.worked() == {key: "aaaa"}
    assert "values corrected since you last read a sheet in: 1" in hdbench()
    assert desk.worked() == {key: "bbbb"}


def test_own_work_in_the_page_is_not_overwritten_either(desk, hdbench):
    filled(desk.sheet, {(desk.scattered, "title"): "aaaa"})
    decide(desk, "cccc", by="anna")
    assert "values that were worked off otherwise meanwhile: 1" in hdbench()
    assert desk.worked() == {(desk.scattered, "title"): "cccc"}
