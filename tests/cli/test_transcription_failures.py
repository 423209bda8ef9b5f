"""Transcriptions that fail on some pages: what every command and page says of them."""

import json
import random

import pytest
from helpers.results import flat_of

PAGES = 30
CER_OF_STUCK = f"{(20 * 5_800 + 10 * 5) / 6_000:.3f}"
"""20 answers of 6,000 letters contain the 200 of their page; the others have 5 errors."""


@pytest.fixture(scope="module")
def wine(tmp_path_factory, run_hdbench):
    """Pages of 200 letters: `lucky` has 5 errors in each, `steady` 8; `stuck` repeats 20."""
    folder = tmp_path_factory.mktemp("wine")
    draw = random.Random(1)
    answers = {"lucky": {}, "steady": {}, "stuck": {}}
    for name in ("scans", "texts"):
        (folder / name).mkdir()
    for number in range(PAGES):
        text = "".join(draw.choice("abcdefgh") for _ in range(200))
        (folder / f"scans/{number:02}.txt").write_text("a page\n")
        (folder / f"texts/{number:02}.txt").write_text(text)
        for name, errors in (("lucky", 5), ("steady", 8), ("stuck", 5)):
            answers[name][f"{number:02}"] = "x" * errors + text[errors:]
    for number in range(20):
        answers["stuck"][f"{number:02}"] *= 30
    for name, texts in answers.items():
        lines = [{"id": item, "prediction": {"text": text}} for item, text in texts.items()]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    for command in (
        ("new", "wine", "scans", "--truth", "texts", "--licence", "cc0-1.0"),
        ("build", "wine"),
        *(("score", "hdb/wine", f"{name}.jsonl", "--json", f"{name}.json") for name in answers),
    ):
        done = run_hdbench(*command, cwd=folder)
        assert done.returncode == 0, (command, done.stderr)
    return folder


def test_score_explains_the_missing_interval_and_shows_eight_rates(wine, run_hdbench):
    done = run_hdbench("score", "hdb/wine", "lucky.jsonl", cwd=wine)
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    assert lines["cer"] == ["cer", "0.0250"]
    assert lines["failure_share"][:3] == ["failure_share", "0.0000", "0.0000"]
    assert lines["cer_without_failures"][-2] == "to"
    shown = {"cer", "cer_without_failures", "failure_share", "wer", "bwer", "order_gap"}
    shown |= {"cer_items", "similarity"}
    record = flat_of(wine / "lucky.json")
    assert {name for name in lines if name in record} == shown
    assert "cer: no interval, as one item can outweigh all others: see cer_without" in done.stdout
    german = run_hdbench("--language", "de", "score", "hdb/wine", "lucky.jsonl", cwd=wine)
    assert "cer: kein Intervall, weil ein Eintrag alle anderen überwiegen kann" in german.stdout
    assert record["cer"] == record["cer_without_failures"] == pytest.approx(5 / 200)
    assert not {"cer", "wer", "bwer", "order_gap"} & record["intervals"]["figures"].keys()
    assert "interval" not in record["effort"]


def test_leaderboard_shows_both_questions_and_ranks_by_them(wine, run_hdbench):
    runs = ("lucky.json", "steady.json", "stuck.json")
    done = run_hdbench("leaderboard", *runs, cwd=wine)
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[-1:] == ["100%"]]
    assert [[*row[:4], row[-2]] for row in rows] == [
        ["1", "lucky", "0.025", "0.025", "0%"],
        ["2–3", "steady", "0.040", "0.040", "0%"],
        ["2–3", "stuck", CER_OF_STUCK, "0.025", "67%"],
    ]
    said = " ".join(done.stdout.split())
    assert "has no interval: models are ranked by cer_without_failures" in said
    data = json.loads(run_hdbench("leaderboard", *runs, "--format", "json", cwd=wine).stdout)
    [board] = data["leaderboards"]
    assert (board["headline"], board["judged_by"]) == ("cer", "cer_without_failures")
    by_model = {row["model"]: row for row in board["rows"]}
    assert by_model["stuck"]["failures"] == pytest.approx(20 / 30)
    # The first two, as `compare` has them; here, p is that of three pairs with two tests each.
    read = "On the 30 items that neither failed on, {} is 0.0250 for lucky and 0.0400 for steady: "
    assert read.format("cer_without_failures") in said
    failed = "Neither failed on any of 30 items; up to 11.6 % is not excluded."
    assert failed in said


def test_compare_says_both_sentences(wine, run_hdbench):
    done = run_hdbench("compare", "lucky.json", "steady.json", cwd=wine)
    said = " ".join(done.stdout.split())
    assert "cer_without_failures: lucky is better" in said
    assert "On the 30 items that neither failed on, cer_without_failures is 0.0250 for" in said
    # 1 - 0.025 ** (1 / 30)
    assert "Neither failed on any of 30 items; up to 11.6 % is not excluded." in said
    done = run_hdbench("--language", "de", "compare", "lucky.json", "stuck.json", cwd=wine)
    assert "Bei den 10 Einträgen, bei denen keiner versagt" in " ".join(done.stdout.split())
