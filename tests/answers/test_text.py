"""Texts as models write them, and what reading makes of them."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hdbench.answers.blocks import MAX_BLOCKS, MAX_DAMAGED
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.text import MAX_VALUES, kind_of_object, read_text, read_value
from hdbench.common.jsonio import is_too_deep

CARD = AnswerSchema(
    {
        "type": "object",
        "required": ["author", "publication"],
        "additionalProperties": False,
        "properties": {
            "author": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "last_name": {"type": "string"},
                    "first_name": {"type": "string"},
                },
            },
            "publication": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "year": {"type": "integer"}},
            },
        },
    }
)
RECORD = {
    "author": {"last_name": "Müller", "first_name": "Maurice"},
    "publication": {"title": "Die {sic} [1] Welt", "year": 1957},
}
DRAFT = {"author": {"last_name": "Miller"}, "publication": {"title": "Welt"}}
JSON = json.dumps(RECORD, ensure_ascii=False)
LINES = json.dumps(RECORD, ensure_ascii=False, indent=2)
DRAFT_JSON = json.dumps(DRAFT)
WITHOUT_YEAR = {"author": RECORD["author"], "publication": {"title": "Die {sic} [1] Welt"}}

CLEAN = {"plain": JSON, "indented": LINES, "blank around": f" \n{JSON}\r\n", "BOM": f"\ufeff{JSON}"}

UNWRAPPED = {
    "fence": f"```json\n{JSON}\n```",
    "bare fence": f"```\n{LINES}\n```",
    "prose and fence": f"Here is the record of the card:\n```json\n{JSON}\n```\nAnything else?",
    "prose": f"The record: {JSON} I hope this helps.",
    "braces in prose": f"The card {{sic}} {{has}} braces: {JSON}",
    "thoughts": f"<think>Is it {JSON.replace('Müller', 'Miller')}? No.</think>\n{JSON}",
    "thinking": f"<thinking>{DRAFT_JSON}</thinking>{JSON}",
    "thoughts without opening tag": f"So: {DRAFT_JSON}</think>\n{JSON}",
    "thoughts without closing tag": f"{JSON}\n<think>Or is it {JSON.replace('1957', '1958')}?",
    "two rounds of thoughts": f"<think>a</think><think>{DRAFT_JSON}</think>{JSON}",
    "list of one": f"[{JSON}]",
    "list of one in a fence": f"```json\n[{JSON}]\n```",
    "text in JSON": json.dumps(JSON),
    "text in text in JSON": json.dumps(json.dumps(JSON)),
    "fence in JSON": json.dumps(f"```json\n{JSON}\n```"),
}

WRAPPED = {
    "wrapper": {"answer": RECORD},
    "wrapper with a schema": {"$schema": "https://json-schema.org/", "document": RECORD},
    "wrapper in wrapper": {"response": {"data": {"record": RECORD}}},
    "list in wrapper": {"cards": [RECORD]},
    "the last of two lists": {"cards": [DRAFT, RECORD]},
    "text in wrapper": {"answer": JSON},
    "fence in wrapper": {"response": f"```json\n{JSON}\n```"},
    "echoed schema": {
        "type": "object",
        "properties": {"author": {"type": "object"}, "publication": {"type": "object"}},
        "example": RECORD,
    },
}

REPAIRED = {
    "trailing commas": JSON.replace("}}", ",},}"),
    "missing comma": LINES.replace('"Müller",', '"Müller"'),
    "single quotes": JSON.replace('"', "'"),
    "Python": str(RECORD),
    "comment": LINES.replace('"author"', '// the author\n"author"', 1),
    "broken fence": f"```json\n{JSON.replace('}}', ',}}')}\n```",
    "percent-encoded key": JSON.replace("last_name", "last%5Fname"),
    "extra quotation mark": LINES.replace("1957", '1957"'),
}


@pytest.mark.parametrize("schema", [CARD, None], ids=["schema", "no schema"])
@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN)
def test_sound_json_is_clean(text, schema):
    assert read_text(text, schema)[:2] == (RECORD, "clean")


@pytest.mark.parametrize("schema", [CARD, None], ids=["schema", "no schema"])
@pytest.mark.parametrize("text", UNWRAPPED.values(), ids=UNWRAPPED)
def test_a_record_in_something_else_is_unwrapped(text, schema):
    assert read_text(text, schema)[:2] == (RECORD, "unwrapped")


@pytest.mark.parametrize("value", WRAPPED.values(), ids=WRAPPED)
def test_a_wrapper_is_taken_off_where_the_schema_shows_it(value):
    assert read_value(value, CARD)[:2] == (RECORD, "unwrapped")
    assert read_text(json.dumps(value), CARD)[:2] == (RECORD, "unwrapped")
    assert read_value(value)[:2] == (value, "clean")


TEXT = {"type": "string"}
PAGES = AnswerSchema(
    {
        "type": "object",
        "required": ["advertisements"],
        "properties": {
            "advertisements": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["date", "text"],
                    "properties": {"date": TEXT, "text": TEXT},
                },
            }
        },
    }
)
ADS = [{"date": "1731-01-02", "text": "Ein {Stück} [Heu]"}, {"date": "", "text": "Verloren"}]
BARE = json.dumps(ADS)
LISTS = {
    "list": BARE,
    "list in a fence": f"```json\n{BARE}\n```",
    "list among prose": f"The [two] ads {{sic}}: {BARE} Done [1].",
    "list in a wrapper": json.dumps({"answer": {"ads": ADS}}),
    "list in a text": json.dumps(BARE),
    "list of a wrapped page": json.dumps([{"advertisements": ADS}]),
    "wrapped page in a list among prose": f"Here: [{json.dumps({'advertisements': ADS})}].",
}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_a_bare_list_is_the_record_whose_one_field_it_is(text):
    assert read_text(text, PAGES)[:2] == ({"advertisements": ADS}, "unwrapped")


def test_damaged_or_truncated_list_keeps_its_complete_entries():
    page = {"advertisements": ADS}
    assert read_text(BARE.replace("}]", "},]"), PAGES)[:2] == (page, "repaired")
    cut = {"advertisements": [ADS[0], {"date": ""}]}
    assert read_text("```json\n" + BARE[: BARE.index("loren")], PAGES)[:2] == (cut, "truncated")


def test_complete_single_object_of_a_page_is_wrapped_in_a_list():
    assert read_value(ADS[0], PAGES)[:2] == ({"advertisements": ADS[:1]}, "unwrapped")
    assert read_value({"text": BARE}, PAGES)[:2] == ({"advertisements": ADS}, "unwrapped")
    page = {"date": "1731-01-02", "ads": []}
    assert read_value(page, PAGES)[1:3] == ("unparsable", "other")


@pytest.mark.parametrize("more", ["Verloren", {"page": 3}, [], None])
def test_what_is_no_object_of_the_list_is_passed_over(more):
    assert read_value([ADS[0], more], PAGES)[:2] == ({"advertisements": ADS[:1]}, "unwrapped")


@pytest.mark.parametrize("value", [[], ["Verloren"], [{"page": 3}], [[1, 2]]])
def test_another_list_is_no_record(value):
    assert read_value(value, PAGES)[:2] == (value, "unparsable")


@pytest.mark.parametrize("text", REPAIRED.values(), ids=REPAIRED)
def test_damaged_json_is_repaired(text):
    assert read_text(text, CARD)[:2] == (RECORD, "repaired")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ('Die "neue" Welt', 'Die "neue" Welt'),
        ("Die\nneue\tWelt", "Die\nneue\tWelt"),
        (r"Die \d Welt", r"Die \d Welt"),
    ],
)
def test_signs_that_json_wants_escaped_are_kept(title, expected):
    text = f'{{"author": {{"last_name": "Müller"}}, "publication": {{"title": "{title}"}}}}'
    record = {"author": {"last_name": "Müller"}, "publication": {"title": expected}}
    assert read_text(text, CARD)[:2] == (record, "repaired")


TRUNCATED = {
    "in a number": JSON[: JSON.index("57")],
    "after a number": JSON[: JSON.index("57") + 2],
    "in a key": JSON[: JSON.index("ear")],
    "after a key": JSON[: JSON.index(": 1957")],
    "after a colon": JSON[: JSON.index(" 1957")],
    "after a comma": JSON[: JSON.index(' "year')],
    "in a fence": "```json\n" + JSON[: JSON.index("57")],
    "in a closed fence": "```json\n" + JSON[: JSON.index("57")] + "\n```\nI had to stop here.",
    "after thoughts": f"<think>{DRAFT_JSON}</think>" + JSON[: JSON.index("57")],
    "in Python": str(RECORD)[: str(RECORD).index("57")],
    "in a wrapper": '{"answer": ' + JSON[: JSON.index("57")],
    "damaged before": JSON[: JSON.index("57")].replace('"Müller",', '"Müller",,'),
    "in a loop": JSON[: JSON.index("1957")] + '12, "pages": "' + "\\n\\t" * 3_000,
}


@pytest.mark.parametrize("text", TRUNCATED.values(), ids=TRUNCATED)
def test_what_is_whole_of_a_text_that_breaks_off_is_kept(text):
    reading = read_text(text, CARD)
    if "pages" in text:
        assert reading.prediction["publication"].pop("year") == 12
    assert reading[:2] == (WITHOUT_YEAR, "truncated")


def test_a_record_after_an_unclosed_brace_is_read():
    text = f"The card {{sic has a brace: {JSON}"
    assert read_text(text, CARD).prediction == RECORD


def leaves(value, path=()):
    if isinstance(value, dict):
        return {leaf for key in value for leaf in leaves(value[key], (*path, key))}
    if isinstance(value, list):
        return {leaf for i, item in enumerate(value) for leaf in leaves(item, (*path, i))}
    return {(path, type(value), value)}


WORDS = st.text(st.characters(exclude_characters="{}<`", exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, VALUES, max_size=4), st.data())
def test_a_text_cut_anywhere_gives_only_values_that_were_written(record, data):
    text = json.dumps(record, ensure_ascii=data.draw(st.booleans()))
    assume(not {"\u200b", "\u200c", "\u2060", "\ufeff"} & {*text})  # damaged texts lose these
    cut = data.draw(st.integers(0, len(text) - 1))
    reading = read_text(text[:cut])
    assert reading.status in ("truncated", "unparsable", "unanswered")
    if reading.status == "truncated":
        assert leaves(reading.prediction) <= leaves(record)


@pytest.mark.parametrize("value", ['["', '{"', '["A", 3', '["A'])
def test_a_quote_behind_a_bracket_in_a_value_stays(value):
    record = {"title": "A", "place": value}
    assert read_text(json.dumps(record) + " end")[:2] == (record, "unwrapped")


@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4), WORDS, WORDS)
def test_sound_json_is_never_changed(record, before, after):
    assume(kind_of_object(record, AnswerSchema({})) is None)  # as `{"error": …}`
    text = json.dumps(record)
    assert read_text(text)[:2] == (record, "clean")
    assert read_text(f"{before}\n{text}\n{after}").prediction == record


@given(st.text(st.sampled_from("{}[]\":,\\'`a1 \n"), max_size=60))
def test_any_text_has_a_reading(text):
    for schema in (None, CARD, PAGES):
        value, status, kind, *_ = read_text(text, schema)
        assert isinstance(value, dict) or status in ("unparsable", "unanswered")
        assert (kind is not None) == (status == "unparsable")
        if status == "unanswered":
            assert value is None


@pytest.mark.parametrize("text", ["", "  \n\t", "\ufeff", "null", '""'])
def test_blank_text_is_no_answer(text):
    assert read_text(text, CARD)[:2] == (None, "unanswered")
    assert read_text(text)[:2] == (None, "unanswered")


@pytest.mark.parametrize(
    "text",
    [
        "I cannot read this card.",
        "The card is torn {",
        "The {sic} card {is torn}.",
        "{}{",
        '{"author": {"last_name": "Mül',
        '{"a": ' * 200,
        f"<think>{JSON}",
        f"{JSON}</think>",
    ],
    ids=[
        "prose",
        "a brace",
        "words",
        "empty",
        "nothing whole",
        "deep",
        "thoughts",
        "only thoughts",
    ],
)
def test_text_without_a_record_stays_text(text):
    assert read_text(text, CARD)[:2] == (text, "unparsable")


@pytest.mark.parametrize("value", [[1, 2], [123456789], [0.0, 0.0], 17, True, [], [[]]])
def test_json_that_holds_no_record_stays_as_it_is(value):
    assert read_text(json.dumps(value), CARD)[:2] == (value, "unparsable")
    assert read_value(value, CARD)[:2] == (value, "unparsable")
    assert read_text(json.dumps(value))[:2] == (value, "unparsable")


def test_a_text_that_was_given_is_read():
    assert read_value(JSON, CARD)[:2] == (RECORD, "clean")
    assert read_value(f"Here: {JSON}", CARD)[:2] == (RECORD, "unwrapped")


def test_given_record_is_clean_even_if_it_breaks_the_schema():
    record = RECORD | {"publication": {"title": 17, "editor": None}}
    assert read_value(record, CARD)[:2] == (record, "clean")


def test_a_record_with_all_it_needs_is_no_wrapper():
    """Though a fuller one lies in it: the inner one is a field of some other sense."""
    record = DRAFT | {"corrected": RECORD}
    assert read_value(record, CARD)[:2] == (record, "clean")


def test_last_complete_record_is_taken_instead_of_the_fullest():
    other = json.dumps(RECORD | {"author": {"last_name": "Meier", "first_name": "Max"}})
    note = '{"note": "done"}'
    assert read_text(f"{DRAFT_JSON}\n{JSON}\n{note}", CARD)[:2] == (RECORD, "unwrapped")
    assert read_text(f"{JSON}\n{DRAFT_JSON}\n{note}", CARD)[:2] == (DRAFT, "unwrapped")
    part = '{"publication": {"title": "Welt"}}'
    assert read_text(f"{JSON}\n{part}", CARD)[:2] == (RECORD, "unwrapped")
    assert read_text(f"{JSON}\n{JSON}", CARD)[:2] == (RECORD, "unwrapped")
    assert read_text(f"{other}\n{JSON}\n", CARD)[:2] == (RECORD, "unwrapped")
    assert read_text(f"{DRAFT_JSON}\n{JSON}")[:2] == (RECORD, "unwrapped")


def test_damaged_record_is_preferred_to_worse_sound_block():
    text = f'{{"note": "as asked"}}\n{JSON.replace("}}", ",}}")}'
    assert read_text(text, CARD)[:2] == (RECORD, "repaired")


def test_percent_encoded_key_is_kept_if_schema_lacks_the_name():
    record = RECORD | {"a%5Fb": 1}
    assert read_value(record, CARD)[:2] == (record, "clean")


ECHO = {
    "type": "object",
    "properties": {
        "author": {"$ref": "#/$defs/author"},
        "publication": {"type": "object", "properties": {"title": {"type": "string"}}},
    },
}


@pytest.mark.parametrize("value", [ECHO, ECHO["properties"]], ids=["schema", "properties"])
def test_the_schema_repeated_is_no_answer(value):
    text = json.dumps(value)
    assert read_value(value, CARD)[:3] == (text, "unparsable", "repeated")
    assert read_text(f"```json\n{text}\n```", CARD).status == "unparsable"
    assert read_text(text[:-3], CARD).status == "unparsable"
    assert read_text(f"The schema: {text}\nThe answer: {JSON}", CARD)[:2] == (RECORD, "unwrapped")


def test_values_among_a_repeated_schema_are_read():
    assert read_value(ECHO | {"properties": RECORD}, CARD)[:2] == (RECORD, "unwrapped")
    record = RECORD | {"$defs": ECHO["properties"]}
    assert read_value(record, CARD)[:2] == (record, "clean")


def test_parts_of_a_block_that_is_no_record_are_none():
    text = '{"note": {"a": 1}, "more": {"b": 2}, "cut": "of'
    assert read_text(text, CARD)[:2] == (text, "unparsable")


def test_metadata_is_no_wrapper_where_the_schema_has_both_forms():
    letter = {
        "type": "object",
        "required": ["send_date"],
        "properties": {"send_date": {"type": "array"}},
    }
    outer = {"type": "object", "required": ["metadata"], "properties": {"metadata": letter}}
    both = AnswerSchema({"anyOf": [letter, outer]})
    for record in ({"metadata": {"send_date": ["1926"]}}, {"send_date": ["1926"]}):
        assert read_value(record, both)[:2] == (record, "clean")
    assert read_value({"answer": {"send_date": ["1926"]}}, both).status == "unwrapped"


SURE = {
    "author": {
        "value": {"last_name": {"value": "Müller", "confidence": 0.5}, "first_name": "Maurice"},
        "probability": 0.25,
    },
    "publication": {
        "title": {"value": "Die {sic} [1] Welt", "score": 0.75, "source": "line 3"},
        "year": {"value": 1957, "confidence_score": 1, "reasoning": "as printed"},
    },
}
HOW_SURE = {
    "author": 0.25,
    "author.last_name": 0.5,
    "publication.title": 0.75,
    "publication.year": 1.0,
}


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: {"result": v}, lambda v: [v]])
def test_a_value_with_its_confidence_is_the_value(wrap):
    for answer in (
        read_value(wrap(SURE), CARD),
        read_text(f"Here:\n{json.dumps(wrap(SURE))}", CARD),
        read_text(json.dumps(json.dumps(wrap(SURE))), CARD),
    ):
        assert answer[:2] == (RECORD, "unwrapped")
        assert answer.confidences == HOW_SURE
    assert read_value(RECORD, CARD).confidences is None


def test_of_items_the_confidence_has_their_number():
    ads = [ADS[0], ADS[1] | {"text": {"value": "Verloren", "confidence": "high"}}]
    ads[0] = ads[0] | {"date": {"value": "1731-01-02", "confidence": 0.5}}
    answer = read_value({"advertisements": ads}, PAGES)
    assert answer.prediction == {"advertisements": ADS}
    assert answer.confidences == {"advertisements[0].date": 0.5}


def test_an_object_with_a_value_stays_where_the_schema_has_it():
    fields = {"size": {"properties": {"value": {"type": "number"}, "score": {}}}}
    schema = AnswerSchema({"properties": fields})
    record = {"size": {"value": 3, "score": 1}}
    assert read_value(record, schema)[:2] == (record, "clean")
    assert read_value(SURE)[:2] == (SURE, "clean")  # without a schema


def test_a_token_in_a_text_of_sound_json_ends_nothing():
    record = RECORD | {"note": "a<|im_end|>b</s>c<|return|>"}
    assert read_text(json.dumps(record), CARD)[:2] == (record, "clean")
    struck = RECORD | {"note": "<s>Haus</s> Hof"}
    assert read_text(f"```json\n{json.dumps(struck)}\n```", CARD)[:2] == (struck, "unwrapped")


HALF = MAX_DAMAGED // 2
HOSTILE = {
    "opening braces": "{" * MAX_DAMAGED,
    "empty objects": "{}" * HALF,
    "objects in objects": '{"a":' * (MAX_DAMAGED // 5),
    "fences": "```json" * (MAX_DAMAGED // 7),
    "fences with braces": "\n```json\n{" * (MAX_DAMAGED // 10),
    "unclosed quotes": "{" + '"x ' * 50_000,
    "quotes and braces": '{"' * HALF,
    "tags": "<think>" * (MAX_DAMAGED // 7),
    "lists in lists": "[" * MAX_DAMAGED,
    "lists of objects": '[{"a":' * (MAX_DAMAGED // 6),
    "empty lists of objects": "[{}]" * (MAX_DAMAGED // 4),
    "round brackets": '{"a":' + "(" * HALF,
    "backslashes": '{"a":"' + "\\" * (MAX_DAMAGED - 10),
    "a number": '{"a":' + "1" * (MAX_DAMAGED - 10),
    "backticks": "`" * MAX_DAMAGED,
    "tags that end": "x</s>" * (MAX_DAMAGED // 5),
    "turns": "<|im_start|>" * (MAX_DAMAGED // 12),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("schema", [CARD, PAGES, None], ids=["schema", "list", "no schema"])
def test_hostile_text_has_no_record(text, schema):
    """Each of them would take minutes or hours if every brace were tried to the text's end."""
    assert read_text(text, schema)[:2] == (text, "unparsable")


