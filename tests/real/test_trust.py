"""Which values of the cards could have been accepted unseen, with the recorded runs.

The figures were found by an independent program, on the ground truths as they were published: our
dataset has corrected some since.
"""

import json
import shutil
from pathlib import Path

import pytest

from hdbench.benchmarks.benchmark import METADATA, load_benchmark
from hdbench.statistics.acceptance import by_rule, last_accepted, walk
from hdbench.trust.checked import check_sample
from hdbench.trust.decision import decide
from hdbench.trust.plan import PlanOptions, make_plan

GOOD = ("2025-11-25_T0420", "2026-01-24_T0230", "2025-09-30_T0160")
FIVE = (
    "2025-11-25_T0420",
    "2026-01-24_T0200",
    "2025-10-01_T0160",
    "2026-01-24_T0230",
    "2025-09-30_T0066",
)
HARD = {"library_reference.shelfmark", "library_reference.subjects", "publication.format"}
EASY = {
    "author.last_name",
    "author.first_name",
    "publication.place",
    "publication.year",
    "type.type",
}


@pytest.fixture(scope="module")
def cards(published, tmp_path_factory):
    """The cards with the ground truths as they were published."""
    built = published.folder / "hdb/zettelkatalog"
    folder = tmp_path_factory.mktemp("trust") / "zettelkatalog"
    folder.mkdir()
    for path in (
        built / "benchmark.yaml",
        built / "answer.schema.json",
        *built.glob("prompt*.txt"),
    ):
        shutil.copy(path, folder)
    with (built / METADATA).open() as source, (folder / METADATA).open("w") as copy:
        for row in map(json.loads, source):
            copy.write(json.dumps(row | {"ground_truth": row["ground_truth_published"]}) + "\n")
    return load_benchmark(str(folder))


@pytest.fixture(scope="module")
def checked(cards, published):
    """Runs → their plan with all cards as the sample, and what became of each value."""
    runs = published.folder / "hdb/results/zettelkatalog"
    found = {}
    for names in (GOOD, FIVE):
        plan = make_plan(cards, [runs / name for name in names], PlanOptions(263))
        found[names] = plan, check_sample(plan, cards, Path("plan.yaml"))
    return found


def all_fields(fields):
    return set(fields)


def without_hard_ones(fields):
    return set(fields) - HARD


def easy_ones(fields):
    return EASY


@pytest.mark.parametrize(
    ("runs", "right", "chosen", "percent"),
    [
        (GOOD, "threshold", all_fields, 80),
        (GOOD, "letter", all_fields, None),
        (GOOD, "letter", without_hard_ones, 74),
        (GOOD, "letter", easy_ones, 87),
        (FIVE, "threshold", all_fields, 77),
        (FIVE, "letter", all_fields, 60),
        (FIVE, "letter", without_hard_ones, 65),
        (FIVE, "letter", easy_ones, 99),
    ],
)
def test_how_much_the_rule_lets_through(checked, runs, right, chosen, percent):
    plan, sample = checked[runs]
    names = chosen(plan.fields)
    fields = [place for place, name in enumerate(plan.fields) if name in names]

    steps = walk(sample.scores[:, fields], sample.wrong[right][:, fields], by_rule(0.05), least=45)

    last = last_accepted(steps)
    share = last and last.passing / (263 * len(fields))
    assert (share and round(100 * share)) == percent


def test_the_bounds_of_the_three_good_models(checked):
    _, sample = checked[GOOD]

    by_threshold = walk(sample.scores, sample.wrong["threshold"], by_rule(0.05), least=45)
    (to_the_letter,) = walk(sample.scores, sample.wrong["letter"], by_rule(0.05), least=45)

    last = last_accepted(by_threshold)
    assert (last.threshold, round(last.bound, 4)) == (0.9, 0.0479)
    assert round(last.passing / (263 * 11), 3) == 0.802
    assert round(to_the_letter.bound, 6) == 0.050006


def test_no_run_of_these_is_another_one_s_twin(checked):
    for _, sample in checked.values():
        for errors in sample.shared_errors.values():
            assert errors.same <= errors.either / 2


def test_a_decision_after_the_fact_is_no_promise(cards, published):
    runs = published.folder / "hdb/results/zettelkatalog"
    plan = make_plan(cards, [runs / name for name in GOOD], PlanOptions(263, right="threshold"))

    decision = decide(plan, cards, Path("plan.yaml"))

    assert plan.known == 263
    assert not decision.holds
    assert decision.outcome.threshold == 0.9
    assert round(decision.outcome.share, 3) == 0.802
    assert decision.counting.left_out == {}
