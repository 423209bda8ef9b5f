import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.answers.cells import FAULTS, is_blank
from hdbench.answers.columns import propose
from hdbench.answers.field_paths import FieldPath, field_paths
from hdbench.answers.records import mapped
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import SourceTable, read_table
from hdbench.errors import HdbenchError

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"
CARDS = field_paths(AnswerSchema.load(SCRIPTS / "zettelkatalog/answer.schema.json"))
PAGES = field_paths(AnswerSchema.load(SCRIPTS / "avisblatt/answer.schema.json"))
LETTERS = field_paths(AnswerSchema.load(SCRIPTS / "rheinschifffahrt/answer.schema.json"))

FIELDS = [
    FieldPath("author", "text"),
    FieldPath("imprint.place", "text"),
    FieldPath("imprint.publisher", "text"),
    FieldPath("imprint.year", "integer"),
    FieldPath("language", "text"),
    FieldPath("pages", "text"),
    FieldPath("shelfmark", "text"),
    FieldPath("subjects[]", "list", "Schlagwörter"),
    FieldPath("title", "text"),
]


def table(*rows):
    header, *others = [row.split(";") for row in rows]
    return SourceTable("t.csv", header, [(f"t.csv:{n}", r) for n, r in enumerate(others, 2)], [])


def proposal(made, paths=None, files=(), **given):
    return {
        column.title: column for column in propose(made, paths=paths, file_names=files, given=given)
    }


def truths(made, paths=None, files=(), given=()):
    return mapped(made, propose(made, paths=paths, file_names=files, given=dict(given)))


def records(*arguments, **named):
    return [truth.record for truth in truths(*arguments, **named).truths]


