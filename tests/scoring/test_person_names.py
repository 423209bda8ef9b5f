import pytest

from hdbench.scoring.letters_f1 import read_name


@pytest.mark.parametrize(
    ("name", "surname"),
    [
        ("Muster, Anna", "muster"),
        ("Anna MUSTER", "muster"),
        ("Herrn Direktor Dr. A. Muster", "muster"),
        ("Muster-Beispiel, Anna", "muster"),
        ("A. von Muster", "muster"),
        ("Otto Muster jun.", "muster"),
        ("O'Muster", "o'muster"),
        ("Herrn A. Muster, Präsident der Muster A.-G.", "muster"),
        ("Herr A. Muster i/Fa. Beispiel & Co.", "muster"),
        ("Herr Dr. Muster Advokat & Notar", "muster"),
        ("A. G. Muster", "muster"),
        ("Mu\u0308ster", "müster"),
        ("A.", None),
        ("Dr.", None),
        ("", None),
        ("\ud800", None),
        ("Muster " * 100, None),
    ],
)
def test_a_person_is_read_by_the_surname(name, surname):
    assert read_name(name) == (surname, False)


@pytest.mark.parametrize(
    "name",
    [
        "Muster AG",
        "Muster A.-G., Basel",
        "Muster G.m.b.H.",
        "Muster & Co.",
        "i/Fa. Muster",
        "Herren Muster, Beispiel & Cie.",
        "Muster-\nAktiengesellschaft",
        "Verein für Muster",
        "Departement des Innern",
        "Schiffahrtsamt des Kantons",
        "Der Präsident",
        "Herrn Präsidenten der Muster",
        "Advokat und Notar",
    ],
)
def test_an_organisation_or_office_has_no_surname(name):
    assert read_name(name) == (None, True)
