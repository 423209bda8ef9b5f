"""Every folder of dataset_scripts: what a recipe must have, and that its parts fit each other."""

import json
import re
import runpy
from pathlib import Path

import jsonschema
import pytest
from datasets import load_dataset
from helpers.plain_evaluate import evaluate
from helpers.prompt_form import as_the_prompt_asks, fields_of_prompt, fields_of_schema
from helpers.results import flat_of

from hdbench.about import installed_folder
from hdbench.benchmarks.building.recipe import find_recipe, read_registry
from hdbench.benchmarks.building.source import MEDIA_FOLDERS
from hdbench.benchmarks.spec import BUILT, HubSource
from hdbench.common.jsonio import read_jsonl
from hdbench.scoring import METRICS

FOLDERS = sorted(
    folder
    for folder in installed_folder("dataset_scripts").iterdir()
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


@pytest.mark.parametrize("script", installed_folder("dataset_scripts").glob("*/build.py"), ids=str)
def test_a_program_finds_all_that_it_imports(script):
    assert runpy.run_path(str(script)).keys() & {"rows", "build"}  # which hdbench calls


def test_the_description_fits_the_folder_and_a_metric(folder, spec):
    assert spec.name == folder.name
    assert spec.metric in METRICS
    assert re.fullmatch(r"\d+\.\d+\.\d+", spec.version)
    assert f"## {spec.version}\n" in (folder / "CHANGELOG.md").read_text()


def test_the_source_is_of_one_revision_and_its_files_are_pinned(folder, spec):
    if isinstance(spec.source, HubSource):
        return  # whose files are pinned by its commit
    assert spec.source.url.endswith(spec.source.revision)
    registry = read_registry(folder)
    assert len(registry[spec.source.prompt]) == 64
    unpinned = [path for path, sha256 in registry.items() if not sha256]
    assert len(unpinned) == (2 if spec.name == "avisblatt" else 0)


def test_answers_as_the_prompt_asks_fit_the_schema(spec, schema, truths):
    jsonschema.Draft202012Validator.check_schema(schema)
    for truth in truths:
        jsonschema.validate(as_the_prompt_asks(spec.name, truth), schema)


@pytest.mark.parametrize("wrong", [{}, {"type": "Reference"}, [], None, "text"])
def test_the_schema_refuses_what_is_no_answer(schema, wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)


def test_the_sample_s_prompt_and_the_schema_name_the_same_fields(folder, schema):
    if folder.name == "sciencemetabench":
        return  # a prompt with more than one block has a test of its own
    prompt = (folder / "sample/prompt.txt").read_text()
    assert fields_of_prompt(prompt) == fields_of_schema(schema)


def test_a_perfect_answer_to_each_sample_item_scores_one(spec, truths):
    metric = spec.make_metric()
    for truth in truths:
        score = metric.score(as_the_prompt_asks(spec.name, truth), metric.prepare(truth))
        assert score.statistics[metric.item_figure] == 1.0


def test_the_sample_has_media_of_a_size_to_be_read(folder, spec):
    if spec.media == "text":
        return
    media = sorted((folder / "sample" / MEDIA_FOLDERS[spec.media]).iterdir())
    assert media
    for path in media:
        assert 10_000 < path.stat().st_size < 350_000


def test_sample_is_built_loaded_and_scored_by_the_literal_calls(
    spec, tmp_path, run_hdbench, monkeypatch
):
    done = run_hdbench("build", spec.name, "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    name = f"hdb/{spec.name}"
    files = {path.name for path in Path(name).iterdir() if not path.name.startswith(".")}
    assert files - {"README.zh.md", *spec.files} <= set(BUILT)
    cache = str(tmp_path / "cache")
    items = load_dataset(name, split=spec.split, cache_dir=cache)
    streamed = load_dataset(name, split=spec.split, streaming=True)
    assert [row["ground_truth"] for row in streamed] == list(items["ground_truth"])
    assert set(items.column_names) == {
        *("id", spec.media, "ground_truth", "ground_truth_published"),
        *(() if spec.media == "text" else ("sha256",)),
        *spec.columns,
    }
    assert items[0][spec.media]
    lines = [line.value for line in read_jsonl(Path(name) / "example_predictions.jsonl")]
    answers = {line["id"]: line.get("prediction", line.get("text")) for line in lines}
    predictions = [answers.get(item_id) for item_id in items["id"]]
    metric = evaluate.load(f"hdb/{spec.metric}", cache_dir=cache)
    options = spec.protocols.get("documented", {})
    result = metric.compute(predictions=predictions, references=items["ground_truth"], **options)
    assert 0 < result[spec.headline] < 1
    done = run_hdbench(
        *("score", name, f"{name}/example_predictions.jsonl", "--json", "result.json"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    written = flat_of(tmp_path / "result.json")
    assert {key: written[key] for key in result} == result
