"""The pages of the home, and what they refuse."""

import html
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import anyio
import pytest
from annotating.pages import truths
from home.asking import FORM, HERE, alert, picture, send, upload
from home.collections import answers, make_collection, write_run, write_scans, write_sheet
from starlette.testclient import TestClient

from hdbench.collections.home import recent as recent_module
from hdbench.collections.home import uploads
from hdbench.collections.home.app import build_app
from hdbench.collections.home.folder import key_of
from hdbench.collections.home.recent import Recent
from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError


def test_a_page_that_does_not_exist_leads_back(client, at):
    for path in (at + "nothing", "/nothing", at + "fields/nothing"):
        shown = client.get(path, headers={"accept-language": "de"})
        assert shown.status_code == 404
        assert alert(shown) == "Diese Seite gibt es nicht."
        assert "Zu den Sammlungen" in shown.text


def test_nobody_else_is_answered(home, client, at, folder):
    app = TestClient(build_app(home), base_url="http://127.0.0.1")
    assert app.get("/").status_code == 404
    assert app.get("/guessed" + at).status_code == 404
    assert home.root not in app.get("/guessed" + at).text
    assert client.get(at, headers={"host": "evil.example"}).status_code == 400
    assert client.get(at, headers={"origin": "https://evil.example"}).status_code == 403
    form = urlencode({"prompt": "Read nothing."})
    for origin in ({}, {"origin": "null"}, {"origin": "https://evil.example"}):
        for path in ("fields/prompt", "runs/upload?name=a.jsonl", "scans/add"):
            refused = client.post(at + path, content=form, headers=origin | FORM)
            assert refused.status_code == 403
        refused = client.post("/open", content=urlencode({"folder": "/"}), headers=origin | FORM)
        assert refused.status_code == 403
    assert "Read nothing" not in (folder / "prompt.txt").read_text()
    policy = client.get(at).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "form-action 'self'" in policy
    assert "unsafe" not in policy


def test_collection_that_was_not_opened_here_is_not_shown(client, tmp_path):
    other = make_collection(tmp_path / "other")
    shown = client.get(f"/{key_of(other)}/")
    assert shown.status_code == 404
    assert alert(shown) == "not one of the collections that were opened here"


def test_hostile_values_are_shown_as_text(client, at, folder):
    evil = "<script>alert(1)</script>\u202e"
    (folder / "prompt.txt").write_text(evil)
    rows = (folder / "metadata.jsonl").read_text().replace('"c0"', json.dumps(evil))
    (folder / "metadata.jsonl").write_text(rows)
    for page in ("", "scans", "fields"):
        assert "<script>alert" not in client.get(at + page).text


def test_collections_that_were_used_are_listed(client, at, folder):
    shown = client.get("/").text
    assert "Kasten 3" in shown
    assert "2 of 4 items have a ground truth" in shown
    (folder / "metadata.jsonl").unlink()
    gone = client.get("/")
    assert gone.status_code == 200
    assert "cannot be read" in gone.text
    send(client, "/forget", folder=str(folder))
    assert "Kasten 3" not in client.get("/").text


def begin(client, place, **form):
    begun = send(client, "/new/begin", title="Kästen 4", place=str(place), **form)
    assert begun.status_code == 200, alert(begun)
    return str(begun.url).partition(client.base_url.path.rstrip("/"))[2]


