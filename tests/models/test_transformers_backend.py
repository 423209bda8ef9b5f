import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections import Counter

import pytest
import torch
from helpers.backends import made
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoProcessor

from hdbench.errors import HdbenchError
from hdbench.models import transformers_backend
from hdbench.models.backend import Decoding, ImageLimits, Observer, Question
from hdbench.models.images import load_images
from hdbench.models.run import run_model
from hdbench.models.run_folder import read_answers
from hdbench.models.transformers_backend import TransformersBackend

pytestmark = pytest.mark.nightly

PROMPT = "Read the card; answer with JSON."
GREEDY = Decoding(max_new_tokens=24)


def make_backend(folder, decoding=GREEDY, **options):
    return made(TransformersBackend, folder, PROMPT, decoding=decoding, **options)


def answers(backend, questions):
    return dict(backend.answer(questions))


def texts(backend, questions):
    return {id_: reply.text for id_, reply in backend.answer(questions)}


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    """Seven items of one, two or three images, of different sizes and colours."""
    folder = tmp_path_factory.mktemp("images")
    items = []
    for number, images in enumerate((1, 2, 1, 3, 1, 1, 2)):
        media = []
        for page in range(images):
            path = folder / f"{number}_{page}.png"
            colour = (37 * number % 256, 80 * page, 255 - 30 * number)
            image = Image.new("RGB", (60 + 20 * number, 90), colour)
            image.paste((255, 255, 255), (0, 0, 10 + 5 * page, 40))
            image.save(path)
            media.append(path)
        items.append(Question(f"item-{number}", media))
    return items


def naive_rows(folder, questions, new_tokens):
    """New tokens of one item after the other, by transformers alone."""
    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    rows = {}
    for question in questions:
        images = [Image.open(path).convert("RGB") for path in question.media]
        inputs = processor(
            images=images,
            text="user: " + "<image>" * len(images) + PROMPT + "\nassistant: ",
            return_tensors="pt",
        )
        output = model.generate(**inputs, max_new_tokens=new_tokens, do_sample=False)
        rows[question.id] = output[0, inputs["input_ids"].shape[1] :].tolist()
    return rows, processor.tokenizer


def with_ends(folder, to, ends):
    """A copy of a model whose answers end at other tokens."""
    shutil.copytree(folder, to)
    path = to / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"eos_token_id": ends}))
    return to


def on_images(backend, call):
    """Let a function see what images the model is given."""
    backend._model._loaded().model.vision_tower.register_forward_pre_hook(
        lambda _module, args, kwargs: call(args[0] if args else kwargs["pixel_values"]),
        with_kwargs=True,
    )


def test_answers_are_those_of_a_plain_loop_for_any_batch_size(tiny_model, questions):
    rows, tokenizer = naive_rows(tiny_model, questions, GREEDY.max_new_tokens)
    expected = {i: tokenizer.decode(row, skip_special_tokens=True) for i, row in rows.items()}
    assert len(set(expected.values())) == 7  # the images matter
    for batch_size in (1, 2, 4, 10):
        assert texts(make_backend(tiny_model, batch_size=batch_size), questions) == expected


def test_an_answer_ends_where_its_own_row_ends(tiny_model, questions, tmp_path):
    rows, tokenizer = naive_rows(tiny_model, questions[:4], GREEDY.max_new_tokens)
    counts = Counter(token for row in rows.values() for token in set(row))
    # A token that one row has in its middle and the others do not have.
    id_, end = next(
        (id_, token)
        for id_, row in rows.items()
        for token in row[5:15]
        if counts[token] == 1 and row.index(token) >= 5
    )
    model = with_ends(tiny_model, tmp_path / "model", [tokenizer.eos_token_id, end])
    replies = answers(make_backend(model, batch_size=4), questions[:4])
    place = rows[id_].index(end)
    assert replies[id_].finish_reason == "stop"
    assert replies[id_].text == tokenizer.decode(rows[id_][:place])
    assert replies[id_].tokens["output"] == place + 1  # with the one that ends it
    for other in rows.keys() - {id_}:
        assert replies[other].finish_reason == "length"
        assert replies[other].tokens["output"] == GREEDY.max_new_tokens


def test_padding_is_not_counted_as_input(tiny_model, questions):
    alone = answers(make_backend(tiny_model), questions)
    together = answers(make_backend(tiny_model, batch_size=7), questions)
    assert [r.tokens for r in together.values()] == [r.tokens for r in alone.values()]
    one, two = (alone[f"item-{number}"].tokens["input"] for number in (0, 1))
    assert two - one == 16  # an image of 56 pixels in patches of 14


