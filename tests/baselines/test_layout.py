"""The rules for words that are there already; nothing is read here."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hdbench.baselines.dates import first_date
from hdbench.baselines.layout import TextLine, columns, joined, lines
from hdbench.baselines.ocr import Word
from hdbench.baselines.pages import advertisements, edited, numbered

HEIGHT = 20


def line(text, left, top, *, height=HEIGHT, number=0):
    """A line of words of 10 pixels a letter."""
    words = []
    for word in text.split():
        words.append(Word(word, left, top, left + 10 * len(word), top + height, (number,)))
        left = words[-1].right + 10
    return TextLine.of(words)


def column(*rows, left=30):
    """Lines one below the other: (text, outdented?) or, for a heading with white around, a text."""
    made, top = [], 0
    for row in rows:
        if isinstance(row, str):
            top += 2 * HEIGHT
            made.append(line(row, left, top, height=30))
            top += 3 * HEIGHT
        else:
            text, outdented = row
            made.append(line(text, left - 25 if outdented else left, top))
            top += 30
    return made


def test_words_are_put_into_lines_as_tesseract_did():
    words = [*line("Rother Wein", 0, 0, number=1).words, *line("zu haben", 0, 30, number=2).words]
    assert [found.text for found in lines(words)] == ["Rother Wein", "zu haben"]


def test_columns_are_found_below_a_title_with_their_numbers():
    words = [*line("Wochentliche Nachrichten aus Basel", 100, 0).words]
    for row in range(20):
        top = 60 + 30 * row
        words += line("Wort Wort Wort Wort", 10, top).words  # to 200
        words += line(
            "12. Wort Wort Wort" if row % 3 == 0 else "Wort Wort Wort",
            215 if row % 3 == 0 else 255,
            top,
        ).words
    found = columns(words)
    assert found.top == HEIGHT
    assert 200 <= found.gutter <= 215


def test_one_column_is_not_parted():
    text = "Wir bestätigen den Empfang Ihres Schreibens und teilen mit"
    words = [
        word
        for row in range(20)
        for word in line(" ".join(text.split()[row % 4 :]), 0, 30 * row).words
    ]
    assert columns(words) is None


def test_no_words_have_no_columns():
    assert columns([]) is None


def test_divided_word_is_joined_and_compound_keeps_its_hyphen():
    assert (
        joined(["im Be-", "richthaus, Land-", "Karten", "neu"]) == "im Berichthaus, Land-Karten neu"
    )


def test_only_a_number_in_the_margin_begins_an_advertisement():
    body = [
        column(
            "Zum Verkauf:",
            ("1. Ein Pult für", True),
            ("2. Personen, von", False),
            ("Holz.", False),
            ("2. Ein schöner", True),
            ("Schlitten von dem", False),
        )
    ]
    assert advertisements(body) == [
        ("Zum Verkauf", "1. Ein Pult für 2. Personen, von Holz."),
        ("Zum Verkauf", "2. Ein schöner Schlitten von dem"),
    ]


def test_an_ad_and_its_section_go_on_in_the_next_column():
    first = column(
        ("Es sucht jemand ein gutes Pferd.", False),
        "Hingegen wird begehrt:",
        ("1. Ein Stall für ein Pferd oder", True),
        ("zwey von mittlerer Grösse, der", False),
        ("Liebhaber wolle sich im Bericht-", False),
    )
    second = column(
        ("haus ohne Entgeldt anmelden.", False),
        ("2. Ein grosser schöner Garten", True),
        ("mit vielen Bäumen vor dem Thor.", False),
    )
    assert advertisements([first, second]) == [
        ("", "Es sucht jemand ein gutes Pferd."),
        (
            "Hingegen wird begehrt",
            "1. Ein Stall für ein Pferd oder zwey von mittlerer Grösse, der Liebhaber wolle sich "
            "im Berichthaus ohne Entgeldt anmelden.",
        ),
        (
            "Hingegen wird begehrt",
            "2. Ein grosser schöner Garten mit vielen Bäumen vor dem Thor.",
        ),
    ]


def test_each_heading_begins_its_own_numbers():
    ad = [("Ein Stall für", False), ("ein Pferd.", False)]
    body = [
        column(
            "Zum Verkauf:", ("1. Ein Wagen", True), *ad, ("2. Ein Karren", True), *ad,
            "Zu kaufen begehrt:", ("x. Ein Schlitten", True), *ad, ("2. Ein Pflug", True), *ad,
        )
    ]  # fmt: skip
    starts = [(section, text[:6]) for section, text in advertisements(body)]
    assert starts == [
        ("Zum Verkauf", "1. Ein"),
        ("Zum Verkauf", "2. Ein"),
        ("Zu kaufen begehrt", "1. Ein"),
        ("Zu kaufen begehrt", "2. Ein"),
    ]


def test_the_catchword_below_the_last_column_is_no_text():
    rows = [("9. Ein guter alter", True), ("Wein ist wohl zu", False), ("haben im Haus.", False)]
    body = [[*column(*rows), line("10. Bey", 150, 90)]]
    assert advertisements(body) == [("", "9. Ein guter alter Wein ist wohl zu haben im Haus.")]


def test_an_empty_page_has_no_ads():
    assert advertisements([]) == []
    assert advertisements([[], []]) == []


def test_fraktur_is_spelled_as_the_edition_does():
    assert edited("Jtem ein Schleif- Stein / groſſe Feigen , ſ{ön di>e") == (
        "Item ein Schleif-Stein, grosse Feigen, schön dicke"
    )


def test_misread_numbers_are_counted_from_the_others():
    assert numbered([36, 37, None, 19, 20, 21]) == [16, 17, 18, 19, 20, 21]
    assert numbered([1, 2, 8, 4]) == [1, 2, 3, 4]
    assert numbered([None, 1, 2]) == [None, 1, 2]  # there is no ad 0
    assert numbered([]) == []


def test_an_overlooked_ad_keeps_the_numbers_after_it():
    assert numbered([30, 31, 33, 34]) == [30, 31, 33, 34]


@given(st.integers(1, 50), st.lists(st.booleans(), min_size=3, max_size=30))
def test_numbers_survive_where_three_in_a_row_were_read(first, lost):
    right = list(range(first, first + len(lost)))
    read = [
        None if gone and place > 2 else value
        for place, (gone, value) in enumerate(zip(lost, right, strict=True))
    ]
    assert numbered(read) == right


@given(st.lists(st.none() | st.integers(0, 999), max_size=40))
def test_numbers_always_rise(values):
    known = [number for number in numbered(values) if number is not None]
    assert all(before < after for before, after in itertools.pairwise(known))


def word(text, place, size, number):
    (left, top), (width, height) = place, size
    return Word(text.strip(), left, top, left + width, top + height, (number,))


places, sizes = (st.tuples(n, n) for n in (st.integers(0, 900), st.integers(1, 90)))
texts = st.text(min_size=1, max_size=8).filter(str.strip)
words = st.builds(word, texts, places, sizes, st.integers(0, 9))


@given(st.lists(words, max_size=40))
def test_any_words_have_a_layout(found):
    page = columns(found)
    assert page is None or 0 <= page.gutter <= 1000
    assert all(isinstance(text, str) for _, text in advertisements([lines(found)]))


def test_dates_are_read_with_a_months_name_and_in_figures():
    assert first_date("Donnerstags, den 11. Hornung 1762.") == "1762-02-11"
    assert first_date("Basel, den 3. März 1928") == "1928-03-03"
    assert first_date("Basel, 16.2.26") == "1926-02-16"
    assert first_date("am 24.3.1928 oder 1. Dezember 1928") == "1928-12-01"


def test_a_date_that_no_calendar_has_is_none():
    assert first_date("den 31. Februar 1928, 45.13.26, Tel. 24.790") is None
