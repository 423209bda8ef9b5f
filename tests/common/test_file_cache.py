"""What was made once: found again if it is whole, and never believed else."""

import os
import threading

import pytest
from helpers.small_disk import FORMS, small_disk

from hdbench.common.cache import FileCache


@pytest.fixture
def cache(tmp_path):
    return FileCache(tmp_path / "kept", max_entry=1_000)


def test_what_is_kept_is_found_by_another_one(cache, tmp_path):
    cache.add("a", b"first")
    cache.add("a", b"second")
    assert FileCache(tmp_path / "kept", max_entry=1_000).get("a") == b"second"
    assert [file.name for file in (tmp_path / "kept").iterdir()] == ["a"]
    assert cache.get("b") is None


DAMAGES = [
    lambda raw: raw[: len(raw) // 2],
    lambda raw: raw[:-1] + b"x",
    lambda raw: b"x" + raw[1:],
    lambda _: b"",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_counts_as_not_there(cache, tmp_path, damage):
    cache.add("a", b"a text")
    path = tmp_path / "kept/a"
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get("a") is None


def test_what_is_too_large_is_neither_kept_nor_read(cache, tmp_path):
    cache.add("a", bytes(1_001))
    assert list((tmp_path / "kept").iterdir()) == []
    cache.add("a", bytes(1_000))
    assert cache.get("a") == bytes(1_000)
    assert FileCache(tmp_path / "kept", max_entry=999).get("a") is None


def test_what_another_user_owns_is_neither_read_nor_filled(cache, tmp_path, monkeypatch):
    cache.add("a", b"a text")
    monkeypatch.setattr(os, "getuid", lambda: -1)
    assert cache.get("a") is None
    with pytest.raises(PermissionError, match="kept: belongs to another user"):
        FileCache(tmp_path / "kept", max_entry=1_000)


def test_several_may_keep_the_same_at_once(cache):
    threads = [threading.Thread(target=cache.add, args=("a", bytes(900))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get("a") == bytes(900)


@pytest.mark.parametrize("form", FORMS)
def test_full_disk_skips_caching_without_partial_files(tmp_path, form):
    with small_disk(tmp_path / "disk", form) as disk:
        cache = FileCache(disk.folder / "kept", max_entry=100_000)
        cache.add("a", b"a text")
        disk.fill()
        cache.add("a", bytes(100_000))
        cache.add("b", bytes(100_000))
        assert (cache.get("a"), cache.get("b")) == (b"a text", None)
        assert os.listdir(disk.folder / "kept") == ["a"]
        disk.make_room()
        cache.add("b", bytes(100_000))
        assert cache.get("b") == bytes(100_000)
