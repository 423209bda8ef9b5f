"""Transcriptions with and without runaway answers: what every command and page says of them."""

import json
import random

import pytest

from hdbench.answers.titles import FieldTitles
from hdbench.output.leaderboard.boards import leaderboards
from hdbench.output.leaderboard.tables import leaderboard_page
from hdbench.results.files import read_result
from hdbench.space.jobs.comparing import comparison_page, verdict
from hdbench.space.views.summary import summary
from hdbench.statistics.comparison import compare

PAGES = 30
CER_OF_STUCK = f"{(20 * 5_800 + 10 * 5) / 6_000:.3f}"
"""20 answers of 6,000 letters contain the 200 of their page; the others have 5 errors."""

ADDED = {"cer_capped", "runaway_share", "wer_capped", "wer_runaway_share"}


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


def test_score_explains_missing_cer_interval_and_adds_figures(wine, run_hdbench):
    done = run_hdbench("score", "hdb/wine", "lucky.jsonl", cwd=wine)
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    assert lines["cer"] == ["cer", "0.0250"]
    assert lines["runaway_share"][:3] == ["runaway_share", "0.0000", "0.0000"]
    assert lines["cer_capped"][-2] == "to"
    assert "cer: no interval, as one item can outweigh all others: see cer_capped" in done.stdout
    german = run_hdbench("--language", "de", "score", "hdb/wine", "lucky.jsonl", cwd=wine)
    assert "cer: kein Intervall, weil ein Eintrag alle anderen überwiegen kann" in german.stdout
    record = json.loads((wine / "lucky.json").read_text())
    assert record["cer"] == record["cer_capped"] == pytest.approx(5 / 200)
    assert not {"cer", "wer"} & record["intervals"]["figures"].keys()
    assert record["intervals"]["figures"].keys() >= ADDED
    assert "interval" not in record["effort"]


def test_leaderboard_shows_both_figures_and_ranks_by_capped(wine, run_hdbench):
    runs = ("lucky.json", "steady.json", "stuck.json")
    done = run_hdbench("leaderboard", *runs, cwd=wine)
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[-1:] == ["100%"]]
    assert [row[:4] for row in rows] == [
        ["1–2", "lucky", "0.025", "0.025"],
        ["1–2", "steady", "0.040", "0.040"],
        ["3", "stuck", CER_OF_STUCK, "0.675"],
    ]
    said = " ".join(done.stdout.split())
    assert "sorted by cer_capped: lower is better" in said
    assert "has no interval: models are ranked by cer_capped" in said
    data = json.loads(run_hdbench("leaderboard", *runs, "--format", "json", cwd=wine).stdout)
    [board] = data["leaderboards"]
    assert (board["headline"], board["judged_by"]) == ("cer", "cer_capped")
    last = board["rows"][-1]
    assert last["judged"] == pytest.approx((20 + 10 * 5 / 200) / 30)
    csv = run_hdbench("leaderboard", *runs, "--format", "csv", cwd=wine).stdout.splitlines()
    assert {"judged_by", "judged"} <= set(csv[0].split(","))
    [board] = leaderboards({run: read_result(wine / run) for run in runs})
    page = leaderboard_page([board])
    assert page.count(">character error rate (at most 1 per item)<") >= 1


def test_the_space_says_the_same(wine):
    lucky, steady = read_result(wine / "lucky.json"), read_result(wine / "steady.json")
    rules = {"headline": "cer", "higher_is_better": False, "names": ("lucky", "steady")}
    found = compare(lucky, steady, **rules)
    said = str(verdict(found, "en"))
    assert "told apart: character error rate (at most 1 per item) 0.025 against 0.040" in said
    runs = {"lucky": lucky, "steady": steady}
    page = comparison_page(runs, [found], "de", FieldTitles(None, "de"))
    assert page.count("kein Intervall, weil ein Eintrag alle anderen überwiegen kann") == 4
    shown = summary(wine / "lucky.jsonl", {"lucky": lucky}, "lucky", "de", done=True)
    assert "kein Intervall, weil ein Eintrag alle anderen überwiegen kann" in shown
