"""What was sealed and is changed, with its hash or without, is refused or noticed in one line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from helpers.planned_values import PlannedValues

from hdbench.collections.trust.control import ControlSample, check_control
from hdbench.collections.trust.decision import verify_decision
from hdbench.collections.trust.learning import (
    PROBABILITIES,
    Learned,
    learn_once,
    learned_again,
    read_learned,
)
from hdbench.collections.trust.plan import Plan, read_plan, write_plan
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A plan that was learned, verified, decided, applied and controlled."""
    cards = PlannedValues(tmp_path_factory.mktemp("made"))
    cards.decided()
    cards.apply()
    cards.control()
    assert verify_decision(cards.decision_file) == []
    return cards


@pytest.fixture
def cards(made):
    """The same; what a test changes is put back."""
    kept = made.folder.with_name("kept")
    shutil.copytree(made.folder, kept)
    yield made
    shutil.rmtree(made.folder)
    kept.rename(made.folder)


def other(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("1" if value[-1] == "0" else "0")
    if isinstance(value, list):
        return [*map(other, value[:1]), *value[1:]] or ["x"]
    return {name: other(child) for name, child in value.items()}


def change(path, key, value=None, *, hashed=None):
    """Change a key of a sealed file; with the class of its content, also its hash."""
    data = yaml.safe_load(path.read_text())
    data[key] = other(data[key]) if value is None else value
    if hashed is not None:
        about = {name: each for name, each in data.items() if name not in (hashed.KIND, "hash")}
        data["hash"] = hashed.model_validate_json(json.dumps(about)).hash()
    path.write_text(yaml.safe_dump(data))


def refusal(action):
    with pytest.raises(HdbenchError) as error:
        action()
    text = str(error.value)
    assert "\n" not in text
    return text


def keys(path):
    return yaml.safe_load(path.read_text())


def test_each_key_of_plan_learned_and_control_is_sealed(cards):
    for name, action in (
        ("values/plan.yaml", lambda: read_plan(cards.plan_file)),
        ("values/learned.yaml", cards.decide),
        ("out/control.yaml", lambda: check_control(cards.out, cards.benchmark)),
        ("out/plan.yaml", lambda: check_control(cards.out, cards.benchmark)),
    ):
        path = cards.folder / name
        whole = path.read_bytes()
        for key in keys(path):
            change(path, key)
            assert str(path) in refusal(action), key
            path.write_bytes(whole)


def test_a_plan_with_another_hash_is_another_plan(cards):
    change(cards.plan_file, "limit", 0.2, hashed=Plan)

    for action in (
        cards.decide,
        cards.apply,
        lambda: learn_once(read_plan(cards.plan_file), cards.benchmark, cards.plan_file),
    ):
        assert "is what another plan has learned" in refusal(action)
    assert "not the plan of" in refusal(lambda: verify_decision(cards.decision_file))


def test_values_to_verify_are_those_that_were_drawn(cards):
    # Values that were read already, and are right, instead of one that was drawn.
    learned = cards.plan_file.with_name("learned.yaml")
    sample = keys(learned)["sample"]
    plan = read_plan(cards.plan_file)
    change(learned, "sample", [list(plan.sample[0]), *sample[1:]], hashed=Learned)

    for action in (cards.decide, cards.apply, lambda: verify_decision(cards.decision_file)):
        assert "its values to verify are not what follows" in refusal(action)


def test_cuts_are_those_that_follow(cards):
    learned = cards.plan_file.with_name("learned.yaml")
    groups = keys(learned)["groups"]
    groups[0]["cuts"][0]["unread"] -= 1
    change(learned, "groups", groups, hashed=Learned)

    assert "its cuts or" in refusal(cards.decide)


def test_what_was_learned_is_what_the_ledger_has(cards):
    learned = cards.plan_file.with_name("learned.yaml")
    whole = learned.read_bytes()
    for key in ("answered", "wrong", "learned_from", "intercept", "coefficients"):
        change(learned, key, hashed=Learned)
        for action in (cards.decide, cards.apply):
            assert "and none is about" in refusal(action), key
        learned.write_bytes(whole)


def test_one_probability_cannot_be_changed(cards):
    path = cards.plan_file.with_name(PROBABILITIES)
    probabilities = np.load(path)
    probabilities[3, 1] += 2
    np.save(path, probabilities)

    for action in (cards.decide, cards.apply, lambda: verify_decision(cards.decision_file)):
        assert f"{path}: was changed after it was made" in refusal(action)


def test_probabilities_follow_from_what_was_learned(cards):
    plan = read_plan(cards.plan_file)
    learned = read_learned(plan, cards.plan_file)
    probabilities = np.load(cards.plan_file.with_name(PROBABILITIES))
    about = plan, cards.benchmark, cards.plan_file, learned
    assert learned_again(*about, probabilities) == []

    probabilities[3, 1] += 2

    assert "learned: 1 probability does not follow from the coefficients" in map(
        str, learned_again(*about, probabilities)
    )


def test_a_damaged_file_of_probabilities_is_refused(cards):
    path = cards.plan_file.with_name(PROBABILITIES)
    whole, decision = path.read_bytes(), cards.decide()
    header = whole.index(b"\n") + 1
    for damaged in (b"", whole[:-1], whole[:header], whole + b"\0", b"\0" + whole[:-1]):
        path.write_bytes(damaged)
        assert "was changed after it was made" in refusal(cards.decide)
    path.write_bytes(bytes(header) + whole[header:])  # what it says of its form is not believed
    assert cards.decide().groups == decision.groups
    path.unlink()
    assert "not here" in refusal(cards.decide)


@pytest.mark.parametrize("stage", ["learn", "verify"])
def test_a_reading_that_was_edited_or_has_gone_is_refused(cards, stage):
    lines = cards.readings_file.read_text().splitlines(keepends=True)
    place = next(at for at, line in enumerate(lines) if f'"stage": "{stage}"' in line)
    edited = lines[place].replace('"seconds"', '"value": "other", "seconds"')
    edited = edited if edited != lines[place] else lines[place].replace("2026-11-27", "2026-11-26")
    for damaged in (edited, ""):
        cards.readings_file.write_text("".join([*lines[:place], damaged, *lines[place + 1 :]]))
        for action in (cards.decide, cards.apply, lambda: verify_decision(cards.decision_file)):
            assert f"anna.jsonl:{place + 1 + bool(damaged)}: does not follow" in refusal(action)
    cards.readings_file.write_text("".join(lines[:-1]))
    assert "anna.jsonl: is shorter than it was" in refusal(cards.decide)


@pytest.mark.parametrize("name", ["values.jsonl", "decision.json", "applied.json", "control.yaml"])
def test_what_was_applied_is_sealed(cards, name):
    path = cards.out / name
    text = path.read_text()
    for before, after in (("taken", "check"), ("1", "2")):
        if before in text:
            path.write_text(text.replace(before, after, 1))
            refusal(lambda: check_control(cards.out, cards.benchmark))
            refusal(cards.apply)


def test_values_of_the_control_sample_are_those_drawn(cards):
    path = cards.out / "control.yaml"
    sample = keys(path)["sample"]
    taken = next(pair for pair in cards.taken() if list(pair) not in sample)
    change(path, "sample", [list(taken), *sample[1:]], hashed=ControlSample)

    assert "not the control sample that was drawn" in refusal(
        lambda: check_control(cards.out, cards.benchmark)
    )


def test_nothing_sealed_is_ever_replaced(cards):
    plan = read_plan(cards.plan_file)
    files = [path for path in cards.folder.rglob("*.*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}

    assert "exists already" in refusal(lambda: write_plan(cards.plan_file, plan, cards.path))
    assert learn_once(plan, cards.benchmark, cards.plan_file) == read_learned(plan, cards.plan_file)
    cards.apply()
    refusal(lambda: cards.apply(control=10))

    assert {path: path.read_bytes() for path in before} == before


def test_a_copy_elsewhere_verifies_as_equal(tmp_path, monkeypatch):
    (tmp_path / "one").mkdir()
    monkeypatch.chdir(tmp_path / "one")
    PlannedValues(Path()).decided()

    (tmp_path / "one").rename(tmp_path / "other")
    monkeypatch.chdir(tmp_path / "other")

    assert verify_decision(Path("decision.json")) == []
