"""Scans that are added to a collection that exists."""

import json
import random
import threading
import time
from contextlib import suppress

import httpx
import pytest
from annotating.pages import truths
from home.asking import alert, picture, send, upload
from home.collections import make_collection, write_scans
from home.served import ServedHome
from PIL import Image

from hdbench.collections.home.folder import key_of
from hdbench.collections.truth.store import Store

SHEET = "id;Titel;Jahr\nn1;Neu;1950\nc0;Anders;1\n"


def begin(client, at):
    """Press the button, and return the address of the addition."""
    return begun(client, f"{at}scans/add")


def begin_new(client, place):
    """Begin a collection, and return its address."""
    return begun(client, "/new/begin", title="Cards", place=str(place))


def begun(client, path, **form):
    shown = send(client, path, **form)
    assert shown.status_code == 200
    return str(shown.url).partition(client.base_url.path.rstrip("/"))[2]


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_new_items_come_behind_those_that_stay(client, at, folder):
    before = files(folder)
    new = begin(client, at)
    same = (folder / "images/c1.png").read_bytes()
    for name, data in (
        ("n1.png", picture("red")),
        ("n 2.png", picture("blue")),
        ("c1.png", same),
        ("c2.png", picture("black")),
    ):
        assert upload(client, f"{new}/scans", name, data).json() == {}
    shown = client.get(new).text
    assert "<h1>2 new items, 0 with a ground truth</h1>" in shown
    assert "1 item with the same scan, which is left out: c1" in shown
    assert "another scan of this name, so this one is left out: c2" in shown
    made = send(client, f"{new}/write")
    assert "2 of 6 items have a ground truth" in made.text
    after = files(folder)
    old, rows = before.pop("metadata.jsonl"), after["metadata.jsonl"]
    assert rows.startswith(old)
    added = [json.loads(line) for line in rows[len(old) :].splitlines()]
    assert [(row["id"], row["file_name"], row["ground_truth"]) for row in added] == [
        ("n1", "images/n1.png", None),
        ("n 2", "images/n_2.png", None),
    ]
    assert after["images/n1.png"] == picture("red")
    assert before.items() <= after.items()
    assert not list(folder.parent.glob(".*add"))
    assert client.get(f"{at}small/5").headers["content-type"] == "image/webp"


def test_sheet_fills_the_new_items_alone(client, at, folder):
    before = truths(folder)
    new = begin(client, at)
    for name in ("n1.png", "n2.png"):
        upload(client, f"{new}/scans", name, picture("red"))
    upload(client, f"{new}/truth", "sheet.csv", SHEET.encode())
    shown = client.get(new).text
    assert "<h1>2 new items, 1 with a ground truth</h1>" in shown
    assert "without an image, which are left out: 1: c0" in shown
    wrong = send(client, f"{new}/save", **{"column:Titel": "author"})
    assert alert(wrong).startswith("Titel=author: &#39;author&#39; does not fit")
    send(client, f"{new}/write")
    assert truths(folder) == before | {"n1": {"titel": "Neu", "jahr": 1950}, "n2": None}


def test_ground_truth_that_does_not_fit_the_fields_is_refused(client, at):
    new = begin(client, at)
    upload(client, f"{new}/scans", "n1.png", picture("red"))
    upload(
        client,
        f"{new}/truth",
        "n.jsonl",
        b'{"id": "n1", "ground_truth": {"titel": "Neu", "jahr": null, "ort": "Bern"}}\n',
    )
    assert "unlike in the collection&#39;s other ground truths" in alert(client.get(new))


def test_scan_of_another_kind_does_not_spoil_what_is_there(client, at):
    new = begin(client, at)
    upload(client, f"{new}/scans", "n1.png", picture("red"))
    told = upload(client, f"{new}/scans", "n2.pdf", b"%PDF-1.4").json()["error"]
    assert told.startswith("n2.pdf: is not of the same kind as n1.png")
    assert "1 new item," in client.get(new).text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("n.png", b"no picture"),
        ("n.pdf", b"%PDF-1.4 and nothing"),
        ("n.pdf", picture()),
        ("n.png", picture()[:20]),
    ],
)
def test_unusable_scan_does_not_spoil_what_is_there(client, recent, tmp_path, name, data):
    new = begin_new(client, tmp_path)
    told = upload(client, f"{new}/scans", name, data).json()["error"]
    assert told.startswith(("n.png: not an image", "n.pdf: not a PDF"))
    good, form = ("a.pdf", "PDF") if name == "n.pdf" else ("a.png", "PNG")
    upload(client, f"{new}/scans", good, picture(form=form))
    assert "<h1>1 item, 0 with a ground truth</h1>" in client.get(new).text


