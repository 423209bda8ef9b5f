"""Warnings in words, in English and German."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hdbench.answers.ids import match_ids
from hdbench.results.warning_texts import _TEXTS as TEXTS
from hdbench.results.warning_texts import RunWarning, id_message, in_language, in_words, message


def places(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_every_language_has_every_text_with_the_same_places():
    texts = TEXTS.translations
    assert texts["en"].keys() == texts["de"].keys()
    for key, text in texts["en"].items():
        assert places(text) == places(texts["de"][key]), key


@pytest.mark.parametrize(
    ("said", "english", "german"),
    [
        (
            message("partial", given=1234, items=5678, count=4444),
            "1,234 of 5,678 items have an answer, and the other 4,444 count as failures: complete "
            "the run, or compare it only with runs on the same items",
            "1.234 von 5.678 Einträgen haben eine Antwort; die anderen 4.444 zählen als falsch. "
            "Vervollständigen Sie den Lauf, oder vergleichen Sie ihn nur mit Läufen über dieselben "
            "Einträge.",
        ),
        (
            message(
                "wrong_value",
                field="year",
                shown='"1,5"',
                count=20,
                answers=message("answers", number=40),
                and_type=message("and_type", count=20),
                without=message("without", headline="f1_micro", score=0.75, other=1.0),
            ),
            'year is wrongly "1,5" in 20 of 40 answers, and not of the schema\'s type in 20: '
            "does the prompt ask for it in the form that the schema and the ground truth have? "
            "f1_micro 0.750, without this field 1.000",
            'year lautet in 20 von 40 Antworten fälschlich "1,5" und hat in 20 nicht den Typ des '
            "Schemas: Verlangt der Prompt es so, wie es in Schema und Referenz steht? "
            "f1_micro 0,750, ohne dieses Feld 1,000",
        ),
        (
            message("organisations", count=9, persons=10, example=None),
            "9 of 10 wrong persons are organisations or offices: the ground truth has persons "
            "only; does the prompt ask for persons only?",
            "9 von 10 falschen Personen sind Körperschaften oder Ämter: In der Referenz stehen nur "
            "Personen. Verlangt der Prompt nur Personen?",
        ),
    ],
)
def test_a_message_is_put_into_words(said, english, german):
    assert in_words(**said) == english
    assert in_words(**said, language="de") == german


def test_one_is_not_told_as_several():
    partial = message("partial", given=3, items=4, count=1)
    assert "items have an answer, and the other one counts as a failure: " in in_words(**partial)
    assert "; der andere zählt als falsch. " in in_words(**partial, language="de")
    texts = TEXTS.translations
    for key in (key.removesuffix("_one") for key in texts["en"] if key.endswith("_one")):
        assert set(places(texts["en"][f"{key}_one"])) <= set(places(texts["en"][key]))
        for language in texts:
            values = dict.fromkeys(places(texts[language][key]), 1)
            one, many = (in_words(key, values | {"count": n}, language) for n in (1, 2))
            assert one.replace("1 of", "2 of").replace("1 von", "2 von") != many


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
    told = in_words(**id_message(difference), language="de")
    assert told.startswith("Kennungen, ")
    assert told.endswith(expected)


VALUES = st.text(max_size=40)


@example(field="{shown}", shown="{field.__class__}")
@given(field=VALUES, shown=VALUES)
def test_any_value_is_carried_over(field, shown):
    values = {"count": 1, "answers": None, "and_type": None, "without": None}
    told = in_words("wrong_value", {"field": field, "shown": shown, **values}, "de")
    assert told.startswith(f"{field} lautet in 1 von  fälschlich {shown}: Verlangt der Prompt")


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("nothing", {}),
        ("partial", {"given": 1, "items": 2}),
        ("partial", {"given": 1, "items": 2, "count": "many"}),
        ("partial", {"given": 1, "items": 2, "count": [3]}),
        ("truncated", {"count": {"key": "answers", "values": {"number": {}}}, "given": 1}),
        ("wrong_type", {"answers": {"key": "answers"}}),
        ("truncated", {"count": 10**5000, "given": 1}),
    ],
)
def test_what_is_no_message_is_refused(key, values):
    with pytest.raises(ValueError, match=r"no message|no part|format|digits|Cannot specify"):
        in_words(key, values)


def test_a_record_of_before_has_its_message_in_english():
    assert in_language(RunWarning("ids", None, 1, 2, [], "1 of 2 items"), "de") == (
        "1 of 2 items",
        "en",
    )
