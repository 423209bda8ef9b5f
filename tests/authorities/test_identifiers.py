"""Identifiers of the values of finished records."""

import pytest

from hdbench.benchmarks.authority_files import AuthorityLine, AuthorityTable, read_identifiers
from hdbench.errors import HdbenchError

FIELDS = ["author", "places"]
RECORD = {
    "author": {"origin": "checked", "value": "Frey, Max"},
    "places": {"origin": "accepted", "value": ["Basel", "Atlantis", "BASLE"]},
}
PLACES = "Basel;Q78\nBasle;Q78\nFrey, Max;11\n"


def write(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_name_to_the_letter_gets_its_id(tmp_path):
    path = write(tmp_path, "places.csv", PLACES)
    every = read_identifiers([path], FIELDS)
    assert every.of(RECORD) == {"author": ["11"], "places": ["Q78", "", "Q78"]}
    one = read_identifiers([f"places={path}"], FIELDS)
    assert one.of(RECORD) == {"places": ["Q78", "", "Q78"]}


def test_parts_of_a_text_have_ids_of_their_own(tmp_path):
    known = read_identifiers([write(tmp_path, "places.csv", PLACES)], FIELDS)
    record = {"places": {"origin": "checked", "value": "Basel/ /Bern/basle "}}
    assert known.of(record, {"places": "/"}) == {"places": ["Q78", "", "Q78"]}
    assert known.of(record) == {}


def test_open_and_empty_values_have_no_id(tmp_path):
    known = read_identifiers([write(tmp_path, "places.csv", PLACES)], FIELDS)
    still_open = {"author": {"origin": "open", "value": "Frey, Max"}}
    assert known.of(still_open) == {}
    assert known.of({"author": {"origin": "checked", "value": None}}) == {}


@pytest.mark.parametrize(
    ("text", "given", "why"),
    [
        ("Basel\n", "{}", "has no identifiers"),
        ("Basel;Q78\n", "autor={}", "no such field: choose one of author, places"),
    ],
)
def test_an_unusable_file_is_one_line(tmp_path, text, given, why):
    path = write(tmp_path, "t.csv", text)
    with pytest.raises(HdbenchError, match=why):
        read_identifiers([given.format(path)], FIELDS)


def test_two_files_for_a_field_are_refused(tmp_path):
    path = write(tmp_path, "places.csv", PLACES)
    with pytest.raises(HdbenchError, match="a second file for the same field"):
        read_identifiers([path, path], FIELDS)


def test_a_name_of_two_has_no_identifier():
    lines = [AuthorityLine("Frey", "1"), AuthorityLine("FREY", "2"), AuthorityLine("Fréy", "3")]
    table = AuthorityTable([*lines, AuthorityLine("Frey, A.", "1"), AuthorityLine("Bern", "")])
    names = ["frey", "FRÉY", "Frey, a.", "Bern"]
    assert [table.identifier(name) for name in names] == [None, "3", "1", None]
