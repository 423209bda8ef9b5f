"""The configurations of metrics: a benchmark's name gives what `hdbench score` gives."""

import json
from pathlib import Path

import pytest
from helpers.configurations import computed, figures_of, scored
from helpers.plain_evaluate import evaluate

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.spec import BenchmarkSpec, recipe_names
from hdbench.collections.new.plan import CollectionRequest, read_sources
from hdbench.errors import HdbenchError
from hdbench.integrations.evaluate_module import configuration_names
from hdbench.scoring import METRICS

pytestmark = pytest.mark.slow

PROTOCOLS = ("documented", "published")
PAGE = {"entries": [{"title": "Zettel", "publisher": "null"}]}


def loaded(metric, *name):
    return evaluate.load(f"hdb/{metric}", *name)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", recipe_names())
def test_a_benchmark_s_name_gives_the_figures_of_score(name, protocol, samples, monkeypatch):
    monkeypatch.chdir(samples)
    lines = Path(f"hdb/{name}/example_predictions.jsonl").read_text().splitlines()
    # Published results know given predictions only, and score takes them as they are.
    keys = ("prediction", "text")[: 2 if protocol == "documented" else 1]
    answers = {
        line["id"]: next((line[key] for key in keys if key in line), None)
        for line in map(json.loads, lines)
    }
    Path(f"{name}.jsonl").write_text(
        "".join(
            json.dumps({"id": item, "text" if isinstance(answer, str) else "prediction": answer})
            + "\n"
            for item, answer in answers.items()
        )
    )
    by_score, result = scored(f"hdb/{name}", f"{name}.jsonl", protocol)
    spec = load_benchmark(f"hdb/{name}").spec
    found = computed(f"hdb/{spec.metric}", f"hdb/{name}", protocol, answers)
    figures = figures_of(by_score, result)
    assert {key: found.get(key) for key in figures} == figures
    assert spec.headline in figures
    assert found["answered"] > 0
    version = spec.version.removesuffix("+sample")
    options = by_score["signature"].removeprefix(f"{spec.metric}|protocol:{protocol}")
    assert found["signature"] == (
        f"{spec.metric}|protocol:{protocol}|benchmark:{name}|dataset_version:{version}{options}"
    )


def test_every_benchmark_has_two_configurations_of_its_metric():
    names = {metric: configuration_names(metric) for metric in METRICS}
    assert all(each[:2] == ["documented", "published"] for each in names.values())
    own = [name for each in names.values() for name in each[2:]]
    assert sorted(own) == sorted([*recipe_names(), *(f"{n}-published" for n in recipe_names())])
    assert "bibliography" in names["record_f1"]


def test_options_of_compute_take_precedence_over_the_benchmark_s(samples, monkeypatch):
    monkeypatch.chdir(samples)
    metric = loaded("record_f1", "companylists")
    asked = {
        "predictions": [PAGE["entries"]],
        "references": [{"entries": [{"title": "Zettel", "publisher": "x"}]}],
    }
    result = metric.compute(**asked)  # "null" is blank, and a bare list is read
    assert (result["false_positives"], result["false_negatives"]) == (0, 1)
    result = metric.compute(**asked, blank=[None])
    assert (result["false_positives"], result["false_negatives"]) == (1, 1)
    assert "|blank:[null]|" not in result["signature"]  # it is the metric's default
    assert '|root_list:"entries"|' in result["signature"]


def test_score_names_the_item_whose_truth_lacks_the_fields(samples, tmp_path, monkeypatch):
    folder = tmp_path / "hdb/letters"
    folder.mkdir(parents=True)
    spec = (samples / "hdb/rheinschifffahrt/benchmark.yaml").read_text()
    spec = spec.replace("name: rheinschifffahrt\n", "name: letters\n")
    spec = "".join(line for line in spec.splitlines(True) if "report_errors_at" not in line)
    (folder / "benchmark.yaml").write_text(spec)
    rows = [{"id": "a", "ground_truth": '{"send_date": null}'}]
    rows.append({"id": "b", "ground_truth": '{"date": "1926"}'})
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "a.jsonl").write_text('{"id": "a", "prediction": {}}\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HdbenchError, match=r"^b: not a ground truth for letters_f1: none of"):
        scored("hdb/letters", "a.jsonl", "documented")


@pytest.mark.parametrize("name", ["default", "documented", "published", "x-published"])
def test_no_benchmark_has_the_name_of_a_configuration(name, samples):
    spec = load_benchmark(str(samples / "hdb/zettelkatalog")).spec
    said = spec.model_dump(exclude_none=True, exclude={"report_errors_at"})
    assert BenchmarkSpec.model_validate(said | {"name": f"{name}-cards"}).name == f"{name}-cards"
    with pytest.raises(ValueError, match="is a word of the metrics' configurations"):
        BenchmarkSpec.model_validate(said | {"name": name})
    with pytest.raises(HdbenchError, match=f"^{name}: a word of the metrics' configurations"):
        read_sources(CollectionRequest(name, samples))
