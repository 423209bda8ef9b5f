"""Files and requests that are made to cost much: what they cost others."""

import asyncio
import json
import logging
import os
import socket
import threading
import time
import zipfile
from contextlib import suppress

import httpx
import pytest
from helpers.waiting import until
from space.servers import serving, wait_for_client
from space.visitors import Visitor, run, until_told

from hdbench.answers.files import open_container
from hdbench.answers.spreadsheet import read_sheets
from hdbench.common.jsonio import UNIQUE, parse_json
from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs import scoring
from hdbench.space.server import limits
from hdbench.space.server.limits import keep_swept, sweep

pytestmark = pytest.mark.nightly

SERVE = """
from pathlib import Path
from hdbench.space.server import limits
from hdbench.space.jobs import working
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

{settings}
serve(SpaceContext(Path("hdb"), at_once=1))
"""


def answer(record, item="sample-01"):
    return json.dumps({"id": item, "prediction": record}) + "\n"


def endless():
    """A file of one answer, which takes far longer than a file of ordinary ones."""
    record = ",".join(f'"{key}":1' for key in range(1_500_000))
    return f'{{"id": "sample-01", "prediction": {{{record}}}}}\n'


@pytest.mark.nightly
def test_nobody_waits_for_the_long_files_of_another_address(sample):
    async def visits(url):
        async with Visitor(url, "192.0.2.1") as hog, Visitor(url, "192.0.2.2") as visitor:
            file = await hog.upload("long.jsonl", endless())
            hogging = [hog.call("score", "zettelkatalog", file, "documented") for _ in range(3)]
            hogging = [asyncio.create_task(each) for each in hogging]
            messages = hog.pressed("score", benchmark="zettelkatalog", file=file)
            await until_told(messages, "Waiting")
            file = await visitor.upload("short.jsonl", answer({}))
            event, _ = await visitor.call("score", "zettelkatalog", file, "documented")
            assert event == "complete"
            assert not any(each.done() for each in hogging)
            for each in hogging:
                each.cancel()
            await messages.aclose()

    with serving("-c", SERVE.format(settings=""), cwd=sample) as url:
        wait_for_client(url)
        run(visits(url))


def workbook(path):
    """A workbook of many short rows."""
    office = "http://schemas.openxmlformats.org"
    relations, book = f"{office}/officeDocument/2006/relationships", f"{office}/spreadsheetml/2006"
    sheet = "<row><c t='str'><v>id</v></c></row>" + "<row><c><v>1</v></c></row>" * 1_000_000
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": f"<workbook xmlns='{book}/main' xmlns:r='{relations}'><sheets>"
            "<sheet name='s' sheetId='1' r:id='r'/></sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f"<Relationships xmlns='{office}/package/2006/"
            f"relationships'><Relationship Id='r' Type='{relations}/worksheet' "
            "Target='worksheets/sheet.xml'/></Relationships>",
            "xl/worksheets/sheet.xml": f"<worksheet xmlns='{book}/main'><sheetData>{sheet}"
            "</sheetData></worksheet>",
        }.items():
            archive.writestr(name, content)
    return path.read_bytes()


@pytest.mark.nightly
def test_the_bounds_hold_for_every_kind_of_file(sample, tmp_path):
    files = {
        "keys.jsonl": endless(),
        "list.json": "[" + "{}," * 6_000_000 + "{}]",
        "rows.xlsx": workbook(tmp_path / "rows.xlsx"),
        "rows.csv": "id,text\n" + "1,x\n" * 4_000_000,
    }
    settings = "working.MAX_SECONDS, working.MAX_MEMORY = 1, 2**29"

    async def score(url, name, content):
        async with Visitor(url) as visitor:
            file = await visitor.upload(name, content)
            return await visitor.call("score", "zettelkatalog", file, "documented")

    with serving("-c", SERVE.format(settings=settings), cwd=sample) as url:
        wait_for_client(url)
        for name, content in files.items():
            event, told = run(score(url, name, content))
            assert event == "error"
            assert "this takes more than" in told["error"], name
            assert "\n" not in told["error"]


