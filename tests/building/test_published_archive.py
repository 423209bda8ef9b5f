"""The published repository's archive: downloads from a server on loopback, and hostile archives."""

import gzip
import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from helpers.raw_results import TESTS, TOP, packed, raw_files

from hdbench.datasets.building import published_archive, tar_stream
from hdbench.datasets.building.published_archive import PublishedArchive, downloaded, from_file
from hdbench.datasets.building.raw_runs import NEEDED, kept_form
from hdbench.datasets.building.results_sources import REVISION
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.nightly

RUN = {
    "run": "2025-09-02/T0145",
    "provider": "someone",
    "model": "some-model",
    "prompt": "prompt.txt",
    "scores": {"f1_micro": 0.5},
    "answers": [{"id": str(number), "answer": {"n": number}, "text": "{}"} for number in range(20)],
}
FILES = raw_files({"library_cards": [RUN]})
REQUEST = "results/2025-09-02/T0145/request_T0145_3.json"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HDBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(published_archive, "PAUSE", 0.0)
    return tmp_path / "cache"


class Handler(BaseHTTPRequestHandler):
    """Sends the archive, after the faults that a test asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        fault = self.server.faults.pop(0) if self.server.faults else None
        data = self.server.archive
        if isinstance(fault, int):
            self.send_error(fault)
            return
        if fault == "redirect":
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            return
        self.send_response(200)
        if fault == "short":
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()  # else without a length: the end is where the connection ends
        self.wfile.write(data[: len(data) // 2] if fault in ("cut", "short") else data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.faults, server.archive = [], [], packed(FILES)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def download(server):
    archive = PublishedArchive(f"http://127.0.0.1:{server.server_port}/archive", REVISION)
    return lambda keep=kept_form: downloaded(archive, NEEDED, keep)


def kept(files):
    return {path: files.read(path) for path in files.paths}


EXPECTED = {path: kept_form(path, data) for path, data in FILES.items()}


def test_an_archive_without_a_length_is_read_to_its_end(download, server):
    assert kept(download()) == EXPECTED
    assert len(EXPECTED) == 22
    assert server.asked == ["/archive"]


def test_what_was_downloaded_is_not_downloaded_again(download, server):
    download()
    server.archive = b"gone"
    assert kept(download()) == EXPECTED
    assert len(server.asked) == 1


@pytest.mark.parametrize("fault", ["cut", "short", 503, 429])
def test_a_broken_transfer_is_begun_again(download, server, fault):
    server.faults = [fault]
    assert kept(download()) == EXPECTED
    assert len(server.asked) == 2


def test_files_kept_before_a_break_are_not_made_again(download, server):
    server.archive = packed(FILES | {f"images/{n}": bytes(9_000) for n in range(9)})
    made = []

    def keep(path, data):
        made.append(path)
        return kept_form(path, data)

    server.faults = ["cut", "short"]
    assert kept(download(keep)) == EXPECTED
    assert len(server.asked) == 3
    assert len(made) == len(set(made)) == len(EXPECTED)


@pytest.mark.parametrize(
    ("fault", "message"), [("cut", r"\(the transfer broke off\)"), (503, r"\(503 Server Error")]
)
def test_a_lasting_fault_is_an_error_in_the_end(download, server, fault, message):
    server.faults = [fault] * 10
    with pytest.raises(HdbenchError, match=f"cannot be downloaded {message}.*run again.*--source"):
        download()
    assert len(server.asked) == published_archive.ATTEMPTS


def test_what_a_server_refuses_is_an_error_at_once(download, server):
    server.faults = [404]
    with pytest.raises(HdbenchError, match="cannot be downloaded: 404"):
        download()
    assert len(server.asked) == 1


def test_a_redirect_is_followed(download, server):
    server.faults = ["redirect"]
    assert kept(download()) == EXPECTED
    assert server.asked == ["/archive", "/elsewhere"]


def test_only_what_is_needed_is_on_disk(download, server, cache):
    server.archive = packed({"benchmarks/a/images/1.jpg": bytes(range(256)) * 40_000} | FILES)
    download()
    on_disk = [path for path in cache.rglob("*") if path.is_file()]
    assert len(on_disk) == len(set(EXPECTED.values())) + 1  # and the list of them
    assert sum(path.stat().st_size for path in on_disk) < 20_000


def test_a_kept_file_that_was_damaged_is_downloaded_again(download, server, cache):
    download()
    for path in cache.rglob("*"):
        if path.is_file() and path.suffix != ".json":
            path.write_bytes(b"damaged")
    with pytest.raises(HdbenchError, match="make room and run again"):
        kept(download())
    assert kept(download()) == EXPECTED
    assert len(server.asked) == 2


def with_member(**facts):
    member = tarfile.TarInfo(facts.pop("name"))
    for name, value in facts.items():
        setattr(member, name, value)
    return member


def pax_member(name, size):
    """A header for the next entry that is itself so large."""
    return with_member(name=name, type=tarfile.XHDTYPE, size=size)


def global_headers(count):
    data = b"".join(
        tarfile.TarInfo.create_pax_global_header({"comment": REVISION}) for _ in range(count)
    )
    return gzip.compress(data + gzip.decompress(packed(FILES, commit=None)))


def many_facts():
    """Headers for all entries that state more and more about them."""
    facts = [{"comment": REVISION, f"fact{number}": "x"} for number in range(300)]
    return gzip.compress(
        b"".join(
            tarfile.TarInfo.create_pax_global_header(fact) + tarfile.TarInfo(f"{TOP}/x").tobuf()
            for fact in facts
        )
    )


def negative_size():
    """A file of less than no bytes, so that the next one would be one of those before it."""
    header = bytearray(tarfile.TarInfo(f"{TOP}/x").tobuf())
    header[124:136] = (-1024).to_bytes(12, "big", signed=True)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return gzip.compress(UNPACKED[: 512 * 3] + header + UNPACKED[512 * 3 :])


def damaged(data):
    """The archive with another checksum at its end."""
    return data[:-8] + bytes(8)


PACKED = packed(FILES)
UNPACKED = gzip.decompress(PACKED)

WRONG = {
    "a page in place of the archive": (b"<!DOCTYPE html><title>Sign in</title>", "Not a gzipped"),
    "packed, but not a tar": (gzip.compress(b"{}" * 5_000), "invalid header"),
    "nothing": (gzip.compress(b""), "empty file"),
    "another commit": (packed(FILES, commit="0" * 40), f"not the archive of commit {REVISION}"),
    "a wrong checksum": (damaged(PACKED), "CRC check failed"),
    "cut off in a file": (
        gzip.compress(UNPACKED[: UNPACKED.index(FILES[REQUEST]) + 9]),
        "ends in the middle of a file",
    ),
    "cut off behind a file": (gzip.compress(UNPACKED[: 512 * 7]), "its end is missing"),
    "garbage between two files": (
        gzip.compress(UNPACKED[: 512 * 6] + b"\1" * 512 + UNPACKED[512 * 6 :]),
        "its end is missing",
    ),
    "garbage at the end": (gzip.compress(UNPACKED + b"more" * 128), "something follows its end"),
    "a huge header": (
        packed(FILES | {pax_member("x", 2**20): bytes(2**20)}),
        "a header is too large",
    ),
    "endless headers": (global_headers(5_000), "maximum recursion depth exceeded"),
    "too many headers": (many_facts(), "too many headers"),
    "a negative size": (negative_size(), "a file begins before the end of another"),
}


@pytest.mark.parametrize(("data", "message"), WRONG.values(), ids=WRONG)
def test_what_is_not_that_archive_is_refused(download, server, tmp_path, data, message):
    server.archive = data
    with pytest.raises(HdbenchError, match=message):
        download()
    assert len(server.asked) == 1
    (tmp_path / "copy.tar.gz").write_bytes(data)
    with pytest.raises(HdbenchError, match=message) as error:
        from_file(tmp_path / "copy.tar.gz", REVISION, NEEDED, kept_form)
    assert error.value.message.count("copy.tar.gz: ") == 1


def test_a_download_has_to_name_its_commit_and_a_file_need_not(download, server, tmp_path):
    server.archive = packed(FILES, commit=None)
    with pytest.raises(HdbenchError, match="not the archive of commit"):
        download()
    (tmp_path / "copy.tar.gz").write_bytes(server.archive)
    files = from_file(tmp_path / "copy.tar.gz", REVISION, NEEDED, kept_form)
    assert kept(files) == EXPECTED


def test_a_file_that_ends_too_early_is_an_error(tmp_path):
    (tmp_path / "copy.tar.gz").write_bytes(PACKED[: len(PACKED) // 2])
    with pytest.raises(HdbenchError, match=r"copy\.tar\.gz: ends too early: get it again"):
        from_file(tmp_path / "copy.tar.gz", REVISION, NEEDED, kept_form)


def test_a_bomb_is_bounded(download, server, monkeypatch):
    monkeypatch.setattr(tar_stream, "MAX_UNPACKED", 2**30)
    bomb = io.BytesIO()
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        file.write(UNPACKED[: 512 * 3])
        header = with_member(name=f"{TOP}/bomb", size=2**33).tobuf()
        file.write(header)
        for _ in range(1_100):
            file.write(bytes(2**20))
    server.archive = bomb.getvalue()
    with pytest.raises(HdbenchError, match="more than 1 GiB unpacked"):
        download()


def test_parts_without_content_are_bounded(download, server, monkeypatch):
    monkeypatch.setattr(published_archive, "MAX_UNPACKED", 2**20)
    server.archive = gzip.compress(UNPACKED[:1024]) + gzip.compress(b"") * 100_000
    with pytest.raises(HdbenchError, match="larger than any archive"):
        download()


@pytest.mark.parametrize(("name", "most"), [("MAX_FILES", 10), ("MAX_KEPT", 500)])
def test_what_is_kept_is_bounded(download, monkeypatch, name, most):
    monkeypatch.setattr(published_archive, name, most)
    with pytest.raises(HdbenchError, match="larger than any archive"):
        download()


def test_a_file_that_is_too_large_is_unusable(download, monkeypatch):
    monkeypatch.setattr(tar_stream, "MAX_FILE", len(FILES[REQUEST]) - 1)
    unusable = {path for path, data in FILES.items() if len(data) >= len(FILES[REQUEST])}
    assert REQUEST in unusable
    assert {path for path, data in kept(download()).items() if data == b""} == unusable


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_a_link_in_place_of_a_file_is_not_followed(download, server, kind):
    link = with_member(name=f"{TOP}/{REQUEST}", type=kind, linkname="/etc/passwd")
    server.archive = packed({path: FILES[path] for path in FILES if path != REQUEST} | {link: b""})
    assert kept(download()) == EXPECTED | {REQUEST: b""}


@pytest.mark.parametrize(
    "path",
    [
        f"{TOP}/../{REQUEST}",
        f"/{TOP}/{REQUEST}",
        f"{TOP}/results/../{REQUEST}",
        f"another/{REQUEST}",
        f"{TOP}/results/2025-09-02/T0145/request_T0145_../../../../x.json",
        f"{TOP}/benchmarks/../{TESTS}",
    ],
)
def test_a_path_that_leads_elsewhere_is_not_read(download, server, tmp_path, path):
    evil = b'{"text": "evil"}'
    before = set(tmp_path.rglob("*"))
    server.archive = packed(FILES | {with_member(name=path, size=len(evil)): evil})
    assert kept(download()) == EXPECTED
    new = set(tmp_path.rglob("*")) - before
    assert all(path.is_relative_to(tmp_path / "cache") for path in new)


def test_what_is_kept_has_no_more_than_is_needed():
    request = {
        "text": "t",
        "parsed": {"a": 1},
        "raw_response": "x" * 20_000,
        "usage": {"input_tokens": 3, "total_tokens": 5, "estimated_cost_usd": 0.5},
        "score": {"field_scores": {}},
    }
    form = json.loads(kept_form(REQUEST, json.dumps(request).encode()))
    assert form.pop("usage") == {"input_tokens": 3, "estimated_cost_usd": 0.5}
    assert form == {"text": "t", "parsed": {"a": 1}, "is_newer": True}


@pytest.mark.parametrize("data", [b"", b"[1]", b"{", b"\xff", b"[" * 10_000])
def test_what_is_not_a_json_object_is_unusable(data):
    assert kept_form(REQUEST, data) == b""
