"""The commands on results of more items than can be drawn."""

import json
from collections import Counter

import numpy as np
import pytest

from hdbench.results.files import write_results
from hdbench.results.parts import AnswersRead, ScoredDataset
from hdbench.results.result import Result
from hdbench.scoring import make_metric
from hdbench.scoring.metric import OUTCOMES
from hdbench.statistics.bootstrap import DELTA_METHOD

pytestmark = pytest.mark.nightly

ITEMS = 51_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of two models that read texts, the first a little better, in `a.json`, `b.json`."""
    folder = tmp_path_factory.mktemp("large")
    metric = make_metric("text_cer")
    dataset = {"benchmark": "hdb/texts", "dataset_version": "1.0.0", "dataset_sha256": "0" * 64}
    dataset |= {"headline": "cer_items", "higher_is_better": False}
    for seed, name in enumerate("ab"):
        rng = np.random.default_rng(seed)
        length = rng.integers(200, 3_000, ITEMS)
        errors = rng.binomial(length, rng.beta(1, 12 - seed, ITEMS))
        columns = dict.fromkeys(metric.statistics, [0] * ITEMS) | {
            "cer_errors": errors.tolist(),
            "cer_length": length.tolist(),
            "cer": (errors / length).tolist(),
            "similarity": rng.random(ITEMS).tolist(),  # so that no two items are alike
            "texts": [1] * ITEMS,
        }
        status = Counter(clean=ITEMS) + Counter()
        status.update(dict.fromkeys(("unwrapped", "repaired", "truncated"), 0))
        status.update(dict.fromkeys(("unanswered", "unparsable"), 0))
        result = Result(
            metric,
            [f"{number:06}" for number in range(ITEMS)],
            status,
            columns,
            {outcome: {} for outcome in OUTCOMES},
            [],
            [],
            dataset=ScoredDataset(**dataset),
            reading=AnswersRead(),
            model=name,
        )
        write_results(folder / f"{name}.json", [result])
    return folder


def test_two_of_them_are_compared_and_the_method_is_named(folder, run_hdbench):
    done = run_hdbench("compare", "a.json", "b.json", "--json", "c.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "intervals by the delta method over items, normal intervals" in done.stdout
    assert "cer_items: a is better: p = 0.0001 is below 0.05" in done.stdout
    [comparison] = json.loads((folder / "c.json").read_text())["comparisons"]
    assert (comparison["resamples"], comparison["permutations"]) == (0, 0)
    low, high = comparison["figures"]["cer_items"]["interval"].values()
    # The means of beta(1, 12) and beta(1, 11) are 1/13 and 1/12.
    assert low < 1 / 13 - 1 / 12 < high < 0


def test_they_are_ranked(folder, run_hdbench):
    done = run_hdbench("leaderboard", "a.json", "b.json", "--format", "json", cwd=folder)
    [board] = json.loads(done.stdout)["leaderboards"]
    assert [(row["model"], row["better"]) for row in board["rows"]] == [("a", []), ("b", ["a"])]
    record = json.loads((folder / "a.json").read_text())
    assert record["intervals"]["method"].startswith(DELTA_METHOD)
    assert list(board["rows"][0]["interval"].values()) == pytest.approx(
        record["intervals"]["figures"]["cer_items"], abs=1e-12
    )
