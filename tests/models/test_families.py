"""Models of random weights of the families that people use, and what is special of some."""

import json
from importlib.util import find_spec

import pytest
from helpers.tiny_models import FAMILIES, GEMMA_3N, save_tiny_model
from helpers.vision import HAS_TORCHVISION
from models.model_families import (
    CHECKS,
    PROMPT,
    WITHOUT_TORCHVISION,
    assert_images_reach_their_items,
    known,
    make_backend,
    questions,
    refusal,
    shown,
)
from PIL import Image
from transformers import CONFIG_MAPPING

from hdbench.errors import HdbenchError
from hdbench.models.backend import ImageLimits, Observer, Question
from hdbench.models.families import Family, families, family_of, template_of
from hdbench.models.images import load_images
from hdbench.models.local_model import LocalModel
from hdbench.models.model_files import find_model


@pytest.fixture(scope="module")
def got(tmp_path_factory):
    """A GOT-OCR2, which does without torchvision."""
    folder = tmp_path_factory.mktemp("families") / "got"
    save_tiny_model(next(family for family in FAMILIES if family.name == "GOT-OCR2"), folder)
    return folder


@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_does_what_the_documentation_says(family, tmp_path):
    cells = shown()[family.name]
    assert {cells[column] for column in CHECKS} == {"yes"}
    model, images = tmp_path / family.folder, tmp_path / "images"
    images.mkdir()
    save_tiny_model(family, model)
    assert known(family, model).items() <= cells.items()
    if not HAS_TORCHVISION:
        refused = refusal(model)
        assert cells[WITHOUT_TORCHVISION] == ("no" if refused else "yes")
        if refused:
            assert refused.startswith(
                f"{family.folder}: needs torchvision: install what local models need"
            )
            assert "\n" not in refused
            return
    for check in CHECKS.values():
        check(model, images)


@pytest.mark.nightly
def test_gemma_3n_does_what_they_do_where_timm_is_installed(tmp_path):
    if find_spec("timm"):
        (tmp_path / "images").mkdir()
        save_tiny_model(GEMMA_3N, tmp_path / "model")
        for check in CHECKS.values():
            check(tmp_path / "model", tmp_path / "images")


@pytest.mark.slow
def test_the_documentation_has_every_family_and_the_table_only_what_transformers_has():
    assert list(shown()) == [family.name for family in FAMILIES]
    types = {name for family in families().values() for name in family.types}
    assert types - set(CONFIG_MAPPING.keys()) == {"dots_ocr"}  # which comes with code of its own


def test_a_family_is_told_by_its_type_and_where_that_does_not_do_by_its_name():
    assert family_of("idefics3", "HuggingFaceM4/Idefics3-8B-Llama3").prompt is None
    assert family_of("idefics3", "docling-project/SmolDocling-256M-preview").form == "doctags"
    assert family_of("qwen2_5_vl", "Qwen/Qwen2.5-VL-3B-Instruct").schema_as is None
    assert family_of("qwen2_5_vl", "numind/NuExtract-2.0-8B").schema_as == "template"
    assert family_of("nobody_knows", "it") == Family()


def test_a_template_has_the_fields_of_the_schema_and_what_kind_of_value_each_has():
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["card", "letter", None]},
            "author": {
                "anyOf": [
                    {"type": "null"},
                    {"type": "object", "properties": {"name": {"type": ["string", "null"]}}},
                ]
            },
            "years": {"type": "array", "items": {"type": "integer"}},
            "price": {"type": "number"},
            "is_signed": {"type": "boolean"},
            "sent": {"type": "string", "format": "date"},
        },
    }
    assert template_of(schema) == {
        "kind": ["card", "letter"],
        "author": {"name": "verbatim-string"},
        "years": ["integer"],
        "price": "number",
        "is_signed": "boolean",
        "sent": "date-time",
    }


@pytest.mark.nightly
def test_a_model_that_fills_in_a_template_needs_a_schema(tmp_path):
    folder = tmp_path / "NuExtract-2.0"
    save_tiny_model(next(family for family in FAMILIES if family.name == "NuExtract"), folder)
    with pytest.raises(HdbenchError, match=r"needs torchvision|the benchmark has none"):
        make_backend(folder, schema=None)


def encoded(folder, items):
    """What a model is given for items of so many images: its text, and how many images."""
    model = LocalModel(find_model(str(folder), None))
    pages = [[Image.new("RGB", (60, 90))] * images for images in items]
    inputs = model.encode(pages, [PROMPT] * len(pages))
    texts = [
        model.tokenizer.decode(row[mask.bool()])
        for row, mask in zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
    ]
    return texts, len(inputs["pixel_values"])


@pytest.mark.nightly
def test_got_ocr2_is_asked_with_the_prompt_of_its_training(got):
    (one, two, again), images = encoded(got, [1, 2, 1])
    assert images == 4
    user = "<|im_end|><|im_start|>user\n<img>" + "<imgpad>" * 256
    assert f"{user}</img>\n OCR: <|im_end|><|im_start|>assistant\n" in one
    assert again == one
    # Two pages are read as one document: 512 tokens of images, and another prompt.
    assert f"{user}{'<imgpad>' * 256}</img>\n OCR across multi pages: <|im_end|>" in two
    assert PROMPT not in one + two


@pytest.mark.nightly
def test_an_own_prompt_is_recorded_and_said(got, tiny_model, tmp_path):
    heard = []

    class Hearing(Observer):
        def notice(self, message):
            heard.append(message)

    asked = questions(tmp_path)[:1]
    backend = make_backend(got)
    assert backend.settings()["own_prompt"] == "OCR:"
    list(backend.answer(asked, observer=Hearing()))
    assert len(heard) == 1
    assert "its own prompt" in heard[0]
    other = make_backend(tiny_model)
    assert "own_prompt" not in other.settings()  # runs of before are resumed
    list(other.answer(asked, observer=Hearing()))
    assert len(heard) == 1


@pytest.mark.nightly
def test_got_ocr2_refuses_an_item_that_is_a_text(got):
    replied = dict(make_backend(got).answer([Question("1", [], "<b>")]))
    assert replied["1"].text is None
    assert replied["1"].error.startswith("the model's processor refuses it: You must provide valid")


@pytest.mark.nightly
def test_an_answer_of_got_ocr2_ends_where_its_turn_ends(got):
    model = LocalModel(find_model(str(got), None))
    saved = json.loads((got / "generation_config.json").read_text())["eos_token_id"]
    assert model.ends == {saved, model.tokenizer.convert_tokens_to_ids("<|im_end|>")}


@pytest.mark.nightly
def test_images_of_a_plain_llava_reach_their_items(tiny_model, tmp_path):
    items = [load_images(question.media, ImageLimits()) for question in questions(tmp_path)]
    assert_images_reach_their_items(tiny_model, items)