def test_scans_are_taken_back_and_the_sheet_stays(client, recent, tmp_path):
    new = begin_new(client, tmp_path)
    for name in ("a.png", "a.webp"):  # which would have the same id
        upload(client, f"{new}/scans", name, picture(form=name[2:]))
    upload(client, f"{new}/truth", "sheet.csv", b"id;Titel\nb;Faust\n")
    assert "and so the same id" in alert(client.get(new))
    assert str(tmp_path) not in alert(client.get(new))
    emptied = send(client, f"{new}/without-scans").text
    assert "<h1>Add the scans first.</h1>" in emptied
    upload(client, f"{new}/scans", "b.png", picture())
    assert "<h1>1 item, 1 with a ground truth</h1>" in client.get(new).text


def test_button_that_is_pressed_twice_adds_once(client, at, folder):
    new = begin(client, at)
    upload(client, f"{new}/scans", "n1.png", picture("red"))
    first, second = (send(client, f"{new}/write") for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.url == second.url == client.get(new).url
    assert list(truths(folder)) == ["c0", "c1", "c2", "c3", "n1"]


def test_what_was_begun_is_found_again(client, at):
    new = begin(client, at)
    upload(client, f"{new}/scans", "n1.png", picture("red"))
    assert begin(client, at) == new
    assert "1 new item," in client.get(new).text
    assert f'{new}">' in client.get("/").text


def test_file_that_is_no_item_is_not_replaced(client, at, folder):
    left, other = folder / "images/n1.png", folder / "images/n2.png"
    left.write_bytes(picture("red"))  # as after a kill
    other.write_bytes(b"somebody's own")
    new = begin(client, at)
    upload(client, f"{new}/scans", "n1.png", picture("red"))
    upload(client, f"{new}/scans", "n2.png", picture("blue"))
    assert "n2.png: exists already" in alert(send(client, f"{new}/write"))
    assert list(truths(folder)) == ["c0", "c1", "c2", "c3"]
    other.unlink()
    send(client, f"{new}/write")
    assert list(truths(folder)) == ["c0", "c1", "c2", "c3", "n1", "n2"]
    assert left.read_bytes() == picture("red")


def test_somebody_who_annotates_meanwhile_keeps_both(client, at, folder):
    with Store(folder, "anna") as store:
        new = begin(client, at)
        upload(client, f"{new}/scans", "n1.png", picture("red"))
        send(client, f"{new}/write")
        after = store.state("c2").head["ground_truth"]
        store.change("c2", "ground_truth", "", {"titel": "Faust"}, after=after, how="blind")
    assert truths(folder)["c2"] == {"titel": "Faust"}
    assert list(truths(folder))[-1] == "n1"
    send(client, f"{at}truth/annotate", name="anna")
    assert len(client.get(f"{at}annotate/anna/start").json()["items"]) == 5
    assert len(list((folder / "people").glob("metadata.jsonl.*"))) == 1  # only before the first


def test_pages_of_a_tiff_are_known_again(client, recent, tmp_path):
    pages = [Image.new("RGB", (9, 6), color) for color in ("red", "blue")]
    (tmp_path / "scans").mkdir()
    pages[0].save(tmp_path / "scans/c0.tif", save_all=True, append_images=pages[1:])
    new = begin_new(client, tmp_path)
    send(client, f"{new}/folder", images=str(tmp_path / "scans"))
    send(client, f"{new}/write")
    at = f"/{key_of(tmp_path / 'cards')}/"
    new = begin(client, at)
    pages[0].save(tmp_path / "scans/c1.png")
    send(client, f"{new}/folder", images=str(tmp_path / "scans"))
    assert "1 item with the same scan, which is left out: c0" in client.get(new).text
    send(client, f"{new}/write")
    rows = [json.loads(line) for line in (tmp_path / "cards/metadata.jsonl").open()]
    assert rows[1]["pages_file_names"] == ["images/c1.png"]


@pytest.mark.nightly
def test_kill_in_the_middle_leaves_nothing_half(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = make_collection(tmp_path)
    write_scans(tmp_path / "more", 120)
    pressed = random.Random(1)
    moments = []
    while not moments or list(truths(folder))[-1] != "c119":
        served = ServedHome(tmp_path, 0, folder)
        origin = served.url[: served.url.index("/", len("http://"))]
        with httpx.Client(
            base_url=served.url, headers={"origin": origin}, timeout=120, follow_redirects=True
        ) as client:
            new = str(client.post("scans/add", data={"x": ""}).url)
            client.post(f"{new}/folder", data={"images": str(tmp_path / "more")})

            def write(client=client, new=new):
                with suppress(httpx.HTTPError):
                    client.post(f"{new}/write", data={"x": ""})

            writing = threading.Thread(target=write)
            writing.start()
            time.sleep(pressed.uniform(0, 0.1) * (1 + len(moments)))
            served.kill()
            writing.join()
        rows = [json.loads(line) for line in (folder / "metadata.jsonl").open()]
        assert len(rows) in (4, 120)
        for row in rows:
            with Image.open(folder / row["file_name"]) as image:
                image.load()
        moments.append(len(rows))
    assert [row["id"] for row in rows] == [f"c{number}" for number in range(120)]
    assert len(list((folder / "images").iterdir())) == 120
