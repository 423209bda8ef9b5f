"""The recorded runs of records, lists and transcriptions, scored by their benchmarks' options."""

import gzip
import json

import pytest
from helpers.lost_answers import FOLDERS

from hdbench.answers.answer import Answer
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.evaluation.score import score_items

pytestmark = pytest.mark.slow

NOT_REPRODUCIBLE = {
    "bibliography": [
        "2025-03-02/T0007",
        "2025-03-04/T0007",
        "2025-04-01/T0007",
        "2025-04-08/T0007",
        "2025-04-08/T0008",
        "2025-04-08/T0029",
        "2025-04-08/T0035",
        "2025-05-23/T0106",
        "2025-08-14/T0128",
        "2025-08-14/T0129",
        "2025-08-14/T0130",
        "2025-08-27/T0139",
        "2025-08-27/T0141",
        "2025-09-24/T0107",
        "2025-09-25/T0035",
        "2025-09-26/T0170",
        "2025-09-30/T0035",
        "2025-10-01/T0187",
    ],
    "companylists": [
        "2025-10-28/T0363",
        "2025-10-28/T0364",
        "2025-10-28/T0365",
        "2025-10-28/T0387",
        "2025-10-28/T0391",
        "2025-10-28/T0392",
        "2025-10-28/T0393",
        "2025-10-28/T0394",
        "2025-10-28/T0397",
        "2025-10-28/T0401",
    ],
}
"""Runs that were scored by older code, or with answers that were not kept."""

RUNS = {"bibliography": 57, "blacklist": 43, "companylists": 77, "manuscripts": 31, "advertxml": 42}


@pytest.fixture(scope="module")
def scored(shared, tmp_path_factory):
    """Benchmark → of each of its runs what was published, and the same figures as scored here."""
    out, found = tmp_path_factory.mktemp("records") / "hdb", {}
    for name, folder in FOLDERS.items():
        source = shared / "upstream/humanities_data_benchmark"
        build(find_recipe(name), out, source=source, accept_licence=True)
        benchmark = load_benchmark(str(out / name))
        metric = benchmark.spec.make_metric("published")
        truths = {
            item.id: metric.prepare(item.reference(metric.protocol)) for item in benchmark.items()
        }
        with gzip.open(shared / f"recorded/{folder}.jsonl.gz", "rt") as file:
            runs = [json.loads(line) for line in file]
        found[name] = [(run, _figures(metric, truths, run)) for run in runs]
    return found


def _figures(metric, truths, run):
    answers = {each["id"]: each["answer"] for each in run["answers"]}
    asked = [item for item in truths if item in answers]
    result = score_items(metric, [(Answer(answers[item], id=item), truths[item]) for item in asked])
    return result.figures


def different(run, figures):
    """Published figures that come out otherwise."""
    figures = figures | {"items": len(run["answers"])}
    return {
        name: (value, figures[name])
        for name, value in run["scores"].items()
        if figures[name] != pytest.approx(value, abs=1e-9)
    }


@pytest.mark.parametrize("name", FOLDERS)
def test_every_reproducible_run_has_its_published_figures(scored, name):
    marked = [run["run"] for run, _ in scored[name] if not run["reproducible"]]
    assert marked == NOT_REPRODUCIBLE.get(name, [])
    assert len(scored[name]) == RUNS[name]
    assert all(run["scores"] for run, _ in scored[name])
    wrong = {
        run["run"]: different(run, figures) for run, figures in scored[name] if run["reproducible"]
    }
    assert not any(wrong.values()), {run: each for run, each in wrong.items() if each}


@pytest.mark.parametrize("name", NOT_REPRODUCIBLE)
def test_the_others_really_come_out_otherwise(scored, name):
    assert all(different(run, figures) for run, figures in scored[name] if not run["reproducible"])