def refusal(made, paths=None, files=(), given=()):
    with pytest.raises(HdbenchError) as caught:
        truths(made, paths, files, given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_librarians_table_goes_into_the_fields_of_the_cards():
    made = table(
        "Dateiname;Nachname;Vorname;Haupttitel;Erscheinungsjahr;Verlagsort;Signatur;Bearbeiter",
        "1.jpg;Müller;Anna;Die Ehe;1912;Basel;A 12;kb",
        "2.JPG;Ott;Hans;=1+1;17.9.1912;Zürich;n/a;kb",
        "0003;;;;;;;",
    )
    read = truths(made, CARDS, ["0001.jpg", "0002.jpg", "0003.jpg", "0004.jpg"])
    assert [truth.key for truth in read.truths] == ["1.jpg", "2.JPG", "0003"]
    assert [truth.record for truth in read.truths] == [
        {
            "author": {"last_name": "Müller", "first_name": "Anna"},
            "publication": {"title": "Die Ehe", "year": 1912, "place": "Basel"},
            "library_reference": {"shelfmark": "A 12"},
        },
        {
            "author": {"last_name": "Ott", "first_name": "Hans"},
            "publication": {"title": "=1+1", "year": "17.9.1912", "place": "Zürich"},
            "library_reference": {"shelfmark": ""},
        },
        None,
    ]
    assert read.notes == [
        "t.csv: columns that are not used: Bearbeiter",
        "t.csv: cells read as text: 1, the first is t.csv:3, column Erscheinungsjahr: '17.9.1912'",
        "t.csv: cells read as empty: 1, the first is t.csv:3, column Signatur: 'n/a'",
    ]


@pytest.mark.parametrize(
    ("path", "headings"),
    [
        ("author", "Verfasser Verfasser/in Autorin AUTOR Auteur Autore Auctor Author(s)"),
        ("imprint.place", "Ort Erscheinungsort Verlagsort Lieu Luogo Locus Place"),
        ("imprint.publisher", "Verlag Éditeur Editore Publisher"),
        ("imprint.year", "Jahr Erscheinungsjahr Jahr: Année Anno year YEAR imprint_year"),
        ("language", "Sprache Langue Lingua Language"),
        ("pages", "Seiten Seitenzahl Umfang Pagine Paginae Extent"),
        ("shelfmark", "Signatur Bibliothekssignatur Cote Segnatura Shelf-mark Call_number"),
        ("subjects[]", "Schlagwörter Schlagwort Stichwörter Sujets Soggetti Keywords subjects[]"),
        ("title", "Titel Sachtitel Titre Titolo Titulus Title"),
    ],
)
def test_headings_in_the_languages_of_libraries(path, headings):
    for heading in headings.split():
        made = table(heading, "x", "y")
        assert proposal(made, FIELDS)[heading].path == path, heading


@pytest.mark.parametrize("heading", ["Untertitel", "Farbe", "Titel Verfasser", "Herausgeber", "x"])
def test_a_heading_that_means_something_else_goes_nowhere(heading):
    assert proposal(table(heading, "x"), FIELDS)[heading].path is None


def test_a_heading_of_several_words_goes_where_all_of_them_do():
    paths = [FieldPath("author.last_name", "text"), FieldPath("editor.last_name", "text")]
    found = proposal(table("Herausgeber (Nachname);Nachname Verfasser", "Ott;Müller"), paths)
    assert [column.path for column in found.values()] == ["editor.last_name", "author.last_name"]


def test_a_heading_that_is_only_a_part_of_fields_goes_nowhere():
    column = proposal(table("Verfasser", "Müller, Anna"), CARDS)["Verfasser"]
    assert column.path is None


def test_semicolons_divide_names_but_not_titles_in_list_fields():
    found = proposal(table("Titel;Absender", "x;y"), LETTERS)
    assert found["Titel"].separator is None
    made = SourceTable("t", ["Titel", "Absender"], [("t:2", ["A; B", "Ott; Wyss"])], [])
    assert records(made, LETTERS) == [{"letter_title": ["A; B"], "sender_persons": ["Ott", "Wyss"]}]
    made = SourceTable("t", ["Titel", "Absender"], [("t:2", ["A | B", "Ott\nWyss"])], [])
    assert records(made, LETTERS) == [
        {"letter_title": ["A", "B"], "sender_persons": ["Ott", "Wyss"]}
    ]


def test_the_title_of_a_field_is_its_name_too():
    paths = [FieldPath("f1", "text", "Farbe des Einbands"), FieldPath("f2", "text", "Zustand")]
    found = proposal(table("Zustand;farbe des einbands", "gut;rot"), paths)
    assert [column.path for column in found.values()] == ["f2", "f1"]


@pytest.mark.parametrize(
    ("files", "key"),
    [
        (["0007.jpg", "0008.jpg"], "Nr"),
        (["scans/a.tif", "scans/b.tif"], "Bild"),
        (["ms_b_1.jpg", "ms_b_2.jpg", "a_p1.jpg"], "Bild"),
        (["c.jpg"], "Name"),
    ],
)
def test_the_key_is_the_column_that_names_the_files(files, key):
    made = table("Jahr;Bild;Nr;Name", "1912;Ordner/A.JPG;7;c", "1913;ms_b;8;d")
    if key == "Bild" and "ms_b_1.jpg" not in files:
        made = table("Jahr;Bild;Nr;Name", "1912;Ordner/A.JPG;7;c", "1913;b;8;d")
    found = proposal(made, FIELDS, files)
    assert [title for title, column in found.items() if column.key] == [key]


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        ("1912;1913", "integer", [1912, 1913]),
        ("1912;;-;n/a", "integer", [1912, None, None, None]),
        ("0012;13", "text", ["0012", "13"]),
        ("1912;17.9.1912;1913", "text", ["1912", "17.9.1912", "1913"]),
        ("2.5;3", "number", [2.5, 3]),
        ("2.50;3", "text", ["2.50", "3"]),
        ("2,5;3", "text", ["2,5", "3"]),
        ("1e5;2", "text", ["1e5", "2"]),
        ("+1;2", "text", ["+1", "2"]),
        ("-1;0", "integer", [-1, 0]),
        ("1912-09-17;1913-01-01", "date", ["1912-09-17", "1913-01-01"]),
        ("1912-09-31;1913-01-01", "text", ["1912-09-31", "1913-01-01"]),
        ("17.9.1912;18.9.1912", "text", ["17.9.1912", "18.9.1912"]),
        ("TRUE;falsch", "boolean", [True, False]),
        ("ja;nein", "text", ["ja", "nein"]),
        ("a | b;c;d|e;", "list", [["a", "b"], ["c"], ["d", "e"], []]),
        ("a | b;c;d", "text", ["a | b", "c", "d"]),
    ],
)
def test_the_kind_of_a_column_is_that_of_all_its_cells(cells, kind, values):
    made = SourceTable(
        "t", ["Nr", "Feld"], [("", [str(n), c]) for n, c in enumerate(cells.split(";"))], []
    )
    column = proposal(made, Nr="nr")["Feld"]
    assert column.kind == kind
    assert column.path == ("feld[]" if kind == "list" else "feld")
    assert [record["feld"] for record in records(made, given={"Nr": "nr"})] == values


def test_what_is_given_wins():
    made = table("Datei;Titel;Jahr;Notiz", "1.jpg;A;1912;x", "2.jpg;B;1913;y")
    files = ["1.jpg", "2.jpg"]
    given = {"titel": "imprint.year", "Jahr": "author", "Notiz": "-", "Datei": "title"}
    found = proposal(made, FIELDS, files, **given)
    assert {title: column.path for title, column in found.items()} == {
        "Datei": "title",
        "Titel": "imprint.year",
        "Jahr": "author",
        "Notiz": None,
    }
    assert found["Datei"].key  # named by its values, and a field by what was given
    found = proposal(made, FIELDS, files, Titel="id")
    assert [column.key for column in found.values()] == [False, True, False, False]


