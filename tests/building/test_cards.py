"""The cards of datasets, metrics and Spaces: whole, true to what lies beside them, and readable."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import bibtexparser
import pytest
from huggingface_hub import DatasetCard, RepoCard
from packaging.requirements import Requirement
from PIL import Image

from hdbench.benchmarks.benchmark import METADATA, load_benchmark
from hdbench.benchmarks.building.card import write_cards
from hdbench.benchmarks.building.metadata import Built
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.benchmarks.spec import MEDIA_KEYS, recipe_names
from hdbench.common.jsonio import read_jsonl

ROOT = Path(__file__).parents[2]

SPACES = sorted([*(ROOT / "metrics").iterdir(), ROOT / "spaces/scorer"])

# The Hub's vocabularies, as its documentation of dataset cards and of Spaces has them.
VOCABULARIES = {
    "annotations_creators": {"crowdsourced", "expert-generated", "machine-generated", "other"},
    "language_creators": {"crowdsourced", "expert-generated", "found", "machine-generated"},
    "license": {"cc0-1.0", "cc-by-4.0", "other"},
    "multilinguality": {"monolingual", "multilingual"},
    "size_categories": {"n<1K", "1K<n<10K"},
    "task_categories": {"image-to-text", "image-text-to-text", "text-generation"},
}
SECTIONS = [
    "An example",
    "Fields",
    "Splits",
    "How the ground truth was made",
    "Uses and limits",
    "Privacy",
    "License",
    "Maintenance",
    "Citation",
]


@pytest.fixture(params=recipe_names())
def name(request):
    return request.param


@pytest.fixture
def of_sample(samples, name):
    return samples / "hdb" / name


@pytest.fixture
def of_benchmark(of_sample, name, tmp_path):
    """The sample's rows with the cards of the benchmark itself, whose data may not be at hand."""
    folder = shutil.copytree(of_sample, tmp_path / name)
    recipe = find_recipe(name)
    spec = recipe.spec.model_dump(exclude_none=True)
    (folder / "benchmark.yaml").write_text(json.dumps(spec))  # JSON is YAML
    content_hash = load_benchmark(str(folder)).content_hash()
    built = Built(folder, recipe.spec.version, 1010, [], 0, content_hash)
    write_cards(recipe, built, folder)
    return folder


@pytest.fixture(params=["of_sample", "of_benchmark"])
def built(request, name):
    return request.getfixturevalue(request.param)


def headings(text, level="##"):
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(rf"^{level} (.+)$", outside, re.MULTILINE)


def block(text, language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return found


def links(text):
    return re.findall(r"\]\(([^)\s]*)\)|(?:src|href)=\"([^\"]*)\"", text)


def assert_links_lead_somewhere(folder, text):
    for link in ("".join(pair) for pair in links(text)):
        if not link.startswith("http"):
            assert link, "an empty link"
            assert (folder / link).is_file(), link


def rows_of(folder):
    return {line.value["id"]: line.value for line in read_jsonl(folder / METADATA)}


def test_the_yaml_of_a_dataset_is_whole_and_in_the_hub_s_words(built, name):
    data = DatasetCard.load(built / "README.md").data.to_dict()
    spec = load_benchmark(str(built)).spec
    for key, known in VOCABULARIES.items():
        values = data[key] if isinstance(data[key], list) else [data[key]]
        assert values
        assert set(values) <= known
    assert all(re.fullmatch("[a-z]{2}", language) for language in data["language"])
    assert "hdbench" in data["tags"]
    assert (data["pretty_name"], data["license"]) == (spec.title, spec.licence)
    assert (data["multilinguality"] == ["monolingual"]) == (len(data["language"]) == 1)
    assert data["source_datasets"]
    (config,) = data["configs"]
    assert config["data_files"][0]["split"] == spec.split
    features = {feature["name"] for feature in config["features"]}
    keys = set(next(iter(rows_of(built).values()))) - {MEDIA_KEYS[spec.media]}
    assert features == keys | {spec.media}


LOST = {"bibliography", "blacklist", "companylists", "advertxml"}
"""Those with lost answers that have a text, and whose metric's card cannot say it."""


def test_a_dataset_card_has_every_section_in_order(built):
    assert headings(DatasetCard.load(built / "README.md").text) == SECTIONS


def test_a_benchmark_s_card_says_source_corrections_and_defects(of_benchmark, name):
    text = DatasetCard.load(of_benchmark / "README.md").text
    lost = ["Lost answers"] if name in LOST else []
    assert headings(text, "###") == ["Source", "Corrections", "Known defects", *lost]
    recipe = find_recipe(name)
    assert recipe.spec.source.revision in text
    for item in (*recipe.errata.exclude, *recipe.errata.of_fields):
        assert item.evidence in text
        assert item.proposed_by in text


def test_the_example_is_a_row_and_the_picture_is_its_own(built, name):
    card = DatasetCard.load(built / "README.md").text
    example = json.loads(block(card, "json"))
    row = rows_of(built)[example["id"]]
    columns = {"ground_truth", "ground_truth_published"}
    assert example == {**row, **{column: json.loads(row[column]) for column in columns}}
    if "text" in row:
        assert "![" not in card
        return
    (picture,) = re.findall(r"!\[[^\]]{10,}\]\(([^)]*)\)", card)
    with Image.open(built / picture) as image:
        assert min(image.size) > 300
    media = row[MEDIA_KEYS[load_benchmark(str(built)).spec.media]]
    if name == "sciencemetabench":
        assert picture == "example.png"
    else:
        assert picture in media


def test_every_link_of_a_dataset_card_leads_somewhere(built):
    for path in built.glob("README*.md"):
        assert_links_lead_somewhere(built, path.read_text())


def test_the_citation_of_a_card_is_bibtex(built):
    assert_is_bibtex(block((built / "README.md").read_text(), "bibtex"))


def assert_is_bibtex(text):
    library = bibtexparser.parse_string(text)
    assert not library.failed_blocks
    (entry,) = library.entries
    assert {"title", "author", "year", "howpublished"} <= set(entry.fields_dict)


def test_all_spaces_are_of_one_gradio_that_the_package_takes():
    versions = {RepoCard.load(folder / "README.md").data.sdk_version for folder in SPACES}
    (version,) = versions
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = map(Requirement, extras["optional-dependencies"]["space"])
    (gradio,) = (each for each in wanted if each.name == "gradio")
    assert version in gradio.specifier


def test_a_card_names_maintainers_and_correction_plan(built, name):
    spec = load_benchmark(str(built)).spec
    assert spec.maintainers
    _, _, card = (built / "README.md").read_text().partition("## Maintenance\n")
    for said in (*spec.maintainers, spec.contact, spec.corrected_by, spec.report_errors_at):
        assert said in card
