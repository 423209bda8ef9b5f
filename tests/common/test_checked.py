"""Values that people write, checked; and what is said about those that do not fit."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

import pytest
from pydantic import Field, StringConstraints, ValidationError, field_validator

from hdbench.common.checked import Strict, check_file, read_yaml, unfit, validate
from hdbench.common.translation import translated
from hdbench.errors import HdbenchError, Message


class Inner(Strict):
    number: int = 0


class Card(Strict):
    title: str = ""
    media: Literal["image", "pages", "text"] = "text"
    short: Annotated[str, StringConstraints(min_length=1, max_length=3, pattern="^a")] = "a"
    count: Annotated[int, Field(ge=1, le=4)] = 1
    share: float = 0.5
    day: date = date(1900, 1, 1)
    key: UUID | None = None
    names: Annotated[tuple[str, ...], Field(min_length=1)] = ("a",)
    inner: Inner = Inner()
    is_new: bool = False

    @field_validator("title")
    @classmethod
    def _is_no_place(cls, title: str) -> str:
        if title == "Basel":
            raise unfit(Message("{name!r} is not one of the columns", name=title))
        return title


@pytest.mark.parametrize(
    ("card", "german"),
    [
        ({"title": "Basel"}, "title: 'Basel' ist keine der Spalten"),
        ({"title": 3}, "title: muss ein Text sein"),
        ({"titel": "x"}, "titel: ist hier nicht möglich"),
        ({"media": "film"}, "media: möglich ist nur 'image', 'pages' oder 'text'"),
        ({"short": ""}, "short: muss mindestens 1 Zeichen haben"),
        ({"short": "abcd"}, "short: darf höchstens 3 Zeichen haben"),
        ({"short": "b"}, "short: muss zum Muster '^a' passen"),
        ({"count": 0}, "count: muss mindestens 1 sein"),
        ({"count": 5}, "count: darf höchstens 4 sein"),
        ({"count": "many"}, "count: muss eine ganze Zahl sein"),
        ({"count": 1.5}, "count: muss eine ganze Zahl sein"),
        ({"share": "half"}, "share: muss eine Zahl sein"),
        ({"day": "1.5."}, "day: muss ein Datum sein (input is too short)"),
        ({"names": "x"}, "names: muss eine Liste sein"),
        ({"names": []}, "names: Tuple: mindestens 1 Element, nicht 0"),
        ({"inner": 3}, "inner: muss ein Objekt sein (Inner)"),
        ({"inner": {"number": []}}, "inner.number: muss eine ganze Zahl sein"),
        ({"is_new": "perhaps"}, "is_new: muss true oder false sein"),
        ([], "die Datei: muss ein Objekt sein (Card)"),
    ],
)
def test_misfits_are_explained_in_english_and_german(card, german):
    with pytest.raises(ValidationError) as expected:
        Card.model_validate(card)
    first = expected.value.errors()[0]
    key = ".".join(first["loc"]) or "the file"
    with pytest.raises(HdbenchError) as found:
        validate(Card, card, Path("card.yaml"))
    assert str(found.value) == f"card.yaml: {key}: {first['msg']}"
    assert translated(found.value.message, "de") == f"card.yaml: {german}"


def test_what_the_system_says_about_a_file_is_put_into_german(tmp_path):
    with pytest.raises(HdbenchError) as found:
        read_yaml(tmp_path / "none.yaml")
    assert (
        str(found.value) == f"{tmp_path / 'none.yaml'}: cannot be read: No such file or directory"
    )
    assert translated(found.value.message, "de") == (
        f"{tmp_path / 'none.yaml'}: nicht lesbar: Datei oder Verzeichnis nicht gefunden"
    )


def test_a_folder_is_no_plan(tmp_path):
    with pytest.raises(HdbenchError) as found:
        check_file(tmp_path, 2**20, "a plan")
    assert str(found.value) == f"{tmp_path}: not a file, so it cannot be a plan"
    assert (
        translated(found.value.message, "de") == f"{tmp_path}: keine Datei; erwartet wird ein Plan"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a: 1\nb: "\\ud800"', "line 2: half a character (\\ud800)"),
        ('"\\udfff": 1', "line 1: half a character (\\ud800)"),
        ("a: .inf", "line 1: .inf is not a usable number"),
        ("a: -.inf", "line 1: -.inf is not a usable number"),
        ("a: .nan", "line 1: .nan is not a usable number"),
        ("a: 1.0e+999", "line 1: 1.0e+999 is not a usable number"),
        ("a: " + "1" * 5_000, "a number has too many digits: shorten it, or put it in quotes"),
    ],
)
def test_yaml_has_nothing_that_json_in_utf_8_cannot_hold(tmp_path, text, expected):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(HdbenchError) as caught:
        read_yaml(tmp_path / "a.yaml")
    assert str(caught.value) == f"{tmp_path / 'a.yaml'}: not YAML: {expected}"


def test_yaml_in_json_s_escapes_is_read(tmp_path):
    (tmp_path / "a.yaml").write_text('{"a": "\\ud83d\\ude00", "b": 1.5, "c": 0x10}')
    assert read_yaml(tmp_path / "a.yaml") == {"a": "😀", "b": 1.5, "c": 16}
