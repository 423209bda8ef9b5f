"""A collection has one ledger: its plans, and the one verification of them."""

import shutil

import pytest
from helpers.people_files import add_events, readings_in
from helpers.planned_values import PlannedValues

from hdbench.collections.trust.blind_reading import values_to_read
from hdbench.collections.trust.control import check_control
from hdbench.collections.trust.decision import verify_decision
from hdbench.collections.trust.delivery import finish
from hdbench.collections.trust.ledger import Ledger
from hdbench.errors import HdbenchError


@pytest.fixture
def cards(tmp_path):
    return PlannedValues(tmp_path)


def second(cards, **options):
    """The second of two plans, made before the first one was verified."""
    first, cards.plan_file = cards.plan_file, cards.folder / "second/plan.yaml"
    cards.plan_file.parent.mkdir()
    cards.plan(**options)
    return first


def test_every_step_is_a_line(cards):
    cards.decided()
    cards.decide()
    cards.apply()
    cards.control()

    steps = [entry.step for entry in Ledger(cards.path).entries]
    assert steps == [
        "plan",
        "learned",
        "verification",
        "readings",
        "decision",
        "applied",
        "control",
    ]


def test_of_two_plans_that_learned_one_is_verified(cards):
    cards.plan()
    cards.learn()
    first = second(cards, seed=1)
    cards.learn()
    check = values_to_read(cards.plan_file, cards.path)
    assert [stage.name for stage in check.stages()] == ["learn", "verify"]

    cards.plan_file = first
    refused = pytest.raises(HdbenchError, match=r"ledger\.jsonl:5: values were drawn to verify")
    with refused:
        values_to_read(first, cards.path)
    for step in (cards.verify, cards.decide, cards.apply):
        with refused:
            step()


@pytest.mark.parametrize("damage", ["cut", "edited", "link", "gone"])
def test_a_damaged_ledger_is_refused_by_all_that_comes_later(cards, damage):
    cards.decided()
    cards.apply()
    path = cards.path / "ledger.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    if damage == "cut":
        path.write_text("".join(lines[:1]))
    elif damage == "edited":
        path.write_text("".join([lines[0].replace("plan", "control", 1), *lines[1:]]))
    else:
        path.rename(cards.folder / "elsewhere.jsonl")
        if damage == "link":
            path.symlink_to(cards.folder / "elsewhere.jsonl")
    said = {
        "cut": "ledger.jsonl: has 1 lines, and none is about .*(learned.yaml|applied.json): it is",
        "edited": r"ledger.jsonl:\d: (does not follow|.*step)",
        "link": "ledger.jsonl: is a symbolic link",
        "gone": "ledger.jsonl: has 0 lines, and none is about .*(plan.yaml|applied.json)",
    }[damage]

    for step in (
        cards.decide,
        cards.apply,
        lambda: check_control(cards.out, cards.benchmark),
        lambda: finish(cards.out, cards.benchmark, cards.folder / "finished"),
    ):
        with pytest.raises(HdbenchError, match=said):
            step()


def test_after_the_decision_nobody_reads_on(cards):
    cards.plan()
    cards.learn()
    check = values_to_read(cards.plan_file, cards.path)
    cards.verify()
    cards.decide()

    for refused in (check.check_open, lambda: values_to_read(cards.plan_file, cards.path)):
        with pytest.raises(HdbenchError, match=r"was decided on .*: what people read is closed"):
            refused()


def test_readings_that_come_later_change_nothing_and_are_named(cards, capsys):
    first = cards.decided()
    sample = cards.learned().second_stage
    cards.read(sample[:3], cards.planned(), "verify", by="carla", title="Thesen", year=1)

    assert cards.decide().seal() == first.seal()
    assert "3 readings have changed since it was decided on" in capsys.readouterr().err
    assert verify_decision(cards.decision_file) == []
    assert "3 readings have changed since" in capsys.readouterr().err


def test_readings_that_went_are_refused(cards):
    cards.decided()
    plan = cards.planned().hash()
    readings = readings_in(cards.path)
    shutil.rmtree(cards.path / "people")
    gone = [each for each in readings if each.stage == "verify"][:2]
    add_events(cards.path, [each for each in readings if each not in gone])

    closed = Ledger(cards.path).of("readings", plan)
    assert {each.id for each in gone} <= set(closed.readings)
    for step in (cards.decide, cards.apply, lambda: verify_decision(cards.decision_file)):
        with pytest.raises(HdbenchError, match=r"2 readings have changed since|not read yet"):
            step()
