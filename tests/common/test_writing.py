"""Lines and files are written whole, or not at all, on disks that are full; through no link."""

import errno
import os
import shutil

import pytest
from helpers.small_disk import FORMS, PAGE, is_saved, small_disk

from hdbench.common.writing import append, lock, make_folder, move, opened_file, write_whole
from hdbench.errors import HdbenchError, write_reason


@pytest.mark.parametrize("form", FORMS)
def test_what_is_in_the_file_is_what_was_acknowledged(tmp_path, form):
    refused, expected = 0, b""
    with small_disk(tmp_path / "disk", form) as disk:
        path = disk.folder / "lines"
        for number in range(120):
            disk.fill()
            for length in (PAGE // 7 + number, 3, PAGE + 1):
                lines = b"%d\n" % number + b"x" * length + b"\n"
                try:
                    append(path, lines)
                    expected += lines
                except OSError:
                    refused += 1
                assert (path.read_bytes() if path.exists() else b"") == expected
            disk.make_room()
            append(path, b"there is room\n")
            expected += b"there is room\n"
    assert refused > 120


@pytest.mark.parametrize("rest", [b'{"id": "b', b"x" * 10_000])
def test_nothing_is_added_to_what_a_killed_process_left(tmp_path, rest):
    path = tmp_path / "lines"
    path.write_bytes(b"one\n" + rest)
    append(path, b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"
    path.write_bytes(rest)
    append(path, b"one\n")
    assert path.read_bytes() == b"one\n"


def test_what_could_not_be_undone_is_cut_off_by_the_next_call(tmp_path, monkeypatch):
    with small_disk(tmp_path / "disk") as disk:
        path = disk.folder / "lines"
        append(path, b"one\n")
        disk.fill()
        with monkeypatch.context() as patched:
            patched.setattr(os, "ftruncate", lambda *_: os.close(-1))
            with pytest.raises(OSError, match=r"No space|too large"):
                append(path, b"x" * 2 * PAGE + b"\n")
        assert len(path.read_bytes()) == PAGE  # a part of the line
        append(path, b"two\n")
        assert path.read_bytes() == b"one\ntwo\n"


def test_write_whole_never_replaces_a_device_or_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    before = {name: os.lstat(tmp_path / name).st_ino for name in ("pipe", "null")}
    for name in before:
        with pytest.raises(HdbenchError, match=f"{name}: cannot be written: is a pipe or a device"):
            write_whole(tmp_path / name, b"x")
    assert {path.name: os.lstat(path).st_ino for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("form", FORMS)
def test_write_whole_is_atomic_on_a_full_disk(tmp_path, form):
    with small_disk(tmp_path / "disk", form) as disk:
        path, refused = disk.folder / "file", 0
        write_whole(path, b"old")
        for pages in range(4):
            for data in (b"x" * (pages * PAGE + 1), b"y" * 2 * PAGE):
                before = path.read_bytes()
                disk.fill(pages=pages)
                saved = is_saved(write_whole, path, data)
                disk.make_room()
                assert path.read_bytes() == (data if saved else before)
                assert os.listdir(disk.folder) == ["file"]
                refused += not saved
        assert refused


def test_what_to_do_depends_on_why_a_file_cannot_be_written(tmp_path):
    with pytest.raises(HdbenchError, match=r"file: cannot be written: .*: is the folder still "):
        write_whole(tmp_path / "moved/file", b"x")
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        assert write_reason(OSError(number, "why")) == "why: make room"
    for number in (errno.EACCES, errno.EPERM, errno.EROFS):
        assert write_reason(OSError(number, "why")) == "why: allow this user to write there"
    assert write_reason(OSError(errno.EIO, "why")) == "why"


@pytest.mark.parametrize("link", ["inner/file", "inner"])
@pytest.mark.parametrize(
    "write",
    [
        lambda path, within: append(path, b"one\n", within),
        lambda path, within: write_whole(path, b"one", within),
        lambda path, within: opened_file(path, "ab", within),
        make_folder,
        lambda path, within: move(within.parent / "given", path, within),
        lambda path, within: lock(path, within).acquire(),
    ],
)
def test_no_link_is_followed_below_the_folder(tmp_path, write, link):
    for folder in ("elsewhere", "real/inner"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "given").write_text("given")
    (tmp_path / "named").symlink_to("real")  # what a person named may be a link itself
    place = tmp_path / "real" / link
    shutil.rmtree(place, ignore_errors=True)
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HdbenchError, match=f"named/{link}: is a symbolic link"):
        write(tmp_path / "named/inner/file", tmp_path / "named")
    assert not any((tmp_path / "elsewhere").iterdir())
    place.unlink()
    (tmp_path / "real/inner").mkdir(exist_ok=True)
    write(tmp_path / "named/inner/file", tmp_path / "named")
    assert os.listdir(tmp_path / "real/inner") == ["file"]


def test_link_that_comes_in_between_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.common.writing.refuse_links", lambda *_: None)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "folder").symlink_to("elsewhere")
    (tmp_path / "file").symlink_to("elsewhere/file")
    for path in (tmp_path / "folder/file", tmp_path / "file"):
        with pytest.raises(OSError, match=r"symbolic|directory"):
            append(path, b"one\n", tmp_path)
    write_whole(tmp_path / "file", b"one", tmp_path)  # the link itself is replaced
    assert (tmp_path / "file").read_bytes() == b"one"
    assert not any((tmp_path / "elsewhere").iterdir())
