"""`hdbench trust`: from a plan to a decision that is verified, as a person would go."""

import json
import re

import pytest
from helpers.planned_cards import Catalogue


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A catalogue with names as long as those of real fields, and three runs."""
    text = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {
            "title": text,
            "library_reference": {"properties": {"shelfmark_of_the_volume": text}},
        },
    }
    right = {"title": "Stellingen", "library_reference": {"shelfmark_of_the_volume": "Diss. 1"}}
    catalogue = Catalogue(tmp_path_factory.mktemp("desk"), schema=schema)
    for name in "abc":
        catalogue.run(name, right)
    return catalogue, right


@pytest.fixture
def hdbench(desk, run_hdbench):
    def run(*arguments):
        done = run_hdbench(*arguments, cwd=desk[0].folder, COLUMNS="80")
        assert "Traceback" not in done.stderr
        return done

    return run


def test_from_a_plan_to_a_verified_decision(desk, hdbench):
    catalogue, right = desk
    planned = hdbench("trust", "plan", "hdb/cards", "a", "b", "c", "-n", 120, "-o", "p.yaml")
    assert planned.returncode == 0, planned.stderr
    said = planned.stdout.splitlines()
    assert said[:4] == [
        "120 of 2,000 items drawn, seed 0",
        "runs: a, b, c",
        "fields: title, library_reference.shelfmark_of_the_volume",
        "at most 5% wrong, counted to the letter, decided by the rule (calibrated for 90% "
        "confidence)",
    ]
    noted = re.fullmatch("hash: ([0-9a-f]{64})", said[4])[1]
    assert said[5] == "p.yaml"
    assert "hdbench annotate FOLDER --only p.yaml, without drafts" in said[6]

    early = hdbench("trust", "decide", "p.yaml")
    assert early.returncode == 2
    assert "120 of 120 items of the sample have no ground truth yet" in early.stderr

    text = (catalogue.folder / "p.yaml").read_text()
    catalogue.check(re.findall(r"^- '?(\d{4})\b", text, re.MULTILINE), right)
    written = ("--json", "d.json", "--page", "d.html", "--language", "de")
    decided = hdbench("trust", "decide", "p.yaml", *written)
    assert decided.returncode == 0, decided.stderr
    assert decided.stdout.endswith("\nd.json\nd.html\n")
    assert "Wie viel muss geprüft werden?" in (catalogue.folder / "d.html").read_text()
    assert decided.stdout.startswith("About 4,000 of the 4,000 values in 2,000 items (100.0%)")
    assert f"plan {noted[:12]}… of 20" in decided.stdout
    assert "\nnext: hdbench trust apply p.yaml --out OUT\n" in decided.stdout
    tables = decided.stdout.partition("Loosest thresholds")[2].splitlines()
    assert max(map(len, tables)) <= 80
    at = next(place for place, line in enumerate(tables) if "library_reference.shelfmark_ " in line)
    assert tables[at + 1].strip() == "of_the_volume"
    assert any(line.startswith("  to the letter   rule ") for line in tables)
    assert json.loads((catalogue.folder / "d.json").read_text())["plan"] == noted

    verified = hdbench("verify", "d.json")
    assert (verified.returncode, verified.stderr) == (0, "")
    assert verified.stdout.startswith("equal under rules ")

    said = json.loads((catalogue.folder / "d.json").read_text())
    (catalogue.folder / "d.json").write_text(json.dumps(said | {"items": 7}))
    verified = hdbench("verify", "d.json")
    assert verified.returncode == 1
    assert "items: 7 → 2000" in verified.stdout
    refused = hdbench("verify", "d.json", "--answers", "a")
    assert (refused.returncode, "those of its plan" in refused.stderr) == (2, True)


def test_a_page_replaces_nothing_but_a_page(desk, hdbench):
    hdbench("trust", "plan", "hdb/cards", "a", "b", "-o", "kept.yaml")
    before = (desk[0].folder / "kept.yaml").read_text()

    refused = hdbench("trust", "decide", "kept.yaml", "--page", "kept.yaml")

    assert refused.returncode == 2
    assert "kept.yaml: a page is HTML" in refused.stderr
    for command in (("trust", "decide", "kept.yaml"), ("forecast", "hdb/cards", "a")):
        refused = hdbench(*command, "--json", "kept.yaml")
        assert refused.returncode == 2
        assert "kept.yaml: is a plan, which is never replaced" in refused.stderr
    assert (desk[0].folder / "kept.yaml").read_text() == before


def test_that_nothing_is_taken_over_is_a_result(desk, hdbench):
    catalogue, right = desk
    sample = [f"{number:04}" for number in range(2000)]
    catalogue.check(sample, right | {"title": "Else"})  # some are known: a plan seals those
    hdbench("trust", "plan", "hdb/cards", "a", "b", "-o", "none.yaml", "--seed", 3)

    decided = hdbench("trust", "decide", "none.yaml")

    assert decided.returncode == 0
    # The titles are certainly wrong, and are left out.
    assert "1 of 2 fields" in decided.stdout
    assert "warning: Fields left out because" in decided.stdout


def test_refusals_are_one_line(desk, hdbench):
    for arguments, said in (
        (["hdb/cards", "a", "b", "-n", "44"], "-n 44: too few"),
        (["hdb/cards", "a", "b", "--confidence", "0.95"], "--confidence 0.95: only 0.9"),
        (["hdb/cards", "a", "nowhere"], "nowhere: no such file or folder"),
        (["hdb/cards", "a", "--scores", "none.csv"], "none.csv: no such file"),
        (["hdb/cards", "a", "b", "--by", "box", "--verdict", "exact"], "needs a simple random"),
    ):
        done = hdbench("trust", "plan", *arguments, "-o", "refused.yaml")
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert not (desk[0].folder / "refused.yaml").exists()


def test_a_consensus_is_scored_and_ranked(desk, hdbench, tmp_path):
    catalogue, right = desk
    catalogue.check(catalogue.ids[:50], right)

    made = hdbench("trust", "consensus", "hdb/cards", "a", "b", "-o", tmp_path / "both")

    assert made.stdout.endswith("both: 2,000 answers\n")
    ranked = hdbench("leaderboard", tmp_path / "both", "a", "b")
    assert "consensus of a, b" in ranked.stdout
    # Its values are those of its models: for an audit it is no other witness.
    audited = hdbench("audit", tmp_path / "both", "a", "b")
    assert "left out, as no witness: consensus of a, b" in audited.stderr


def test_scores_of_ones_own(desk, hdbench):
    catalogue, _ = desk
    rows = "".join(f"{item},{int(item) / 2000}\n" for item in catalogue.ids)
    (catalogue.folder / "scores.csv").write_text(f"id,score\n{rows}")

    done = hdbench("trust", "plan", "hdb/cards", "a", "--scores", "scores.csv", "-o", "own.yaml")

    assert done.returncode == 0, done.stderr
    assert "trust scores: scores.csv" in done.stdout