def test_new_collection_from_dropped_files(client, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    new = begin(client, place)
    write_scans(tmp_path / "scans", 3)
    for scan in sorted((tmp_path / "scans").iterdir()):
        assert upload(client, f"{new}/scans", scan.name, scan.read_bytes()).json() == {}
    sheet = write_sheet(tmp_path / "sheet.csv", 2)
    assert upload(client, f"{new}/truth", "Liste.csv", sheet.read_bytes()).json() == {}
    shown = client.get(new).text
    assert "<h1>3 items, 2 with a ground truth</h1>" in shown
    assert 'name="column:Jahr"' in shown
    columns = {"column:id": "id", "column:Titel": "titel", "column:Jahr": "year"}
    send(client, f"{new}/save", **columns)
    assert 'value="year"' in client.get(new).text
    clash = send(client, f"{new}/save", **columns | {"column:Titel": "year.title"})
    assert clash.status_code == 400
    assert 'value="year.title"' in clash.text
    assert 'value="titel"' in client.get(new).text
    made = send(client, f"{new}/write", title="Kästen 4 und 5")
    assert "2 of 3 items have a ground truth" in made.text
    assert "Kästen 4 und 5" in made.text
    assert truths(place / "kasten-4")["c0"] == {"titel": "Titel 0", "year": 1900}
    assert [entry.name for entry in place.iterdir()] == ["kasten-4"]


def test_new_collection_from_a_folder_without_a_sheet(client, tmp_path):
    new = begin(client, tmp_path, name="cards")
    write_scans(tmp_path / "scans", 2)
    assert "give its whole path" in alert(send(client, f"{new}/folder", images="scans"))
    send(client, f"{new}/folder", images=str(tmp_path / "scans"))
    send(client, f"{new}/save", fields="author, title", licence="cc0-1.0")
    made = send(client, f"{new}/write")
    assert "Nobody has read the 2 items yet" in made.text
    schema = json.loads((tmp_path / "cards/answer.schema.json").read_text())
    assert list(schema["properties"]) == ["author", "title"]
    assert (tmp_path / "scans/c0.png").exists()


def test_scan_is_kept_within_its_folder(client, tmp_path):
    new = begin(client, tmp_path, name="cards")
    for name in ("../evil.png", "box/../evil.png", ".evil.png"):
        told = upload(client, f"{new}/scans", name, picture())
        assert told.status_code == 400
        assert "not a usable name" in told.json()["error"]
    assert "has to be unpacked" in upload(client, f"{new}/scans", "a.zip", b"PK").json()["error"]
    assert not list(tmp_path.rglob("evil*"))


def test_a_folder_is_an_item_or_a_box_as_people_say(client, tmp_path):
    new = begin(client, tmp_path, name="cards")
    for name in ("b1/1.png", "b1/2.png", "b2/1.png", "b2/2.png"):
        upload(client, f"{new}/scans", name, picture())
    page = client.get(new).text
    assert "<h1>2 items, 0 with a ground truth</h1>" in page
    assert "Each folder (b1, b2) is one item" in page
    page = send(client, f"{new}/boxes", boxes="1").text
    assert "<h1>4 items, 0 with a ground truth</h1>" in page
    assert "Each image in a folder is an item" in page
    assert "<h1>2 items, " in send(client, f"{new}/boxes").text


def test_sheet_can_be_left_out_again(client, tmp_path):
    new = begin(client, tmp_path, name="cards")
    write_scans(tmp_path / "scans", 2)
    send(client, f"{new}/folder", images=str(tmp_path / "scans"))
    sheet = write_sheet(tmp_path / "sheet.csv", 2)
    upload(client, f"{new}/truth", "sheet.csv", sheet.read_bytes())
    assert "<h1>2 items, 2 with a ground truth</h1>" in client.get(new).text
    without = send(client, f"{new}/without-truth").text
    assert 'name="column:Jahr"' not in without
    assert 'name="fields"' in without


def test_drafts_are_listed_until_they_are_discarded(client, tmp_path):
    new = begin(client, tmp_path, name="cards")
    assert f'{new}">cards</a>' in client.get("/").text.replace("<bdi>", "").replace("</bdi>", "")
    send(client, f"{new}/discard")
    assert new not in client.get("/").text


def test_discarded_draft_leaves_nothing(client, tmp_path):
    new = begin(client, tmp_path, name="cards")
    upload(client, f"{new}/scans", "a.png", picture())
    assert client.get(f"{new}/small/0").headers["content-type"] == "image/webp"
    assert client.get(f"{new}/small/1").status_code == 400
    send(client, f"{new}/discard")
    assert not (tmp_path / ".cards.new").exists()
    assert client.get(new).status_code == 404


def test_what_is_too_large_is_not_kept(client, at, folder, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_UPLOAD", 1000)
    before = list(folder.parent.iterdir())
    told = upload(client, f"{at}runs/upload", "a.jsonl", b"x" * 1001)
    assert (told.status_code, "larger than" in told.json()["error"]) == (400, True)
    assert list(folder.parent.iterdir()) == before


@pytest.mark.parametrize("path", ["scans", "save"])
def test_browser_that_goes_away_leaves_nothing(home, client, tmp_path, path):
    new = begin(client, tmp_path, name="cards")
    before = sorted(tmp_path.rglob("*"))
    parts = iter(
        [
            {"type": "http.request", "body": b"fields=a", "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    answered = []

    async def receive():
        return next(parts)

    async def send(message):
        answered.append(message)

    headers = {"host": "127.0.0.1"} | HERE | FORM
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"{home.root}{new}/{path}",
        "query_string": b"name=a.png",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    with ThreadPoolExecutor() as thread:  # an earlier test's browser has a loop in this one
        thread.submit(anyio.run, build_app(home), scope, receive, send).result()
    assert answered[0]["status"] == 400
    assert sorted(tmp_path.rglob("*")) == before


def test_answers_are_taken_in_if_they_answer_the_items(client, at, folder):
    assert "to" in upload(client, f"{at}runs/upload", "gpt.jsonl", answers(4)).json()
    assert "1 model has read them" in client.get(at).text
    for name, data, why in (
        ("gpt.jsonl", answers(4), "a file of this name is here already"),
        ("other.jsonl", answers(4).replace('"c', '"d'), "d0"),
        ("scan.png", picture(), "not a file of answers"),
        ("scan.jsonl", picture(), "this is no text"),
    ):
        told = upload(client, f"{at}runs/upload", name, data)
        assert told.status_code == 400
        assert why in told.json()["error"]
    assert [run.name for run in (folder.parent / "runs").iterdir()] == ["cards_gpt.jsonl"]


def test_file_with_the_other_answers_is_another_model(client, at, folder):
    first, rest = answers(2), answers(4).removeprefix(answers(2))
    for name, data in (("gpt.jsonl", first), ("gpt-rest.jsonl", rest)):
        assert "one file for each model" in client.get(f"{at}runs").text
        upload(client, f"{at}runs/upload", name, data)
        assert client.get(f"{at}runs").text.count("drop a file that has all") == 1


def test_answers_to_items_that_are_added_later_count_then(client, at, folder):
    write_run(folder.parent, "gpt", items=5)
    assert "gpt.jsonl:5: cards has no id &#39;c4&#39;" in client.get(f"{at}runs").text
    with (folder / "metadata.jsonl").open("a") as file:
        file.write('{"file_name": "images/c4.png", "id": "c4", "ground_truth": null}\n')
    assert "5 of 5 answered" in client.get(f"{at}runs").text


def test_collection_that_was_moved_is_said_to_be_gone(client, at, folder):
    assert client.get(at).status_code == 200
    folder.rename(folder.with_name("moved"))
    for page in ("", "runs"):
        assert "cards: no such folder" in alert(client.get(f"{at}{page}"))


def test_a_run_is_moved_away_and_not_deleted(client, at, folder):
    upload(client, f"{at}runs/upload", "gpt.jsonl", answers(4))
    send(client, f"{at}runs/remove", run="cards_gpt.jsonl")
    assert "no model has read them" in client.get(at).text
    assert [path.read_text() for path in (folder.parent / "removed").rglob("*.jsonl")] == [
        answers(4)
    ]
    send(client, f"{at}runs/remove", run="../cards")
    assert folder.is_dir()


def test_a_colleagues_file_is_taken_in_where_it_is_copied(client, at, folder, tmp_path):
    copy = make_collection(tmp_path / "ben")
    with Store(copy, "Ben") as store:
        after = store.state("c2").head["ground_truth"]
        store.change("c2", "ground_truth", "", {"titel": "Faust"}, after=after, how="blind")
    assert str(folder / "people") in client.get(f"{at}truth").text
    (folder / "people").mkdir()
    shutil.copy(copy / "people/Ben.jsonl", folder / "people")
    assert "3 of 4 items have a ground truth" in client.get(at).text
    send(client, f"{at}truth/annotate", name="Anna")
    assert truths(folder)["c2"] == {"titel": "Faust"}


def test_what_models_read_can_be_corrected(client, at, folder):
    assert 'name="drafts"' not in client.get(f"{at}truth").text
    upload(client, f"{at}runs/upload", "gpt.jsonl", answers(4))
    assert 'name="drafts"' in client.get(f"{at}truth").text
    send(client, f"{at}truth/annotate", name="anna")
    opened = send(client, f"{at}truth/annotate", name="anna", drafts="on")
    assert str(opened.url).endswith(f"{at}correct/anna/")
    drafts = client.get(f"{at}correct/anna/items/2/drafts").json()
    assert [draft["record"]["titel"] for draft in drafts] == ["Titel 2"]


def test_items_are_read_by_several_and_agreement_is_shown(client, at, folder):
    wrong = alert(send(client, f"{at}truth/double", name="anna", items="x"))
    assert "must be a number of items" in wrong
    for name in ("anna", "ben"):
        editor = send(client, f"{at}truth/double", name=name, items="1")
        assert str(editor.url).endswith(f"{at}annotate/{name}/")
    assert "anna (1), ben (1)" in client.get(f"{at}truth").text
    assert "1 assigned item is not here yet" in client.get(f"{at}agreement").text


def test_prompt_is_saved(client, at, folder):
    saved = send(client, f"{at}fields/prompt", prompt="Read the card.\r\nAll of it.")
    assert 'role="status">It is saved.' in saved.text
    assert (folder / "prompt.txt").read_text() == "Read the card.\nAll of it.\n"
    assert alert(send(client, f"{at}fields/prompt", prompt=" ")) == "the prompt is empty"


def test_items_are_shown_page_by_page(client, recent, tmp_path):
    folder = make_collection(tmp_path, items=61, truths=1)
    recent.add(folder)
    at = f"/{key_of(folder)}/"
    first = client.get(f"{at}scans").text
    assert "1 to 60 of 61" in first
    (later,) = re.findall(r'href="[^"]+(\?show=all&amp;from=\d+)"', first)
    last = client.get(f"{at}scans{html.unescape(later)}").text
    assert "61 to 61 of 61" in last
    assert re.findall(r"/small/(\d+)", last) == ["60"]
    for start in ("999999999", "x", "-1"):
        assert client.get(f"{at}scans?from={start}").status_code == 200
    assert re.findall(r"/small/(\d+)", client.get(f"{at}scans?show=truth").text) == ["0"]


def test_picture_of_an_item(client, at):
    shown = client.get(f"{at}small/0")
    assert shown.headers["content-type"] == "image/webp"
    assert client.get(f"{at}small/4").status_code == 404


def test_server_that_has_not_said_where_it_is(recent, tmp_path, monkeypatch):
    monkeypatch.setattr(recent_module, "PATIENCE", 0.3)
    assert recent.served_at() is None  # this one serves from now on
    other = Recent(tmp_path / "state")
    with pytest.raises(HdbenchError, match="another hdbench open is starting"):
        other.served_at()
    recent.note_address("http://127.0.0.1:7880/")
    assert other.served_at() == "http://127.0.0.1:7880/"


def test_token_stays_the_same_and_damage_starts_anew(recent, tmp_path):
    assert recent.token() == recent.token() == Recent(tmp_path / "state").token()
    path = tmp_path / "state/home.json"
    assert path.stat().st_mode & 0o77 == 0
    path.write_text("{")
    assert len(Recent(tmp_path / "state").token()) > 20


def test_empty_home_offers_a_sample(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Try it with a sample" in client.get("/").text
    for _ in range(2):
        opened = send(client, "/sample").text
        assert "All 8 items have a ground truth; 1 model has read part of them." in opened
    assert "Try it with a sample" not in client.get("/").text
    assert truths(tmp_path / "sample-cards")["sample-01"]["publication"]["year"] == 1957


def test_item_has_a_page_with_all_that_is_known_of_it(client, at, folder):
    write_run(folder.parent, "gpt", wrong=1)
    assert f'{at}item?id=c0"' in client.get(f"{at}scans").text
    with Store(folder, "Ben") as store:
        after = store.state("c0").head["ground_truth"]
        store.change("c0", "ground_truth", "jahr", 1808, after=after, how="blind")
    shown = client.get(f"{at}item?id=c0").text
    assert '<td class="paper">1808</td>' in shown
    assert '<span class="paper other">1899</span><span class="quiet">gpt</span>' in shown
    assert re.search(r"<b>Ben</b> · value <code>jahr</code>: 1808", shown)
    assert client.get(f"{at}picture/0?id=c0").headers["content-type"] == "image/png"
    assert "no such item" in alert(client.get(f"{at}item?id=c9"))


def test_item_that_others_read_blind_shows_nothing_of_it(client, at, folder):
    write_run(folder.parent, "gpt", wrong=1)
    send(client, f"{at}truth/double", name="anna", items="1")
    (waiting,) = [
        item for item in ("c2", "c3") if "without seeing" in client.get(f"{at}item?id={item}").text
    ]
    assert ">gpt<" not in client.get(f"{at}item?id={waiting}").text


MESSY = """Kasten 3;Stand 2024;
;;
Nr;Titel;Jahr
Kasten3_0001;Faust;1808
Kasten3_002;Urfaust;1809
"""


def test_headings_and_kinds_are_chosen_on_the_raw_rows(client, tmp_path):
    new = begin(client, tmp_path, name="cards")
    for number in (1, 2):
        upload(client, f"{new}/scans", f"Kasten3_000{number}.png", picture())
    upload(client, f"{new}/truth", "Liste.csv", MESSY.encode())
    unread = client.get(new).text
    assert "has 3 cells, and the header" in alert(client.get(new))
    assert "<td>Kasten 3</td>" in unread
    chosen = send(client, f"{new}/heading", row="3").text
    assert re.search(r'class="heading"><th scope="row"><button name="row" value="3"', chosen)
    assert "Kasten3_002 (Liste.csv:5; did you mean Kasten3_0002?)" in chosen
    assert '<ul class="warn">' in chosen
    columns = {"column:Nr": "id", "column:Titel": "titel", "column:Jahr": "jahr"}
    send(client, f"{new}/save", **columns, **{"kind:Jahr": "text", "kind:Titel": "list"})
    send(client, f"{new}/write")
    assert truths(tmp_path / "cards")["Kasten3_0001"] == {"titel": ["Faust"], "jahr": "1808"}
