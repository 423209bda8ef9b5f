"""Metrics by the name of a benchmark, on the published data: what `hdbench score` gives."""

import gzip
import json

import pytest
from helpers.configurations import computed, figures_of, scored
from helpers.lost_answers import FOLDERS
from real.conftest import BENCHMARKS

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common import resources

pytestmark = pytest.mark.nightly

RECORDED = FOLDERS | {
    "zettelkatalog": "library_cards",
    "avisblatt": "fraktur_adverts",
    "rheinschifffahrt": "business_letters",
}


@pytest.mark.parametrize("protocol", ["documented", "published"])
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_recorded_run_has_the_figures_of_score(name, protocol, published, shared, tmp_path):
    benchmark = published.folder / "hdb" / name
    with gzip.open(shared / f"recorded/{RECORDED[name]}.jsonl.gz", "rt") as file:
        run = max(map(json.loads, file), key=lambda run: len(run["answers"]))
    answers = {answer["id"]: answer["answer"] for answer in run["answers"]}
    lines = [json.dumps({"id": item, "prediction": each}) for item, each in answers.items()]
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(lines))
    by_score, result = scored(str(benchmark), path, protocol)
    metric = load_benchmark(str(benchmark)).spec.metric
    module = resources.folder("metrics") / metric / f"{metric}.py"
    found, figures = computed(module, benchmark, protocol, answers), figures_of(by_score, result)
    assert {key: found.get(key) for key in figures} == figures
    if protocol == "published" and run.get("reproducible", True):
        both = found.keys() & run["scores"]
        assert {key: found[key] for key in both} == pytest.approx(
            {key: run["scores"][key] for key in both}, abs=1e-9
        )
        assert both


@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_sciencemetabench_examples_have_the_figures_of_score(protocol, shared, tmp_path):
    benchmark = tmp_path / "sciencemetabench"
    benchmark.mkdir()
    recipe = resources.folder("dataset_scripts") / "sciencemetabench"
    for file in ("benchmark.yaml", "answer.schema.json"):
        (benchmark / file).write_text((recipe / file).read_text())
    rows, answers = [], {}
    for kind in ("paper", "textbook", "ebook"):
        path = shared / f"upstream/sciencemetabench/{kind}.jsonl"
        for row in map(json.loads, path.read_text().splitlines()):
            item = row.pop("sha256")
            truth = {"kind": kind} | {field: value["standard"] for field, value in row.items()}
            both = dict.fromkeys(("ground_truth", "ground_truth_published"), json.dumps(truth))
            rows.append({"id": item, **both})
            answers[item] = {field: value["produced"] for field, value in row.items()}
    (benchmark / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    path = tmp_path / "run.jsonl"
    lines = [json.dumps({"id": item, "prediction": each}) for item, each in answers.items()]
    path.write_text("\n".join(lines))
    module = resources.folder("metrics") / "sciencemeta_accuracy/sciencemeta_accuracy.py"
    by_score, result = scored(str(benchmark), path, protocol)
    found, figures = computed(module, benchmark, protocol, answers), figures_of(by_score, result)
    assert {key: found.get(key) for key in figures} == figures
    assert found["answered"] == found["items"] > 3
