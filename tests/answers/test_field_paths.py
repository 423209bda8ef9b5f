from pathlib import Path

from hdbench.answers.field_paths import FieldPath, field_paths
from hdbench.answers.schema import AnswerSchema

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"


def paths(name):
    return field_paths(AnswerSchema.load(SCRIPTS / name / "answer.schema.json"))


def test_the_fields_of_the_cards():
    fields = {field.path: field for field in paths("zettelkatalog")}
    assert list(fields)[:3] == ["type.type", "author.last_name", "author.first_name"]
    assert fields["publication.year"] == FieldPath(
        "publication.year", "integer", "", nullable=False
    )
    assert len(fields) == 11


def test_the_fields_of_objects_in_a_list():
    assert [field.path for field in paths("avisblatt")] == [
        "advertisements[].date",
        "advertisements[].tags_section",
        "advertisements[].ntokens",
        "advertisements[].text",
    ]


def test_kinds_titles_and_null():
    text = {"type": "string"}
    schema = AnswerSchema(
        {
            "properties": {
                "a": {"type": ["integer", "null"], "title": "Jahr"},
                "b": {"anyOf": [{"type": "number", "title": "Preis"}, {"type": "null"}]},
                "c": {"type": "string", "format": "date"},
                "d": {"type": ["boolean", "null"]},
                "e": {"type": ["integer", "string"]},
                "f": {"anyOf": [{"type": "array", "items": text}, {"type": "null"}]},
                "g": {"type": "array"},
                "h": {"enum": ["x", "y", None]},
                "i": {},
                "j": {"anyOf": [{"type": "null"}, {"properties": {"k": text}}]},
                "l": {"$ref": "#/$defs/l"},
            },
            "$defs": {"l": {"type": "array", "items": {"properties": {"m": {"type": "integer"}}}}},
        }
    )
    assert [tuple(field) for field in field_paths(schema)] == [
        ("a", "integer", "Jahr", True),
        ("b", "number", "Preis", True),
        ("c", "date", "", False),
        ("d", "boolean", "", True),
        ("e", "text", "", False),
        ("f[]", "list", "", True),
        ("g[]", "list", "", False),
        ("h", "text", "", True),
        ("i", "any", "", True),
        ("j.k", "text", "", False),
        ("l[].m", "integer", "", False),
    ]
