"""The rules for the lines of cards, letters and papers; nothing is read here."""

import pytest

from hdbench.baselines.by_schema import baseline_for
from hdbench.baselines.cards import card
from hdbench.baselines.layout import TextLine
from hdbench.baselines.letters import letter
from hdbench.baselines.ocr import Word
from hdbench.baselines.papers import paper
from hdbench.errors import HdbenchError
from hdbench.running.backend import Asked
from hdbench.running.tesseract_backend import TesseractBackend

TYPED = [
    "Beispiel, Anna Maria. Untersuchungen zur",
    "Sprachauffassung. Diss.Univ.Basel.",
    "-- Saarbrücken 1971. -- 8' III,219 S.",
    "Standort: Diss.1972,592",
    "2/Sprache/Philosophie (Sprachauffas-",
    "sung)/ Angl Diss",
]


def test_a_typed_card_is_taken_apart():
    assert card(TYPED) == {
        "type": {"type": "Dissertation or thesis"},
        "author": {"last_name": "Beispiel", "first_name": "Anna Maria"},
        "publication": {
            "title": "Untersuchungen zur Sprachauffassung",
            "place": "Saarbrücken",
            "pages": "III,219",
            "publisher": "",
            "format": "8'",
            "year": 1971,
        },
        "library_reference": {
            "shelfmark": "Diss.1972,592",
            "subjects": "2/Sprache/Philosophie (Sprachauffassung)/ Angl Diss",
        },
    }


def test_printed_card_has_publisher_before_or_after_the_year():
    after = card(["Muster, Karl: Statistisches.", "Dissen 1926: Sues. 32 S. 8°"])["publication"]
    before = card(["Muster, Karl: Statistisches.", "Leipzig: Vogel 1914. 40 S. 8°"])["publication"]
    assert (after["place"], after["publisher"], after["pages"]) == ("Dissen", "Sues", "32")
    assert (before["place"], before["publisher"], before["format"]) == ("Leipzig", "Vogel", "8°")


def test_a_card_with_s_on_a_line_refers_to_another():
    found = card(["Nagel, Martin", "s.", "Muster, Justus. Disputatio theo-", "logica"])
    assert found["type"]["type"] == "Reference"
    assert found["author"] == {"last_name": "Muster", "first_name": "Justus"}
    assert found["publication"]["title"] == "Disputatio theologica"
    assert "year" not in found["publication"]


def test_spaced_letters_are_one_word():
    assert card(["M u s t e r, Karl. Titel der Arbeit."])["author"]["last_name"] == "Muster"


@pytest.mark.parametrize("texts", [[], ["|"], ["s."], ["1957"], ["Nur ein Wort"]])
def test_a_card_with_hardly_a_word_has_a_record_too(texts):
    assert card(texts).keys() == {"type", "author", "publication", "library_reference"}


def test_letter_parts_are_found_by_their_position():
    page = [
        "Basel, den 3. Mai 1928.",
        "Herrn Dr. W. Beispiel,",
        "Betr. Landungssteg",
        "Hochachtend",
    ]
    assert letter([page, ["sig. Muster sig. Vorbild"]]) == {
        "letter_title": ["Betr. Landungssteg"],
        "send_date": ["1928-05-03"],
        "sender_persons": ["Muster", "Vorbild"],
        "receiver_persons": ["W. Beispiel"],
    }


def test_person_but_no_company_can_stand_below_closing_words():
    page = ["Mit vorzüglicher Hochachtung", "Basler Gesellschaft", "Karl Muster"]
    assert letter([page])["sender_persons"] == ["Karl Muster"]


def test_what_a_letter_does_not_say_is_null_as_the_prompt_asks():
    assert set(map(str, letter([[]]).values())) == {"['null']"}


def lines_of(*rows):
    return [
        TextLine.of([Word(word, 0, 30 * n, 50, 30 * n + height) for word in text.split()])
        for n, (text, height) in enumerate(rows)
    ]


def test_paper_title_is_largest_and_authors_stand_below():
    page = lines_of(
        ("Journal of Tides 2019, doi 10.5555/jt.7.", 12),
        ("Reading Old", 30),
        ("Tide Books", 30),
        ("Ann Example1, Bo Sample2 and Cy Muster", 14),
        ("Abstract", 14),
        ("Books were wet.", 12),
        ("Keywords: tides; books", 12),
        ("1 Introduction", 14),
    )
    assert paper([page]) == {
        "title": "Reading Old Tide Books",
        "author": "Ann Example,Bo Sample,Cy Muster",
        "abstract": "Books were wet.",
        "pub_time": "2019",
        "doi": "10.5555/jt.7",
        "keyword": "tides, books",
    }


def test_an_isbn_makes_it_a_book():
    page = lines_of(("Kleine Kunde", 30), ("Eva Muster", 12), ("ISBN 978-0-00-000314-0", 12))
    found = paper([page])
    assert found["isbn"] == "9780000003140"
    assert "doi" not in found


@pytest.mark.parametrize("pages", [[], [[]]])
def test_a_paper_without_a_word_has_an_empty_record(pages):
    assert set(paper(pages).values()) == {""}


def schema(*fields):
    return {"type": "object", "anyOf": [{"properties": {field: {} for field in fields}}]}


def test_rules_are_chosen_by_the_schemas_fields():
    assert baseline_for(schema("advertisements")).languages == "Fraktur"
    assert baseline_for(schema("doi", "title", "author")).languages == "eng+deu"
    assert baseline_for(schema("text", "confidence")).languages == "deu"


LINE = {"type": "object", "properties": {"text": {"type": "string"}}}
LINES = {"type": "array", "items": LINE}


def test_the_text_goes_where_the_schema_has_it():
    images = [lines_of(("Abegg", 12))]
    pages = {"type": "object", "required": ["pages"], "properties": {"pages": LINES, "note": {}}}
    assert baseline_for(pages).record(images) == {"pages": [{"text": "Abegg"}]}
    assert baseline_for(LINE | {"required": ["text"]}).record(images) == {"text": "Abegg"}


@pytest.mark.parametrize(
    "unknown",
    [
        None,
        {},
        schema("colour"),
        {"properties": ["text"]},
        {"properties": {"page": LINE}},
        {"properties": {"left": LINES, "right": LINES}, "required": ["left", "right"]},
    ],
)
def test_an_unknown_schema_is_refused(unknown):
    with pytest.raises(HdbenchError, match="no rules for this benchmark's answers"):
        baseline_for(unknown)


def test_a_missing_program_is_said_with_debians_packages(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HdbenchError, match="tesseract-ocr, tesseract-ocr-deu and tesseract-ocr-s"):
        TesseractBackend(Asked("tesseract"), "", schema("text"))
