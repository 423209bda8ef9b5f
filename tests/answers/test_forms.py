"""Folders and ZIPs from anybody, listed and read within bounds."""

import os
import stat
import struct
import zipfile
from contextlib import ExitStack

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.small_disk import FORMS, small_disk

from hdbench.answers.files import unpack
from hdbench.answers.forms import Folder, open_zip
from hdbench.errors import HdbenchError


def write_zip(path, members, method=zipfile.ZIP_DEFLATED):
    """A ZIP of (name or ZipInfo, bytes)."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data, method)
    return path


@pytest.fixture
def opened():
    """What opens a ZIP until the test ends."""
    with ExitStack() as closing:
        yield lambda path: open_zip(path, "run.zip", closing)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "answers"
    path.mkdir()
    return path


@pytest.mark.parametrize("top", ["", "run/", "Läufe 2025/"])
def test_a_zip_is_the_same_with_a_common_top_folder(tmp_path, top, opened):
    names = ["b.json", "a.txt", "photo.jpg", "deeper/c.json", ".hidden.json", "__MACOSX/d.json"]
    path = write_zip(tmp_path / "run.zip", [(top + name, name.encode()) for name in names])
    members = opened(path).within()
    assert members.names == ["a.txt", "b.json"]
    assert (members.folders, members.others) == (["deeper"], ["deeper", "photo.jpg"])
    assert members.place("a.txt") == f"run.zip: {top}a.txt"
    assert members.read("a.txt") == b"a.txt"


def test_a_folder_has_the_files_in_it_and_not_those_below(folder):
    for name in ("b.JSON", "a.txt", "photo.jpg", ".DS_Store"):
        (folder / name).write_text(name)
    (folder / "deeper.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    members = Folder(folder)
    assert members.names == ["a.txt", "b.JSON"]
    assert members.others == ["deeper.json", "photo.jpg", "pipe.json"]
    assert members.place("a.txt") == str(folder / "a.txt")
    assert members.read("a.txt") == b"a.txt"


def test_a_symbolic_link_in_a_folder_is_refused_and_not_followed(folder, tmp_path):
    (tmp_path / "secret.json").write_text("{}")
    (folder / "0001.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(HdbenchError, match=r"0001\.json: is a symbolic link"):
        Folder(folder)


def test_a_folder_may_be_reached_by_a_symbolic_link(folder, tmp_path):
    (folder / "0001.json").write_text("{}")
    (tmp_path / "link").symlink_to(folder)
    assert Folder(tmp_path / "link").names == ["0001.json"]


def test_a_file_is_read_up_to_a_size(folder, tmp_path, monkeypatch, opened):
    monkeypatch.setattr("hdbench.answers.forms.MAX_WHOLE", 2**20)
    with (folder / "1.txt").open("wb") as file:
        file.truncate(2**31)  # no room on the disk
    with pytest.raises(HdbenchError, match=r"answers/1\.txt: larger than 1 MiB"):
        Folder(folder).read("1.txt")
    path = write_zip(tmp_path / "run.zip", [("1.txt", bytes(2**20 + 1))])
    with pytest.raises(HdbenchError, match=r"run\.zip: 1\.txt: larger than 1 MiB"):
        opened(path).read("1.txt")


@pytest.mark.parametrize(
    "name", ["../a.json", "a/../../b.json", "/a.json", "C:/a.json", "c:a.json", "a\\..\\b.json"]
)
def test_a_name_that_leads_out_of_the_zip_is_refused(tmp_path, name, opened):
    path = write_zip(tmp_path / "run.zip", [("0.json", b"{}"), (name, b"{}")])
    with pytest.raises(HdbenchError) as caught:
        opened(path)
    assert str(caught.value).startswith(
        f"run.zip: {name}: in the ZIP twice, a link, packed in an unusual way, or with a name that"
    )


def test_a_file_without_a_name_is_refused(tmp_path, opened):
    path = tmp_path / "run.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("0.json", "{}")
        archive.filelist[0].filename = ""  # in the list of members, which is written last
    with pytest.raises(
        HdbenchError, match=r"run\.zip: : in the ZIP twice, .* a name that is empty"
    ):
        opened(path)


def test_an_encrypted_zip_is_refused(tmp_path, opened):
    path = write_zip(tmp_path / "run.zip", [("a.json", b"{}")])
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"PK\x03\x04") + 6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(HdbenchError, match=r"run\.zip: a\.json: .* is encrypted"):
        opened(path).read("a.json")


def test_a_symbolic_link_in_a_zip_is_refused(tmp_path, opened):
    link = zipfile.ZipInfo("a.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = write_zip(tmp_path / "run.zip", [(link, b"/etc/passwd")])
    with pytest.raises(HdbenchError, match=r"run\.zip: a\.json: in the ZIP twice, a link"):
        opened(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_in_a_zip_twice_is_refused(tmp_path, opened):
    path = write_zip(tmp_path / "run.zip", [("a.json", b"{}"), ("a.json", b"[]")])
    with pytest.raises(HdbenchError, match=r"run\.zip: a\.json: in the ZIP twice"):
        opened(path)


def write_bomb(path, ending):
    """A ZIP that says that it has 600 members of one MiB each, and beside them an answer."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(600):
            archive.writestr(f"{number}{ending}", b"")
            archive.filelist[-1].file_size = 2**20
        archive.writestr("a.json", b"{}")
    return path


