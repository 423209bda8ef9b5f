"""Ground truths made in the Space: by those who have an account, in a folder that stays."""

import json
import os
import re
import shutil
import stat
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import httpx
import pytest
from annotating.pages import truths, write_collection
from anyio.from_thread import start_blocking_portal
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from space.german import ENGLISH, words
from space.servers import APP, forks, free_port, wait_for_client
from starlette.testclient import TestClient

from hdbench.annotating.store import Store
from hdbench.errors import HdbenchError
from hdbench.space.annotate import accounts as accounts_module
from hdbench.space.annotate.accounts import add_account, read_accounts
from hdbench.space.annotate.editors import check_folder
from hdbench.space.annotate.pages import Annotate
from hdbench.space.context import SpaceContext

pytestmark = pytest.mark.slow

ENOUGH = (10**9, 10**9)
COMMENT = {"what": "comment", "field": "", "to": "legible", "after": None}


@pytest.fixture(scope="module")
def accounts(tmp_path_factory):
    """A file with two accounts, and their passwords."""
    path = tmp_path_factory.mktemp("accounts") / "accounts"
    return path, {name: add_account(path, name) for name in ("anna", "ben")}


@pytest.fixture
def place(tmp_path, monkeypatch, accounts):
    """A folder that is not temporary, with a collection and two accounts beside it."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    write_collection(tmp_path / "data/cards")
    shutil.copy(accounts[0], tmp_path / "accounts")
    return tmp_path, accounts[1]


def served(folder, **limits):
    """The settings of a Space whose collections and accounts are in a folder."""
    return SpaceContext(folder, annotate=folder / "data", accounts=folder / "accounts", **limits)


@pytest.fixture
def client(place):
    folder, passwords = place
    annotate = Annotate(served(folder))
    client = TestClient(annotate, base_url="https://space.example", follow_redirects=False)
    client.passwords = passwords
    yield client
    annotate.close()


def test_only_those_with_an_account_see_anything(client):
    anna = ("anna", client.passwords["anna"])
    for path in ("/", "/cards/", "/cards/start", "/cards/items/0", "/cards/items/0/pages/0", "/x"):
        told = client.get(path)
        assert told.status_code == 401
        assert told.headers["www-authenticate"].startswith("Basic ")
        assert "b1" not in told.text
    assert client.post("/cards/items/0/change", json=COMMENT).status_code == 401
    for wrong in (("anna", client.passwords["ben"]), ("anna", ""), ("zoe", "x"), ("", "")):
        assert client.get("/", auth=wrong).status_code == 401
    for header in ("Basic", "Basic !", "Basic " + "A" * 500, "Bearer x", "Basic gA=="):
        assert client.get("/", headers={"authorization": header}).status_code == 401
    page = client.get("/", auth=anna)
    assert re.findall('href="(.*?)"', page.text) == ["cards/"]
    assert client.get("/cards/start", auth=anna).json()["annotator"] == "anna"
    assert client.get("/cards/items/0/pages/0", auth=anna).headers["content-type"] == "image/png"
    assert (
        "default-src 'none'" in client.get("/cards/", auth=anna).headers["content-security-policy"]
    )


def test_messages_before_the_editor_opens_are_german(client, monkeypatch):
    auth = ("anna", client.passwords["anna"])
    german = {"accept-language": "de-CH"}
    monkeypatch.setattr(accounts_module, "MAX_TRIES", 1)
    asked = [
        ("https://space.example/", {"auth": auth}),
        ("https://space.example/none/", {"auth": auth}),
        ("https://space.example/", {}),
        ("http://space.example/", {"auth": auth}),
        ("https://space.example/", {"auth": ("ben", "no")}),
        ("https://space.example/", {"auth": ("ben", "no")}),
    ]
    told = [client.get(address, headers=german, **options) for address, options in asked]
    evil = client.get("/", auth=auth, headers=german | {"origin": "https://evil.example"})
    assert [each.status_code for each in (*told, evil)] == [200, 404, 401, 403, 401, 429, 403]
    texts = [re.sub(r"<bdi>.*?</bdi>|<[^>]*>", " ", each.text) for each in (*told, evil)]
    assert [words([each]) & ENGLISH for each in texts] == [set()] * len(texts)
    assert all(words([each]) for each in texts)


def test_each_account_is_the_pseudonym_of_its_history(client, place):
    for name, password in client.passwords.items():
        told = client.post("/cards/items/0/change", json=COMMENT, auth=(name, password)).json()
        assert "stale" in told or told["comment"] == "legible"
    assert client.get("/cards/items/0", auth=("ben", password)).json()["state"]["by"] == ["anna"]
    lines = (place[0] / "data/cards/history/anna.jsonl").read_text()
    assert '"by": "anna"' in lines
    assert not (place[0] / "data/cards/history/ben.jsonl").exists()


def test_what_another_page_makes_a_browser_ask_is_refused(client):
    anna = ("anna", client.passwords["anna"])
    start, change = "/cards/start", "/cards/items/0/change"
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    ):
        assert client.get(start, headers=headers, auth=anna).status_code == 403
        assert client.post(change, json=COMMENT, headers=headers, auth=anna).status_code == 403
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=link, auth=anna).status_code == 200
    assert client.post(change, json=COMMENT, headers=link, auth=anna).status_code == 403
    plain = client.post(change, content="{}", headers={"content-type": "text/plain"}, auth=anna)
    assert plain.status_code == 400
    # Behind a proxy, the host that the browser asked for may stand in another header.
    for headers in (
        {"origin": "https://space.example"},
        {"origin": "https://a.example", "x-forwarded-host": "a.example"},
        {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"},
    ):
        assert client.post(change, json=COMMENT, headers=headers, auth=anna).status_code == 200


def test_password_is_never_asked_for_without_encryption(client):
    anna = ("anna", client.passwords["anna"])
    told = client.get("http://space.example/", auth=anna)
    assert (told.status_code, "www-authenticate" in told.headers) == (403, False)
    assert told.text == "a password would be readable on its way: use https"


def test_wrong_passwords_are_bounded_and_who_is_in_stays_in(client, monkeypatch):
    monkeypatch.setattr(accounts_module, "MAX_TRIES", 3)
    anna, ben = ((name, client.passwords[name]) for name in ("anna", "ben"))
    assert client.get("/", auth=anna).status_code == 200
    told = [client.get("/", auth=("ben", f"no {n}")).status_code for n in range(5)]
    assert told == [401] * 3 + [429] * 2
    assert client.get("/", auth=ben).status_code == 429
    assert client.get("/", auth=anna).status_code == 200
    later = time.monotonic() + accounts_module.WINDOW + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert client.get("/", auth=ben).status_code == 200


def test_editor_refusal_is_told_in_the_language_of_its_page(client):
    anna = ("anna", client.passwords["anna"])
    told = [
        client.post("/cards/items/0/undo", json={}, auth=anna, headers={"accept-language": each})
        for each in ("en", "de")
    ]
    assert [each.json()["error"] for each in told] == [
        "b1: anna has nothing to undo",
        "b1: Für anna gibt es nichts zurückzunehmen",
    ]


def test_only_collections_of_the_folder_can_be_opened(client, place):
    folder, passwords = place
    write_collection(folder / "elsewhere")
    (folder / "data/link").symlink_to(folder / "elsewhere")
    write_collection(folder / "data/.hidden")
    (folder / "data/empty").mkdir()
    anna = ("anna", passwords["anna"])
    for name in ("link", ".hidden", "empty", "none", "..%2felsewhere", "%2e%2e", "cards%00"):
        assert client.get(f"/{name}/start", auth=anna).status_code == 404, name
    assert client.get("/cards/..%2f..%2faccounts", auth=anna).status_code == 404
    assert re.findall('href="(.*?)"', client.get("/", auth=anna).text) == ["cards/"]


def test_an_idle_editor_is_closed_and_opened_again(client, place):
    folder = place[0] / "data/cards"
    anna = ("anna", client.passwords["anna"])
    assert client.post("/cards/items/0/change", json=COMMENT, auth=anna).status_code == 200
    with pytest.raises(HdbenchError, match="anna is annotating this folder already"):
        Store.open(folder, "anna")
    client.app._editors.pages.close_idle(900)
    with pytest.raises(HdbenchError):
        Store.open(folder, "anna")
    client.app._editors.pages.close_idle(0)
    with Store.open(folder, "anna"):  # as the operator would, on the same machine
        told = client.get("/cards/", auth=anna)
        assert told.status_code == 503
        assert "annotating this folder already" in told.text
        german = client.get("/cards/", auth=anna, headers={"accept-language": "de"})
        assert "anna bearbeitet diesen Ordner schon: in jenem Fenster" in german.text
    assert client.get("/cards/items/0", auth=anna).json()["state"]["comment"] == "legible"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("anna:secret", "plain passwords are not taken"),
        ("anna", "not an account"),
        ("imported:scrypt-15-8-1:" + "0" * 32 + ":" + "0" * 64, "not an account"),
        ("Anna:scrypt-15-8-1:" + "0" * 32 + ":" + "0" * 64, "not an account"),
        ("anna:scrypt-1-8-1:" + "0" * 32 + ":" + "0" * 64, "not an account"),
        (("anna:scrypt-15-8-1:" + "0" * 32 + ":" + "0" * 64 + "\n") * 2, "another line for anna"),
        ("", "has no accounts"),
    ],
)
def test_a_file_with_something_else_than_accounts_is_refused(tmp_path, line, why):
    path = tmp_path / "accounts"
    path.write_text(line)
    path.chmod(0o600)
    with pytest.raises(HdbenchError, match=why) as error:
        read_accounts(path)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o620, 0o644])
def test_a_file_that_others_may_read_is_refused(tmp_path, mode):
    add_account(tmp_path / "accounts", "anna")
    assert stat.S_IMODE((tmp_path / "accounts").stat().st_mode) == 0o600
    (tmp_path / "accounts").chmod(mode)
    with pytest.raises(HdbenchError, match="chmod 600"):
        read_accounts(tmp_path / "accounts")


def test_a_folder_in_which_nothing_would_stay_is_refused(place, monkeypatch):
    folder = place[0]
    check_folder(folder / "data")
    (folder / "data/tmp").symlink_to(folder / "tmp")
    for path, why in [
        (folder / "none", "No such file"),
        (folder / "accounts", "Not a directory"),
        (folder / "tmp", "temporary"),
        (folder / "data/tmp", "temporary"),
        (folder / "data/cards", "is a collection"),
    ]:
        with pytest.raises(HdbenchError, match=why):
            check_folder(path)
    monkeypatch.setenv("SPACE_ID", "hdb/scorer")
    monkeypatch.setattr(os.path, "ismount", lambda path: str(path) == "/")
    with pytest.raises(HdbenchError, match="lost when the Space restarts"):
        check_folder(folder / "data")
    monkeypatch.setattr(os.path, "ismount", lambda path: path == folder)
    check_folder(folder / "data")


def test_a_folder_that_cannot_be_written_is_refused(place, monkeypatch):
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(HdbenchError, match="Read-only file system"):
        check_folder(place[0] / "data")


@pytest.mark.nightly
@pytest.mark.parametrize("program", [("-m", "hdbench", "space"), (APP,)])
def test_the_server_does_not_start_with_half_of_it(place, sample, program):
    folder = place[0]
    env = os.environ | {"TMPDIR": str(folder / "tmp"), "HDBENCH_NAMESPACE": str(sample / "hdb")}
    told = forks().run(*program, cwd=sample, env=env | {"HDBENCH_ANNOTATE_FOLDER": str(folder)})
    assert told.returncode in (1, 2)
    assert re.fullmatch("error: .* without accounts anyone could .*\n", told.stderr)


def test_half_of_it_is_refused(place):
    folder = place[0]
    shutil.copy(folder / "accounts", folder / "data/accounts")
    for annotate, accounts, why in [
        (folder / "data", None, "without accounts anyone could change"),
        (None, folder / "accounts", "needs HDBENCH_ANNOTATE_FOLDER"),
        (folder / "data", folder / "data/accounts", "must not be in"),
        (folder / "data", folder / "none", "cannot be read"),
    ]:
        with pytest.raises(HdbenchError, match=why):
            Annotate(SpaceContext(folder, annotate=annotate, accounts=accounts))


def test_the_command_makes_an_account_and_a_new_password(tmp_path, run_hdbench):
    told = [
        run_hdbench("space-account", name, "--accounts", "accounts", cwd=tmp_path)
        for name in ("anna", "ben", "anna")
    ]
    passwords = [each.stdout.strip() for each in told]
    assert len(set(passwords)) == 3
    assert all(len(each) == 20 for each in passwords)
    text = (tmp_path / "accounts").read_text()
    assert [line.partition(":")[0] for line in text.splitlines()] == ["anna", "ben"]
    assert not any(each in text for each in passwords)
    assert read_accounts(tmp_path / "accounts").keys() == {"anna", "ben"}
    told = run_hdbench("space-account", "Anna B.", "--accounts", "accounts", cwd=tmp_path)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)


def test_without_a_folder_the_space_has_no_such_part(url):
    shown = json.dumps(httpx.get(f"{url}config").json()["components"])
    assert "hdbench_intro" in shown
    assert "hdbench_annotate_link" not in shown
    assert httpx.get(f"{url}annotate/").status_code == 404


@contextmanager
def annotating(place, sample):
    """The Space as the Hub serves it, over the folder; restarted by being called."""
    folder = place[0]
    port = str(free_port())
    settings = {
        "GRADIO_SERVER_PORT": port,
        "HDBENCH_NAMESPACE": str(sample / "hdb"),
        "HDBENCH_ANNOTATE_FOLDER": str(folder / "data"),
        "HDBENCH_ANNOTATE_ACCOUNTS": str(folder / "accounts"),
    }
    servers = []

    def start():
        servers.append(forks().start(APP, cwd=folder, env=os.environ | settings))
        wait_for_client(f"http://127.0.0.1:{port}/")
        return servers[-1]

    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:
        settings["TMPDIR"] = scratch  # a short path, as there are sockets in it
        try:
            yield f"http://127.0.0.1:{port}/", start
        finally:
            with suppress(ProcessLookupError):
                servers[-1].kill()


@pytest.mark.nightly
def test_gradio_neither_admits_other_pages_nor_changes_requests(place, sample):
    auth = ("anna", place[1]["anna"])
    with annotating(place, sample) as (url, start):
        start()
        evil = {"origin": "http://evil.example"}
        told = httpx.get(f"{url}annotate/cards/start", headers=evil, auth=auth)
        assert told.status_code == 403
        to = {"path": "http://a.example/b", "note": "x" * 2**20}  # Gradio: a file, and too large
        change = {"what": "ground_truth", "field": "imprint", "to": to, "after": None}
        asked = f"{url}annotate/cards/items/1/change"
        assert httpx.post(asked, json=change).status_code == 401
        assert httpx.post(asked, json=change, auth=auth).json()["record"] == {"imprint": to}
        assert httpx.get(f"{url}annotate/cards/start").status_code == 401


@pytest.mark.nightly
def test_two_people_annotate_on_a_server_that_is_killed(place, sample, browser):
    folder, passwords = place
    faust = write_collection(folder / "data/faust", [{"title": "Urfaust"}, None])
    pages = []

    def visit(name, address):
        credentials = {"username": name, "password": passwords[name]}
        context = browser.new_context(locale="en-GB", http_credentials=credentials)
        pages.append(context.new_page())
        pages[-1].goto(address)
        return pages[-1]

    def fill(page, name, value):
        page.get_by_label(name, exact=True).fill(value)
        page.keyboard.press("Tab")

    def saved(page):
        expect(page.locator("#saving")).to_have_attribute("data-state", "saved")

    with annotating(place, sample) as (url, start):
        server = start()
        anna = visit("anna", url)
        link = anna.get_by_role("link", name="Make or correct a ground truth")
        anna.goto(link.evaluate("each => each.href"))
        assert Axe().run(anna).response["violations"] == []
        anna.get_by_role("link", name="faust").click()
        ben = visit("ben", f"{url}annotate/faust/")
        fill(anna, "Title", "Faust")
        saved(anna)
        fill(ben, "Year", "1808")
        saved(ben)
        expect(ben.get_by_label("Title", exact=True)).to_have_value("Faust")

        server.kill()
        server.wait(timeout=120)
        fill(anna, "Title", "Faust I")
        expect(anna.locator("#saving")).to_have_text("not saved")
        server = start()
        saved(anna)  # the page is still open, and goes on
        server.terminate()
        server.wait(timeout=120)
        with Store.open(faust, "anna") as store:  # all is closed
            assert store.state("b1").by == ("anna", "ben")
        assert truths(faust)["b1"] == {"title": "Faust I", "year": 1808}
    for page in pages:
        page.context.close()


# Quotas


@pytest.fixture
def narrow(place):
    """Where each account may save 20 kB, and all of them 30 kB."""
    folder = place[0]
    write_collection(folder / "data/letters")
    annotate = Annotate(served(folder, max_per_account=20_000, max_annotated=30_000))
    client = TestClient(annotate, base_url="https://space.example")
    client.passwords = place[1]
    with start_blocking_portal() as client.portal:  # one event loop for all, as a server has
        yield client
    annotate.close()


def typing(client, account, collection, sizes):
    """What is answered to values of these sizes, one after the other."""
    auth = (account, client.passwords[account])
    for size in sizes:
        head = client.get(f"/{collection}/items/0", auth=auth).json()["state"]["head"]
        change = {"what": "ground_truth", "field": "title", "to": "x" * size}
        change |= {"after": head["ground_truth"]}
        yield client.post(f"/{collection}/items/0/change", json=change, auth=auth)


def saved_by(folder, account):
    return sum(path.stat().st_size for path in folder.glob(f"data/*/history/**/{account}.jsonl"))


def test_full_account_is_refused_before_anything_is_written(narrow, place):
    folder = place[0]
    for collection, sizes in (("cards", [8_000]), ("letters", [8_000])):
        assert [each.status_code for each in typing(narrow, "anna", collection, sizes)] == [200]
    before = saved_by(folder, "anna")
    (told,) = typing(narrow, "anna", "letters", [4_000])  # with the 8,000 that were there before
    assert told.status_code == 400
    assert told.json()["error"] == (
        f"not saved: anna has used {before // 1000} kB of 20 kB: ask who runs this server for more"
    )
    assert saved_by(folder, "anna") == before
    assert next(typing(narrow, "ben", "cards", [100])).status_code == 200  # who has room of his own
    (told,) = typing(narrow, "ben", "letters", [1_000])
    assert "all accounts together have used" in told.json()["error"]
    # What is smaller still goes in.
    auth = ("anna", narrow.passwords["anna"])
    assert narrow.post("/cards/items/1/change", json=COMMENT, auth=auth).status_code == 200


def test_times_count_too(narrow, place):
    annotation = place[0] / "data/cards/annotation.yaml"
    annotation.write_text("keep_time: true\n")
    auth = ("anna", narrow.passwords["anna"])
    stay = {"item": 0, "seconds": 5}
    told = [narrow.post("/cards/leave", json=stay, auth=auth).status_code for _ in range(500)]
    assert (told[0], told[-1]) == (200, 400)
    assert saved_by(place[0], "anna") <= 20_000


def test_concurrent_saves_stay_within_the_same_limit(narrow, place):
    auth = ("anna", narrow.passwords["anna"])
    heads = {
        (collection, item): narrow.get(f"/{collection}/items/{item}", auth=auth)
        for collection in ("cards", "letters")
        for item in range(3)
    }

    def type_into(where):
        collection, item = where
        change = {"what": "ground_truth", "field": "title", "to": "x" * 6_000}
        change |= {"after": heads[where].json()["state"]["head"]["ground_truth"]}
        path = f"/{collection}/items/{item}/change"
        return narrow.post(path, json=change, auth=auth).status_code

    with ThreadPoolExecutor(6) as pool:
        told = sorted(pool.map(type_into, heads))
    assert told == [200] * 3 + [400] * 3
    assert saved_by(place[0], "anna") <= 20_000


# What a visitor is not told


def test_no_answer_says_where_the_server_keeps_its_files(client, place):
    folder = place[0] / "data"
    (folder / "cards/images/card.png").unlink()
    (folder / "cards/annotation.yaml").write_text("keep_time: true\n")
    auth = ("anna", client.passwords["anna"])
    told = [client.get("/cards/items/0/pages/0", auth=auth)]
    assert (told[0].status_code, told[0].text) == (
        404,
        "images/card.png: cannot be shown: no such file",
    )
    (folder / "cards/history/times").symlink_to(folder)
    told.append(client.post("/cards/leave", json={"item": 0, "seconds": 5}, auth=auth))
    client.app._editors.pages.close_idle(0)
    with Store.open(folder / "cards", "anna"):
        told.append(client.get("/cards/", auth=auth))
    metadata = (folder / "cards/metadata.jsonl").read_text()
    for broken in ("{", metadata.replace("b2", "b1"), metadata.replace("null", "1"), ""):
        (folder / "cards/metadata.jsonl").write_text(broken)
        told.append(client.get("/cards/start", auth=auth))
    (folder / "cards/metadata.jsonl").write_text(metadata)
    for name in ("answer.schema.json", "annotation.yaml"):
        whole = (folder / "cards" / name).read_text()
        (folder / "cards" / name).write_text("{x: [")
        told.append(client.get("/cards/start", auth=auth))
        (folder / "cards" / name).write_text(whole)
    assert [each.status_code for each in told] == [404, 400] + [503] * 7
    for each in told:
        assert str(place[0]) not in each.text
        assert "object at 0x" not in each.text
        assert "cards" in each.text or each is told[0]


def test_a_damaged_image_is_said_to_be_one(client, place):
    (place[0] / "data/cards/images/card.png").write_bytes(b"no image")
    told = client.get("/cards/items/0/pages/0", auth=("anna", client.passwords["anna"]))
    assert (told.status_code, told.text) == (
        404,
        "images/card.png: cannot be shown: not a readable image",
    )
