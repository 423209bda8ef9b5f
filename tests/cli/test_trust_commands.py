"""`hdbench trust`: from a plan to a decision that is verified, as a person would go."""

import json

import pytest
from helpers.single_values import ReadCatalogue

pytestmark = pytest.mark.slow


def test_from_a_plan_to_a_verified_decision(tmp_path, run_hdbench):
    catalogue = ReadCatalogue(tmp_path)

    def hdbench(*arguments):
        done = run_hdbench(*arguments, cwd=tmp_path, COLUMNS="80")
        assert "Traceback" not in done.stderr
        return done

    runs = ("heron", "otter", "finch")
    planned = hdbench("trust", "plan", "hdb/cards", *runs, "--values", "200+400")
    assert planned.stdout.startswith("200 of 4,000 values drawn to learn from; 400 will be drawn")
    early = hdbench("trust", "decide", "plan.yaml")
    assert early.returncode == 2
    assert "plan.yaml: nothing is learned yet" in early.stderr
    catalogue.read_first()
    learned = hdbench("trust", "learn", "plan.yaml")
    assert learned.returncode == 0, learned.stderr
    assert learned.stdout.startswith("learned from 200 values, of which ")
    catalogue.read_second()
    options = ("--json", "d.json", "--page", "d.html")

    decided = hdbench("trust", "decide", "plan.yaml", *options)

    assert decided.returncode == 0, decided.stderr
    assert decided.stdout.endswith("\nd.json\nd.html\n")
    decision = json.loads((tmp_path / "d.json").read_text())
    lines = decided.stdout.splitlines()
    assert lines[0].startswith(f"{decision['accepted']:,} of the 4,000 values in 800 items (")
    assert lines[1].startswith("Wrong values that go in unnoticed: about ")
    assert "next: hdbench trust apply plan.yaml --out OUT" in lines
    tables = [line for line in lines if line.startswith("  ")]
    assert max(map(len, tables)) <= 80
    page = (tmp_path / "d.html").read_text()
    assert "How much must be checked?" in page
    # The image is at hand.
    assert ("data:image/webp;base64," in page) == (len(decision["examples"]) > 0)
    assert hdbench("verify", "d.json").returncode == 0
    refused = hdbench("verify", "d.json", "--answers", "heron")
    assert (refused.returncode, "those of its plan" in refused.stderr) == (2, True)
    hdbench("--language", "de", "trust", "decide", "plan.yaml", "--page", "d.html")
    assert "Wie viel muss geprüft werden?" in (tmp_path / "d.html").read_text()
    for option, said in (("--page", "a page is HTML"), ("--json", "is a sealed file")):
        refused = hdbench("trust", "decide", "plan.yaml", option, "plan.yaml")
        assert (refused.returncode, f"plan.yaml: {said}" in refused.stderr) == (2, True)


def test_that_no_value_is_accepted_is_a_result(tmp_path, run_hdbench):
    hopeless = ReadCatalogue(tmp_path, learn=200, verify=60)
    hopeless.read_first()
    # What people read is nowhere what the models say.
    hopeless.cards.truths = {
        item: dict.fromkeys(card, "nothing of the kind")
        for item, card in hopeless.cards.truths.items()
    }
    hopeless.read_second()

    done = run_hdbench("trust", "decide", "plan.yaml", cwd=hopeless.folder)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Nothing can be accepted unseen: ")
    assert "\nMore values to check would not help: " in done.stdout
    assert "\nThis collection cannot be tried again" in done.stdout
    assert "\nnext: hdbench trust apply plan.yaml --out OUT\n" in done.stdout
