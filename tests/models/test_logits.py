import json
from pathlib import Path

import jsonschema
import pytest
import torch
from helpers.backends import made
from PIL import Image
from transformers import AutoTokenizer

from hdbench.errors import HdbenchError
from hdbench.models.backend import Decoding, Question
from hdbench.models.local_model import SchemaGrammar
from hdbench.models.transformers_backend import TransformersBackend

pytestmark = pytest.mark.nightly

SCHEMAS = sorted(Path(__file__).parents[2].glob("dataset_scripts/*/answer.schema.json"))
CARD = next(path for path in SCHEMAS if path.parent.name == "zettelkatalog")
ITEMS = 6
CHOICE = {"enum": ["yes", "no"]}


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for number in range(ITEMS):
        Image.new("RGB", (60, 60), (30 * number, 99, 0)).save(folder / f"{number}.png")
    paths = [folder / f"{number}.png" for number in range(ITEMS)]
    return [Question(str(n), [paths[n]] * (1 + n % 2)) for n in range(ITEMS)]


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return AutoTokenizer.from_pretrained(tiny_model)


def ask(folder, questions, schema, decoding, batch_size):
    backend = made(
        *(TransformersBackend, folder, "Answer:"),
        decoding=decoding,
        schema=schema,
        batch_size=batch_size,
    )
    return dict(backend.answer(questions))


def fits(text, schema):
    try:
        jsonschema.validate(json.loads(text), schema)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def test_every_answer_that_ended_fits_the_schema(tiny_model, questions):
    schema = json.loads(CARD.read_text())
    constrained = Decoding(max_new_tokens=1200, temperature=1.0, schema=True)
    replies = ask(tiny_model, questions, schema, constrained, ITEMS)
    ended = [reply for reply in replies.values() if reply.finish_reason == "stop"]
    assert len(ended) > 1
    assert all(fits(reply.text, schema) for reply in ended)
    assert all(reply.constrained for reply in replies.values())
    assert len({reply.tokens["output"] for reply in ended}) > 1  # the rows ended apart
    free = ask(tiny_model, questions, schema, Decoding(100, temperature=1.0), ITEMS)
    assert not any(fits(reply.text, schema) for reply in free.values())
    assert not any(reply.constrained for reply in free.values())


def test_a_batch_holds_each_row_as_if_it_were_alone(tiny_model, questions):
    schema = {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 9},
        "maxItems": 5,
    }
    decoding = Decoding(max_new_tokens=60, schema=True)
    together = ask(tiny_model, questions, schema, decoding, 4)
    alone = ask(tiny_model, questions, schema, decoding, 1)
    assert {i: r.text for i, r in together.items()} == {i: r.text for i, r in alone.items()}


def test_greedy_answers_are_held_to_it_too(tiny_model, questions):
    decoding = Decoding(max_new_tokens=9, schema=True)
    replies = ask(tiny_model, questions, CHOICE, decoding, 3)
    assert {reply.text for reply in replies.values()} <= {'"yes"', '"no"'}
    assert all(reply.finish_reason == "stop" for reply in replies.values())


class Rows:
    """Rows of tokens that grow, as they do while a batch is generated."""

    more_room = 7  # a model can have room for more tokens than there are

    def __init__(self, tokenizer, schema, *prompts, ends=()):
        self.tokenizer = tokenizer
        grammar = SchemaGrammar(schema, tokenizer, [tokenizer.eos_token_id, *ends])
        self.processor = grammar.processor(len(prompts))
        self.rows = torch.tensor([tokenizer.encode(prompt) for prompt in prompts])

    def allowed(self):
        """Of each row, the texts of the tokens that may follow; None where all may."""
        room = len(self.tokenizer) + self.more_room
        scores = self.processor(self.rows, torch.zeros(len(self.rows), room))
        return [
            None if row.isfinite().all() else set(map(self.decode, row.isfinite().nonzero()))
            for row in scores
        ]

    def decode(self, token):
        return self.tokenizer.decode(token) if token < len(self.tokenizer) else "no token"

    def add(self, *texts):
        new = [self.tokenizer.convert_tokens_to_ids(text) for text in texts]
        self.rows = torch.cat([self.rows, torch.tensor(new)[:, None]], dim=1)
        return self.allowed()


def test_only_a_complete_answer_may_end_and_nothing_follows(tokenizer):
    rows = Rows(tokenizer, {"type": "integer", "minimum": 7, "maximum": 19}, "ab", "cd")
    assert rows.allowed() == [set("1789"), set("1789")]
    assert rows.add("9", "1") == [{"</s>"}, set("0123456789")]
    assert rows.add("</s>", "5") == [{"</s>"}, {"</s>"}]
    assert rows.add("<pad>", "</s>") == [{"</s>"}, {"</s>"}]
    assert rows.processor.failures == [None, None]


def test_an_end_that_the_model_has_no_room_for_is_left_out(tokenizer):
    rows = Rows(tokenizer, {"const": 7}, "ab", ends=[len(tokenizer) - 1])
    rows.more_room = -1
    assert rows.allowed() == [{"7"}]
    assert rows.add("7") == [{"</s>"}]
    assert rows.add("</s>") == [{"</s>"}]


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.parent.name)
def test_each_benchmarks_schema_can_be_held_to(path, tokenizer):
    rows = Rows(tokenizer, json.loads(path.read_text()), "ab")
    [first] = rows.allowed()
    assert first <= {"{", '{"', "["}


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "127.0.0.1"),
        ({"type": "strin"}, "strin"),
    ],
)
def test_unsupported_schema_is_refused_with_its_reason(schema, keyword, tokenizer):
    with pytest.raises(HdbenchError, match=f"answer.schema.json: .*{keyword}"):
        SchemaGrammar(schema, tokenizer, [tokenizer.eos_token_id])


def test_a_row_that_cannot_be_held_any_further_ends_and_says_so(tokenizer):
    rows = Rows(tokenizer, CHOICE, "ab", "cd")
    rows.allowed()
    assert rows.add("{", '"') == [{"</s>"}, {"n", "y"}]
    assert rows.add("</s>", "n") == [{"</s>"}, {"o"}]
    assert rows.processor.failures[0]
    assert rows.processor.failures[1] is None
