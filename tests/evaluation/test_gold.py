"""Gold is gold: a ground truth as the answer is perfect, in whatever way it is scored."""

import json

import pytest
from helpers.gold import (
    assert_never_perfect_with_one_value_wrong,
    assert_perfect,
    figures_of_gold,
    protocols,
)
from PIL import Image

from hdbench.benchmarks.spec import recipe_names

pytestmark = pytest.mark.nightly

SAMPLES = sorted(recipe_names())


@pytest.mark.usefixtures("own_folder")
@protocols
@pytest.mark.parametrize("name", SAMPLES)
def test_sample_ground_truths_are_perfect_answers_in_every_way(
    name, protocol, samples, run_hdbench
):
    folder = samples / "hdb" / name
    for way, figures in figures_of_gold(folder, protocol, run_hdbench):
        assert_perfect(folder, figures, way)


@protocols
@pytest.mark.parametrize("name", SAMPLES)
def test_sample_answer_with_one_wrong_value_is_never_perfect(name, protocol, samples):
    folder = samples / "hdb" / name
    assert_never_perfect_with_one_value_wrong(name, folder, protocol, seed=1, most=60)


CARDS = [
    {"title": "Stellingen", "year": "1924", "subjects": ["Chemistry", "Law"]},
    {"title": "Disputatio de a.b", "year": "", "subjects": ["Theology"]},
    {"title": "Thesen", "year": "1731", "subjects": ["Law", "Law"]},
]

TEXTS = [{"text": "Rother Wein,\n3 Batzen"}, {"text": "Ein Stock Heu"}, {"text": "¬ Ähren"}]

COLLECTIONS = {"records": CARDS, "transcriptions": TEXTS}


@pytest.fixture(scope="module", params=COLLECTIONS)
def collection(request, tmp_path_factory, run_hdbench):
    """A collection that `new` makes of images and ground truths, built into hdb/."""
    here = tmp_path_factory.mktemp(request.param)
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


@pytest.mark.usefixtures("own_folder")
@protocols
def test_collection_ground_truths_are_perfect_in_every_way(collection, protocol, run_hdbench):
    for way, figures in figures_of_gold(collection, protocol, run_hdbench, recipe=False):
        assert figures["items"] == 3
        assert_perfect(collection, figures, way)


@protocols
def test_collection_answer_with_one_wrong_value_is_never_perfect(collection, protocol):
    assert_never_perfect_with_one_value_wrong("cards", collection, protocol, seed=1, most=60)
