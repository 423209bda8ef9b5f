"""`hdbench --language de`: what the commands print, on the way from a sample to a decision."""

import re

import pytest
from helpers.collection import READERS, TRUTH, write_collection
from helpers.english import english, words

from hdbench.answers.answer import STATUSES
from hdbench.scoring import make_metric

NAMES = [
    *(each.name for each in make_metric("zettel_f1").figures),
    *("precision", "recall", "headline", "plots"),
    *("cards", "hdb", "metadata.jsonl", *READERS, *TRUTH, *TRUTH.values()),
    *("documented", "published", "option", "options"),
    *("score", "trust", "decide", "annotate", "control", "run", "runs", "only", "json", "format"),
    *STATUSES,  # --strict and the like
    *("a", "b"),  # the runs that are compared
    "t",  # of a timestamp
]
"""What may be printed all the same: names of figures, files, commands and options."""

ENGLISH = english(NAMES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_collection(tmp_path_factory.mktemp("german"), items=100)


@pytest.fixture
def hdbench(folder, run_hdbench):
    def run(*arguments, **environment):
        given = {"COLUMNS": "80", "HDBENCH_LANGUAGE": "de"} | environment
        done = run_hdbench(*arguments, cwd=folder, **given)
        assert "Traceback" not in done.stderr
        return done

    return run


def left(done):
    """The lines that have an English word, with these words."""
    lines = f"{done.stdout}\n{done.stderr}".splitlines()
    # Citations are in the language of what is cited; a signature is the same in all.
    lines = [line for line in lines if "Card, Moran and Newell" not in line and "|" not in line]
    lines = [re.sub(r"--[a-z-]+|[0-9a-f]{12,}", "", line) for line in lines]
    return {line: found for line in lines if (found := words([line]) & ENGLISH)}


def test_the_words_that_are_looked_for_are_english():
    assert len(ENGLISH) > 500
    assert words(["not separable: too few items"]) & ENGLISH
    assert not words(["nicht zu unterscheiden: zu wenige Einträge"]) & ENGLISH


RUNS = [f"runs/{reader}" for reader in READERS]
FULL = ("score", "cards", "runs/one", "--json", "r.json", "--details", "--also", "published")


WALK = [
    (FULL, 0),
    (("score", "cards", "runs/one", "--option", "x"), 2),
    (("compare", *RUNS[:2]), 0),
    (("leaderboard", "runs"), 0),
    (("trust", "plan", "cards", *RUNS, "--values", "30+60", "-o", "p.yaml"), 0),
    (("verify", "r.json"), 0),
    (("report", "r.json", "-o", "bericht"), 0),
]


def test_no_english_word_is_printed(hdbench):
    found = {}
    for arguments, status in WALK:
        done = hdbench(*arguments)
        assert done.returncode == status, done.stderr
        assert done.stdout or done.stderr
        found |= {f"{arguments[0]}: {line}": words for line, words in left(done).items()}
    assert found == {}


def test_the_lead_and_the_tables_are_german(hdbench):
    said = hdbench("score", "cards", "runs/one").stdout
    # By hand, of every 20 cards: 10 are right, 5 + 3 have one wrong value, one has no answer (3
    # values), and one has two digits swapped for others, which the threshold lets pass: 11 / 20.
    # True positives 30 + 10 + 6 + 3; false positives 8; missed 8 + 3: F1 = 98 / (98 + 8 + 11).
    assert "50 von 100 Einträgen brauchen keine Korrektur; im Durchschnitt sind je Eintrag" in said
    assert "0,55 von 3 Feldern falsch" in said
    assert "100 Einträge: 95 beantwortet, 5 ohne Antwort, 0 unlesbar" in said
    assert re.search(r"^ +f1_micro +0,8376 +0,\d{4} bis 0,\d{4} *$", said, re.MULTILINE)
    assert re.search(r"^ +place +70 +25 +30 +0,737 +0,700 +0,718 *$", said, re.MULTILINE)


def test_tables_fit_into_a_terminal_of_80_columns(hdbench):
    said = hdbench("compare", *RUNS[:2]).stdout
    tables = [line for line in said.splitlines() if line.startswith("  ")]
    assert len(tables) > 10
    assert max(map(len, tables)) <= 80
    assert not any("…" in line for line in tables)


def test_what_programs_read_stays_as_it_is(hdbench):
    german, english_ = (
        hdbench("leaderboard", "runs", "--format", "json", HDBENCH_LANGUAGE=language).stdout
        for language in ("de", "en")
    )
    assert german == english_
