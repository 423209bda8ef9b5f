"""A mapping that is made of choices: field → target."""

from pathlib import Path

import pytest

from hdbench.collections.records.choices import chosen, first_mapping, targets, with_choices
from hdbench.collections.records.mapping import CARDS, RecordMapping, read_mapping
from hdbench.common.validation import read_plain_yaml, validate

PATH = Path("mapping.yaml")


def keys(value, form="marc"):
    mapping = validate(RecordMapping, value, PATH)
    return {field: target.key for field, target in chosen(mapping, form).items()}


def test_the_mapping_for_cards_is_what_cards_begin_with():
    cards = read_plain_yaml(CARDS)
    fields = {field: field.upper() for field in [*keys(cards), "type.type"]}
    made = first_mapping(fields)
    assert {form: made[form] for form in ("marc", "dublin-core", "leave_out")} == {
        form: cards[form] for form in ("marc", "dublin-core", "leave_out")
    }
    assert made["csv"]["PUBLICATION.TITLE"] == "{publication.title}"


def test_other_collections_begin_with_what_names_suggest():
    made = first_mapping({"author": "Author", "title": "T", "ort": "T", "x": "X"})
    assert keys(made) == {"author": "100a", "title": "245a", "ort": "264a"}
    assert made["marc"]["035"] == "$a(hdbench){id}"
    assert "502" not in made["marc"]  # its condition is a field that is not there
    assert made["capitals"] == []
    assert made["leave_out"] == {}
    columns = {"id": "{id}", "T": "{title}", "Author": "{author}", "ort": "{ort}", "X": "{x}"}
    assert made["csv"] == columns


@pytest.mark.parametrize(
    ("choices", "changed"),
    [
        ({"year": "264c"}, {}),
        ({"year": ""}, {"264|#1|": "$a{place}"}),
        ({"pages": "264b"}, {"264|#1|": "$a{place} : $b{pages}, $c{year}"}),
        (
            {"year": "500a", "note": "500a"},
            {"264|#1|": "$a{place}", "500": ["$a{note}", "$a{year}"]},
        ),
        ({"name.last": "700a", "name.first": "700a"}, {"700|1#|": "$a{name.last}, {name.first}"}),
        ({"note": "653a"}, {"653": [{"text": "$a{subjects}", "split": "/"}, "$a{note}"]}),
        ({"subjects": "650a"}, {"653": None, "650|#4|": "$a{subjects}"}),
        ({"title": "590a"}, {}),
    ],
)
def test_what_is_not_chosen_stays(choices, changed):
    marc = {
        "264|#1|": "$a{place}, $c{year}",
        "653": {"text": "$a{subjects}", "split": "/"},
        "590": "$aTitel: {title}.",
        "007": "tu",
    }
    before = {"marc": marc, "dublin-core": {"date": "{year}"}}
    given = dict.fromkeys(("pages", "note", "name.last", "name.first"), "") | keys(before)
    made = with_choices(before, "marc", given | choices, PATH)
    expected = {at: text for at, text in (marc | changed).items() if text}
    assert made == before | {"marc": expected}
    assert {field: key for field, key in keys(made).items() if key} == {
        field: key for field, key in (given | choices).items() if key
    }


def test_each_target_can_be_read(tmp_path):
    for form in ("marc", "dublin-core"):
        fields = [f"f{number}" for number, _ in enumerate(targets(form))]
        made = with_choices({}, form, dict(zip(fields, targets(form), strict=True)), PATH)
        (tmp_path / "m.yaml").write_text(str(made))
        assert len(chosen(read_mapping(tmp_path / "m.yaml", form, fields), form)) == len(fields)
