"""From a plan to a decision, as two people do it: in a browser, one of them on a phone."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.people_files import readings_in
from helpers.single_values import ReadCatalogue
from playwright.sync_api import expect

from hdbench.collections.trust.decision_file import read_decision
from hdbench.collections.trust.learning import read_learned
from hdbench.collections.trust.plan import read_plan

pytestmark = pytest.mark.nightly


@contextmanager
def annotating(catalogue, person):
    """The address of the page that the command serves."""
    command = ["annotate", str(catalogue.path), "--only", str(catalogue.plan_file)]
    with subprocess.Popen(
        [sys.executable, "-m", "hdbench", *command, "--as", person, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
    assert process.returncode == 0


def read_next(page, catalogue):
    """Type what stands on the card that is shown; whether there was one."""
    if not page.locator("#reading").is_visible():
        return False
    item = page.locator("#id").inner_text()
    value = catalogue.cards.truths[item][page.locator("#label").inner_text()]
    with page.expect_response("**/read"):
        if value:
            page.locator("#reading").fill(value)
            page.keyboard.press("Enter")
        else:
            page.locator("#nothing").click()
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    return True


def test_two_people_come_from_a_plan_to_a_decision(tmp_path, visit_at, run_hdbench):
    catalogue = ReadCatalogue(tmp_path, cards=150, learn=30, verify=60)
    with annotating(catalogue, "anna") as annas, annotating(catalogue, "ben") as bens:
        desk = visit_at(annas, awaited="#id:not(:empty)")
        phone = visit_at(bens, awaited="#id:not(:empty)", width=390, height=780, language="de-DE")
        for page in (desk, phone):
            assert Axe().run(page).response["violations"] == []
        assert phone.locator("#nothing").inner_text().startswith("Nicht")
        for _ in range(300):  # in turns, as long as either is offered something
            if not (read_next(desk, catalogue) | read_next(phone, catalogue)):
                done = catalogue.plan_file.with_name("learned.yaml").exists()
                if done and not phone.locator("#reading").is_visible():
                    desk.wait_for_timeout(1500)
                    if not desk.locator("#reading").is_visible():
                        break
                desk.wait_for_timeout(500)
        assert "trust decide" in desk.locator("main").inner_text()

    plan = read_plan(catalogue.plan_file)
    learned = read_learned(plan, catalogue.plan_file)
    assert (len(plan.sample), len(learned.sample)) == (30, 60)
    done = run_hdbench(
        *("trust", "decide", catalogue.path, catalogue.plan_file, "--json", "d.json"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    decision = read_decision(tmp_path / "d.json")
    readings = readings_in(catalogue.path)
    assert {line.by for line in readings} == {"anna", "ben"}
    # A tenth is read by both, and little else; and they say the same.
    first, second = decision.first, decision.second
    assert 3 <= first.twice == first.same <= 8
    assert 6 <= second.twice == second.same <= 12
    assert len(readings) == 30 + first.twice + 60 + second.twice
    assert decision.read == 90
    assert decision.second.seconds is not None
    verified = run_hdbench("verify", "d.json", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout
