"""Processes that are killed, and disks that are full, while a plan learns and is applied."""

import os
import shutil
import time
from contextlib import suppress

import pytest
from helpers.forks import Forks
from helpers.planned_values import PlannedValues
from helpers.small_disk import FORMS, is_saved, small_disk

from hdbench.collections.trust.learning import LEARNED, PROBABILITIES, learn_once

pytestmark = pytest.mark.nightly

KILLS = 12
"""Number of moments at which a process is killed, spread over the time that it takes."""


@pytest.fixture(scope="module")
def processes():
    imported = "hdbench.cli.trust_learn", "hdbench.cli.trust_apply", "scipy.special"
    forks = Forks(*imported)
    yield forks
    forks.close()


@pytest.fixture
def cards(tmp_path, monkeypatch):
    (tmp_path / "cards").mkdir()
    monkeypatch.chdir(tmp_path / "cards")
    cards = PlannedValues(tmp_path / "cards", items=900)
    plan = cards.plan()
    cards.read(plan.first_stage, plan, "learn")
    return cards


def killed_at_many_moments(processes, command, folder, look):
    """Kill a command at many moments, each time in a copy; `look` at it, after a second one, too.

    Returns:
        How many of them were killed before they had ended.
    """
    whole = folder.with_name("whole")
    shutil.copytree(folder, whole)
    environment = os.environ | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    start = time.monotonic()
    finished = processes.run("-m", "hdbench", "trust", *command, cwd=folder, env=environment)
    assert finished.returncode == 0, finished.stderr
    seconds = time.monotonic() - start
    killed = 0
    for number in range(KILLS):
        shutil.rmtree(folder)
        shutil.copytree(whole, folder)
        process = processes.start("-m", "hdbench", "trust", *command, cwd=folder, env=environment)
        time.sleep(seconds * (number + 0.5) / KILLS)
        with suppress(ProcessLookupError):  # it has just ended
            process.kill()
        killed += process.wait(60) < 0
        look(done=False)
        again = processes.run("-m", "hdbench", "trust", *command, cwd=folder, env=environment)
        assert again.returncode == 0, again.stderr
        look(done=True)
    return killed


def test_learning_that_is_killed_begins_again(cards, processes):
    expected = cards.learn_only()
    folder = cards.plan_file.parent
    probabilities = (folder / PROBABILITIES).read_bytes()
    for name in (LEARNED, PROBABILITIES):
        (folder / name).unlink()

    def look(*, done):
        learned = (folder / LEARNED).exists()
        assert learned or not done
        if learned:
            found = cards.learned()
            assert found.model_copy(update={"created": expected.created}) == expected
        if (folder / PROBABILITIES).exists():
            assert (folder / PROBABILITIES).read_bytes() == probabilities

    killed = killed_at_many_moments(processes, ("learn", str(cards.plan_file)), cards.folder, look)

    assert killed > KILLS / 2


def test_applying_that_is_killed_begins_again(cards, processes):
    cards.learn_only()
    cards.verify()
    decision = cards.decide()
    cards.apply(control=100)
    values = (cards.out / "values.jsonl").read_bytes()
    shutil.rmtree(cards.out)

    def look(*, done):
        path = cards.out / "values.jsonl"
        if done or path.exists():
            assert path.read_bytes() == values
        if done:
            assert len(cards.taken()) == decision.accepted
            assert cards.control().wrong["letter"].count == 0

    command = "apply", str(cards.plan_file), "-o", str(cards.out)
    killed = killed_at_many_moments(processes, command, cards.folder, look)

    assert killed > KILLS / 2


@pytest.mark.parametrize("form", FORMS)
def test_full_disk_leaves_what_was_learned_complete_or_absent(tmp_path, form):
    refused = 0
    with small_disk(tmp_path / "disk", form) as disk:
        cards = PlannedValues(tmp_path)
        plan = cards.plan()
        cards.read(plan.first_stage, plan, "learn")
        for pages in range(8):
            plan_file = disk.folder / f"plan{pages}/plan.yaml"
            plan_file.parent.mkdir()
            disk.fill(pages=pages, counted_from=disk.folder / "none")
            saved = is_saved(learn_once, plan, cards.benchmark, plan_file)
            refused += not saved
            learned = plan_file.with_name(LEARNED).exists()
            assert learned == saved
            assert not list(plan_file.parent.glob(".*-*"))
            disk.make_room()
            again = learn_once(plan, cards.benchmark, plan_file)
            assert len(again.sample) == 150
            assert plan_file.with_name(PROBABILITIES).stat().st_size > 300 * 3 * 4
    assert refused > 1


@pytest.mark.parametrize("form", FORMS)
def test_full_disk_does_not_change_the_values_accepted(tmp_path, form):
    refused = 0
    with small_disk(tmp_path / "disk", form) as disk:
        cards = PlannedValues(tmp_path)
        decision = cards.decided()
        cards.apply()
        whole = (cards.out / "values.jsonl").read_bytes()
        for pages in range(0, 40, 4):
            cards.out = disk.folder / f"out{pages}"
            disk.fill(pages=pages, counted_from=cards.out / "values.jsonl")
            refused += not is_saved(cards.apply)
            disk.make_room()
            cards.apply()
            assert (cards.out / "values.jsonl").read_bytes() == whole
            assert len(cards.taken()) == decision.accepted
    assert refused > 3
