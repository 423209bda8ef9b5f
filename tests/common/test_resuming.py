"""Files that long work writes item by item: what is kept when it stops, and what is not."""

import os

import pytest
from pydantic import BaseModel

from hdbench.common import resuming
from hdbench.common.csv_files import csv_rows
from hdbench.common.resuming import made_from, resumable_files
from hdbench.errors import HdbenchError

ITEMS = [f"Äpfel {number}" for number in range(40)]
HEAD = ("item", "number")


class Sum(BaseModel):
    total: int = 0


@pytest.fixture(autouse=True)
def checkpoints(monkeypatch):
    monkeypatch.setattr(resuming, "EVERY", 10)


def work(folder, *, until=None, hash_="a", error=KeyboardInterrupt):
    """Write a table and a list; return where it began, and the sum that it kept."""
    with resumable_files([folder / "table.csv", folder / "list"], hash_, Sum()) as writing:
        begun = writing.done
        table, lines = writing.files
        add = csv_rows(table, HEAD)
        lines.write(b"begin\n")
        for item in writing.progress(ITEMS[begun:], "Writing", len(ITEMS)):
            number = ITEMS.index(item)
            if number == until:
                raise error
            add((item, number))
            if number % 3:
                lines.write(f"{number}\n".encode())
            writing.state.total += number
        lines.write(b"end\n")
    return begun, writing.state.total


def written(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    work(folder)
    found = written(folder)
    rows = "".join(f"{item},{number}\r\n" for number, item in enumerate(ITEMS))
    assert found["table.csv"].decode("utf-8-sig") == "item,number\r\n" + rows
    return found


@pytest.mark.parametrize("until", [0, 9, 10, 11, 39])
def test_resumed_files_are_those_of_one_go(tmp_path, expected, until, capsys):
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path, until=until)
    assert not expected.keys() & written(tmp_path).keys()
    done = until // 10 * 10
    assert work(tmp_path) == (done, sum(range(40)))
    assert written(tmp_path) == expected
    resumes = f"resumes at item {done + 1}\n" if done else ""
    assert capsys.readouterr().err == resumes


def test_work_may_be_interrupted_again_and_again(tmp_path, expected):
    for until in (15, 15, 25):
        with pytest.raises(KeyboardInterrupt):
            work(tmp_path, until=until)
    assert work(tmp_path) == (20, sum(range(40)))
    assert written(tmp_path) == expected


def torn(folder):
    """The last checkpoint is not whole; the one before it counts."""
    path = folder / ".table.csv.checkpoints"
    os.truncate(path, path.stat().st_size - 1)
    return 20


def changed(folder):
    path = folder / ".list.part"
    path.write_bytes(path.read_bytes().replace(b"4", b"5", 1))
    return 0


def shortened(folder):
    os.truncate(folder / ".table.csv.part", 9)
    return 0


def missing(folder):
    (folder / ".list.part").unlink()
    return 0


def linked(folder):
    part = folder / ".list.part"
    part.rename(folder.with_name("another"))
    part.symlink_to(folder.with_name("another"))
    return 0


def strange(folder):
    (folder / ".table.csv.checkpoints").write_text('{"done": "many"}\n')
    return 0


@pytest.mark.parametrize("damage", [torn, changed, shortened, missing, linked, strange])
def test_damaged_remains_never_get_into_a_file(tmp_path, expected, damage):
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path, until=35)
    done = damage(tmp_path)
    another = tmp_path.with_name("another")
    before = another.read_bytes() if another.exists() else None
    assert work(tmp_path)[0] == done
    assert written(tmp_path) == expected
    assert before is None or another.read_bytes() == before


def test_work_on_something_else_begins_anew(tmp_path, expected):
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path, until=35)
    assert work(tmp_path, hash_="b")[0] == 0
    assert written(tmp_path) == expected


def test_an_error_of_the_contents_leaves_nothing_behind(tmp_path):
    (tmp_path / "list").write_text("before")
    with pytest.raises(HdbenchError, match="unusable"):
        work(tmp_path, until=35, error=HdbenchError("unusable"))
    assert written(tmp_path) == {"list": b"before"}


def test_a_device_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "list")
    with pytest.raises(HdbenchError, match="is a pipe or a device"):
        work(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["list"]


def test_a_file_counts_by_what_it_holds(tmp_path):
    path = tmp_path / "a"
    without = made_from("x", files=[path])
    path.write_text("1")
    one = made_from("x", files=[path])
    path.write_text("2")
    assert len({without, one, made_from("x", files=[path]), made_from("y", files=[path])}) == 4
