"""The file of readings: what was saved stays, whoever else writes, and a stranger's is refused."""

import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from annotating.checking.readings import PLAN, key, reading
from filelock import FileLock
from hdbench.annotating.own_file import NotSavedError
from hypothesis import given
from hypothesis import strategies as st

import hdbench
from hdbench.annotating import shared_file
from hdbench.annotating.checking.checked_values import (
    CheckedValues,
    ReaderAgreement,
    Settled,
    reader_agreement,
    settled,
)
from hdbench.benchmarks.benchmark import CHECKED_VALUES
from hdbench.errors import HdbenchError

WRITER = """
import sys
from pathlib import Path
from annotating.checking.readings import reading
from hdbench.annotating.checking.checked_values import CheckedValues
values = CheckedValues(Path(sys.argv[1]))
for number in range(40):
    values.add(reading(f"b{number}", sys.argv[2], "x" * number * 50))
"""


def read_by(values, item, plan=PLAN):
    return [(each.by, each.value) for each in values.readings(plan)[key(item)]]


def test_the_last_reading_of_each_person_counts(tmp_path):
    values = CheckedValues(tmp_path)
    values.add(reading("b1", "anna", "Fausst"))
    values.add(reading("b1", "ben", "Faust"))
    values.add(reading("b2", "ben", "Egmont"))
    values.add(reading("b1", "anna", "Faust"))
    values.add(reading("b1", "anna", "other", plan="f" * 64))
    for each in (values, CheckedValues(tmp_path)):
        assert read_by(each, "b1") == [("anna", "Faust"), ("ben", "Faust")]
        assert read_by(each, "b2") == [("ben", "Egmont")]
        assert each.plans() == {PLAN, "f" * 64}
        assert each.readings("none") == {}
        assert each.notes == []


def test_plans_by_the_stages_that_were_read(tmp_path):
    values = CheckedValues(tmp_path)
    for plan, stage in (("a", "learn"), ("a", "verify"), ("b", "learn"), ("c", "control")):
        values.add(reading(f"{plan} {stage}", "anna", "Faust", plan=plan, stage=stage))
    for each in (values, CheckedValues(tmp_path)):
        assert each.plans_with("learn") == {"a", "b"}
        assert each.plans_with("verify") == {"a"}
        assert each.plans_with("control") == {"c"}


def test_what_others_append_is_read_on(tmp_path):
    ours, theirs = CheckedValues(tmp_path), CheckedValues(tmp_path)
    theirs.add(reading("b1", "ben", "Faust"))
    assert ours.readings(PLAN) == {}
    ours.refresh()
    assert read_by(ours, "b1") == [("ben", "Faust")]
    theirs.add(reading("b1", "carl", "Faust"))
    ours.add(reading("b1", "anna", "Faust"))
    assert [by for by, _ in read_by(ours, "b1")] == ["ben", "carl", "anna"]
    (tmp_path / CHECKED_VALUES).unlink()
    ours.refresh()
    assert ours.plans() == set()


def test_processes_that_append_at_once_lose_nothing(tmp_path):
    names = ("anna", "ben", "carl")
    paths = (Path(hdbench.__file__).parents[1], Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], env=environment)
        for name in names
    ]
    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    values = CheckedValues(tmp_path)
    assert values.notes == []
    for number in range(40):
        assert sorted(read_by(values, f"b{number}")) == [
            (name, "x" * number * 50) for name in names
        ]


def test_incomplete_last_line_is_removed_by_the_next(tmp_path):
    CheckedValues(tmp_path).add(reading("b1", "anna", "Faust"))
    path = tmp_path / CHECKED_VALUES
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:-20])
    values = CheckedValues(tmp_path)
    assert list(values.readings(PLAN)) == [key("b1")]
    values.add(reading("b2", "anna", "Egmont"))
    assert path.read_bytes().startswith(whole + b'{"id"')
    assert list(CheckedValues(tmp_path).readings(PLAN)) == [key("b1"), key("b2")]
    assert values.notes == []


def test_a_damaged_line_is_skipped_with_a_note(tmp_path):
    for item in ("b1", "b2", "b3"):
        CheckedValues(tmp_path).add(reading(item, "anna", "Faust"))
    path = tmp_path / CHECKED_VALUES
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:40] + second + third)
    values = CheckedValues(tmp_path)
    assert list(values.readings(PLAN)) == [key("b1"), key("b3")]
    [note] = values.notes
    assert f"{path}:2: not JSON" in note
    assert note.endswith("this line is left out")


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"by": "Anna Muster"}, "'Anna Muster' is not a pseudonym"),
        ({"what": "guess"}, "what"),
        ({"id": "1"}, "id"),
        ({"seconds": -1}, "seconds"),
        ({"draft": "Faust"}, "draft"),
        ({"value": json.loads("[" * 60 + "]" * 60)}, "nested too deep"),
        ({"value": "x" * 2**20}, "a line is longer than 1 MiB"),
    ],
)
def test_a_strangers_file_is_refused(tmp_path, change, refused):
    line = reading("b1", "anna", "Faust").model_dump() | change
    (tmp_path / CHECKED_VALUES).write_text(json.dumps(line) + "\n")
    with pytest.raises(HdbenchError, match=refused):
        CheckedValues(tmp_path)


