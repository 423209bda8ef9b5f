"""The form that the page draws."""

from hdbench.answers.schema import AnswerSchema
from hdbench.collections.truth.form import form_of


def form(properties, **more):
    return form_of(AnswerSchema({"type": "object", "properties": properties, **more}))["fields"]


def test_every_kind_of_field():
    fields = form(
        {
            "title": {"type": "string"},
            "year": {"type": ["integer", "null"]},
            "price": {"type": ["number", "null"]},
            "signed": {"type": "boolean"},
            "kind": {"anyOf": [{"enum": ["book", "letter"]}, {"type": "null"}]},
            "place": {"$ref": "#/$defs/place"},
            "tags": {"type": ["array", "null"], "items": {"type": "string"}},
            "anything": {},
        },
        required=["title"],
        **{"$defs": {"place": {"type": "object", "properties": {"name": {"type": "string"}}}}},
    )
    kinds = ["text", "integer", "number", "boolean", "choice", "object", "list", "any"]
    assert [field["kind"] for field in fields] == kinds
    assert [field["name"] for field in fields if field["required"]] == ["title"]
    by_name = {field["name"]: field for field in fields}
    assert by_name["kind"]["choices"] == ["book", "letter"]
    assert by_name["place"]["fields"][0]["name"] == "name"
    assert by_name["tags"]["item"]["kind"] == "text"
    # A blank is null where that is allowed.
    assert [by_name[name]["empty"] for name in ("title", "year", "tags")] == ["", None, None]


def test_labels_fall_back_from_language_to_heading_to_name():
    titles = {"en": "Year", "de": "Jahr"}
    fields = form(
        {"a": {"title": "Erscheinungsjahr", "titles": titles}, "b": {"title": "Art"}, "c": {}}
    )
    assert [field["label"] for field in fields] == [
        titles,
        {"en": "Art", "de": "Art"},
        {"en": "c", "de": "c"},
    ]


def test_a_transcription_is_long():
    assert form({"transkription": {"type": "string"}})[0]["long"]
    assert not form({"title": {"type": "string"}, "place": {"type": "string"}})[0]["long"]
