"""A local model that takes none of its items, and one whose time is up."""

import shutil

import pytest
from models.model_families import make_backend
from PIL import Image

from hdbench.errors import HdbenchError
from hdbench.models.backend import LOST_IN_A_ROW, Question
from hdbench.models.run import run_model

pytestmark = pytest.mark.nightly

SETTINGS = {"benchmark": "hdb/cards", "model": "tiny", "items": None}


def refusing(tiny_model, folder, more_than):
    """A model whose chat template refuses items of more images than so many."""
    shutil.copytree(tiny_model, folder)
    template = folder / "chat_template.jinja"
    template.write_text(
        f"{{% if messages[0]['content'] | length > {more_than + 1} %}}"
        "{{ raise_exception('no more images, please') }}{% endif %}" + template.read_text()
    )
    return folder


def items(folder, counts, first=0):
    """Items of so many images each."""
    path = folder / "page.png"
    Image.new("RGB", (60, 90), "red").save(path)
    return [Question(f"i{number}", [path] * n) for number, n in enumerate(counts, first)]


def test_a_model_that_refuses_its_first_items_ends_the_run(tiny_model, tmp_path):
    model = refusing(tiny_model, tmp_path / "model", 0)
    taken = []

    def asked():
        for question in items(tmp_path, [1] * 100):
            taken.append(question.id)
            yield question

    got = []
    with pytest.raises(HdbenchError) as ended:
        got.extend(make_backend(model, batch_size=4).answer(asked()))
    assert str(ended.value) == (
        "model: the model accepts none of the first 10 items (i0: the model's processor refuses "
        "it: no more images, please): fix it and run again"
    )
    assert got == []  # so that they are asked again
    assert len(taken) <= LOST_IN_A_ROW + 2 * 16 + 2 * 4  # windows of 16, batches of 4


def test_a_model_that_took_one_item_is_asked_the_others(tiny_model, tmp_path):
    model = refusing(tiny_model, tmp_path / "model", 1)
    counts = [2] * (LOST_IN_A_ROW - 1) + [1] + [2] * (LOST_IN_A_ROW + 5)
    asked = items(tmp_path, counts)
    replies = list(make_backend(model, batch_size=3).answer(asked))
    assert [id_ for id_, _ in replies] == [question.id for question in asked]
    assert [reply.error is None for _, reply in replies] == [count == 1 for count in counts]
    assert all("no more images" in reply.error for _, reply in replies if reply.error)


def test_largest_items_wait_until_the_model_accepted_one(tiny_model, tmp_path):
    model = refusing(tiny_model, tmp_path / "model", 1)
    counts = [1] * 4 + [2] * (LOST_IN_A_ROW + 2)
    replies = dict(make_backend(model, batch_size=4).answer(items(tmp_path, counts)))
    assert sum(reply.error is None for reply in replies.values()) == 4


def test_fewer_items_than_that_are_recorded_as_failures(tiny_model, tmp_path):
    model = refusing(tiny_model, tmp_path / "model", 0)
    asked = items(tmp_path, [1] * (LOST_IN_A_ROW - 1))
    assert len(list(make_backend(model).answer(asked))) == LOST_IN_A_ROW - 1


def test_images_that_cannot_be_read_are_not_the_models_refusal(tiny_model, tmp_path):
    lost = [Question(f"lost{number}", [tmp_path / "no.png"]) for number in range(12)]
    model = refusing(tiny_model, tmp_path / "model", 1)
    asked = [*lost, *items(tmp_path, [2] * (LOST_IN_A_ROW - 1) + [1])]
    replies = dict(make_backend(model, batch_size=2).answer(asked))
    assert len(replies) == len(asked)
    assert sum(reply.error is None for reply in replies.values()) == 1


def test_what_was_refused_first_is_asked_again(tiny_model, tmp_path):
    model = refusing(tiny_model, tmp_path / "model", 0)
    asked, folder = items(tmp_path, [1] * 12), tmp_path / "run"
    with pytest.raises(HdbenchError, match="accepts none of the first 10 items"):
        run_model(make_backend(model), asked, folder, SETTINGS)
    shutil.copy(tiny_model / "chat_template.jinja", model)
    outcome = run_model(make_backend(model), asked, folder, SETTINGS)
    assert (outcome.answered, outcome.failed) == (12, 0)
