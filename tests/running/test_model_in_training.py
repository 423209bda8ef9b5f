"""A model in memory is asked as one in a folder is, and stays as it was."""

import pytest
import torch
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoProcessor

from hdbench.running.backend import Asked, Decoding, Question
from hdbench.running.local_model import ModelInTraining
from hdbench.running.transformers_backend import TransformersBackend

pytestmark = pytest.mark.nightly


class Wrapper(torch.nn.Module):
    """A model in another one, which passes on what it lacks, as PEFT's models do."""

    def __init__(self, model):
        super().__init__()
        self.wrapped = model

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("wrapped"), name)


@pytest.mark.parametrize("wrapped", [False, True])
def test_it_answers_as_the_model_in_its_folder(tiny_model, tmp_path, wrapped):
    Image.new("RGB", (60, 90), "red").save(tmp_path / "card.png")
    questions = [Question("card", [tmp_path / "card.png"])]
    asked = Asked(str(tiny_model), decoding=Decoding(max_new_tokens=24))
    expected = dict(TransformersBackend(asked, "Read.", None, device="cpu").answer(questions))
    model = AutoModelForImageTextToText.from_pretrained(tiny_model, dtype=torch.float32)
    model.train()
    modes = set()
    model.model.register_forward_pre_hook(
        lambda module, _: modes.add(
            (module.training, torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        )
    )
    model.generation_config.repetition_penalty = 3.0
    before = model.generation_config.to_dict()
    in_training = ModelInTraining(
        Wrapper(model) if wrapped else model, AutoProcessor.from_pretrained(tiny_model), "mine"
    )
    backend = TransformersBackend(asked, "Read.", None, model=in_training)
    replies = dict(backend.answer(questions))
    assert replies["card"].text == expected["card"].text
    assert modes == {(False, False, False)}
    assert backend.settings()["model"] == "mine"
    assert model.training
    assert model.generation_config.to_dict() == before
    backend.close()
    assert next(model.parameters()).requires_grad