def test_the_search_is_bounded():
    record = f"\n{JSON}"
    assert read_text("{ " * (MAX_BLOCKS - 1) + record, CARD).prediction == RECORD
    assert read_text("{ " * MAX_BLOCKS + record, CARD).status == "unparsable"
    assert read_text("x" * (MAX_DAMAGED - len(record)) + record, CARD).prediction == RECORD
    assert read_text("x" * MAX_DAMAGED + record, CARD).status == "unparsable"


def test_repair_is_bounded():
    damaged = '{"a": [' + "{}," * 10_000 + '], "b": 1,}'
    assert read_text(damaged).status == "unparsable"
    assert read_text(damaged.replace("{},", "", 1_000)).status == "repaired"


def test_a_record_has_a_bounded_number_of_values():
    many = RECORD | {"note": dict.fromkeys(map(str, range(MAX_VALUES)), 1)}
    assert read_value(many, CARD)[:3] == (None, "unparsable", "other")
    assert read_text(json.dumps(many), CARD).status == "unparsable"
    del many["note"]["0"], many["note"]["1"], many["note"]["2"], many["note"]["3"]
    assert read_value(many, CARD)[:2] == (many, "clean")


def test_sound_json_may_be_long():
    record = RECORD | {"note": "x" * 2 * MAX_DAMAGED}
    assert read_text(json.dumps(record), CARD)[:2] == (record, "clean")


