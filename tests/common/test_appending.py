"""Lines are added whole, or not at all, on disks that are full."""

import os

import pytest
from helpers.small_disk import FORMS, PAGE, small_disk

from hdbench.common.appending import append


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


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "lines").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        append(tmp_path / "lines", b"one\n")
    assert not (tmp_path / "elsewhere").exists()
