"""What is kept until a file changes."""

import os

from hdbench.collections.home.stamps import Stamped


def test_a_file_put_back_with_its_size_and_time_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_text("before")
    kept = Stamped(path.read_text, [path])
    assert kept.get() == "before"
    written = path.stat().st_mtime_ns
    path.write_text("behind")
    os.utime(path, ns=(written, written))
    assert kept.get() == "behind"


def test_a_file_that_comes_and_goes_is_read_and_missed(tmp_path):
    path = tmp_path / "file"
    kept = Stamped(path.exists, [path])
    seen = [kept.get()]
    path.touch()
    seen.append(kept.get())
    path.unlink()
    assert [*seen, kept.get()] == [False, True, False]
