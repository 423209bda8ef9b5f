"""Every folder of dataset_scripts: what a recipe must have, and that its parts fit each other."""

import json
import re

import jsonschema
import pytest
from prompt_form import as_the_prompt_asks, fields_of_prompt, fields_of_schema

from hdbench import resources
from hdbench.building.recipe import find_recipe
from hdbench.jsonio import read_jsonl
from hdbench.scoring import METRICS, make_metric

FOLDERS = sorted(
    folder
    for folder in resources.folder("dataset_scripts").iterdir()
    if (folder / "benchmark.yaml").is_file()
)


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request):
    return request.param


@pytest.fixture
def spec(folder):
    return find_recipe(folder.name, sample=False).spec


@pytest.fixture
def schema(folder):
    return json.loads((folder / "answer.schema.json").read_text())


@pytest.fixture
def truths(folder):
    return [line.value["ground_truth"] for line in read_jsonl(folder / "sample/metadata.jsonl")]


def test_the_description_fits_the_folder_and_a_metric(folder, spec):
    assert spec.name == folder.name
    assert spec.metric in METRICS
    metric = make_metric(spec.metric, "documented")
    assert spec.headline in metric.rates(dict.fromkeys([*metric.statistics, "items"], 0.0))
    assert re.fullmatch(r"\d+\.\d+\.\d+", spec.version)
    assert f"## {spec.version}\n" in (folder / "CHANGELOG.md").read_text()


def test_every_file_of_the_source_is_pinned_to_one_revision(folder, spec):
    assert re.fullmatch(r"[0-9a-f]{40}", spec.source.revision)
    assert spec.source.url.endswith(spec.source.revision)
    assert spec.source.prompt in (folder / "registry.txt").read_text()


def test_answers_as_the_prompt_asks_fit_the_schema(schema, truths):
    jsonschema.Draft202012Validator.check_schema(schema)
    for truth in truths:
        jsonschema.validate(as_the_prompt_asks(truth), schema)


@pytest.mark.parametrize("wrong", [{}, {"type": "Reference"}, []])
def test_the_schema_refuses_what_is_no_answer(schema, wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)


def test_the_sample_s_prompt_and_the_schema_name_the_same_fields(folder, schema):
    prompt = (folder / "sample/prompt.txt").read_text()
    assert fields_of_prompt(prompt) == fields_of_schema(schema)


def test_a_perfect_answer_to_each_sample_item_scores_one(spec, truths):
    metric = make_metric(spec.metric, "documented")
    for truth in truths:
        score = metric.score(as_the_prompt_asks(truth), metric.prepare(truth))
        assert score.statistics[metric.item_figure] == 1.0


def test_the_sample_has_pictures_of_a_size_to_be_read(folder):
    for path in sorted((folder / "sample/images").iterdir()):
        assert 10_000 < path.stat().st_size < 100_000
