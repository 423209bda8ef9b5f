"""The reconciliation service, by the forms and rules of its specification."""

import json

import httpx
import pytest
from authorities.reconciling import (
    EXTENDED,
    MANIFEST,
    PROPOSED,
    RESULTS,
    SUGGESTED,
    served,
    write_files,
)
from jsonschema import validate
from starlette.testclient import TestClient

from hdbench.authorities.reconciliation import MAX_CANDIDATES, MAX_QUERIES, read_reconciliation
from hdbench.authorities.server import MAX_BODY, build_app
from hdbench.errors import HdbenchError

BASE = "http://127.0.0.1:7871"


@pytest.fixture
def client(tmp_path):
    service = read_reconciliation(write_files(tmp_path))
    return TestClient(build_app(service), base_url=BASE)


def asked(client, *queries):
    """The results of queries, sent as OpenRefine does."""
    batch = {f"q{number}": query for number, query in enumerate(queries)}
    response = client.post("/", data={"queries": json.dumps(batch)})
    assert response.status_code == 200, response.text
    validate(response.json(), RESULTS)
    return [response.json()[key]["result"] for key in batch]


def short(results):
    return [(each["id"], each["score"], each["match"]) for each in results]


def test_the_manifest_names_its_places_and_types(client):
    manifest = client.get("/").json()
    validate(manifest, MANIFEST)
    assert [each["id"] for each in manifest["defaultTypes"]] == ["persons", "places"]
    assert manifest["preview"]["url"] == f"{BASE}/preview?id={{{{id}}}}"
    for place in manifest["suggest"].values():
        response = client.get(place["service_url"] + place["service_path"], params={"prefix": "r"})
        validate(response.json(), SUGGESTED)
    assert manifest["batchSize"] == MAX_QUERIES


@pytest.mark.parametrize(
    ("text", "space", "view"),
    [
        ("Basel;4004617-5\n", "https://d-nb.info/gnd/", "https://d-nb.info/gnd/{{id}}"),
        ("Basel;Q78\n", "http://www.wikidata.org/entity/", "http://www.wikidata.org/entity/{{id}}"),
        ("Basel;Q78\nBern;b2\n", "urn:hdbench:authority", f"{BASE}/preview?id={{{{id}}}}"),
    ],
)
def test_the_ids_say_where_they_are_shown(tmp_path, text, space, view):
    (tmp_path / "places.csv").write_text(text)
    manifest = read_reconciliation([tmp_path / "places.csv"]).manifest(BASE)
    assert (manifest["identifierSpace"], manifest["view"]["url"]) == (space, view)


def test_only_an_unambiguous_name_is_a_match(client):
    results = asked(
        client,
        {"query": "müller,  KARL"},  # the same to the letter
        {"query": "Karl Muller"},  # the same but for order, accents and punctuation
        {"query": "Frey, Max"},  # two persons
        {"query": "Frey, Max", "limit": 1},  # of whom only one is wanted
        {"query": "Frey, Anna"},  # a person, and a place
        {"query": "Frey, Anna", "type": "persons"},
    )
    assert short(results[0])[0] == ("118585053", 100, True)
    assert short(results[1])[0] == ("118585053", 99, False)
    assert short(results[2])[:2] == [("11", 100, False), ("12", 100, False)]
    assert short(results[3]) == [("11", 100, False)]
    assert short(results[4])[:2] == [("118535676", 100, False), ("Q1", 100, False)]
    assert short(results[5])[0] == ("118535676", 100, True)


def test_an_identifier_finds_what_it_stands_for(client):
    by_id, of_another_type = asked(
        client, {"query": "Q78"}, {"query": "118535676", "type": "places"}
    )
    assert short(by_id)[0] == ("Q78", 100, True)
    assert "118535676" not in [each["id"] for each in of_another_type]
    suggested = client.get("/suggest/entity", params={"prefix": " 118535676"}).json()["result"]
    assert suggested[0] == {
        "id": "118535676",
        "name": "Frey, Anna",
        "notable": [{"id": "persons", "name": "persons"}],
    }


def suggested(client, what, **params):
    response = client.get(f"/suggest/{what}", params=params)
    assert response.status_code == 200, response.text
    return [each["id"] for each in response.json()["result"]]


def test_suggestions_go_on_where_the_last_ones_ended(tmp_path):
    names = "".join(f"Karlsdorf {number:02};{number + 1}\n" for number in range(45))
    (tmp_path / "places.csv").write_text(names)
    client = TestClient(build_app(read_reconciliation([tmp_path / "places.csv"])), base_url=BASE)
    pages = [suggested(client, "entity", prefix="Karlsdorf", cursor=n) for n in (0, 20, 40, 60)]
    assert [len(page) for page in pages] == [20, 20, 5, 0]
    assert len({each for page in pages for each in page}) == 45
    assert suggested(client, "entity", prefix="Karlsdorf") == pages[0]
    assert suggested(client, "entity", prefix="Karlsdorf", cursor=10**8) == []


def test_types_and_properties_are_found_in_either_case(client):
    assert suggested(client, "type", prefix="P") == ["persons", "places"]
    assert suggested(client, "type", prefix="PLA") == ["places"]
    assert suggested(client, "type", prefix="p", cursor=1) == ["places"]
    assert suggested(client, "property", prefix="First Name") == ["rest"]


