"""The Hub's declaration of a benchmark, `eval.yaml`."""

from pathlib import Path

import pytest
import yaml
from datasets import get_dataset_config_names, get_dataset_split_names

from hdbench.benchmark import BenchmarkSpec
from hdbench.building.eval_yaml import eval_yaml
from hdbench.scoring.metric import PROTOCOLS

RECIPES = sorted((Path(__file__).parents[2] / "dataset_scripts").glob("*/benchmark.yaml"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.parent.name)
def test_each_protocol_of_a_benchmark_is_a_task(recipe):
    spec = BenchmarkSpec.model_validate(yaml.safe_load(recipe.read_text()))
    found = yaml.safe_load(eval_yaml(spec))
    assert (found["name"], found["evaluation_framework"]) == (spec.title, "inspect-ai")
    assert [task.pop("id") for task in found["tasks"]] == list(PROTOCOLS)
    assert found["tasks"] == [{"config": "default", "split": spec.split}] * len(PROTOCOLS)
    assert f"{spec.metric}: {spec.headline} (higher is better)" in found["description"]


def test_of_a_lower_headline_it_says_what_results_have():
    spec = BenchmarkSpec.model_validate(yaml.safe_load(RECIPES[0].read_text()))
    lower = spec.model_copy(update={"headline": "cer", "higher_is_better": False})
    assert (
        "cer (lower is better: results have 1 - it)"
        in yaml.safe_load(eval_yaml(lower))["description"]
    )


@pytest.mark.parametrize("name", ["zettelkatalog", "sciencemetabench"])
def test_a_built_dataset_declares_configs_and_splits_that_it_has(name, tmp_path, run_hdbench):
    done = run_hdbench("build", name, "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "hdb" / name
    found = yaml.safe_load((folder / "eval.yaml").read_text())
    for task in found["tasks"]:
        assert task["config"] in get_dataset_config_names(str(folder))
        assert task["split"] in get_dataset_split_names(str(folder), task["config"])
