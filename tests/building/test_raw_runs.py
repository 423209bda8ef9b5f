"""Recorded runs from the published repository's own files, as a folder or an archive."""

import json
import tarfile
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow.parquet as pq
import pytest
from building.test_results_dataset import tree, write
from helpers.raw_results import REVISION, SCRIPT, TESTS, TOP, packed, raw_files

from hdbench.benchmarks.building.builder import build_results
from hdbench.errors import HdbenchError
from hdbench.evaluation.run import read_run_info

CARD = {"author": {"last_name": "Noether"}}
TEXT = json.dumps(CARD)
FENCED = f"Here it is:\n```json\n{TEXT}\n```"


def run(name, *answers, **changes):
    return {
        "run": name,
        "provider": "someone",
        "model": "some-model",
        "prompt": "prompt.txt",
        "scores": {"f1_micro": 0.7093159000700444, "total_tp": 1519},
        "answers": list(answers),
    } | changes


OLD = run(
    "2025-03-02/T0007",
    {"id": "a_1", "answer": CARD, "text": TEXT},
    {"id": "a_2", "answer": CARD, "text": FENCED},
    {"id": "a_3", "answer": {"error": "x"}, "text": "I am sorry."},
    {"id": "a_4", "answer": CARD, "text": "given apart from the text"},
    {"id": "a_5", "answer": None},
    {"id": "a_6", "answer": {"error": "x"}, "text": ""},
)
NEW = run(
    "2025-11-25/T0420",
    {"id": "b", "answer": CARD, "text": TEXT, "score": {"f1_score": 0.62}},
    {"id": "c", "answer": None, "text": TEXT},
    {"id": "d", "answer": None, "text": ""},
    model="another/model",
)
ADVERTS = run("2025-09-02/T0145", {"id": "image_1", "answer": CARD, "text": TEXT})
RUNS = {"library_cards": [OLD, NEW], "fraktur_adverts": [ADVERTS]}
OLD_FOLDER, NEW_FOLDER = "results/2025-03-02/T0007", "results/2025-11-25/T0420"


def in_text(text):
    """What the publisher's program would have found in these texts."""
    return {TEXT: CARD, FENCED: CARD}.get(text, {"error": "x"})


def usage(number):
    return {"input_tokens": 1000 + number, "output_tokens": number, "estimated_cost_usd": 0.25}


