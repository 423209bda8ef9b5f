"""Gold is gold: a ground truth as the answer is perfect, in whatever way it is scored."""

import json

import pytest
from helpers.gold import (
    IN_TABLES,
    PROTOCOLS,
    WAYS,
    WAYS_OF_RECIPES,
    WAYS_OF_TABLES,
    assert_never_perfect_with_one_value_wrong,
    assert_perfect,
    figures_by,
)
from PIL import Image

from hdbench.benchmarks.names import recipe_names

SAMPLES = sorted(recipe_names())

protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def figures_of(here, run_hdbench):
    """Gives the figures of the ground truths of a dataset as answers, scored in some way."""
    return lambda folder, protocol, way: figures_by(way, folder, protocol, run_hdbench)


@pytest.mark.parametrize("way", [*WAYS, *WAYS_OF_RECIPES])
@protocols
@pytest.mark.parametrize("name", SAMPLES)
def test_the_ground_truths_of_a_sample_are_perfect_answers(
    name, protocol, way, samples, figures_of
):
    folder = samples / "hdb" / name
    assert_perfect(folder, figures_of(folder, protocol, way))


@pytest.mark.parametrize("form", WAYS_OF_TABLES)
@pytest.mark.parametrize(("name", "protocol"), IN_TABLES)
def test_the_ground_truths_of_a_sample_are_perfect_in_a_table(
    name, protocol, form, samples, figures_of
):
    folder = samples / "hdb" / name
    assert_perfect(folder, figures_of(folder, protocol, form))


@protocols
@pytest.mark.parametrize("name", SAMPLES)
def test_with_one_value_wrong_an_answer_to_a_sample_is_never_perfect(name, protocol, samples):
    folder = samples / "hdb" / name
    assert_never_perfect_with_one_value_wrong(name, folder, protocol, seed=1, most=60)


CARDS = [
    {"title": "Stellingen", "year": "1924", "subjects": ["Chemistry", "Law"]},
    {"title": "Disputatio de a.b", "year": "", "subjects": ["Theology"]},
    {"title": "Thesen", "year": "1731", "subjects": ["Law", "Law"]},
]

TEXTS = [{"text": "Rother Wein,\n3 Batzen"}, {"text": "Ein Stock Heu"}, {"text": "¬ Ähren"}]

COLLECTIONS = {"records": CARDS, "transcriptions": TEXTS}


@pytest.fixture(params=COLLECTIONS)
def collection(request, here, run_hdbench):
    """A collection that `new` makes of images and ground truths, built into hdb/."""
    for folder in ("images", "truths"):
        (here / folder).mkdir()
    for number, truth in enumerate(COLLECTIONS[request.param]):
        Image.new("RGB", (40, 30), (90 * number, 90, 90)).save(here / f"images/b{number}.png")
        if request.param == "records":
            (here / f"truths/b{number}.json").write_text(json.dumps(truth))
        else:
            (here / f"truths/b{number}.txt").write_text(truth["text"])
    for command in (
        ("new", "cards", "images", "--truth", "truths", "--licence", "cc0-1.0"),
        ("build", "cards"),
    ):
        done = run_hdbench(*command, cwd=here)
        assert done.returncode == 0, done.stderr
    return here / "hdb/cards"


@pytest.mark.parametrize("way", [*WAYS, *WAYS_OF_TABLES])
@protocols
def test_the_ground_truths_of_an_own_collection_are_perfect_answers(
    collection, protocol, way, figures_of
):
    figures = figures_of(collection, protocol, way)
    assert figures["items"] == 3
    assert_perfect(collection, figures)


@protocols
def test_with_one_value_wrong_an_answer_to_an_own_collection_is_never_perfect(collection, protocol):
    assert_never_perfect_with_one_value_wrong("cards", collection, protocol, seed=1, most=60)
