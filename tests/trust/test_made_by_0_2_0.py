"""What hdbench 0.2.0 planned, decided and applied still does what it did.

`made_by_0.2.0` was written by that version: 60 cards with three runs, of which 50 were checked.
"""

import shutil
from pathlib import Path

import pytest

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.trust.applying import apply
from hdbench.trust.control import read_control
from hdbench.trust.deciding import decide_by, read_decision, read_plan
from hdbench.trust.plan import Plan
from hdbench.trust.verifying import verify_decision

MADE = Path(__file__).with_name("made_by_0.2.0")
PLAN = Path("plan.yaml")


@pytest.fixture
def plan(tmp_path, monkeypatch):
    shutil.copytree(MADE, tmp_path / "made")
    monkeypatch.chdir(tmp_path / "made")
    return read_plan(PLAN)


def test_a_plan_of_whole_items_is_one(plan):
    assert isinstance(plan, Plan)
    assert len(plan.sample) == 50


def test_it_decides_and_verifies_as_it_did(plan):
    then = read_decision(Path("decision.json"))

    now = decide_by(plan, load_benchmark("hdb/cards"), PLAN)

    assert now.outcome == then.outcome
    assert now.holds
    assert verify_decision(Path("decision.json")).differences == []


def test_it_is_applied_as_it_was(plan):
    apply(plan, load_benchmark("hdb/cards"), PLAN, Path("again"), control=5)

    for name in ("values.jsonl", "worklist.csv"):
        assert Path("again", name).read_bytes() == Path("out", name).read_bytes()
    sample = read_control(Path("again/control.yaml")).sample
    assert sample == read_control(Path("out/control.yaml")).sample