def test_a_line_that_is_refused_is_so_until_it_is_mended(tmp_path):
    CheckedValues(tmp_path).add(reading("b1", "anna", "Faust"))
    values, path = CheckedValues(tmp_path), tmp_path / CHECKED_VALUES
    whole = path.read_bytes()
    path.write_bytes(whole + json.dumps({"draft": "Faust"}).encode() + b"\n")
    for _ in range(2):
        with pytest.raises(HdbenchError, match=f"{CHECKED_VALUES}:2: "):
            values.refresh()
    path.write_bytes(whole + whole.replace(b"b1", b"b2"))
    values.refresh()
    assert list(values.readings(PLAN)) == [key("b1"), key("b2")]


def test_only_a_regular_file_is_read_or_written(tmp_path):
    target = tmp_path / "elsewhere"
    target.write_text("kept")
    path = tmp_path / CHECKED_VALUES
    values = CheckedValues(tmp_path)
    path.symlink_to(target)
    with pytest.raises(HdbenchError, match="symbolic link"):
        CheckedValues(tmp_path)
    with pytest.raises(HdbenchError, match="symbolic link"):
        values.add(reading("b1", "anna", "Faust"))
    assert target.read_text() == "kept"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(HdbenchError, match="not a file"):
        CheckedValues(tmp_path)


@pytest.mark.parametrize("value", ["x" * 2**20, json.loads("[" * 60 + "]" * 60), float("nan")])
def test_what_could_not_be_read_again_is_not_saved(tmp_path, value):
    values = CheckedValues(tmp_path)
    with pytest.raises(HdbenchError):
        values.add(reading("b1", "anna", value))
    assert not (tmp_path / CHECKED_VALUES).exists()


def test_half_a_character_can_be_saved(tmp_path):
    CheckedValues(tmp_path).add(reading("b1", "anna", "a\ud800"))
    assert len(CheckedValues(tmp_path).readings(PLAN)) == 1


def test_a_lock_that_is_never_free_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_file, "_PATIENCE", 0.1)
    values = CheckedValues(tmp_path)
    with (
        FileLock(tmp_path / f".{CHECKED_VALUES}.lock"),
        pytest.raises(NotSavedError, match="not saved: another process"),
    ):
        values.add(reading("b1", "anna", "Faust"))
    values.add(reading("b1", "anna", "Faust"))


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ([], Settled("unsettled", None, 0)),
        (["a"], Settled("value", "a", 1)),
        ([None], Settled("value", None, 1)),
        (["Basel", " BASEL\n"], Settled("value", "Basel", 2)),
        ([1957, "1957"], Settled("value", 1957, 2)),
        ([["Diss", "Basel"], ["diss", "basel"]], Settled("value", ["Diss", "Basel"], 2)),
        ([None, ""], Settled("value", None, 2)),
        (["a", "b"], Settled("unsettled", None, 2)),
        (["a", "b", "b"], Settled("value", "b", 3)),
        (["a", "b", "c"], Settled("unsettled", None, 3)),
        (["a", "b", "c", "A"], Settled("value", "a", 4)),
        (["a", "b", "c", "c"], Settled("unsettled", None, 4)),
        (["a", "a", "b", "b"], Settled("value", "a", 4)),
    ],
)
def test_settled_values_by_hand(told, outcome):
    people = (f"p{number}" for number in count())
    assert settled(
        [reading("b1", by, value) for by, value in zip(people, told, strict=False)], "ignored"
    ) == (outcome)


def test_unreadable_and_damaged_are_outcomes_of_their_own():
    kinds = ("unreadable", "damaged", "damaged")
    readings = [reading("b1", f"p{place}", None, what=what) for place, what in enumerate(kinds)]
    assert settled(readings[:1], "counts").outcome == "unreadable"
    assert settled(readings[:2], "counts").outcome == "unsettled"
    assert settled(readings, "counts") == Settled("damaged", None, 3)
    nothing = reading("b1", "anna", None)
    assert settled([nothing, readings[0]], "counts").outcome == "unsettled"


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_settled_is_what_the_rule_says(told):
    def by_the_rule():
        if len(told) < 2 or told[0] == told[1]:
            return told[0] if told else None
        deciding = [value for value in told[2:] if value in told[:2]]
        return deciding[0] if deciding else None

    outcome = settled(
        [reading("b1", f"p{place}", value) for place, value in enumerate(told)], "counts"
    )
    assert outcome.value == by_the_rule()
    assert outcome.outcome == ("unsettled" if by_the_rule() is None else "value")


def test_agreement_of_the_first_two_people():
    def read(*told):
        return [reading("b1", f"p{place}", value) for place, value in enumerate(told)]

    by_value = [read("a"), read("a", "A"), read("a", "b", "b"), read(None, None), []]
    assert reader_agreement(by_value, "ignored") == ReaderAgreement(twice=3, same=2)
    assert reader_agreement([], "counts") == ReaderAgreement(0, 0)