def test_unpacked_size_is_limited_before_anything_is_read(tmp_path, monkeypatch, opened):
    path = write_bomb(tmp_path / "run.zip", ".TXT")
    monkeypatch.setattr("hdbench.answers.forms.MAX_UNPACKED", 500 * 2**20)
    with pytest.raises(HdbenchError, match=r"run\.zip: larger than 500 MiB"):
        opened(path)


def test_a_header_that_lies_about_the_size_is_found_out(tmp_path, opened):
    path = write_zip(tmp_path / "run.zip", [("a.json", bytes(2**26))])
    raw = bytearray(path.read_bytes())
    struct.pack_into("<I", raw, raw.index(b"PK\x01\x02") + 24, 10)
    path.write_bytes(raw)
    with pytest.raises(HdbenchError, match=r"run\.zip: a\.json: cannot be read: "):
        opened(path).read("a.json")


def test_a_member_that_is_not_compressed_may_be_as_large(tmp_path, opened):
    data = bytes(2**26)
    path = write_zip(tmp_path / "run.zip", [("a.json", data)], zipfile.ZIP_STORED)
    assert opened(path).read("a.json") == data


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_a_bound_are_refused(tmp_path, method, opened):
    path = write_zip(tmp_path / "run.zip", [("a.json", b"{}")], method)
    with pytest.raises(HdbenchError, match=r"run\.zip: a\.json: .*packed in an unusual way"):
        opened(path).read("a.json")


def test_a_huge_list_of_members_is_not_read(tmp_path, monkeypatch, opened):
    path = write_zip(tmp_path / "run.zip", [(f"{n}.json", b"{}") for n in range(2000)])
    monkeypatch.setattr("hdbench.answers.forms.MAX_DIRECTORY", 80_000)
    with pytest.raises(HdbenchError, match="more files than can be read"):
        opened(path)


@pytest.mark.parametrize("cut", [0, 30, 60, 90, 110])
def test_a_damaged_zip_is_refused(tmp_path, cut, opened):
    path = write_zip(tmp_path / "run.zip", [("a.json", b"{}")])
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(HdbenchError, match=r"run\.zip: (a\.json: )?cannot be read: "):
        opened(path).read("a.json")


def test_flipped_bytes_give_only_the_contents_or_an_error(tmp_path, opened):
    contents = {b'{"id": "1"}', b"text" * 99}
    path = write_zip(tmp_path / "run.zip", zip(["a.json", "b.txt"], sorted(contents), strict=True))
    sound = path.read_bytes()
    refused = 0
    for position in range(len(sound)):
        for change in (1, 0x80, 0xFF):
            raw = bytearray(sound)
            raw[position] ^= change
            path.write_bytes(raw)
            try:
                members = opened(path)
                assert {members.read(name) for name in members.names} <= contents
            except HdbenchError:
                refused += 1
    assert refused > len(sound)  # most places matter; dates and the like do not


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_not_told_as_a_damaged_file(tmp_path, form, opened, monkeypatch):
    lines = "".join(f"{number} " * 20 + "\n" for number in range(500)).encode()
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", lines)
    pq.write_table(pa.table({"id": [str(number) for number in range(500)]}), tmp_path / "a.parquet")
    with pa.CompressedOutputStream(str(tmp_path / "a.zst"), "zstd") as packed:
        packed.write(lines)
    members = opened(tmp_path / "a.zip")
    with small_disk(tmp_path / "disk", form) as disk, ExitStack() as closing:
        monkeypatch.setattr("tempfile.tempdir", str(disk.folder))
        disk.fill()
        for unpacked in (
            lambda: members.file("a.jsonl", closing),
            lambda: unpack(tmp_path / "a.parquet", "a.parquet", closing),
            lambda: unpack(tmp_path / "a.zst", "a.zst", closing),
        ):
            with pytest.raises(HdbenchError, match=r"cannot be read: .*: make room"):
                unpacked()


def test_a_name_that_is_not_utf_8_is_refused_if_it_would_be_read(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / os.fsdecode(b"m\xfcller.pdf")).write_text("")
    assert Folder(tmp_path).names == ["a.json"]
    (tmp_path / os.fsdecode(b"m\xfcller.json")).write_text("{}")
    with pytest.raises(HdbenchError) as caught:
        Folder(tmp_path)
    assert str(caught.value) == f"{tmp_path}/m\\xfcller.json: its name is not in UTF-8: rename it"
