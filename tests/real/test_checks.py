"""Warnings on the recorded runs: what they find, and that they are quiet where nothing is wrong."""

import gzip
import json
from pathlib import Path

import pytest
from reference import letters_f1 as naive

from hdbench.answers.answer import Answer
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.text import read_text
from hdbench.evaluation.checks import Checks
from hdbench.evaluation.score import ScoreCollector
from hdbench.scoring import make_metric

SCHEMAS = Path(__file__).parents[2] / "dataset_scripts"


def cards(folder):
    return {
        file.stem: json.loads(file.read_text())["response_text"]
        for file in (folder / "library_cards/ground_truths").glob("*.json")
        if file.stem not in ("00604370", "00604375")
    }


def pages(folder):
    truths = {}
    for file in (folder / "fraktur_adverts/ground_truths").glob("*.json"):
        ads = json.loads(file.read_text())
        if isinstance(ads, dict):
            ads = [ad for group in ads.values() for ad in group]
        truths[file.stem] = {"advertisements": ads}
    return truths


def letters(folder):
    source = folder / "business_letters/ground_truths"
    authority = json.loads((source / "persons.json").read_text())
    return {
        file.stem: naive.ground_truth(json.loads(file.read_text()), authority)
        for file in source.glob("letter*.json")
        if file.stem != "letterFALSE"
    }


def warnings_of(shared, recorded, truths, metric, dataset, *, reread=False):
    """Run → the warnings on it. Predictions are taken as they were parsed, or read again."""
    truths = truths(shared / "upstream/humanities_data_benchmark/benchmarks")
    prepared = {name: metric.prepare(truth) for name, truth in truths.items()}
    schema = AnswerSchema.load(SCHEMAS / dataset / "answer.schema.json")
    found = {}
    with gzip.open(shared / f"recorded/{recorded}.jsonl.gz", "rt") as file:
        for line in file:
            run = json.loads(line)
            checks, tally = Checks(metric), ScoreCollector(metric)
            for recorded_answer in run["answers"]:
                prediction, name = recorded_answer["answer"], recorded_answer["id"]
                status = "unanswered" if prediction is None else "clean"
                if reread:
                    prediction, status, *_ = read_text(recorded_answer["text"] or "", schema)
                answer = Answer(prediction, status, id=name, text=recorded_answer["text"])
                scored = tally.add(answer, prepared[name])
                checks.add(*scored, schema.violations(prediction), truths[name])
            found[run["run"]] = checks.warnings(tally.result())
    return found


def runs_with(found, kind):
    return {run for run, warnings in found.items() if kind in {w.kind for w in warnings}}


@pytest.fixture(scope="module")
def card_runs(shared):
    return warnings_of(shared, "library_cards", cards, make_metric("zettel_f1"), "zettelkatalog")


@pytest.fixture(scope="module")
def page_runs(shared):
    return warnings_of(shared, "fraktur_adverts", pages, make_metric("avisblatt_cer"), "avisblatt")


@pytest.fixture(scope="module")
def letter_runs(shared):
    metric = make_metric("letters_f1")
    return warnings_of(shared, "business_letters", letters, metric, "rheinschifffahrt")


def test_year_that_was_the_word_place_is_the_first_warning(card_runs):
    (warning,) = card_runs["2026-01-24/T0208"]
    assert warning.kind == "wrong_field"
    assert (warning.count, warning.of) == (259, 260)  # three answers were not parsed
    assert warning.message.startswith(
        'publication.year is wrongly "place" in 259 of 260 answers, and not of the schema\'s type'
    )
    assert warning.message.endswith("f1_micro 0.695, without this field 0.773")


def test_cards_made_up_without_an_image_have_the_same_values(card_runs):
    """Seven answers, "Hans Schmidt" on each: the model did not see the cards."""
    partial, *fields = card_runs["2026-01-24/T0179"]
    assert partial.message.startswith("7 of 263 items have an answer")
    assert any('author.first_name is wrongly "Hans" in 7 of 7' in w.message for w in fields)


def test_answers_lost_by_the_harness_were_invented_without_image(shared):
    metric = make_metric("zettel_f1")
    found = warnings_of(shared, "library_cards", cards, metric, "zettelkatalog", reread=True)
    repeated = {
        run: next(w for w in found[run] if w.kind == "repeated_answer")
        for run in runs_with(found, "repeated_answer")
    }
    assert repeated["2026-01-24/T0537"].count == 263  # each card an empty record
    assert '"last_name": "Smith", "first_name": "John"' in repeated["2026-01-24/T0179"].message


def test_a_run_of_lost_answers_is_named(card_runs):
    assert runs_with(card_runs, "unparsable") == {"2025-10-03/T0164"}
    repeated = {
        run: next(w for w in card_runs[run] if w.kind == "repeated_answer")
        for run in runs_with(card_runs, "repeated_answer")
    }
    assert {run: warning.count for run, warning in repeated.items()} == {
        "2025-10-03/T0164": 258,
        "2025-09-02/T0145": 31,
    }
    assert all('are the same, {"error": "x"}, ' in w.message for w in repeated.values())


def test_five_pages_give_no_warning_of_fields(page_runs):
    assert len(page_runs) == 59
    assert not runs_with(page_runs, "wrong_field")
    assert sum(not warnings for warnings in page_runs.values()) == 50


def test_letters_that_were_not_seen_repeat_one_answer(letter_runs):
    """Their texts: the records also have the letter's own number."""
    assert len(runs_with(letter_runs, "repeated_answer")) == 10
    (warning,) = letter_runs["2026-01-25/T0544"]
    assert (warning.kind, warning.count, warning.of) == ("repeated_answer", 57, 57)


def test_most_runs_on_letters_give_organisations_as_persons(letter_runs):
    assert len(letter_runs) == 135
    assert len(runs_with(letter_runs, "organisations")) == 120
