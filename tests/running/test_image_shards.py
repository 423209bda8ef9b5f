import json
import tarfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset, Features, Value
from datasets import Image as ImageFeature
from running.faulty_server import FaultyServer, Response, completion
from running.packed_images import images_column, number_of, parquet_of, picture, tar_of

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.running.backend import ImageLimits, InShard, Question
from hdbench.running.choosing import own_images
from hdbench.running.image_shards.sources import one_line_errors
from hdbench.running.images import encoded_images, load_images


def numbers(choice):
    """Id → the numbers of its images, read back from JSON as another process would."""
    found = {}
    for question in choice.questions:
        again = Question.from_json(json.loads(json.dumps(question.to_json())))
        assert again == question
        found[again.id] = [number_of(image) for image in load_images(again.media, ImageLimits())]
    return found


@pytest.fixture
def memory():
    """A file system that is neither local nor on a server."""
    files = fsspec.filesystem("memory")
    yield files
    for path in files.ls("/", detail=False):
        files.rm(path, recursive=True)


def test_tar_items_are_adjacent_names_equal_up_to_the_first_dot(tmp_path):
    link = tarfile.TarInfo("000.jpg")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    members = [
        ("./cards/7.json", b"{}"),
        ("./cards/7.png", picture(7)),
        ("./cards/._7.png", b"macOS"),
        (link, None),
        ("letters/8.1.png", picture(81)),
        ("letters/8.2.png", picture(82)),
        ("README.txt", b"no image"),
        ("Müller.PNG", picture(9)),
    ]
    (tmp_path / "a.tar").write_bytes(tar_of(members))
    choice = own_images(tmp_path / "a.tar")
    assert numbers(choice) == {"cards/7": [7], "letters/8": [81, 82], "Müller": [9]}


def test_a_parquet_file_written_by_datasets(tmp_path):
    features = Features({"id": Value("int64"), "note": Value("string"), "image": ImageFeature()})
    rows = [{"id": n, "note": "x", "image": {"bytes": picture(n)}} for n in range(300, 325)]
    Dataset.from_list(rows, features=features).to_parquet(tmp_path / "a.parquet", batch_size=10)
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3
    assert numbers(own_images(tmp_path)) == {str(n): [n] for n in range(300, 325)}
    assert len(own_images(tmp_path, limit=4).questions) == 4


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"file_name": ["x/1.png"], "scan": [picture(1)]}, {"x/1": [1]}),
        (
            {"key": ["1"], "pages": pa.array([[picture(3), picture(4)]], pa.list_(pa.binary()))},
            {"1": [3, 4]},
        ),
        ({"image": pa.array([{"bytes": picture(2), "path": "2.a.png"}])}, {"2.a": [2]}),
    ],
)
def test_other_columns(tmp_path, columns, expected):
    (tmp_path / "a.parquet").write_bytes(parquet_of(columns))
    assert numbers(own_images(tmp_path / "a.parquet")) == expected


def test_rows_asked_for_out_of_order_by_threads(tmp_path):
    count = 200
    columns = {
        "id": list(map(str, range(count))),
        "image": images_column(map(picture, range(count))),
    }
    (tmp_path / "a.parquet").write_bytes(parquet_of(columns, rows_in_a_group=70))
    questions = own_images(tmp_path).questions
    asked = [questions[n] for n in (150, 3, 69, 70, 199, 0)] + questions
    with ThreadPoolExecutor(8) as pool:
        images = pool.map(lambda question: load_images(question.media, ImageLimits()), asked)
        assert [number_of(image) for [image] in images] == [int(each.id) for each in asked]


def test_shards_are_in_the_order_of_their_numbers(memory):
    for number in (2, 10):
        content = tar_of([(f"{number}{n}.jpg", bytes(10**6)) for n in range(5)])
        memory.pipe(f"/cards/part-{number}.tar", content)
    choice = own_images("memory://cards/*.tar")
    assert [each.id for each in choice.questions] == [f"{a}{n}" for a in (2, 10) for n in range(5)]
    assert choice.questions == own_images("memory://cards").questions
    assert choice.questions[6].media == [
        InShard("memory:///cards/part-10.tar", "101.jpg", 1001472, 10**6)
    ]


