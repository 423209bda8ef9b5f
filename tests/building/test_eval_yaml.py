"""The Hub's declaration of a benchmark, `eval.yaml`."""

from pathlib import Path

import pytest
import yaml
from datasets import get_dataset_config_names, get_dataset_split_names
from hub.validation import refused
from pydantic import ValidationError

from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.datasets.building.builder import eval_yaml
from hdbench.scoring.metric import PROTOCOLS

RECIPES = sorted((Path(__file__).parents[2] / "dataset_scripts").glob("*/benchmark.yaml"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.parent.name)
def test_each_protocol_of_a_benchmark_is_a_task(recipe):
    spec = BenchmarkSpec.model_validate(yaml.safe_load(recipe.read_text()))
    text = eval_yaml(spec)
    assert refused("eval.yaml", text.encode()) is None
    found = yaml.safe_load(text)
    assert found["name"] == spec.title
    assert [task.pop("id") for task in found["tasks"]] == list(PROTOCOLS)
    assert found["tasks"] == [{"config": "default", "split": spec.split}] * len(PROTOCOLS)
    better = (
        "higher is better" if spec.higher_is_better else "lower is better: results hold 1 minus it"
    )
    assert f"{spec.metric}: {spec.headline} ({better})" in found["description"]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.parent.name)
def test_eval_yaml_names_no_framework_that_lacks_our_scorer(recipe):
    from inspect_ai._eval.task.hf import HFTask  # noqa: PLC0415  slow to import

    spec = BenchmarkSpec.model_validate(yaml.safe_load(recipe.read_text()))
    found = yaml.safe_load(eval_yaml(spec))
    assert "evaluation_framework" not in found
    ours = {
        "field_spec": {"input": "id", "target": "ground_truth"},
        "solvers": [{"name": "generate"}],
    }
    for task in found["tasks"]:
        with pytest.raises(ValidationError, match="field_spec"):
            HFTask.model_validate(task)
        with pytest.raises(ValidationError, match=r"scorers\.0\.name"):
            HFTask.model_validate(task | ours | {"scorers": [{"name": spec.metric}]})
        HFTask.model_validate(task | ours | {"scorers": [{"name": "exact"}]})


def test_of_a_lower_headline_it_says_what_results_have():
    spec = BenchmarkSpec.model_validate(yaml.safe_load(RECIPES[0].read_text()))
    lower = spec.model_copy(update={"headline": "cer", "higher_is_better": False})
    assert (
        "cer (lower is better: results hold 1 minus it)"
        in yaml.safe_load(eval_yaml(lower))["description"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zettelkatalog", "sciencemetabench"])
def test_a_built_dataset_declares_configs_and_splits_that_it_has(name, tmp_path, run_hdbench):
    done = run_hdbench("build", name, "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "hdb" / name
    found = yaml.safe_load((folder / "eval.yaml").read_text())
    for task in found["tasks"]:
        assert task["config"] in get_dataset_config_names(str(folder))
        assert task["split"] in get_dataset_split_names(str(folder), task["config"])