@pytest.mark.parametrize("value", ["-1", "x", "1.5", "9" * 30])
def test_an_unusable_cursor_or_limit_is_one_line(client, value):
    for path, name in (("/suggest/entity", "cursor"), ("/properties", "limit")):
        response = client.get(path, params={name: value})
        assert response.status_code == 400
        assert response.json() == {"error": f"{name}: must be a whole number, 0 or more"}


def test_another_name_finds_the_preferred_one(client):
    ((first, *_),) = asked(client, {"query": "bâle", "type": ["places"]})
    assert first == {
        "id": "Q78",
        "name": "Basel",
        "description": "Basle; Bâle",
        "type": [{"id": "places", "name": "places"}],
        "score": 100,
        "match": True,
    }


def test_the_rest_of_a_name_comes_from_another_column(client):
    rest = [{"pid": "rest", "v": "Anna"}, {"pid": "born", "v": 1850}]
    alone, together = asked(
        client,
        {"query": "Frey", "type": "persons"},
        {"query": "Frey", "type": "persons", "properties": rest},
    )
    assert not any(each["match"] for each in alone)
    assert short(together)[0] == ("118535676", 100, True)


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"query": ""},
        {"query": "†"},
        {"query": None, "limit": "x", "type": 7, "properties": "x"},
        {"query": "Basel", "type": "ships"},
        {"query": "x" * 501},
        {"query": "\ud800"},
        {"query": "Basel\nBern", "properties": [None, {"pid": "rest", "v": {"id": 1}}]},
        {"query": "Basel", "limit": -1},
        {"query": "Basel", "limit": 10**9},
    ],
)
def test_odd_queries_are_answered(client, query):
    (results,) = asked(client, query)
    assert len(results) <= MAX_CANDIDATES


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({"queries": "{"}, "queries: not JSON"),
        ({"queries": "[]"}, "queries: must be an object of queries"),
        ({"queries": '{"q0": 7}'}, "queries: must be an object of queries"),
        ({"queries": json.dumps({f"q{n}": {} for n in range(MAX_QUERIES + 1)})}, "more than 100"),
        ({"extend": '{"ids": []}'}, "extend: must be an object"),
        ({"extend": '{"ids": "Q78", "properties": []}'}, "extend: must be an object"),
        ({"extend": '{"ids": [78], "properties": []}'}, "extend: must be an object"),
        ({"queries": "x" * MAX_BODY}, "more than 1 MiB"),
    ],
)
def test_an_unusable_request_is_one_line(client, sent, why):
    response = client.post("/", data=sent)
    assert response.status_code == 400
    assert why in response.json()["error"]


def test_a_table_is_extended_by_names_and_addresses(client):
    proposed = client.get("/properties", params={"type": "places"}).json()
    validate(proposed, PROPOSED)
    limited = client.get("/properties", params={"type": "places", "limit": 1}).json()
    validate(limited, PROPOSED)
    assert (len(limited["properties"]), limited["limit"]) == (1, 1)
    extension = {"ids": ["Q78", "Q999"], "properties": proposed["properties"]}
    extended = client.post("/", data={"extend": json.dumps(extension)}).json()
    validate(extended, EXTENDED)
    assert [each["id"] for each in extended["meta"]] == ["names", "address"]
    assert extended["rows"] == {
        "Q78": {
            "names": [{"str": "Basel"}, {"str": "Basle"}, {"str": "Bâle"}],
            "address": [{"str": "http://www.wikidata.org/entity/Q78"}],
        },
        "Q999": {"names": [], "address": []},
    }


def test_a_preview_is_harmless(tmp_path):
    (tmp_path / "a.csv").write_text('<script>alert(1)</script>;"https://a.org/""><b>"\n')
    service = read_reconciliation([tmp_path / "a.csv"])
    client = TestClient(build_app(service), base_url=BASE)
    page = client.get("/preview", params={"id": 'https://a.org/"><b>'})
    assert "<script>" not in page.text
    assert '"><b>' not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert client.get("/preview", params={"id": "nobody"}).status_code == 404


def test_only_pages_of_this_machine_may_read(client):
    openrefine = {"origin": "http://127.0.0.1:3333"}
    response = client.get("/", headers=openrefine)
    assert response.headers["access-control-allow-origin"] == openrefine["origin"]
    for origin in ("https://evil.example", "http://127.0.0.1.evil.example", "null"):
        refused = client.get("/", headers={"origin": origin})
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    callback = client.get("/", params={"callback": "steal"})
    assert callback.json()["versions"] == ["0.2"]  # JSON, and not a script


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.csv": "Basel\nBern\n"}, "a.csv: has no identifiers"),
        ({"a.csv": "Basel;Q78\n", "b/a.csv": "Bern;Q70\n"}, "another file has this name"),
        ({"a.csv": ""}, "has no values"),
    ],
)
def test_unusable_files_are_refused(tmp_path, files, why):
    (tmp_path / "b").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(HdbenchError, match=why):
        read_reconciliation([tmp_path / name for name in files])


def test_the_command_serves_until_it_is_ended(tmp_path, capfd):
    with served(write_files(tmp_path)) as url:
        assert url.startswith("http://127.0.0.1:")
        asked = {"queries": json.dumps({"q0": {"query": "Basle", "type": "places"}})}
        response = httpx.post(url, data=asked, timeout=60)
        assert short(response.json()["q0"]["result"])[0] == ("Q78", 100, True)
    assert "1 line without an identifier is left out" in capfd.readouterr().err
