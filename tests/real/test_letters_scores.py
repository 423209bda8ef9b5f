"""Letters F1 on the published letters: every recorded run."""

import gzip
import json

import pytest
from reference import letters_f1 as naive

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.letters_f1 import LettersF1

COUNTS = {"tp": "true_positives", "fp": "false_positives", "fn": "false_negatives"}


@pytest.fixture(scope="module")
def folder(shared):
    upstream = shared / "upstream/humanities_data_benchmark"
    return upstream / "benchmarks/business_letters/ground_truths"


@pytest.fixture(scope="module")
def letters(folder):
    """The published truths, read here without hdbench."""
    files = [file for file in folder.glob("letter*.json") if file.stem != "letterFALSE"]
    return {file.stem: json.loads(file.read_text()) for file in files}


@pytest.fixture(scope="module")
def authority(folder):
    return json.loads((folder / "persons.json").read_text())


@pytest.fixture(scope="module")
def runs(shared):
    with gzip.open(shared / "recorded/business_letters.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def prepared(metric, letters, authority):
    return {
        name: metric.prepare(naive.ground_truth(letter, authority, metric.protocol))
        for name, letter in letters.items()
    }


def results(metric, runs, truths, *, details=False):
    for run in runs:
        candidates = [(Answer(a["answer"], id=a["id"]), truths[a["id"]]) for a in run["answers"]]
        yield run, score_items(metric, candidates, details=details)


def test_every_recorded_run_under_published_to_the_last_digit(runs, letters, authority):
    metric = LettersF1("published")
    assert len(runs) == 135
    kept = 0
    for run, result in results(metric, runs, prepared(metric, letters, authority), details=True):
        figures = result.figures
        assert {name: figures[name] for name in run["scores"]} == run["scores"], run["run"]
        for answer, item in zip(run["answers"], result.per_item, strict=True):
            if answer.get("score"):
                kept += 1
                assert answer["score"] == {
                    f"{category}_{short}": item[f"{category}.{name}"]
                    for category in naive.CATEGORIES
                    for short, name in COUNTS.items()
                }, (run["run"], answer["id"])
    assert kept == 1913


def test_the_skip_options_give_the_sets_of_the_published_runs(runs, letters, authority):
    """Runs cover all letters, the signed ones alone, or those without signature alone."""
    sets = {57: {}, 32: {"skip_non_signatures": True}, 25: {"skip_signatures": True}}
    for run in runs:
        asked = {answer["id"] for answer in run["answers"]}
        metric = LettersF1("published", **sets[len(asked)])
        truths = prepared(metric, letters, authority)
        assert {name for name, truth in truths.items() if truth is not None} == asked


@pytest.mark.parametrize(
    "step", [pytest.param(24, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("inferred", [(), ("function",), ("function", "correspondence")])
def test_documented_agrees_with_the_naive_reference_on_every_run(
    runs, letters, authority, inferred, step
):
    """On every 24th run, and nightly on all."""
    metric = LettersF1(**{f"inferred_from_{source}": True for source in inferred})
    for run, result in results(metric, runs[::step], prepared(metric, letters, authority)):
        pairs = [(answer["answer"], letters[answer["id"]]) for answer in run["answers"]]
        micro, macro, totals = naive.score(pairs, authority, inferred=inferred)
        figures = result.figures
        assert figures["f1_micro"] == micro
        assert figures["f1_macro"] == pytest.approx(macro, abs=1e-12)
        for category, rates in figures["categories"].items():
            assert [rates[name] for name in COUNTS.values()] == totals[category]
