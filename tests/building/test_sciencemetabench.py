"""ScienceMetaBench from a tree of the published layout: a folder, and a Hub on loopback."""

import hashlib
import json
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
from datasets import load_dataset

from hdbench.about import installed_folder
from hdbench.common.jsonio import read_jsonl

pytestmark = pytest.mark.nightly

COMMIT = "dbe1c6531c53d883a402796a075af7c7b0bb3383"


@pytest.fixture
def tree(tmp_path) -> Path:
    """Two batches in the published layout, made of the sample's own PDFs."""
    sample = installed_folder("dataset_scripts") / "sciencemetabench/sample"
    for number, line in enumerate(read_jsonl(sample / "metadata.jsonl")):
        truth = dict(line.value["ground_truth"])
        kind, batch = truth.pop("kind"), ("20250806", "20251022")[number % 2]
        name = f"{batch}/{kind}_{batch[4:]}"
        lists, pdfs = tmp_path / f"tree/data/{name}.jsonl", tmp_path / f"tree/pdf/{name}"
        lists.parent.mkdir(parents=True, exist_ok=True)
        pdfs.mkdir(parents=True)
        truth["path"] = "where/it/came/from"  # what is no field of the kind is no truth
        lists.write_text(json.dumps(truth, ensure_ascii=False) + "\n", encoding="utf-8")
        shutil.copy(sample / line.value["file_name"], pdfs)
    return tmp_path / "tree"


@pytest.fixture
def build(tmp_path, run_hdbench):
    return lambda *arguments, **environment: run_hdbench(
        *("build", "sciencemetabench", *arguments), cwd=tmp_path, **environment
    )


def pdf(tree) -> Path:
    return next(tree.rglob("*.pdf"))


def test_each_record_has_its_pdf_kind_and_batch(build, tree, tmp_path, monkeypatch):
    done = build("--source", tree)
    assert done.returncode == 0, done.stderr
    assert "3 rows, version 1.1.1" in done.stdout
    monkeypatch.chdir(tmp_path)
    for streaming in (False, True):
        rows = list(
            load_dataset(
                "hdb/sciencemetabench",
                split="val",
                streaming=streaming,
                cache_dir=str(tmp_path / "cache"),
            )
        )
        assert sorted(row["kind"] for row in rows) == ["ebook", "paper", "textbook"]
        assert {row["batch"] for row in rows} == {"20250806", "20251022"}
        for row in rows:
            assert row["id"] == row["sha256"] == row["ground_truth"]["sha256"]
            assert row["ground_truth"]["kind"] == row["kind"]
            assert "path" not in row["ground_truth"]
            assert row["ground_truth"]["title"][:4] in row["pdf"].pages[0].extract_text()
    copies = list((tmp_path / "hdb/sciencemetabench/pdf").iterdir())
    assert {hashlib.sha256(copy.read_bytes()).hexdigest() for copy in copies} == {
        copy.stem for copy in copies
    }


def missing(tree):
    path = pdf(tree)
    path.unlink()
    return path.name


def changed(tree):
    path = pdf(tree)
    path.write_bytes(path.read_bytes() + b"\n")
    return f"{path}: wrong checksum"


def damaged(tree):
    """A file that is named by its content, but is no PDF."""
    data = b"%PDF-1.7 and nothing more"
    sha256 = hashlib.sha256(data).hexdigest()
    lists = next(tree.rglob("*.jsonl"))
    lists.write_text(json.dumps({"sha256": sha256, "title": "x"}) + "\n")
    (tree / f"pdf/{sha256}.pdf").write_bytes(data)
    return "damaged PDF"


def other_kind(tree):
    lists = next(tree.rglob("*.jsonl"))
    lists.rename(lists.with_name("thesis_0806.jsonl"))
    return "thesis_0806.jsonl: its name begins with none of"


def no_json(tree):
    next(tree.rglob("*.jsonl")).write_text("{")
    return ".jsonl:1: not JSON"


def twice(tree):
    lists = next(tree.rglob("*.jsonl"))
    lists.write_text(lists.read_text() * 2)
    return "occurs twice"


@pytest.mark.parametrize("spoil", [missing, changed, damaged, other_kind, no_json, twice])
def test_a_bad_tree_stops_the_build_and_leaves_nothing(build, tree, tmp_path, spoil):
    message = spoil(tree)
    done = build("--source", tree)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "hdb").exists()


class Hub(SimpleHTTPRequestHandler):
    """As much of the Hub's API as a download of one dataset asks for."""

    def do_HEAD(self):
        self._answer(head=True)

    def do_GET(self):
        self._answer(head=False)

    def _answer(self, *, head):
        path = unquote(self.path.partition("?")[0])
        self.server.asked.append((self.command, path))
        repository = "datasets/opendatalab/ScienceMetaBench"
        root = Path(self.directory)
        files = [file for file in root.rglob("*") if file.is_file()]
        if path == f"/api/{repository}/revision/{COMMIT}":
            self._send_json({"id": repository[9:], "sha": COMMIT, "siblings": []})
        elif path == f"/api/{repository}/tree/{COMMIT}":
            tree = [{"type": "file", "path": file.relative_to(root).as_posix()} for file in files]
            for entry, file in zip(tree, files, strict=True):
                entry |= {"size": file.stat().st_size, "oid": "0" * 40}
            self._send_json(tree)
        elif path.startswith(f"/{repository}/resolve/{COMMIT}/"):
            data = (root / path.split(f"{COMMIT}/")[1]).read_bytes()
            if self.server.cut and path.endswith(".pdf") and not head:
                self.server.cut -= 1
                self.send_error(500)
                return
            etag = hashlib.sha256(data).hexdigest()
            self._send(data, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}, head=head)
        else:
            self.send_error(404)

    def _send_json(self, value):
        self._send(json.dumps(value).encode(), {"Content-Type": "application/json"}, head=False)

    def _send(self, data, headers, *, head):
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if not head:
            self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(tree):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, directory=str(tree)))
    server.asked, server.cut = [], 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def build_from_hub(build, hub, tmp_path):
    return lambda: build(
        HF_ENDPOINT=f"http://127.0.0.1:{hub.server_port}",
        HF_HUB_OFFLINE="0",
        HDBENCH_CACHE=str(tmp_path / "downloads"),
    )


def test_missing_source_is_downloaded_once_and_recorded(build_from_hub, hub, tmp_path):
    for _ in range(2):
        done = build_from_hub()
        assert done.returncode == 0, done.stderr
    files = [path for method, path in hub.asked if method == "GET" and "/resolve/" in path]
    assert len(files) == len(set(files)) == 6
    for name in ("benchmark.yaml", "README.md"):
        assert COMMIT in (tmp_path / "hdb/sciencemetabench" / name).read_text()


def test_a_passing_fault_loses_nothing(build_from_hub, hub):
    hub.cut = 2
    first = build_from_hub()
    second = build_from_hub()
    assert second.returncode == 0, (first.stderr, second.stderr)


def test_no_hub_at_all(build, tmp_path):
    done = build(
        HF_ENDPOINT="http://127.0.0.1:9",
        HF_HUB_OFFLINE="0",
        HDBENCH_CACHE=str(tmp_path / "downloads"),
    )
    assert done.returncode == 2
    assert "opendatalab/ScienceMetaBench: cannot be downloaded" in done.stderr
    assert not (tmp_path / "hdb").exists()
