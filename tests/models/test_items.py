"""Which items a run asks."""

import json
import os

import pytest

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.models.items import named_ids, of_benchmark, own_images


@pytest.fixture
def benchmark(cards, monkeypatch):
    """Forty cards, each with an image."""
    rows = [
        {"id": f"{number:04}", "file_name": f"images/{number}.jpg", "ground_truth": "{}"}
        for number in range(40)
    ]
    (cards / "hdb/cards/metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(cards)
    return load_benchmark("hdb/cards")


def ids(choice):
    return [question.id for question in choice.questions]


def test_all_items_with_their_media(benchmark):
    choice = of_benchmark(benchmark)
    assert ids(choice) == [f"{number:04}" for number in range(40)]
    assert choice.questions[3].media == [benchmark.folder / "images/3.jpg"]
    assert choice.subset is None


def test_a_limit_and_named_ids_are_said(benchmark):
    choice = of_benchmark(benchmark, ids=["0007", "0003", "0005"], limit=2)
    assert ids(choice) == ["0003", "0005"]
    assert choice.subset == "3 named ids; the first 2, of 40 items"
    assert of_benchmark(benchmark, limit=40).subset is None


def test_an_unknown_id_is_refused(benchmark):
    with pytest.raises(HdbenchError, match="has no id '0099'"):
        of_benchmark(benchmark, ids=["0001", "0099", "0100"])


def test_ids_stand_in_the_command_or_in_a_file(tmp_path):
    (tmp_path / "ids.txt").write_text("0001\n\n 0002 \n")
    assert named_ids(str(tmp_path / "ids.txt")) == ["0001", "0002"]
    assert named_ids("0001, 0002") == ["0001", "0002"]
    assert named_ids(None) == []
    with pytest.raises(HdbenchError, match="names no id"):
        named_ids(" , ")


def test_a_file_of_ids_that_would_fill_the_memory_is_refused(tmp_path):
    path = tmp_path / "ids.txt"
    with path.open("wb") as file:
        file.truncate(2**29)
    with pytest.raises(HdbenchError, match=r"ids\.txt: larger than 64 MiB"):
        named_ids(str(path))


def test_own_images_are_files_and_folders_in_natural_order(tmp_path):
    for name in ("card10.jpg", "card2.PNG", "notes.txt", ".hidden.jpg"):
        (tmp_path / name).touch()
    (tmp_path / "letter").mkdir()
    for name in ("p10.jpg", "p9.jpg", "p1.tif", "read.me"):
        (tmp_path / "letter" / name).touch()
    choice = own_images(tmp_path)
    assert ids(choice) == ["card2", "card10", "letter"]
    pages = [path.name for path in choice.questions[2].media]
    assert pages == ["p1.tif", "p9.jpg", "p10.jpg"]
    assert choice.passed_over == ["notes.txt"]


def test_links_and_pipes_among_own_images_are_named_but_unopened(tmp_path):
    (tmp_path / "letter").mkdir()
    for name in ("letter/p1.jpg", "letter/p3.jpg", "letter/.p3.jpg", "card1.jpg"):
        (tmp_path / name).touch()
    (tmp_path / "letter/p2.jpg").symlink_to(tmp_path / "card1.jpg")
    (tmp_path / "card2.jpg").symlink_to(tmp_path / "card1.jpg")
    os.mkfifo(tmp_path / "card3.jpg")
    choice = own_images(tmp_path)
    assert ids(choice) == ["card1", "letter"]
    assert [path.name for path in choice.questions[1].media] == ["p1.jpg", "p3.jpg"]
    assert choice.passed_over == []
    assert choice.not_opened == ["card2.jpg", "card3.jpg", "letter/p2.jpg"]


def test_images_with_one_name_and_empty_folder_are_refused(tmp_path):
    with pytest.raises(HdbenchError, match="no images here"):
        own_images(tmp_path)
    (tmp_path / "a.jpg").touch()
    (tmp_path / "a.png").touch()
    with pytest.raises(HdbenchError, match="a second image called 'a'"):
        own_images(tmp_path)
    with pytest.raises(HdbenchError, match="cannot be read"):
        own_images(tmp_path / "nowhere")
