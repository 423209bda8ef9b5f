"""Raw text of models, as people have it."""

import json

import pytest

from hdbench.answers import read_text

RECORD = {"author": {"last_name": "Müller"}, "publication": {"title": "{sic} [1]", "year": 1957}}
JSON = json.dumps(RECORD, ensure_ascii=False)


TEXTS = {
    "plain": JSON,
    "indented": json.dumps(RECORD, indent=2),
    "blank around": f"  \n{JSON}\n\n",
    "fence": f"```json\n{JSON}\n```",
    "bare fence": f"```\n{JSON}\n```",
    "prose and fence": f"Here is the record of the card:\n```json\n{JSON}\n```\nAnything else?",
    "prose": f"The record: {JSON}",
    "trailing comma": JSON.replace("}}", ",}}"),
    "single quotes": JSON.replace('"', "'"),
    "cut off": JSON[:-2],
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_record_is_found(text):
    assert read_text(text) == RECORD


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_blank_text_is_no_answer(text):
    assert read_text(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I cannot read this card.",
        "The card is torn {",
        "{}{",
        '{"a": ' * 200,
        "{" * 100_000,
    ],
    ids=["prose", "a brace", "empty", "deep", "very deep"],
)
def test_text_without_a_record_stays_text(text):
    assert read_text(text) == text


@pytest.mark.parametrize("text", ["[1, 2]", "17", "null", "true"])
def test_json_that_is_no_record_is_read_as_it_is(text):
    assert read_text(text) == json.loads(text)
