"""The files of the people: nothing that was entered is lost, and what was changed is found."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hdbench
from hdbench.collections.truth import event_files
from hdbench.collections.truth.event_files import NotSavedError, People
from hdbench.collections.truth.events import Change, as_name
from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError

WRITER = """
import sys
from pathlib import Path
from annotating.test_people import enter
for number in range(40):
    enter(Path(sys.argv[1]), sys.argv[2], "x" * number * 50, item=f"b{number}")
"""


def enter(folder, by, value, item="b1"):
    change = Change(
        by=by, at="2026-11-29T10:00:00.000Z", kind="ground_truth", item=item, field="title",
        value=value, how="blind",
    )  # fmt: skip
    people = People(folder)
    with people.writing(by):
        people.append([change])


def read(folder, by="anna"):
    return [event.value for event in People(folder).events[by]]


@pytest.fixture
def folder(tmp_path):
    """Anna entered four values, of which one is long."""
    for value in ("one", "two", "three" * 1_000, "four"):
        enter(tmp_path, "anna", value)
    return tmp_path


@pytest.fixture
def path(folder):
    return folder / "people/anna.jsonl"


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def cut(found):
    return found[:2]


def without_second(found):
    return [found[0], *found[2:]]


def swapped(found):
    return [found[1], found[0], *found[2:]]


def one_letter(found):
    return [found[0].replace(b"one", b"own"), *found[1:]]


def last_letter(found):
    return [*found[:-1], found[-1].replace(b"four", b"five")]


def torn(found):
    return [*found[:1], found[1][:30] + b"\n", *found[2:]]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut, "anna.jsonl: is shorter than it was: it had 4 lines"),
        (without_second, "anna.jsonl:2: does not follow the lines before it"),
        (swapped, "anna.jsonl:1: does not follow the lines before it"),
        (one_letter, "anna.jsonl:2: does not follow the lines before it"),
        (last_letter, "anna.jsonl:4: does not follow the lines before it"),
        (torn, "anna.jsonl:2: not JSON"),
        (lambda found: [b"{}\n", *found], "anna.jsonl:1: not an event that hdbench writes"),
        (lambda found: [b"[1]\n", *found], "anna.jsonl:1: must be a JSON object"),
        (lambda found: [b"\xff\n", *found], "anna.jsonl:1: not UTF-8"),
        (lambda _: [], "anna.jsonl: is shorter than it was: it had 4 lines"),
    ],
)
def test_a_damaged_file_is_refused_and_nothing_is_written(folder, path, damage, told):
    path.write_bytes(b"".join(damage(lines(path))))
    before = {each: each.read_bytes() for each in path.parent.iterdir()}
    for by in ("anna", "ben"):
        with pytest.raises(HdbenchError) as refused:
            enter(folder, by, "more")
        assert told in str(refused.value)
        assert "\n" not in str(refused.value)
    assert {each: each.read_bytes() for each in before} == before


def test_a_file_that_has_gone_is_missed(folder, path):
    path.unlink()
    with pytest.raises(HdbenchError, match=r"anna.jsonl: is shorter than it was: it had 4 lines"):
        People(folder)


def test_damage_is_found_while_the_folder_is_open(folder, path):
    people = People(folder)
    whole = path.read_bytes()
    path.write_bytes(b"".join(cut(lines(path))))
    with pytest.raises(HdbenchError, match="is shorter than it was"):
        people.refresh()
    path.write_bytes(whole)
    people.refresh()
    assert len(people.events["anna"]) == 4


def test_two_computers_that_write_under_one_name_are_told(folder, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy") / "cards"
    shutil.copytree(folder, copy)
    enter(folder, "anna", "here")
    enter(copy, "anna", "there")
    enter(copy, "anna", "and more")
    shutil.copy(copy / "people/anna.jsonl", folder / "people")
    with pytest.raises(HdbenchError, match=r"anna.jsonl:5: .* two computers wrote under one name"):
        People(folder)


def test_a_colleagues_file_may_be_copied_again_and_again(folder, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy")
    for number in range(3):
        enter(copy, "Jürg Müller", f"{number}")
        shutil.copy(copy / "people/Jürg Müller.jsonl", folder / "people")
        assert read(folder, "Jürg Müller") == [str(each) for each in range(number + 1)]
    assert len(read(folder)) == 4


def test_somebody_elses_lines_under_a_name_are_refused(folder, path):
    shutil.copy(path, path.with_name("ben.jsonl"))
    with pytest.raises(HdbenchError, match=r"ben.jsonl:1: is by anna"):
        People(folder)


def test_what_a_killed_process_left_of_a_line_is_cut_off_by_the_next(folder, path):
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[-1][:-20])
    assert len(read(folder)) == 4
    enter(folder, "anna", "five")
    assert path.read_bytes().startswith(whole + b'{"kind"')
    assert read(folder)[-1] == "five"


@pytest.mark.parametrize("name", ["Anna", "Jürg Müller", "O-2", "a_b", "Łukasz", "x" * 32])
def test_names_are_welcome(tmp_path, name):
    enter(tmp_path, name, "x")
    assert read(tmp_path, name) == ["x"]


@pytest.mark.parametrize("name", ["", " ", "../x", "a/b", "a.b", ".a", "-a", "x" * 33, "a\0"])
def test_what_cannot_be_a_file_on_every_computer_is_no_name(tmp_path, name):
    with pytest.raises(HdbenchError, match="a name has 1 to 32"):
        as_name(name)
    with pytest.raises(HdbenchError):
        Store(tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_a_name_in_other_letters_is_not_another_person(folder):
    with pytest.raises(HdbenchError, match="anna works here already: write the name like that"):
        enter(folder, "Anna", "x")


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    paths = (Path(hdbench.__file__).parents[1], Path(__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], env=environment)
        for name in ("anna", "anna", "ben")
    ]
    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    expected = sorted("x" * number * 50 for number in range(40))
    assert sorted(read(tmp_path)) == sorted(expected * 2)
    assert read(tmp_path, "ben") == expected


def test_a_lock_that_is_never_free_is_told(folder, monkeypatch):
    monkeypatch.setattr(event_files, "PATIENCE", 0.1)
    with (
        People(folder).writing("anna"),
        pytest.raises(NotSavedError, match="not saved: another process"),
    ):
        enter(folder, "anna", "x")


def test_rows_that_people_worked_on_are_missed(collection):
    path = collection / "metadata.jsonl"
    with Store(collection, "anna") as store:
        head = store.state("b1").head["ground_truth"]
        store.change("b1", "ground_truth", "title", "Faust II", after=head, how="blind")
    path.write_bytes(b"".join(lines(path)[1:]))
    before = path.read_bytes()
    with pytest.raises(HdbenchError, match=r"metadata.jsonl: lacks 'b1' \(1 in all\)"):
        Store(collection, "ben")
    assert path.read_bytes() == before


def test_events_say_all_that_is_needed_to_read_them(path):
    for number, line in enumerate(map(json.loads, lines(path)), 1):
        assert (line["kind"], line["by"], line["number"]) == ("ground_truth", "anna", number)
        assert set(line) >= {"at", "item", "field", "value", "how"}