def test_fields_are_counted_while_a_file_is_read(cards, monkeypatch):
    (cards / "many.jsonl").write_text(
        answer({str(number): [1, 2] for number in range(10)}, "0000") + answer({}, "0001")
    )
    monkeypatch.setattr(scoring, "MAX_FIELDS", 19)
    told = []
    upload = scoring.Upload("cards", cards / "many.jsonl")
    with pytest.raises(HdbenchError, match=r"many\.jsonl:1: .* more than 19 fields"):
        scoring.score_upload(
            SpaceContext(cards / "hdb"), upload, tell=lambda *done: told.append(done)
        )
    assert told == []


@pytest.mark.parametrize(
    "name", [".jsonl", "..\\..\\x.jsonl", "..jsonl", "C:\\x.jsonl", "#.jsonl", "\\", "x" * 300]
)
def test_a_file_of_an_odd_name_is_scored(url, name):
    async def score():
        async with Visitor(url) as visitor:
            file = await visitor.upload(name, answer({}))
            return await visitor.call("score", "zettelkatalog", file, "documented")

    assert run(score())[0] == "complete"


@pytest.mark.parametrize("path", [".jsonl", "..\\..\\x.jsonl", "../x.jsonl", "", "a\0b", None, 5])
def test_a_file_that_was_not_uploaded_is_one_line(url, path):
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    asked = {"data": ["zettelkatalog", file, "documented"]}
    german = {"Accept-Language": "de"}
    answer = httpx.post(f"{url}gradio_api/call/score", json=asked, headers=german)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("Diese Datei liegt hier nicht oder nicht mehr vor.")


