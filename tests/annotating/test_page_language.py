"""What the server refuses is told in the language of the page."""

import pytest
from annotating.checking.plans import write_plan
from annotating.checking.serving_plan import FilePlan
from annotating.pages import write_collection
from helpers.waiting import until
from starlette.testclient import TestClient

from hdbench.collections.truth.reading_page import ValueCheck
from hdbench.collections.truth.server import build_app

PLACE = "http://localhost/token/"


@pytest.fixture
def folder(tmp_path):
    folder = write_collection(tmp_path / "cards")
    (folder / "images/card.png").unlink()
    (folder / "images/card.png").mkdir()
    return folder


def in_both(client, path, **sent):
    """An answer in English and in German."""
    ask = client.post if sent else client.get
    return [ask(path, headers={"accept-language": each}, **sent) for each in ("en", "de-CH,en")]


def test_the_check(folder, tmp_path):
    plan = write_plan(tmp_path / "plan", [("b1", "title")])
    check = ValueCheck(folder, FilePlan(plan), "anna", None)
    client = TestClient(build_app(check, "token"), base_url=PLACE)
    english, german = in_both(client, "values/9")
    assert english.json() == {"error": "value 10 does not exist"}
    assert german.json() == {"error": "Einen Wert 10 gibt es nicht"}
    read = {"what": "damaged", "value": None, "seconds": 1, "after": None}
    assert client.post("values/0/read", json=read).json()["phase"] == "ready"
    plan.with_name("fails").touch()
    client.post("go-on", json={"stage": 0})
    until(lambda: client.get("state").json()["problem"])
    english, german = in_both(client, "state")
    assert english.json()["problem"] == "answers.jsonl: no such file or folder"
    assert german.json()["problem"] == "answers.jsonl: Datei oder Ordner nicht gefunden"
    check.close()
