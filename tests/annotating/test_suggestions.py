"""Values to choose from: those that other items have, then those of an authority file."""

import random

import httpx
import pytest
from annotating.pages import serving, write_collection
from playwright.sync_api import expect

from hdbench.collections.truth.suggestions import (
    AUTHORITIES,
    MAX_SUGGESTED,
    Authority,
    Suggestions,
    case_folded,
    read_authorities,
)
from hdbench.errors import HdbenchError


def read(folder, text, name="names.txt"):
    folder.joinpath(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / AUTHORITIES).write_text(f"name: {name}\n")
    return read_authorities(folder, ["name"])["name"]


def found(authority, typed):
    return [tuple(each) for each in authority.find(typed, 50)]


def test_suggestions_list_prefix_matches_before_inner_matches(tmp_path):
    names = read(tmp_path, "Brennecke, Ludwig\n\nLudwig\r\nMay\nLUDWIGSBURG\nMay\n")
    assert [value for value, _ in found(names, "ludwig")] == [
        "Ludwig",
        "LUDWIGSBURG",
        "Brennecke, Ludwig",
    ]
    assert len(found(names, "")) == 4
    assert found(names, "d\nl") == []


def test_letters_are_found_in_either_case_and_form(tmp_path):
    names = read(tmp_path, "\ufeffMu\u0308ller\nMaße\n")
    assert found(names, "MÜ") == found(names, "mu\u0308") == [("Müller", "")]
    assert found(names, "MASSE") == [("Maße", "")]


@pytest.mark.parametrize(
    "text",
    [
        "Müller, Karl;118585053\nFrey\n",
        '"Müller, Karl",118585053,more\nFrey,\n',
        "Müller, Karl\t118585053\nFrey\t\n",
    ],
)
def test_a_table_has_the_value_first_and_then_an_identifier(tmp_path, text):
    names = read(tmp_path, text, "names.csv")
    assert found(names, "m") == [("Müller, Karl", "118585053")]
    assert found(names, "frey") == [("Frey", "")]


def test_the_naive_search_finds_the_same():
    chance = random.Random(1)
    values = {"".join(chance.choices("abÄß ", k=chance.randint(1, 6))).strip() or "a": ""}
    values |= {"".join(chance.choices("abÄß ", k=chance.randint(1, 6))): "" for _ in range(300)}
    authority = Authority(values)
    for _ in range(300):
        typed = "".join(chance.choices("aBäß ", k=chance.randint(0, 3)))
        wanted = case_folded(typed)
        expected = [each for each in values if case_folded(each).startswith(wanted)]
        expected += [
            each for each in values if wanted in case_folded(each) and each not in expected
        ]
        for most in (3, 1_000):
            assert [each.value for each in authority.find(typed, most)] == expected[:most]


def test_values_already_given_come_first_and_no_more_than_fifty(tmp_path):
    authority = read(tmp_path, "".join(f"Basel {n};{n}\n" for n in range(100)), "places.csv")
    suggestions = Suggestions({"places[].name": authority})
    for name in ("Basel 70", "Zürich", "Unterbasel", "Basel 70"):
        suggestions.add({"places": [{"name": name}]})
    told = suggestions.of("places[3].name", "basel")
    assert len(told) == MAX_SUGGESTED == 50
    assert told[:3] == [("Basel 70", ""), ("Unterbasel", ""), ("Basel 0", "0")]
    assert suggestions.of("places[3].name", "zü") == [("Zürich", "")]
    assert suggestions.of("title", "basel") == []


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "cards").mkdir()
    (tmp_path / "secret.txt").write_text("secret\n")
    (tmp_path / "cards/names.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "cards" / AUTHORITIES).write_text("name: names.txt\n")
    with pytest.raises(HdbenchError, match="leads out of"):
        read_authorities(tmp_path / "cards", ["name"])


@pytest.mark.nightly
def test_the_page_suggests_what_fits_while_typing(tmp_path, visit_at):
    folder = write_collection(tmp_path / "cards", [None, {"persons": [{"name": "Freytag"}]}])
    rows = "".join(f"Frey, Nr {number};11{number}\n" for number in range(60))
    (folder / "names.csv").write_text(rows + "<b>Zwingli</b>;118637533\n")
    (folder / AUTHORITIES).write_text("persons[].name: names.csv\n")
    with serving(folder) as served:
        page = visit_at(served.url, awaited="#id:not(:empty)")
        page.get_by_role("button", name="Add: Persons").click()
        options = page.locator("#suggested li")
        expect(options).to_have_count(50)
        assert options.first.get_attribute("data-value") == "Freytag"
        page.keyboard.type("zwing")
        expect(options).to_have_count(1)
        assert options.get_attribute("data-value") == "<b>Zwingli</b>"
        expect(options).to_have_text("<b>Zwingli</b> 118637533")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Name")).to_have_value("<b>Zwingli</b>")
        page.get_by_role("button", name="Add: Keywords").click()
        expect(options).to_have_count(0)
        hostile = {"field": "persons[0].name", "typed": "\ud800\n"}
        query = "&".join(f"{key}=%ED%A0%80%0A" for key in hostile)
        assert httpx.get(f"{served.url}suggest?{query}", timeout=120).json() == []
