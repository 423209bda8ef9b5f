"""One entry: which key means what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.answers.entries import MAX_DOTS, EntryReader, about, nested
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError

TEXT = {"type": "string"}
CARD = AnswerSchema(
    {
        "type": "object",
        "properties": {"title": TEXT, "publication": {"type": "object", "properties": {}}},
    }
)
PAGE = AnswerSchema(
    {
        "type": "object",
        "required": ["advertisements"],
        "properties": {
            "advertisements": {
                "type": "array",
                "items": {"type": "object", "properties": {"date": TEXT, "text": TEXT}},
            }
        },
    }
)
cards, anything, pages = EntryReader(CARD), EntryReader(None), EntryReader(PAGE)


@pytest.mark.parametrize(
    ("entry", "fields"),
    [
        ({"prediction": {"title": "A"}}, {"prediction": {"title": "A"}}),
        ({"prediction": None}, {"prediction": None}),
        ({"text": "{}"}, {"text": "{}"}),
        ({"text": ""}, {"text": ""}),
        ({"prediction": [1], "text": "[1]"}, {"prediction": [1], "text": "[1]"}),
        ({"text": "beside it", "title": "A"}, {"prediction": {"title": "A"}}),
        ({"title": "A", "model": "m", "note": 1}, {"prediction": {"title": "A", "note": 1}}),
        ({"publication.year": 1924}, {"prediction": {"publication": {"year": 1924}}}),
        ({"error": "timeout"}, {"error": "timeout", "prediction": None}),
        ({"markdown": None}, {"prediction": None}),
        ({"error": {"code": 429}, "text": None}, {"error": '{"code": 429}', "prediction": None}),
        ({"text": "{}", "error": ""}, {"text": "{}"}),
    ],
)
def test_the_answer_is_found_in_each_form(entry, fields):
    assert cards.entry({"id": "1", **entry}, "a:1") == fields


def test_an_answer_of_our_own_is_read_back():
    entry = {
        "id": "0001",
        "text": "I cannot.",
        "prediction": None,
        "status": "unanswered",
        "tokens": {"input": 1196, "output": 3},
        "seconds": 0.5,
        "error": None,
    }
    kept = {key: entry[key] for key in ("text", "prediction", "tokens", "seconds")}
    assert cards.entry(entry, "a:1") == kept


def test_without_a_schema_only_a_prediction_or_text_is_an_answer():
    # Else a misspelt key would be scored as a record of the one field `predictions`.
    with pytest.raises(HdbenchError, match=r"it has: id, predictions$"):
        anything.entry({"id": "1", "predictions": {"title": "A"}}, "a:1")


def test_the_bare_list_of_a_page_may_stand_under_its_id():
    ads = [{"date": "1731-01-02", "text": "Ein Stock Heu"}]
    assert pages.answer(ads, "1", "1.json") == {"prediction": ads}
    with pytest.raises(HdbenchError, match="an object in braces"):
        pages.answer([1], "1", "1.json")


def test_text_is_a_field_when_beside_other_benchmark_fields():
    advertisement = {"date": "1731-01-02", "text": "Ein Stock Heu"}
    assert pages.entry({"id": "1", **advertisement}, "a:1") == {"prediction": advertisement}
    assert pages.answer(advertisement, "1", "1.json") == {"prediction": advertisement}
    assert pages.entry({"id": "1", "text": "{}"}, "a:1") == {"text": "{}"}
    assert pages.answer({"text": "{}", "model": "m"}, "1", "1.json") == {"text": "{}"}


def test_id_of_an_item_is_no_field_beside_a_text_even_if_objects_in_a_list_have_one():
    inner = {"type": "array", "items": {"type": "object", "properties": {"id": TEXT}}}
    reader = EntryReader(AnswerSchema({"required": ["e"], "properties": {"e": inner}}))
    assert reader.said({"id": "1", "text": "{}"}) == {"text": "{}"}
    assert reader.entry({"id": "1", "text": "{}"}, "a:1") == {"text": "{}"}


@pytest.mark.parametrize(
    ("entry", "item_id"),
    [({"id": "0001"}, "0001"), ({"id": 17}, "17"), ({"sha256": "ab", "doi": "10"}, "ab")],
)
def test_ids_are_texts_or_whole_numbers(entry, item_id):
    assert anything.id(entry, "a:1") == item_id


def test_without_an_id_the_keys_are_named():
    with pytest.raises(HdbenchError, match=r'a:1: needs an "id" that is a text .* has: ID, title$'):
        anything.id({"ID": "1", "title": "A"}, "a:1")


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        (None, {"prediction": None}),
        ("```{}```", {"text": "```{}```"}),
        ({"title": "A"}, {"prediction": {"title": "A"}}),
        ({"result": {"title": "A"}}, {"prediction": {"result": {"title": "A"}}}),
        ({"id": "7", "title": "A"}, {"prediction": {"title": "A"}}),
        ({"id": 7, "prediction": 1}, {"prediction": 1}),
        ({"text": "{}", "seconds": 1}, {"text": "{}", "seconds": 1}),
        (
            {"title": "A", "text": "a whole card"},
            {"prediction": {"title": "A", "text": "a whole card"}},
        ),
        ({"error": "timeout"}, {"prediction": None, "error": "timeout"}),
        ({}, {"prediction": {}}),
    ],
)
def test_what_stands_under_an_id(value, fields):
    assert cards.answer(value, "7", "7.json") == fields


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([{}], "7.json: an answer must be an object in braces, a text in quotes or null"),
        (True, "7.json: an answer must be an object"),
        ({"id": "8", "text": ""}, "7.json: it says \"id\": '8', but stands under '7'"),
    ],
)
def test_what_cannot_stand_under_an_id(value, message):
    with pytest.raises(HdbenchError, match=message):
        cards.answer(value, "7", "7.json")


@pytest.mark.parametrize(
    ("entry", "fields"),
    [
        (
            {"usage": {"input_tokens": 9, "output_tokens": 2, "total": 11}},
            {"input": 9, "output": 2},
        ),
        ({"tokens": {"input": 9}, "usage": {"input_tokens": 8}}, {"input": 9}),
        ({"tokens_input": 9, "output_tokens": 2}, {"input": 9, "output": 2}),
    ],
)
def test_tokens_are_read_in_each_form(entry, fields):
    assert about(entry) == {"tokens": fields}


@pytest.mark.parametrize(
    "entry",
    [
        {"tokens": 12},
        {"tokens": {"input": "9", "output": -1}},
        {"usage": {"input_tokens": True, "output_tokens": 10**400}},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"duration": -1},
        {"duration": "2 s"},
        {"seconds": 10**400},
        {"error": None},
    ],
)
def test_unusable_particulars_are_left_out(entry):
    assert about(entry) == {}


def test_a_dotted_name_stays_where_it_is_no_path():
    names = frozenset({"publication", "dc.title"})
    for record in (
        {"dc.title": "A"},
        {"other.field": 1},
        {"publication.": 1, "publication..year": 2},
        {"publication": "Leiden 1924", "publication.year": 1924},
        {"publication" + ".a" * (MAX_DOTS + 1): 1},
    ):
        assert nested(record, names) == record


def test_a_value_in_the_way_of_a_path_is_kept():
    assert nested({"a.b": 1, "a.b.c": 2}, frozenset()) == {"a": {"b": 1}, "a.b.c": 2}
    assert nested({"a.b.c": 2, "a.b": 1}, frozenset()) == {"a": {"b": 1}, "a.b.c": 2}
    assert nested({"a.b": {"x": 1}, "a.b.c": 2}, frozenset()) == {"a": {"b": {"x": 1}}, "a.b.c": 2}


names = st.text("abc", min_size=1, max_size=2)
records = st.recursive(
    st.dictionaries(names, st.integers(), min_size=1, max_size=3),
    lambda inner: st.dictionaries(names, st.integers() | inner, min_size=1, max_size=3),
    max_leaves=8,
)


def flat(record, before=""):
    for key, value in record.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


@given(records)
def test_a_flattened_record_becomes_what_it_was(record):
    assert nested(dict(flat(record)), frozenset()) == record


@given(st.dictionaries(st.text("ab.", max_size=8), st.integers()))
def test_no_value_is_lost_whatever_the_names_are(record):
    assert sorted(value for _, value in flat(nested(record, frozenset()))) == sorted(
        record.values()
    )


@pytest.mark.parametrize("answer", [{"text": " "}, {"text": None}, {}, {"prediction": None}])
def test_reasoning_alone_is_no_answer(answer):
    entry = {"id": "1", "reasoning_content": '{"title": "A"}', **answer}
    reader = EntryReader(AnswerSchema({"properties": {"title": {}}}))
    fields = reader.entry(entry, "a.jsonl:1")
    assert fields["error"] == "reasoning only"
    assert "A" not in str(fields.get("text"))
    assert "error" not in reader.entry({**entry, "text": "{}"}, "a.jsonl:1")