class Ranges(BaseHTTPRequestHandler):
    """A server that sends parts of one file, and says what it was asked for."""

    def __init__(self, content, sent, *arguments):
        self.content, self.sent = content, sent
        super().__init__(*arguments)

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()

    def do_GET(self):
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        part = self.content[int(first) : int(last) + 1]
        self.sent.append(len(part))
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        end = int(first) + len(part) - 1
        self.send_header("Content-Range", f"bytes {first}-{end}/{len(self.content)}")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_):
        pass


def test_remote_tar_is_fetched_by_headers_and_single_images():
    padded = [picture(n) + bytes(2**19) for n in range(8)]
    sent = []
    content = tar_of([(f"{n}.png", data) for n, data in enumerate(padded)])
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Ranges, content, sent))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/cards.tar?token=secret"
        choice = own_images(url)
        assert [each.id for each in choice.questions] == list("01234567")
        assert sum(sent) < len(content) / 2
        sent.clear()
        [image] = load_images(choice.questions[5].media, ImageLimits())
        assert number_of(image) == 5
        assert sent == [len(padded[5])]
        server.RequestHandlerClass = partial(Ranges, content[: -(2**20)], sent)
        with pytest.raises(HdbenchError, match=r"/cards.tar: 7.png: .* bytes are there") as raised:
            load_images(choice.questions[7].media, ImageLimits())
        assert "secret" not in str(raised.value)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def cut(data, by=700):
    return data[:-by]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tar", tar_of([("1.png", picture(1)), ("1.x.json", b""), ("2.png", picture(2))] * 2),
         r"a.tar: 1.png: a second item called '1'; the first is .*a.tar: 1.png"),
        ("a.tar", tar_of([("1.png", picture(1)), ("2.png", bytes(30_000))])[:12_000],
         r"a.tar: damaged, cut off or compressed at byte .* after 2.png"),
        ("a.tar", tar_of([("1.png", picture(1)), ("2.png", picture(2))])[:1024],
         r"a.tar: damaged, cut off or compressed at byte 1,024, after 1.png"),
        ("a.tar", b"\x1f\x8b" + bytes(range(256)) * 10, r"a.tar: damaged, cut off or compressed"),
        ("a.tar", b"", r"a.tar: damaged"),
        ("a.tar", tar_of([("1.txt", b"x")]), "no images in its shards"),
        ("a.parquet", cut(parquet_of({"id": ["1"], "image": [picture(1)]})),
         r"a.parquet: cannot be read: "),
        ("a.parquet", parquet_of({"id": ["1", "2", "1"], "image": [picture(1)] * 3}),
         r"a.parquet: row 3: a second item called '1'; the first is .*a.parquet: row 1"),
        ("a.parquet", parquet_of({"id": ["1", None], "image": [picture(1)] * 2}),
         r"a.parquet: row 2: no id in its column 'id'"),
        ("a.parquet", parquet_of({"id": ["1"], "text": ["x"]}), "0 columns with images"),
        ("a.parquet", parquet_of({"x": ["1"], "image": [b"x"]}), "no column with ids"),
    ],
)  # fmt: skip
def test_damaged_shards_are_refused_in_one_line_that_says_where(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(HdbenchError, match=message) as raised:
        own_images(tmp_path)
    assert "\n" not in str(raised.value)


def test_a_header_that_claims_gigabytes_is_refused_unread(tmp_path):
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 2**33
    (tmp_path / "a.tar").write_bytes(header.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    with pytest.raises(HdbenchError, match="a header of 8,589,934,592 bytes"):
        own_images(tmp_path)


def test_a_group_of_rows_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.running.image_shards.parquet.MAX_GROUP", 3000)
    columns = {"id": list("123"), "image": images_column([bytes(900), bytes(900), bytes(4000)])}
    (tmp_path / "a.parquet").write_bytes(parquet_of(columns, rows_in_a_group=2))
    with pytest.raises(HdbenchError, match=r"a.parquet: its group of rows 2 has 0.0 GiB"):
        own_images(tmp_path)


def test_a_damaged_image_fails_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.running.image_shards.tar.MAX_BYTES", 2000)
    members = [
        ("1.png", picture(1)),
        ("2.png", b"junk"),
        ("3.png", bytes(2001)),
        ("4.png", picture(4)),
    ]
    (tmp_path / "a.tar").write_bytes(tar_of(members))
    columns = {"id": ["5", "6", "7"], "image": images_column([picture(5), None, b""])}
    (tmp_path / "b.parquet").write_bytes(parquet_of(columns))
    outcomes = []
    for question in own_images(tmp_path).questions:
        try:
            outcomes.append(len(encoded_images(question.media, ImageLimits())))
        except HdbenchError as error:
            outcomes.append(str(error).removeprefix(str(tmp_path)))
    assert outcomes == [
        1,
        "/a.tar: 2.png: cannot be read: cannot identify image file",
        "/a.tar: 3.png: larger than 256 MiB",
        1,
        1,
        "/b.parquet: row 2: no image in its column 'image'",
        "/b.parquet: row 3: no image in its column 'image'",
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("s3://user:word@bucket/a.tar", "leave the user and the password out"),
        ("nowhere", "nowhere: cannot be read: No such file or directory"),
        ("nowhere.tar", "nowhere.tar: there is no such file"),
        ("memory://nowhere", "no such file or folder|no images here"),
        ("nosuch://a/b.tar", "nosuch://a/b.tar: cannot be read: Protocol not known: nosuch"),
    ],
)
def test_sources_that_are_not_there(source, message):
    with pytest.raises(HdbenchError, match=message):
        own_images(source)


def test_an_error_names_no_address_with_its_query():
    message = """403, message='Forbidden', url='https://h/a.tar?sig=secret&x=1', http://h/b?c"""
    with pytest.raises(HdbenchError) as error, one_line_errors("https://h/a.tar"):
        raise OSError(message)
    assert str(error.value) == (
        "https://h/a.tar: cannot be read: "
        "403, message='Forbidden', url='https://h/a.tar', http://h/b"
    )


def test_run_on_shards_resumes_and_is_scored_like_the_benchmark(here, run_hdbench):
    [*media] = load_benchmark(str(here / "hdb/zettelkatalog")).media().items()
    contents = {item: file.read_bytes() for item, [file] in media}
    (here / "cards").mkdir()
    in_tar = [(f"{item}.jpg", data) for item, data in [*contents.items()][:4]]
    (here / "cards/1.tar").write_bytes(tar_of([*in_tar, ("other.jpg", picture(1, kind="JPEG"))]))
    columns = {"id": [*contents][4:], "image": images_column([*contents.values()][4:])}
    (here / "cards/2.parquet").write_bytes(parquet_of(columns))
    answer = json.dumps({"author": {"last_name": "Muster", "first_name": ""}})
    command = ("run", "hdb/zettelkatalog", "--images", "cards", "--model", "served-model")
    with FaultyServer(lambda _: Response(completion(answer))) as server:
        command = (*command, "--endpoint", server.url, "-o", "runs/mine")
        planned = run_hdbench(*command, "--dry-run", cwd=here)
        assert "items: 9 to ask; 9 files\n" in planned.stdout
        done = run_hdbench(*command, cwd=here)
        assert done.returncode == 0, done.stderr
        shown = Counter(image for request in server.requests for image in request.images)
        assert shown == Counter([*contents.values(), picture(1, kind="JPEG")])
        path = here / "runs/mine/answers.jsonl"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:7]))
        before = len(server.requests)
        again = run_hdbench(*command, cwd=here)
        assert "9 of 9 items answered" in again.stdout
        assert len(server.requests) == before + 2
    scored = run_hdbench("score", "hdb/zettelkatalog", "runs/mine", "--json", "r.json", cwd=here)
    assert scored.returncode == 0, scored.stderr
    assert json.loads((here / "r.json").read_text())["items"] == 8


def test_two_images_of_one_name_are_not_two_of_one_item(tmp_path):
    shard = tmp_path / "1.tar"
    for names in (("a.png", "a.png"), ("a.png", "./a.png"), ("a.png", "a.txt", "a.png")):
        shard.write_bytes(tar_of([(name, picture(1)) for name in names]))
        with pytest.raises(HdbenchError) as caught:
            own_images(shard)
        assert str(caught.value) == f"{shard}: {names[-1]}: is in the tar file twice: keep one"