LONG = "1" * 5_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", f'{{"id": "sample-01", "prediction": {{"year": {LONG}}}}}'),
        ("a.json", f'[{{"id": "sample-01", "prediction": {{"year": -{LONG}}}}}]'),
        ("a.json", f'{{"sample-01": {LONG}}}'),
    ],
)
def test_a_number_of_thousands_of_digits_is_one_plain_line(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(HdbenchError, match="a number has too many digits") as error:
        open_container(tmp_path / name, None)
    assert "set_int_max_str_digits" not in str(error.value)


def test_other_faults_of_json_are_named_as_before():
    with pytest.raises(ValueError, match="the key 'a' occurs twice"):
        parse_json('{"a": 1, "a": 2}', UNIQUE)
    with pytest.raises(json.JSONDecodeError):
        parse_json('{"a": }')


def test_a_row_of_thousands_of_digits_is_one_plain_line(tmp_path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet><row r='{LONG}'/></worksheet>")
    with pytest.raises(HdbenchError, match="a damaged XLSX workbook") as error:
        list(read_sheets(path, "a.xlsx"))
    assert "set_int_max_str_digits" not in str(error.value)


def test_sweeping_beside_folders_that_come_and_go(tmp_path):
    over = threading.Event()

    def come_and_go(name):
        folder = tmp_path / name / "deep"
        while not over.is_set():
            folder.mkdir(parents=True)
            (folder / "file").touch()
            (folder / "file").unlink(missing_ok=True)
            folder.rmdir()
            folder.parent.rmdir()

    kept = tmp_path / "kept"
    kept.touch()
    threads = [threading.Thread(target=come_and_go, args=[str(number)]) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(2_000):
            old = tmp_path / f"old-{number}"
            old.touch()
            os.utime(old, (1, 1))
            sweep(tmp_path, keep_seconds=3_600, max_bytes=2**30)
            assert not old.exists()
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert list(tmp_path.iterdir()) == [kept]


def test_sweeping_goes_on_after_a_sweep_that_failed(tmp_path, monkeypatch, caplog):
    (tmp_path / "old").touch()
    times = []

    def sweep_at_the_second_time(*arguments, **options):
        times.append(1)
        if len(times) == 1:
            raise RuntimeError("the disk is gone")
        sweep(*arguments, **options)

    monkeypatch.setattr(limits, "sweep", sweep_at_the_second_time)
    with caplog.at_level(logging.ERROR):
        keep_swept(tmp_path, SpaceContext(tmp_path, keep_seconds=0))
        until(lambda: not (tmp_path / "old").exists(), "the second time")
    assert "old uploads could not be deleted" in caplog.text
    monkeypatch.setattr(limits, "sweep", lambda *_, **__: time.sleep(60))  # it never ends


def request(url, head, body=b"", *, wait=True):
    """What a server answers to bytes on a connection of their own, until it closes that."""
    host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(head + body)
        answered = b""
        while wait and (more := connection.recv(2**16)):
            answered += more
    return answered.decode()


def upload_head(address, length):
    return (
        f"POST /gradio_api/upload HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: {address}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


PART = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'


def test_what_was_announced_and_not_sent_is_not_counted(url):
    """As many as 1 GiB would be, which an address may have: whether nothing comes, or the begin."""
    for length in (*[200_000_000] * 5, 70_000_000, 3_000_000):
        request(url, upload_head("192.0.2.77", length), wait=False)
        request(url, upload_head("192.0.2.77", length), PART + b"x" * 1_000, wait=False)
    headers = {"X-Forwarded-For": "192.0.2.77"}
    files = {"files": ("a.jsonl", b"x" * 2**20)}
    assert httpx.post(f"{url}gradio_api/upload", files=files, headers=headers).status_code == 200


def after_an_answer(url, begun):
    """What comes on a connection that had its first answer, and on which a second is asked for."""
    host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(b"HEAD /robots.txt HTTP/1.1\r\nHost: a\r\n\r\n")
        assert connection.recv(2**16).startswith(b"HTTP/1.1 ")
        connection.sendall(begun)
        return connection.recv(2**16)


def goes_on(url, asked):
    """Whether a connection is still open a while after the beginning of a long answer."""
    host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(asked.encode())
        assert connection.recv(2**16).startswith(b"HTTP/1.1 200 ")
        connection.settimeout(3)
        try:
            while connection.recv(2**16):
                pass
        except TimeoutError:
            return True
    return False


def dripped(url, head):
    """What a server answers to a request of which a byte comes now and then."""
    host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
    deadline = time.monotonic() + 60
    with socket.create_connection((host, int(port)), timeout=0.3) as connection:
        connection.sendall(head)
        while time.monotonic() < deadline:
            connection.sendall(b"x")
            with suppress(TimeoutError):
                return connection.recv(2**16).decode()
    raise AssertionError("it is still open")


@pytest.mark.nightly
def test_half_a_request_is_not_waited_for(sample):
    settings = "limits.MAX_PAUSE = 1; limits.MIN_RATE = 10**9"
    with serving("-c", SERVE.format(settings=settings), cwd=sample) as url:
        wait_for_client(url)
        posted = b"POST /gradio_api/call/score HTTP/1.1\r\nHost: a\r\n"
        json_head = posted + b"Content-Type: application/json\r\nContent-Length: 900\r\n\r\n"
        for head, body in [
            (upload_head("192.0.2.1", 5_000), b""),
            (upload_head("192.0.2.1", 5_000), PART + b"x" * 100),
            (json_head, b'{"data": ['),
        ]:
            assert request(url, head, body).startswith("HTTP/1.1 408 ")
        for begun in (b"", b"GET / HT", posted):
            assert request(url, begun) == ""
        assert after_an_answer(url, b"GET /con") == b""
        assert goes_on(url, "GET /gradio_api/heartbeat/a HTTP/1.1\r\nHost: a\r\n\r\n")
        assert dripped(url, upload_head("192.0.2.1", 5_000) + PART).startswith("HTTP/1.1 408 ")
        assert httpx.get(url).status_code == 200


def test_bytes_are_counted_as_they_come(sample, tmp_path):
    uploads = limits._Uploads(SpaceContext(tmp_path, max_disk=4 * 1_000, max_upload=100))
    first, second = limits._Body(None, "en"), limits._Body(None, "en")
    uploads.admit(first, "a", 900)
    uploads.admit(second, "a", 900)
    first.charge(900, False)
    assert first.refused is None
    second.charge(101, False)
    assert second.refused.status_code == 429
