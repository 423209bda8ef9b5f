"""The messages of warnings in German, read off those that the checks and records have."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hdbench.evaluation.warning_texts import _TEXTS as TEXTS
from hdbench.evaluation.warning_texts import in_language, message
from hdbench.reading.ids import match_ids


def places(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def german(told):
    found = in_language(told, "de")
    assert found.language == "de", told
    return found.text


def test_every_language_has_every_text_with_the_same_places():
    texts = TEXTS.translations
    assert texts["en"].keys() == texts["de"].keys()
    for key, text in texts["en"].items():
        assert places(text) == places(texts["de"][key]), key


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        (
            "1,234 of 5,678 items have an answer, and the other 4,444 count as failures: complete "
            "the run, or compare it only with runs of the same items",
            "1234 von 5678 Einträgen haben eine Antwort; die anderen 4444 zählen als falsch. "
            "Vervollständigen Sie den Lauf, oder vergleichen Sie ihn nur mit Läufen über dieselben "
            "Einträge.",
        ),
        (
            'year is wrongly "place" in 20 of 40 answers, and not of the schema\'s type in 20: '
            "does the prompt ask for it as the schema and the truth have it? "
            "f1_micro 0.750, without this field 1.000",
            'year lautet in 20 von 40 Antworten fälschlich "place" und hat in 20 nicht den Typ des '
            "Schemas: Verlangt der Prompt es so, wie es in Schema und Referenz steht? "
            "f1_micro 0.750, ohne dieses Feld 1.000",
        ),
        (
            'year is not of the schema\'s type in 6 of 1,006 answers looked at, as "1924", which '
            "is scored all the same: does the prompt ask for it as the schema has it?",
            "year hat in 6 von 1006 geprüften Antworten nicht den Typ des Schemas, zum Beispiel "
            '"1924", und wird dennoch bewertet: Verlangt der Prompt es so, wie es im Schema steht?',
        ),
        (
            "9 of 10 wrong persons are organisations or offices: the truth has persons only; does "
            "the prompt ask for persons only?",
            "9 von 10 falschen Personen sind Körperschaften oder Ämter: In der Referenz stehen nur "
            "Personen. Verlangt der Prompt nur Personen?",
        ),
        (
            '9 of 10 wrong persons are organisations or offices, as "Muster AG": the truth has '
            "persons only; does the prompt ask for persons only?",
            '9 von 10 falschen Personen sind Körperschaften oder Ämter, zum Beispiel "Muster AG": '
            "In der Referenz stehen nur Personen. Verlangt der Prompt nur Personen?",
        ),
    ],
)
def test_a_message_of_a_record_is_known_again(english, expected):
    assert german(english) == expected


@pytest.mark.parametrize(
    ("written", "item", "expected"),
    [
        ("12.jpg", "12", "wie Dateinamen aussehen: 1 ('12.jpg' gilt als '12')"),
        ("12", "0012", "nur durch führende Nullen unterscheiden: 1 ('12' gilt als '0012')"),
        ("A", "a", "die anders geschrieben sind: 1 ('A' gilt als 'a')"),
        ("a_p1", "a", "die wie Seiten eines Eintrags aussehen: 1 ('a_p1' gilt als 'a')"),
    ],
)
def test_differences_of_ids_are_told_in_german(written, item, expected):
    [difference] = match_ids([written], [item]).differences
    assert german(difference.message).startswith("Kennungen, ")
    assert german(difference.message).endswith(expected)


VALUES = st.text(max_size=40)
NUMBERS = st.integers(0, 10**7)


@example(field="1,234", shown="1,234", count=0, of=1_000, typed=True)
@given(field=VALUES, shown=VALUES, count=NUMBERS, of=NUMBERS, typed=st.booleans())
def test_any_value_is_carried_over(field, shown, count, of, typed):
    answers = message("answers", number=of)
    and_type = message("and_type", count=count) if typed else ""
    told = message(
        "wrong_value",
        field=field,
        shown=shown,
        count=count,
        answers=answers,
        and_type=and_type,
        without="",
    )
    assert german(told) == (
        f"{field} lautet in {count} von {of} Antworten fälschlich {shown}"
        f"{f' und hat in {count} nicht den Typ des Schemas' if typed else ''}: Verlangt der Prompt "
        "es so, wie es in Schema und Referenz steht?"
    )


@pytest.mark.parametrize("other", ["", "something else", "x" * 100_000, "1 of 2 items"])
def test_another_message_stays_as_it_is(other):
    assert in_language(other, "de") == (other, "en")


def test_in_english_nothing_is_changed():
    told = message("truncated", count=3, given=1_263)
    assert in_language(told, "en") == (told, "en")
    assert told.startswith("3 of 1,263 answers are cut off")
