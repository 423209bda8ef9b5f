"""Benchmarks whose items are texts, and prompts with values of the item: asked, scored, shown."""

import json

import pytest
from helpers.backends import made
from helpers.results import flat_of
from models.faulty_server import FaultyServer, Response, completion
from PIL import Image
from typer.testing import CliRunner

from hdbench.cli.app import app
from hdbench.models.backend import Decoding, Question

PROMPT = 'Mend this {kind}; answer as {"title": {text}, "id": {id}}.\n'
TEXTS = {f"000{number}": f"<b>title {{kind}} {number}\n" for number in range(4)}


@pytest.fixture
def lines(cards, monkeypatch):
    """A benchmark of four texts, whose prompt names a column."""
    folder = cards / "hdb/cards"
    spec = json.loads((folder / "benchmark.yaml").read_text())
    spec |= {"media": "text", "columns": {"kind": "string"}, "prompt_columns": ["kind"]}
    (folder / "benchmark.yaml").write_text(json.dumps(spec))
    truth = json.dumps({"title": "Stellingen", "year": 1924})
    rows = [
        {"id": item, "text": text, "ground_truth": truth, "kind": f"kind {item}"}
        for item, text in TEXTS.items()
    ]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "prompt.txt").write_text(PROMPT)
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    (folder / "answer.schema.json").write_text(json.dumps(schema))
    monkeypatch.chdir(cards)
    return folder


@pytest.fixture
def hdbench(lines):
    """The command line in the folder of that benchmark, in this process."""
    assert lines.is_dir()
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))


def asked(item):
    """What a model has to get for an item; its text is not filled in."""
    prompt = PROMPT.replace("{kind}", f"kind {item}").rstrip()
    return f"{prompt}\n\n{TEXTS[item]}"


def test_a_model_is_sent_the_schema_without_titles(lines, hdbench):
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    titled = {"titles": {"en": "Title", "de": "Titel"}, **schema["properties"]["title"]}
    (lines / "answer.schema.json").write_text(
        json.dumps(schema | {"properties": {"title": titled}})
    )
    answer = Response(completion('{"title": "Stellingen"}'))
    with FaultyServer(lambda _: answer) as server:
        done = hdbench("run", "hdb/cards", "--model", "m", "--endpoint", server.url, "-o", "runs/m")
    assert done.exit_code == 0, done.output
    for request in server.requests:
        assert request.body["response_format"]["json_schema"]["schema"] == schema
        assert "Titel" not in json.dumps(request.body)


def test_a_run_asks_each_text_after_its_prompt_and_no_image(cards, hdbench):
    answer = Response(completion('{"title": "Stellingen"}'))
    with FaultyServer(lambda _: answer) as server:
        command = ("run", "hdb/cards", "--model", "m", "--endpoint", server.url, "-o", "runs/m")
        planned = hdbench(*command, "--dry-run")
        done = hdbench(*command)
    assert planned.stdout.splitlines()[0] == "items: 4 of 4 to ask"
    assert done.exit_code == 0, done.output
    assert sorted(request.text for request in server.requests) == [asked(item) for item in TEXTS]
    assert [request.images for request in server.requests] == [[]] * 4
    done = hdbench("score", "hdb/cards", "runs/m", "--json", "result.json")
    assert done.exit_code == 0, done.output
    result = flat_of(cards / "result.json")
    assert result["recall_micro"] == 4 / 8
    done = hdbench("report", "runs/m", "-o", "report")
    assert done.exit_code == 0, done.output
    page = (cards / "report/index.html").read_text()
    assert page.count("The text that the model was given") == 4
    assert "&lt;b&gt;title {kind} 3" in page
    assert "no picture of this item" not in page


def test_own_images_are_not_asked_with_the_prompt_of_texts(cards, hdbench):
    (cards / "mine").mkdir()
    Image.new("RGB", (9, 9)).save(cards / "mine/a.png")
    command = ("run", "hdb/cards", "--images", "mine", "--model", "m")
    done = hdbench(*command, "--endpoint", "http://127.0.0.1:9/v1")
    assert done.exit_code != 0
    assert "--images: hdb/cards is asked with texts, not with images" in str(done.exception)


@pytest.mark.nightly
def test_a_local_model_gets_texts_and_filled_in_prompts(tiny_model, tmp_path):
    from hdbench.models.transformers_backend import TransformersBackend  # noqa: PLC0415

    Image.new("RGB", (60, 90), "red").save(tmp_path / "a.png")
    backend = made(
        *(TransformersBackend, tiny_model, PROMPT),
        decoding=Decoding(max_new_tokens=4),
        batch_size=3,
    )
    encode, given = backend._model.encode, []

    def seen(items, prompts, schema):
        given.extend(zip(map(len, items), prompts, strict=True))
        return encode(items, prompts, schema)

    backend._model.encode = seen
    questions = [
        *(Question(item, [], text, {"kind": f"kind {item}"}) for item, text in TEXTS.items()),
        Question("image", [tmp_path / "a.png"], values={"kind": "page"}),
        Question("none", []),
    ]
    replies = dict(backend.answer(questions))
    assert sorted(given) == [
        *sorted((0, asked(item)) for item in TEXTS),
        (1, PROMPT.replace("{kind}", "page")),
    ]
    errors = {item: reply.error for item, reply in replies.items()}
    assert errors == dict.fromkeys([*TEXTS, "image"]) | {"none": "the item has no image"}
    assert replies["0000"].tokens["output"] > 0