def test_answers_in_texts_in_answers_end_somewhere():
    value = RECORD
    for _ in range(8):
        value = {"answer": json.dumps(value)}
    assert read_value(value, CARD)[1:3] == ("unparsable", "other")


@given(st.integers(90, 130))
def test_no_record_is_nested_deeper_than_scoring_takes(depth):
    text = 'Here: {"a":' + "[" * depth + "]" * depth + "}"
    value, status, *_ = read_text(text)
    assert status == ("unwrapped" if depth < 100 else "unparsable")
    assert not is_too_deep(value)


def test_a_python_literal_is_bounded_like_anything_else():
    text = "{'a': 'x', 'b': " + "[" * 101 + "]" * 101 + "}'"
    assert not is_too_deep(read_text(text).prediction)
    assert read_text("{'Müller', 'Maurice'}", CARD).status == "unparsable"  # a set


def test_a_number_in_place_of_a_list_is_no_list_of_one():
    text = '{"advertisements": 5}\n{"advertisements": 6}'
    assert read_text(text, PAGES)[:2] == ({"advertisements": 6}, "unwrapped")


def test_titles_in_a_repeated_schema_are_no_record():
    titles = {name: {"type": "string", "title": name.title()} for name in ("title", "place")}
    schema = {"type": "object", "required": ["title", "place"], "properties": titles}
    repeated = json.dumps({"answer_schema": schema | {"$defs": {"note": titles["title"]}}})
    assert read_text(repeated, AnswerSchema(schema))[1:3] == ("unparsable", "repeated")
