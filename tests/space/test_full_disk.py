"""The editor on a server whose disk is full, and its accounts."""

import json
import tempfile

import pytest
from annotating.pages import write_collection
from helpers.small_disk import FORMS, is_saved, small_disk
from starlette.testclient import TestClient

from hdbench.annotating.store import Store
from hdbench.space.annotate.accounts import add_account, read_accounts
from hdbench.space.annotate.pages import Annotate
from hdbench.space.context import SpaceContext


@pytest.mark.parametrize("form", FORMS)
def test_saved_work_survives_a_full_disk_and_the_rest_is_refused(tmp_path, monkeypatch, form):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    anna = ("anna", add_account(tmp_path / "accounts", "anna"))
    saved, refused = [], 0
    with small_disk(tmp_path / "disk", form) as disk:
        cards = write_collection(disk.folder / "cards")
        where = {"annotate": disk.folder, "accounts": tmp_path / "accounts"}
        limits = {"max_per_account": 2**20, "max_annotated": 2**20}
        annotate = Annotate(SpaceContext(tmp_path, **where, **limits))
        client = TestClient(annotate, base_url="https://space.example")

        def comment(text):
            head = client.get("/cards/items/0", auth=anna).json()["state"]["head"]
            asked = {"what": "comment", "field": "", "to": text, "after": head.get("comment")}
            headers = {"accept-language": "de"}
            told = client.post("/cards/items/0/change", json=asked, auth=anna, headers=headers)
            if told.status_code == 200:
                saved.append(text)
                return True
            assert (told.status_code, list(told.json())) == (507, ["error"])
            assert told.json()["error"].endswith(": Platz schaffen")
            return False

        for number in range(20):
            disk.fill()
            refused += not comment(f"{number} " + "ü" * 800)
            comment(f"{number} short")
            disk.make_room()
            assert comment(f"{number} there is room")
        annotate.close()
        lines = (cards / "history/anna.jsonl").read_text().splitlines()
        assert [json.loads(line)["to"] for line in lines] == saved
        with Store.open(cards, "anna") as store:
            assert store.notes == []
    assert refused > 5


def test_the_file_of_accounts_is_whole_whatever_the_disk_holds(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        path = disk.folder / "accounts"
        add_account(path, "anna")
        before = path.read_bytes()
        disk.fill(counted_from=disk.folder / "none")
        assert not is_saved(add_account, path, "ben")
        assert path.read_bytes() == before
        assert not list(disk.folder.glob(".accounts-*"))
        disk.make_room()
        add_account(path, "ben")
        assert list(read_accounts(path)) == ["anna", "ben"]
