import pytest

from hdbench.scoring.person_names import read_name


@pytest.mark.parametrize(
    ("name", "surname"),
    [
        ("Muster, Anna", "muster"),
        ("Anna MUSTER", "muster"),
        ("Herrn Direktor Dr. A. Muster", "muster"),
        ("Muster-Beispiel, Anna", "muster"),
        ("Dr.A. Muster - von Beispiel", "muster"),
        ("Anna Muster – Beispiel", "muster"),
        ("A. von Muster", "muster"),
        ("Otto Muster jun.", "muster"),
        ("sig. Muster:", "muster"),
        ("O'Muster", "o'muster"),
        ("Herrn A. Muster, Präsident der Muster A.-G.", "muster"),
        ("Herr A. Muster i/Fa. Beispiel & Co.", "muster"),
        ("Herr Dr. Muster Advokat & Notar", "muster"),
        ("A. G. Muster", "muster"),
        ("Regierungsrat Muster", "muster"),
        ("Mu\u0308ster", "müster"),
        ("A.", None),
        ("Herr", None),
        ("Dr.", None),
        ("1926", None),
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
        "Muster A.G.",
        "MUSTER A. G.",
        "Dr. Muster AG",
        "Muster G.m.b.H.",
        "Muster & Co.",
        "Gebr. Muster",
        "i/Fa. Muster",
        "Herren Muster, Beispiel & Cie.",
        "Musterschiffahrtsgesellschaft",
        "Muster-\nAktiengesellschaft",
        "Verein für Muster",
        "Departement des Innern",
        "Direktion der Muster",
        "An den Vorstand",
        "Schiffahrtsamt des Kantons",
        "Elektrizitätswerk Basel",
        "Nationalbank",
        "Swiss Federal Council",
        "Der Präsident",
        "Herr Vizepräsident",
        "Herrn Präsidenten der Muster",
        "Geschäftsführer:",
        "Advokat und Notar",
        "Stadtrat",
        "Minister of Examples",
    ],
)
def test_an_organisation_or_office_has_no_surname(name):
    assert read_name(name) == (None, True)