def test_own_fields_are_named_after_their_columns():
    made = table(
        "Größe (cm);Größe-cm;Œuvre;書名;???;imprint.year;Tags[];birthDate;Verl. Ort",
        "a;b;c;d;e;1;g;h;i",
    )
    assert [column.path for column in proposal(made).values()] == [
        "groesse_cm",
        "groesse_cm_2",
        "oeuvre",
        "書名",
        "column_5",
        "imprint.year",
        "tags[]",
        "birthDate",
        "verl_ort",
    ]


def test_rows_that_a_program_numbers_name_no_items():
    made = table("column 1;Signatur;Jahr;Titel", "1;2;NA;Zoo", "2;1;1912;NA", "3;3;1800;Na")
    found = proposal(made, files=["0001.jpg", "0002.jpg", "0003.jpg"])
    assert [title for title, column in found.items() if column.key] == ["Signatur"]
    assert records(made, files=["0001.jpg", "0002.jpg", "0003.jpg"]) == [
        {"jahr": None, "titel": "Zoo"},
        {"jahr": 1912, "titel": ""},
        {"jahr": 1800, "titel": "Na"},
    ]


def test_several_columns_may_fill_one_list():
    made = table("Autor 1;Autor 2", "Ott;Wyss", "Müller;")
    given = {"Autor 1": "authors[]", "Autor 2": "authors[]"}
    assert records(made, given=given) == [{"authors": ["Ott", "Wyss"]}, {"authors": ["Müller"]}]
    given = {"Autor 1": "authors", "Autor 2": "authors"}
    assert records(made, [FieldPath("authors[]", "list")], given=given)[0] == {
        "authors": ["Ott", "Wyss"]
    }


def test_rows_of_one_item_must_agree():
    given = {"Name": "persons[].name"}
    made = table("Datei;Titel;Name", "1.jpg;A;Ott", "1.jpg;;Wyss", "1.jpg;A;Huber")
    assert records(made, given=given) == [
        {"titel": "A", "persons": [{"name": "Ott"}, {"name": "Wyss"}, {"name": "Huber"}]}
    ]
    made.rows[2][1][1] = "B"
    assert refusal(made, given=given).startswith("t.csv:4: rows of one item differ")


def test_without_lists_of_objects_rows_stay_apart():
    made = table("Datei;Titel", "1.jpg;A", "1.jpg;B")
    assert [truth.key for truth in truths(made, files=["1.jpg"]).truths] == ["1.jpg", "1.jpg"]


def test_an_empty_row_and_one_without_a_key():
    made = table("Datei;Titel", "1.jpg;A", ";", ";C", "2.jpg;")
    assert [truth[1:3] for truth in truths(made, files=["1.jpg", "2.jpg"]).truths] == [
        ("1.jpg", {"titel": "A"}),
        (None, None),
        (None, {"titel": "C"}),
        ("2.jpg", None),
    ]


_ANY = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), max_size=8),
    st.integers(-3000, 3000).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.dates().map(str),
    st.sampled_from(["", "-", "n/a", "0012", "17.9.1912", "a | b", "a;b", "TRUE", "falsch"]),
)
CELLS = _ANY.filter(  # as pandas writes integers
    lambda cell: not re.fullmatch(r"-?\d+\.0", cell) and cell not in FAULTS
)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=8))
@settings(deadline=None, max_examples=60)
def test_nothing_but_blanks_and_lists_changes_without_a_schema(rows):
    """What is written as JSON, booleans apart, is what stands in the cell."""
    made = SourceTable("t", ["A", "B", "C"], [("", row) for row in rows], [])
    try:
        read = truths(made)
    except HdbenchError:
        assert all(is_blank(cell) for row in rows for cell in row)
        return
    for row, truth in zip(rows, read.truths, strict=True):
        if truth.record is None:
            assert all(is_blank(cell) for cell in row)
            continue
        for name, value in truth.record.items():
            cell = row["abc".index(name)]
            if isinstance(value, list):
                assert any(
                    value
                    == [part.strip() for part in cell.split(sign) if not is_blank(part.strip())]
                    for sign in "|;"
                )
            elif isinstance(value, bool):
                assert cell.casefold() in ("true", "falsch", "wahr", "false")
            elif is_blank(cell):
                assert value in (None, "")
            else:
                assert str(value) == cell


@given(st.binary(max_size=200) | st.text(';,"\n\t|ab1.\x00é ', max_size=80).map(str.encode))
@settings(deadline=None, max_examples=60)
def test_any_bytes_are_a_table_or_refused_in_one_line(data):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.csv"
        file.write_bytes(data)
        try:
            made = read_table(file)
        except HdbenchError as error:
            refused = str(error)
        else:
            refused = None
    if refused is not None:
        assert "\n" not in refused
        return
    assert len(set(made.header)) == len(made.header)
    assert all(len(cells) == len(made.header) for _, cells in made.rows)
    columns = propose(made, paths=FIELDS, file_names=["a.jpg"], given={})
    assert [column.title for column in columns] == made.header
