"""The datasets of records, lists and transcriptions, built from the published files."""

import json
import re

import pytest
from helpers.lost_answers import FOLDERS, table_of

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.slow

ROWS = {"bibliography": 5, "blacklist": 33, "companylists": 15, "manuscripts": 12, "advertxml": 50}


@pytest.fixture(scope="module")
def source(shared):
    return shared / "upstream/humanities_data_benchmark"


@pytest.fixture(scope="module")
def hdb(source, tmp_path_factory):
    """A namespace folder with the five."""
    out = tmp_path_factory.mktemp("records") / "hdb"
    for name in FOLDERS:
        build(find_recipe(name), out, source=source, accept_licence=True)
    return out


def of_protocol(hdb, protocol):
    return {
        name: {
            item.id: item.reference(protocol) for item in load_benchmark(str(hdb / name)).items()
        }
        for name in FOLDERS
    }


@pytest.fixture(scope="module")
def truths(hdb):
    """Benchmark → id → ground truth."""
    return of_protocol(hdb, "documented")


@pytest.fixture(scope="module")
def kept(hdb):
    """Benchmark → id → ground truth as published."""
    return of_protocol(hdb, "published")


def published(source, name):
    """Id → what the published file has, read here without hdbench."""
    folder = source / "benchmarks" / FOLDERS[name] / "ground_truths"
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


def test_no_item_is_missing_and_none_is_too_many(truths):
    assert {name: len(items) for name, items in truths.items()} == ROWS
    entries = {
        name: sum(len(truth["entries"]) for truth in truths[name].values())
        for name in ("bibliography", "companylists")
    }
    assert entries == {"bibliography": 82, "companylists": 353}


@pytest.mark.parametrize("name", ["bibliography", "blacklist", "companylists"])
def test_what_was_published_is_kept_whole(source, kept, name):
    assert kept[name] == published(source, name)


def test_text_is_the_published_one_and_only_its_repair_is_scored(source, hdb, truths):
    broken = source / "benchmarks/book_advert_xml/texts"
    shown = load_benchmark(str(hdb / "advertxml")).shown()
    assert set(shown) == {f"line_{number}" for number in range(1, 51)}
    for item, truth in published(source, "advertxml").items():
        assert truths["advertxml"][item] == {"fixed_xml": truth["fixed_xml"]}
        text = json.loads((broken / f"{item}.json").read_text())["xml_string"]
        assert shown[item].text == text


@pytest.fixture(scope="module")
def corrected(truths, kept):
    """Benchmark → the items whose ground truth is corrected."""
    return {
        name: {item for item, truth in items.items() if truth != kept[name][item]}
        for name, items in truths.items()
    }


def test_the_bibliography_s_fields_have_one_spelling(truths, kept, corrected):
    assert corrected["bibliography"] == {"page_10"}
    spelt = json.dumps(list(truths["bibliography"].values()))
    # One of the places is in a reprint; what an article is part of has no other spelling.
    assert spelt.count('"publisher_place":') == 7 + 1 + 26
    assert spelt.count('"container_title":') == 12 + 36
    assert set(re.findall(r'"(\w+-[\w-]+)":', spelt)) == {"part-of"}
    as_published = json.dumps(kept["bibliography"]["page_10"])
    assert as_published.count('"publisher-place":') == 7 + 1


def test_every_card_of_the_black_list_has_a_list_of_blocks(truths, kept, corrected):
    cards = truths["blacklist"]
    assert corrected["blacklist"] == {
        *("638948506246463270_1_u_003", "638948514122960907_37_u_087"),
    }
    for item in corrected["blacklist"]:
        assert cards[item]["information"] == []
        assert kept["blacklist"][item]["information"] == ""
    assert sum(len(card["information"]) for card in cards.values()) == 70


def test_what_the_cards_say_of_the_truths_is_so(hdb, truths):
    places = [
        entry["location"] for page in truths["companylists"].values() for entry in page["entries"]
    ]
    assert (places.count("null"), len(places)) == (82, 353)
    rows = {
        name: list(map(json.loads, (hdb / name / "metadata.jsonl").read_text().splitlines()))
        for name in FOLDERS
    }
    assert sum(row["with_location"] for row in rows["companylists"]) == 271
    assert sum(row["well_formed"] for row in rows["advertxml"]) == 34
    assert sum("√" in row["text"] for row in rows["advertxml"]) == 49
    assert sum(row["number_of_fixes"] == 0 for row in rows["advertxml"]) == 11
    numbers = {row["page_number"]: json.loads(row["ground_truth"]) for row in rows["bibliography"]}
    in_truth = {given: truth["metadata"]["page_number"] for given, truth in numbers.items()}
    assert in_truth == {2: 1, 3: 2, 4: 4, 5: 4, 10: 9}
    assert sum(row["date"] is None for row in rows["blacklist"]) == 27
    assert [row["leaf"] for row in rows["manuscripts"]][:3] == ["3r", "73r", "90r"]
    assert sum(row["folio"] is not None for row in rows["manuscripts"]) == 5


def test_the_truths_have_the_form_that_the_schemas_ask_for(hdb, truths):
    wrong = [
        (name, violation.field, violation.rule)
        for name, items in truths.items()
        for schema in [load_benchmark(str(hdb / name)).answer_schema()]
        for truth in items.values()
        for violation in schema.violations(truth)
    ]
    assert sorted(wrong) == [
        ("bibliography", "entries[].id", "required"),
        *[("bibliography", "entries[].title", "required")] * 5,
    ]


@pytest.mark.parametrize("name", ["bibliography", "blacklist", "companylists", "advertxml"])
def test_the_card_says_what_reading_lost_answers_changes(hdb, shared, name):
    table = table_of(load_benchmark(str(hdb / name)), shared)
    assert len(table) > 2
    assert "\n".join(table) in (hdb / name / "README.md").read_text()


def test_no_lost_answer_of_the_manuscripts_has_a_text(hdb, shared):
    assert len(table_of(load_benchmark(str(hdb / "manuscripts")), shared)) == 2


@pytest.mark.parametrize("name", FOLDERS)
def test_the_prompt_is_the_published_one(source, hdb, name):
    prompts = source / "benchmarks" / FOLDERS[name] / "prompts"
    assert (hdb / name / "prompt.txt").read_bytes() == (prompts / "prompt.txt").read_bytes()
    short = hdb / name / "prompt_min.txt"
    assert short.is_file() == (name == "companylists")
    if short.is_file():
        assert short.read_bytes() == (prompts / "prompt_min.txt").read_bytes()


@pytest.mark.parametrize("name", FOLDERS)
def test_it_is_not_built_before_its_licence_is_accepted(source, tmp_path, name):
    with pytest.raises(HdbenchError, match=r"licence \(other\) is not an open one"):
        build(find_recipe(name), tmp_path / "hdb", source=source)


def test_the_options_of_the_protocols_are_data(hdb):
    specs = {name: load_benchmark(str(hdb / name)).spec for name in FOLDERS}
    for name, spec in specs.items():
        assert spec.protocols == find_recipe(name).spec.protocols
        assert list(spec.protocols) == ["documented", "published"]
    companies = specs["companylists"].protocols["documented"]
    assert companies["blank"] == [None, "null"]
    assert companies["ignore"] == ["page_id", "entries[].entry_id"]
