"""What is kept until a file changes."""

import os

from hdbench.collections.home.stamps import Kept


def test_a_file_put_back_with_its_size_and_time_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_text("before")
    kept = Kept()
    assert kept.get("file", [path], path.read_text) == "before"
    written = path.stat().st_mtime_ns
    path.write_text("behind")
    os.utime(path, ns=(written, written))
    assert kept.get("file", [path], path.read_text) == "behind"


def test_a_file_that_comes_and_goes_is_read_and_missed(tmp_path):
    path = tmp_path / "file"
    kept = Kept()
    seen = [kept.get("file", [path], path.exists)]
    path.touch()
    seen.append(kept.get("file", [path], path.exists))
    path.unlink()
    assert [*seen, kept.get("file", [path], path.exists)] == [False, True, False]
