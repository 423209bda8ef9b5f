"""`hdbench trust`: from a plan to a decision that is verified, as a person would go."""

import json
import re

import pytest
from helpers.planned_cards import Catalogue
from helpers.single_values import ReadCatalogue

pytestmark = pytest.mark.slow


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
    planned = hdbench("trust", "plan", "hdb/cards", "a", "b", "c", "--items", 120, "-o", "p.yaml")
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
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "d.json: equal\n", "")

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
    hdbench("trust", "plan", "hdb/cards", "a", "b", "--items", 150, "-o", "none.yaml", "--seed", 3)

    decided = hdbench("trust", "decide", "none.yaml")

    assert decided.returncode == 0
    # The titles are certainly wrong, and are left out.
    assert "1 of 2 fields" in decided.stdout
    assert "warning: Fields left out because" in decided.stdout


def test_refusals_are_one_line(desk, hdbench):
    for arguments, said in (
        (["hdb/cards", "a", "b", "--items", "44"], "--items 44: too few"),
        (["hdb/cards", "a", "b", "--confidence", "0.95"], "--confidence 0.95: only 0.9"),
        (["hdb/cards", "a", "nowhere"], "nowhere: no such file or folder"),
        (["hdb/cards", "a", "--scores", "none.csv"], "none.csv: no such file"),
        (
            ["hdb/cards", "a", "b", "--items", 60, "--by", "box", "--verdict", "exact"],
            "needs a simple random",
        ),
        (["hdb/cards", "a", "b", "--verdict", "exact"], "--verdict: goes with whole items"),
        (["hdb/cards", "a", "--items", 60, "--each-field"], "--each-field: goes with single"),
        (["hdb/cards", "a", "--values", "600"], "--values 600: must be two numbers"),
        (["hdb/cards", "a", "--values", "300+44"], "44 values to verify are too few"),
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
    assert "\nscores: scores.csv\n" in done.stdout
    of_items = ("--items", 100, "-o", "items.yaml")
    done = hdbench("trust", "plan", "hdb/cards", "a", "--scores", "scores.csv", *of_items)
    assert "trust scores: scores.csv" in done.stdout


# Single values


@pytest.fixture
def read(tmp_path):
    """A catalogue whose values to learn from and to verify are read."""
    catalogue = ReadCatalogue(tmp_path, learn=200, verify=400)
    catalogue.read_first()
    catalogue.read_second()
    return catalogue


def test_single_values_from_a_plan_to_what_is_left_to_do(tmp_path, run_hdbench):
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
    assert "plan.yaml: has not learned yet" in early.stderr
    catalogue.read_first()
    learned = hdbench("trust", "learn", "plan.yaml")
    assert learned.returncode == 0, learned.stderr
    assert learned.stdout.startswith("learned from 200 values, of which ")
    catalogue.read_second()
    options = ("--wage", 40, "--json", "d.json", "--page", "d.html", "--language", "de")

    decided = hdbench("trust", "decide", "plan.yaml", *options)

    assert decided.returncode == 0, decided.stderr
    assert decided.stdout.endswith("\nd.json\nd.html\n")
    decision = json.loads((tmp_path / "d.json").read_text())
    lines = decided.stdout.splitlines()
    assert lines[0].startswith(f"{decision['accepted']:,} of the 4,000 values in 800 items (")
    assert lines[1].startswith("Wrong values that go in unnoticed: about ")
    assert any(line.endswith(" US dollars.") for line in lines)
    assert "next: hdbench trust apply plan.yaml --out OUT" in lines
    tables = [line for line in lines if line.startswith("  ")]
    assert max(map(len, tables)) <= 80
    page = (tmp_path / "d.html").read_text()
    assert "Wie viel muss geprüft werden?" in page
    # The image is at hand.
    assert ("data:image/webp;base64," in page) == (len(decision["examples"]) > 0)
    assert hdbench("verify", "d.json").returncode == 0

    left = hdbench("forecast", "--plan", "plan.yaml", "--wage", 20, "--json", "f.json")
    assert left.returncode == 0, left.stderr
    assert left.stdout.startswith("A person looks at ")
    forecast = json.loads((tmp_path / "f.json").read_text())
    assert forecast["to_look_at"] == decision["to_look_at"]["values"]
    assert forecast["cost"] == pytest.approx(20 * forecast["to_look_at"] * 9 / 3600)
    slower = ("forecast", "hdb/cards", "--plan", "plan.yaml", "--seconds-per-look", 36)
    assert "at 36 seconds for each (as given)" in hdbench(*slower).stdout


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
    assert "\nMore values to verify would not help: " in done.stdout
    assert "\nThis collection cannot be tried again" in done.stdout
    assert "\nnext: hdbench trust apply plan.yaml --out OUT\n" in done.stdout


def test_what_does_not_go_with_single_values_is_refused(read, run_hdbench):
    for arguments, said in (
        (("forecast", "--plan", "plan.yaml", "--total", 5), "leave out --total"),
        (("forecast", "hdb/cards", "heron", "--plan", "plan.yaml"), "knows its runs"),
        (("forecast",), "name the runs: hdbench forecast"),
        (("trust", "decide", "plan.yaml", "--wage", "-3"), "--wage -3: must be from 0"),
    ):
        done = run_hdbench(*arguments, cwd=read.folder)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert said in done.stderr
    whole = ("trust", "plan", "hdb/cards", "heron", "otter", "--items", 60, "-o", "w.yaml")
    assert run_hdbench(*whole, cwd=read.folder).returncode == 0
    done = run_hdbench("trust", "decide", "w.yaml", "--wage", 3, cwd=read.folder)
    assert "--wage: goes with plans of single values" in done.stderr
