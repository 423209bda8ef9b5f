"""Identifiers of the values of finished records."""

import pytest

from hdbench.authorities.reconciled import read_identifiers, state_of
from hdbench.errors import HdbenchError

FIELDS = ["author", "places"]
RECORD = {
    "author": {"origin": "checked", "value": "Frey, Max"},
    "places": {"origin": "accepted", "value": ["Basel", "Atlantis", "BASLE"]},
}
STATE = state_of(RECORD)
PLACES = "Basel;Q78\nBasle;Q78\nFrey, Max;11\n"


def write(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_name_to_the_letter_gets_its_id(tmp_path):
    path = write(tmp_path, "places.csv", PLACES)
    every = read_identifiers([path], FIELDS)
    assert every.of("c1", RECORD) == {"author": ["11"], "places": ["Q78", "", "Q78"]}
    one = read_identifiers([f"places={path}"], FIELDS)
    assert one.of("c1", RECORD) == {"places": ["Q78", "", "Q78"]}


def test_parts_of_a_text_have_ids_of_their_own(tmp_path):
    known = read_identifiers([write(tmp_path, "places.csv", PLACES)], FIELDS)
    record = {"places": {"origin": "checked", "value": "Basel/ /Bern/basle "}}
    assert known.of("c1", record, {"places": "/"}) == {"places": ["Q78", "", "Q78"]}
    assert known.of("c1", record) == {}


def test_open_and_empty_values_have_no_id(tmp_path):
    known = read_identifiers([write(tmp_path, "places.csv", PLACES)], FIELDS)
    still_open = {"author": {"origin": "open", "value": "Frey, Max"}}
    assert known.of("c1", still_open) == {}
    assert known.of("c1", {"author": {"origin": "checked", "value": None}}) == {}


def test_what_openrefine_found_counts_for_its_item(tmp_path):
    table = write(
        tmp_path,
        "t.csv",
        "id,state,author,author: identifier,places,places: identifier\r\n"
        f'c1,{STATE},"Frey, Max",12,Basel,Q78\r\n'
        ",,,,Atlantis,Q999\r\n"
        ",,,,Basel,\r\n"
        f'c2,{STATE},"Frey, Max",13,Basel,\r\n',
    )
    known = read_identifiers([table, f"places={write(tmp_path, 'p.csv', PLACES)}"], FIELDS)
    assert known.of("c1", RECORD) == {"author": ["12"], "places": ["Q78", "Q999", "Q78"]}
    # One value in the table, and three in the record: only the file can say what they are.
    assert known.of("c2", RECORD) == {"author": ["13"], "places": ["Q78", "", "Q78"]}
    assert known.counts.outdated == 0


def test_a_record_that_has_changed_since_gets_no_id(tmp_path):
    head = "id\tstate\tauthor\tauthor: identifier\tplaces\tplaces: identifier\n"
    rows = f"c1\t{STATE}\tFrey\t12\tBasel\tQ78\n\t\t\t\tAtlantis\t\n\t\t\t\tBasel\tQ78\n"
    known = read_identifiers([write(tmp_path, "t.tsv", head + rows)], FIELDS)
    changed = RECORD | {"author": {"origin": "worked", "value": "Frey, Anna"}}
    assert known.of("c1", changed) == {}
    assert known.counts.outdated == 3
    worked = RECORD | {"author": {"origin": "worked", "value": "Frey, Max"}}
    assert known.of("c1", worked) == {"author": ["12"], "places": ["Q78", "", "Q78"]}
    assert known.counts.outdated == 3


@pytest.mark.parametrize(
    ("text", "given", "why"),
    [
        ("id,state,author\nc1,a,b\n", "{}", "no column with identifiers, such as 'author: id"),
        ("id,state,author,author: identifier\n,a,b,c\n", "{}", "t.csv:2: has no id"),
        (
            "id,state,author,author: identifier\nc1,a,b,c\nc1,a,b,c\n",
            "{}",
            "t.csv:3: a second row for c1",
        ),
        ("Basel\n", "{}", "has no identifiers"),
        ("Basel;Q78\n", "autor={}", "no such field: choose one of author, places"),
    ],
)
def test_an_unusable_table_is_one_line(tmp_path, text, given, why):
    path = write(tmp_path, "t.csv", text)
    with pytest.raises(HdbenchError, match=why):
        read_identifiers([given.format(path)], FIELDS)


def test_two_files_for_a_field_are_refused(tmp_path):
    path = write(tmp_path, "places.csv", PLACES)
    with pytest.raises(HdbenchError, match="a second file for the same field"):
        read_identifiers([path, path], FIELDS)
