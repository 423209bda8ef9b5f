"""Building from a download, against a real HTTP server on loopback."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = pytest.mark.nightly

COMMIT = "82faeda52ce43844920a4b031ad0b0ede184c94f"


class Handler(SimpleHTTPRequestHandler):
    """Serves the source as of its commit, after the faults that a test asked for."""

    def do_GET(self):
        self.path = self.path.removeprefix(f"/{COMMIT}")
        self.server.asked.append(self.path)
        fault = self.server.faults.pop(self.path, None)
        if isinstance(fault, int):
            self.send_error(fault)
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b"half of it")
        elif fault == "other":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"another file")
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def server(published):
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Handler, directory=str(published.source))
    )
    server.asked, server.faults = [], {}
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    spec = published.recipe / "benchmark.yaml"
    lines = spec.read_text().splitlines()
    url = f"  url: http://127.0.0.1:{server.server_port}/{COMMIT}"
    spec.write_text("\n".join(url if "  url: " in line else line for line in lines))
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def build(published, tmp_path, run_hdbench):
    def run(*arguments):
        cache = str(tmp_path / "cache")
        return run_hdbench(
            "build", published.recipe, "--run-script", *arguments, cwd=tmp_path, HDBENCH_CACHE=cache
        )

    return run


def image(number):
    return f"/benchmarks/library_cards/images/0000{number}.jpg"


def test_each_file_is_downloaded_once(server, build, published, tmp_path, run_hdbench):
    done = build()
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == len(set(server.asked)) == 7  # 3 truths, 3 images, the prompt
    server.asked.clear()
    assert build("--out", "again").returncode == 0
    assert server.asked == []
    from_folder = run_hdbench(
        "build",
        published.recipe,
        "--run-script",
        "--source",
        published.source,
        "--out",
        "local",
        cwd=tmp_path,
    )
    assert from_folder.returncode == 0
    built = [
        (tmp_path / out / "zettelkatalog/metadata.jsonl").read_bytes()
        for out in ("hdb", "again", "local")
    ]
    assert built[0] == built[1] == built[2]


@pytest.mark.parametrize("fault", [500, 429, "cut", "other"])
def test_a_passing_fault_is_tried_again(fault, server, build):
    server.faults[image(1)] = fault
    done = build()
    assert done.returncode == 0, done.stderr
    assert server.asked.count(image(1)) == 2


def test_what_came_before_a_lasting_fault_is_kept(server, build, published, tmp_path):
    whole = published.path("images/00001.jpg").read_bytes()
    published.path("images/00001.jpg").write_bytes(b"not the pinned file")
    done = build()
    assert done.returncode == 2
    assert "images/00001.jpg: wrong checksum" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "hdb").exists()
    published.path("images/00001.jpg").write_bytes(whole)
    server.asked.clear()
    assert build().returncode == 0
    assert image(0) not in server.asked


def test_an_image_that_the_server_lacks_is_a_missing_one(server, build, published):
    published.path("images/00001.jpg").unlink()
    done = build()
    assert done.returncode == 2
    assert "1 media files are missing: benchmarks/library_cards/images/00001.jpg" in done.stderr
    assert build("--allow-missing").returncode == 0


def test_no_server_at_all(server, build, published):
    spec = published.recipe / "benchmark.yaml"
    spec.write_text(spec.read_text().replace(f":{server.server_port}", ":9"))
    done = build()
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be downloaded (ConnectionError)" in done.stderr
