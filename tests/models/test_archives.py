"""Images in tar and Parquet files: asked one by one, in parts, and never unpacked."""

import gzip
import io
import json
import os
import re
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from models.faulty_server import FaultyServer, Response, completion
from PIL import Image

from hdbench.common.bounds import MAX_IMAGE
from hdbench.errors import HdbenchError
from hdbench.models import items
from hdbench.models.backend import StoredImage
from hdbench.models.items import own_images


def png(number):
    """A tiny image, which is another one for each number."""
    data = io.BytesIO()
    Image.new("L", (4, 4), number).save(data, "PNG")
    return data.getvalue()


def write_tar(path, members, mode="w"):
    with tarfile.open(path, mode) as tar:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


def shown(folder, **options):
    """Id → the bytes that a model would be shown."""
    choice = own_images(folder, **options)
    return {
        question.id: question.media[0].read_bytes()
        for question in choice.archives.shown(choice.questions)
    }


TAR = {f"{number:04}.png": png(number) for number in range(3)} | {
    "0001.json": b"{",
    "0003.PNG": b"",
}


@pytest.mark.parametrize(
    ("name", "mode"), [("b.tar", "w"), ("b.tar.gz", "w:gz"), ("b.tgz", "w:gz")]
)
def test_a_tar_file_has_an_item_for_each_image(tmp_path, name, mode):
    write_tar(tmp_path / name, TAR, mode)
    write_tar(tmp_path / "a.tar", {"./cards/one.png": png(9)})
    (tmp_path / "read.me").touch()
    images = shown(tmp_path)
    assert list(images) == ["cards/one", "0000", "0001", "0002", "0003"]
    assert [images["cards/one"], images["0002"], images["0003"]] == [png(9), png(2), b""]
    assert list(shown(tmp_path, limit=2)) == ["cards/one", "0000"]
    assert own_images(tmp_path).passed_over == ["read.me"]


@pytest.mark.parametrize("key", ["id", "__key__"])
@pytest.mark.parametrize("is_struct", [True, False])
def test_a_parquet_file_has_an_item_for_each_row(tmp_path, key, is_struct):
    images = [png(0), png(1), None]
    if is_struct:
        images = [{"bytes": image, "path": "/etc/passwd"} for image in images]
    table = {"label": [1, 2, 3], "page": images, key: [7, 8, 9]}
    pq.write_table(pa.table(table), tmp_path / "a[1]*.parquet", row_group_size=2)
    assert shown(tmp_path) == {"7": png(0), "8": png(1), "9": b""}


def test_parts_are_asked_as_one_run_and_an_unreadable_image_is_said(here, hdbench):
    (here / "mine").mkdir()
    write_tar(here / "mine/1.tar", {f"{number}.png": png(number) for number in range(5)})
    write_tar(here / "mine/2.tar", {"5.png": png(5), "6.png": b"no image", "7.png": png(7)})
    with FaultyServer(lambda _: Response(completion("{}"))) as server:
        run = ("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", server.url)
        run = (*run, "--images", "mine", "-o", "parts", "--option=concurrency=1")
        looked = hdbench(*run, "--dry-run")
        assert "items: 8 of 8 to ask" in looked.stdout, looked.stderr
        assert server.requests == []
        for part in ("2/3", "1/3", "3/3", "3/3"):
            done = hdbench(*run, "--part", part)
            assert done.returncode == 0, done.stderr
        assert len(server.requests) == 7
        files = sorted(here.glob("parts/*/answers.jsonl"))
        answers = [[json.loads(line) for line in path.open()] for path in files]
        assert [[each["id"] for each in part] for part in answers] == [
            ["0", "1"],
            ["2", "3", "4"],
            ["5", "6", "7"],
        ]
        assert re.match(r"mine/2\.tar: 6\.png: cannot be read", answers[2][1]["error"])
        write_tar(here / "mine/2.tar", {"5.png": png(5), "6.png": png(6), "7.png": png(7)})
        done = hdbench(*run, "--part", "3/3", "--retry-failed")
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 8


def damaged(folder):
    (folder / "a.tar").write_bytes(os.urandom(5000))


def cut_off(folder):
    write_tar(folder / "whole", {"a.png": os.urandom(20_000)})
    (folder / "a.tar").write_bytes((folder / "whole").read_bytes()[:9_000])


def torn_gzip(folder):
    (folder / "a.tar.gz").write_bytes(gzip.compress(os.urandom(20_000))[:9_000])


def no_parquet(folder):
    (folder / "a.parquet").write_bytes(b"PAR1" + os.urandom(100) + b"PAR1")


def without_ids(folder):
    pq.write_table(pa.table({"image": [b""]}), folder / "a.parquet")


def twice(folder):
    write_tar(folder / "a.tar", {"a.png": b"", "a.jpg": b""})


def beside(folder):
    write_tar(folder / "a.tar", {"a.png": b""})
    (folder / "b.png").touch()


def nothing(folder):
    write_tar(folder / "a.tar", {"a.txt": b""})


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (damaged, "a.tar: cannot be read: "),
        (cut_off, "a.tar: cannot be read: unexpected end of data"),
        (torn_gzip, "a.tar.gz: cannot be read: "),
        (no_parquet, "a.parquet: cannot be read: "),
        (without_ids, "a.parquet: must have a column id and a column with images"),
        (twice, "a.tar: a second image called 'a'"),
        (beside, "holds a.tar beside images"),
        (nothing, "no images here"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(tmp_path, capfd, write, message):
    write(tmp_path)
    with pytest.raises(HdbenchError) as refused:
        shown(tmp_path)
    said = str(refused.value)
    assert said.removeprefix(f"{tmp_path}").lstrip("/: ").startswith(message)
    assert "\n" not in str(refused.value)
    assert capfd.readouterr() == ("", "")


def test_links_pipes_and_paths_out_of_an_archive_are_not_followed(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(png(66))
    (tmp_path / "mine").mkdir()
    write_tar(tmp_path / "outside", {"x.png": png(1)})
    (tmp_path / "mine/linked.tar").symlink_to(tmp_path / "outside")
    with tarfile.open(tmp_path / "mine/a.tar", "w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            entry = tarfile.TarInfo(f"{kind}.png")
            entry.type, entry.linkname = kind, str(secret)
            tar.addfile(entry)
        entry = tarfile.TarInfo("../../up.png")
        tar.addfile(entry)
    assert shown(tmp_path / "mine") == {"../../up": b""}
    assert own_images(tmp_path / "mine").not_opened == ["linked.tar"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "outside", "secret.png"]


def test_an_image_that_would_fill_the_memory_is_cut_and_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(items, "MAX_IMAGE", 1000)
    write_tar(tmp_path / "a.tar", {"a.png": bytes(10**6)})
    choice = own_images(tmp_path)
    [question] = choice.archives.shown(choice.questions)
    assert len(question.media[0].data) == 1001
    with pytest.raises(HdbenchError, match=r"a\.png: larger than 256 MiB"):
        StoredImage("a.tar: a.png", bytes(MAX_IMAGE + 1)).open()


def test_rows_of_parquet_that_would_fill_the_memory_together_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(items, "MAX_GROUP", 9000)
    table = pa.table({"id": ["a", "b"], "image": [os.urandom(6000), os.urandom(6000)]})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    with pytest.raises(HdbenchError, match="write it with row_group_size=100"):
        own_images(tmp_path)
    pq.write_table(table, path, row_group_size=1)
    assert list(shown(tmp_path)) == ["a", "b"]