def test_all_images_of_an_item_reach_the_model_in_their_order(tiny_model, questions):
    backend = make_backend(tiny_model, batch_size=2)
    seen = []
    on_images(backend, seen.append)
    answers(backend, [questions[3], questions[1]])
    processor = AutoProcessor.from_pretrained(tiny_model)
    images = load_images([*questions[3].media, *questions[1].media], ImageLimits())
    expected = processor.image_processor(images, return_tensors="pt")["pixel_values"]
    assert seen[0].shape[0] == 5
    assert torch.equal(seen[0], expected)
    turned = Question("turned", questions[3].media[::-1])
    assert texts(backend, [turned]) != texts(backend, [questions[3]._replace(id="turned")])


def test_a_broken_image_is_the_failure_of_its_item_only(tiny_model, questions, tmp_path):
    (tmp_path / "broken.png").write_bytes(questions[0].media[0].read_bytes()[:60])
    broken = Question("broken", [questions[1].media[0], tmp_path / "broken.png"])
    asked = [*questions[:2], broken, Question("none", [tmp_path / "no.png"]), *questions[2:]]
    replies = answers(make_backend(tiny_model, batch_size=4), asked)
    assert len(replies) == 9
    assert replies["broken"].text is None
    assert "broken.png: cannot be read" in replies["broken"].error
    assert "no.png" in replies["none"].error
    whole = texts(make_backend(tiny_model, batch_size=4), questions)
    assert {i: r.text for i, r in replies.items() if not r.error} == whole


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError(
            "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 9 bytes"
        ),
        RuntimeError("MPS backend out of memory (MPS allocated: 18.00 GB)"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_memory_that_does_not_suffice_ends_the_run_after_what_was_answered(
    tiny_model, questions, error
):
    backend = make_backend(tiny_model)

    def with_room_for_two_images(pixel_values):
        if len(pixel_values) > 2:
            raise error

    on_images(backend, with_room_for_two_images)
    replies = backend.answer(questions)
    assert [next(replies)[0] for _ in range(3)] == ["item-0", "item-1", "item-2"]
    with pytest.raises(HdbenchError) as stopped:
        next(replies)  # with three images
    assert "\n" not in str(stopped.value)
    for what_would_do in ("batch_size=1", "max_side=N", "quantised", "are kept"):
        assert what_would_do in str(stopped.value)


def test_a_run_without_memory_goes_on_with_a_smaller_batch(tiny_model, questions, tmp_path):
    def run(backend):
        of = {"benchmark": "hdb/cards", "model": "tiny", "items": None}
        settings = of | {"settings": backend.settings()}
        return run_model(backend, questions, tmp_path / "run", settings)

    def with_room_for_three_images(pixel_values):
        if len(pixel_values) > 3:
            raise MemoryError

    large, small = (make_backend(tiny_model, batch_size=size) for size in (2, 1))
    for backend in (large, small):
        on_images(backend, with_room_for_three_images)
    with pytest.raises(HdbenchError, match="memory does not suffice"):
        run(large)  # one and two images; one and three
    answered = list(read_answers(tmp_path / "run/answers.jsonl"))
    assert [answer["id"] for answer in answered] == ["item-0", "item-1"]
    outcome = run(small)
    assert (outcome.answered, outcome.failed) == (7, 0)
    sittings = json.loads((tmp_path / "run/run.json").read_text())["sittings"]
    assert [sitting["hardware"]["batch_size"] for sitting in sittings] == [2, 1]


def test_an_item_too_long_for_the_model_is_a_failure(tiny_model, questions, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "short")
    config = tmp_path / "short/config.json"
    value = json.loads(config.read_text())
    alone = answers(make_backend(tiny_model), questions)
    value["text_config"]["max_position_embeddings"] = alone["item-3"].tokens["input"]
    config.write_text(json.dumps(value))
    replies = answers(make_backend(tmp_path / "short", batch_size=4), questions)
    assert [i for i, r in replies.items() if r.error] == ["item-3"]
    assert "show smaller images or fewer pages" in replies["item-3"].error


def test_sampling_is_repeated_by_its_seed(tiny_model, questions):
    decoding = Decoding(max_new_tokens=16, temperature=0.8, top_p=0.95, seed=1)
    first = texts(make_backend(tiny_model, decoding), questions)
    assert texts(make_backend(tiny_model, decoding), questions[::-1]) == first
    other = dataclasses.replace(decoding, seed=2)
    assert texts(make_backend(tiny_model, other), questions) != first
    almost_greedy = dataclasses.replace(decoding, temperature=1e-4)
    greedy = texts(make_backend(tiny_model, Decoding(max_new_tokens=16)), questions)
    assert texts(make_backend(tiny_model, almost_greedy), questions) == greedy


def test_what_happens_is_said_while_it_happens(tiny_model, questions):
    heard = []

    class Hearing(Observer):
        def loading(self):
            heard.append("loading")

        def writing(self, tokens):
            heard.append(tokens)

    backend = make_backend(tiny_model, Decoding(max_new_tokens=3), batch_size=2)
    replies = dict(backend.answer(questions[:3], observer=Hearing()))
    assert [reply.tokens["output"] for reply in replies.values()] == [3, 3, 3]
    assert heard == ["loading", 0, 1, 2, 0, 1, 2]


def test_a_penalty_of_the_models_own_is_not_applied(tiny_model, questions, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "model")
    path = tmp_path / "model/generation_config.json"
    own = {"repetition_penalty": 5.0, "do_sample": True, "top_k": 3, "max_length": 30}
    path.write_text(json.dumps(json.loads(path.read_text()) | own))
    expected = texts(make_backend(tiny_model), questions)
    assert texts(make_backend(tmp_path / "model"), questions) == expected


def test_weights_in_a_format_that_can_run_code_are_refused(tiny_model, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "old")
    (tmp_path / "old/model.safetensors").unlink()
    torch.save({}, tmp_path / "old/pytorch_model.bin")
    with pytest.raises(HdbenchError, match=r"has no \*\.safetensors"):
        make_backend(tmp_path / "old")


def test_code_of_a_model_is_not_run(tiny_model, tmp_path):
    folder = tmp_path / "own"
    shutil.copytree(tiny_model, folder)
    sentinel = tmp_path / "was-run"
    (folder / "own.py").write_text(
        f"open({str(sentinel)!r}, 'w').close()\n"
        "from transformers import LlavaConfig, LlavaProcessor\n"
        "class OwnConfig(LlavaConfig):\n    model_type = 'own'\n"
        "class OwnProcessor(LlavaProcessor):\n    pass\n"
    )
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(HdbenchError, match="code of its own, which is not run"):
        make_backend(folder)
    assert not sentinel.exists()
    config = json.loads((tiny_model / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config))
    path = folder / "processor_config.json"
    own = {"processor_class": "OwnProcessor", "auto_map": {"AutoProcessor": "own.OwnProcessor"}}
    path.write_text(json.dumps(json.loads(path.read_text()) | own))
    with pytest.raises(HdbenchError, match="code of its own, which is not run"):
        make_backend(folder)
    assert not sentinel.exists()


def test_model_folder_is_recorded_by_name_and_hash_of_its_files(tiny_model, tmp_path):
    first = make_backend(tiny_model).settings()
    shutil.copytree(tiny_model, tmp_path / "elsewhere/llava")
    moved = tmp_path / "elsewhere/llava"
    (moved / "README.md").write_text("# not loaded")
    assert make_backend(moved).settings() == first
    assert str(tiny_model.parent) not in json.dumps(first)
    weights = moved / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert make_backend(moved).settings()["sha256"] != first["sha256"]


def test_questions_are_read_ahead_only_within_bounds(tiny_model, questions, monkeypatch):
    monkeypatch.setattr(transformers_backend, "READERS", 2)  # or more cores have more in memory
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield questions[0]._replace(id=str(taken))

    short = Decoding(max_new_tokens=1)
    backend = make_backend(tiny_model, short, batch_size=2)
    replies = backend.answer(endless())
    for answered in range(1, 33):
        next(replies)
        assert taken <= answered + 2 + 1 + 2 * 2  # being read, asked for, in two batches
    replies.close()


def test_hub_branch_is_recorded_as_commit_without_messages(tiny_model, questions, tmp_path):
    # A cache as the Hub's client keeps it, so that no network is needed.
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "hub/models--tiny--llava"
    shutil.copytree(tiny_model, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(commit)
    code = (
        "import json, pathlib\n"
        "from hdbench.models.backend import Asked, Decoding, Question\n"
        "from hdbench.models.transformers_backend import TransformersBackend\n"
        "decoding = Decoding(max_new_tokens=2, temperature=1.0)\n"
        "of = Asked('tiny/llava', batch_size=2, decoding=decoding)\n"
        "backend = TransformersBackend(of, 'Read.', None)\n"
        f"asked = [Question('a', [pathlib.Path({str(questions[0].media[0])!r})])]\n"
        "[(_, reply)] = backend.answer(asked)\n"
        "print(json.dumps([backend.settings(), reply.error]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    settings, error = json.loads(done.stdout)
    assert error is None
    assert (settings["model"], settings["revision"]) == ("tiny/llava", commit)
    assert settings["sha256"] is None