FILES = raw_files(RUNS, in_text)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HDBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def recorded(tmp_path):
    """The folder with the runs in JSON Lines."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    write(folder, zettelkatalog=RUNS["library_cards"], avisblatt=RUNS["fraktur_adverts"])
    return folder


def as_folder(place, files):
    for path, data in files.items():
        (place / "copy" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "copy" / path).write_bytes(data)
    return place / "copy"


def as_archive(place, files):
    (place / "copy.tar.gz").write_bytes(packed(files))
    return place / "copy.tar.gz"


def built(place, files, out="hdb"):
    return build_results(place / out, as_archive(place, files))


def answers_of(place, run):
    text = (place / f"hdb/results/zettelkatalog/{run}/answers.jsonl").read_text()
    return {answer["id"]: answer for answer in map(json.loads, text.splitlines())}


@pytest.mark.parametrize("copied", [as_folder, as_archive])
def test_a_copy_gives_the_dataset_of_its_json_lines(tmp_path, recorded, copied):
    build_results(tmp_path / "hdb", recorded)
    [line] = build_results(tmp_path / "copied", copied(tmp_path, FILES))
    assert "3 runs (avisblatt 1, zettelkatalog 2), 10 answers" in line
    expected, found = tree(tmp_path / "hdb/results"), tree(tmp_path / "copied/results")
    cards = [files.pop("README.md").decode() for files in (expected, found)]
    assert found == expected
    if copied is as_folder:
        assert cards[0] == cards[1]
    else:
        assert "**a part of all runs**" in cards[0]
        assert "**a part of all runs**" not in cards[1]


def test_tokens_seconds_and_price_come_along(tmp_path):
    built(tmp_path, raw_files(RUNS, usage=usage))
    folder = tmp_path / "hdb/results"
    info = read_run_info(folder / "zettelkatalog/2025-11-25_T0420")
    assert info.cost_usd == 0.75
    answers = answers_of(tmp_path, "2025-11-25_T0420")
    assert answers["b"]["tokens"] == {"input": 1007, "output": 7}
    assert [answer["seconds"] for answer in answers.values()] == [1.5] * 3
    costs = {
        row["run"]: row["cost_usd"] for row in pq.read_table(folder / "runs.parquet").to_pylist()
    }
    assert costs == {"2025-03-02/T0007": 1.5, "2025-11-25/T0420": 0.75, "2025-09-02/T0145": 0.25}


@pytest.mark.parametrize(
    ("request_file", "answer"),
    [
        ({"text": TEXT}, CARD),
        ({"text": FENCED}, CARD),
        ({"text": '["a"]'}, ["a"]),
        ({"text": "I am sorry."}, {"error": "x"}),
        ({"text": f"```json\n{TEXT[:-1]}\n```"}, {"error": "x"}),
        ({"text": ""}, {"error": "x"}),
        ({"text": None}, {"error": "x"}),
        ({}, {"error": "x"}),
        ({"text": TEXT, "parsed": {"b": 1}}, {"b": 1}),
        ({"text": TEXT, "parsed": None}, None),
        ({"text": TEXT, "usage": {}}, None),
        ({"text": TEXT, "score": {}}, None),
        ({"text": TEXT, "parsed": {"b": 1}, "score": {}}, {"b": 1}),
    ],
)
def test_older_texts_are_parsed_and_newer_are_not(tmp_path, request_file, answer):
    path = f"{OLD_FOLDER}/request_T07_a_1.json"
    built(tmp_path, FILES | {path: json.dumps(request_file).encode()})
    assert answers_of(tmp_path, "2025-03-02_T0007")["a_1"] == {
        "id": "a_1",
        "prediction": answer,
        "text": request_file.get("text"),
    }


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("scoring.json", None),
        ("scoring.json", b"{"),
        ("request_T0420_b.json", b"{"),
        ("request_T0420_b.json", b"[]"),
    ],
)
def test_a_run_that_is_incomplete_is_left_out_and_said(tmp_path, name, data):
    files = FILES | {f"{NEW_FOLDER}/{name}": data}
    line, left_out = built(
        tmp_path, {path: data for path, data in files.items() if data is not None}
    )
    assert "2 runs (avisblatt 1, zettelkatalog 1)" in line
    assert left_out.startswith("1 run is left out, since files of it are missing or damaged: ")
    assert left_out.endswith(": 2025-11-25/T0420")
    assert "left out, since some of their files" in (tmp_path / "hdb/results/README.md").read_text()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({f"{NEW_FOLDER}/scoring.json": b"{}"}, "lacks benchmarks/benchmarks_tests.csv"),
        (FILES | {TESTS: b"id,test\nT0420,cards\n"}, "not a table of tests: 'name'"),
        (FILES | {TESTS: b"\xff\xfe"}, "not a table of tests: 'utf-8' codec"),
        (FILES | {TESTS: FILES[TESTS].splitlines()[0]}, "has no recorded runs: it must have"),
    ],
)
def test_a_copy_without_usable_runs_is_refused(tmp_path, files, message):
    with pytest.raises(HdbenchError, match=message):
        built(tmp_path, files)
    assert not (tmp_path / "hdb").exists()


def member(**attributes):
    """An entry of an archive."""
    entry = tarfile.TarInfo()
    for name, value in attributes.items():
        setattr(entry, name, value)
    return entry


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_a_link_in_an_archive_is_not_followed(tmp_path, kind):
    path = f"{NEW_FOLDER}/request_T0420_b.json"
    link = member(name=f"{TOP}/{path}", type=kind, linkname="/etc/passwd")
    built(tmp_path, {name: data for name, data in FILES.items() if name != path} | {link: b""})
    assert answers_of(tmp_path, "2025-11-25_T0420").keys() == {"c", "d"}


@pytest.mark.parametrize("top", ["..", f"{TOP}/..", "another", "/etc"])
def test_a_path_that_leads_elsewhere_is_not_unpacked(tmp_path, top):
    evil = member(name=f"{top}/{NEW_FOLDER}/request_T0420_e.json", size=2)
    with suppress(HdbenchError):
        built(tmp_path, FILES | {evil: b"{}"})
        assert "e" not in answers_of(tmp_path, "2025-11-25_T0420")
    assert {path.name for path in tmp_path.iterdir()} <= {"copy.tar.gz", "hdb"}
    assert not (tmp_path.parent / "results").exists()


@pytest.mark.parametrize("damage", [slice(-200), slice(20), slice(0)])
def test_a_damaged_archive_is_refused(tmp_path, damage):
    archive = as_archive(tmp_path, FILES)
    archive.write_bytes(archive.read_bytes()[damage])
    with pytest.raises(HdbenchError, match=r"copy\.tar\.gz: not a \.tar\.gz of the published"):
        build_results(tmp_path / "hdb", archive)
    assert not (tmp_path / "hdb/results").exists()


def test_the_archive_is_downloaded_once_and_again_where_it_broke_off(tmp_path, monkeypatch):
    asked, data = [], packed(FILES)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()  # without a length, as GitHub sends it
            self.wfile.write(data[:-200] if len(asked) == 1 else data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        monkeypatch.setattr(SCRIPT, "ADDRESS", f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(HdbenchError, match="or damaged"):
            build_results(tmp_path / "hdb", None)
        for _ in range(2):
            [line] = build_results(tmp_path / "hdb", None)
            assert "3 runs" in line
    assert asked == [f"/{REVISION}"] * 2


@contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield
    server.shutdown()
    server.server_close()
    thread.join()
