"""A benchmark's folder: its media."""

import json

import pytest

from hdbench.benchmark import load_benchmark
from hdbench.errors import HdbenchError


def with_media(cards, media, key, value):
    folder = cards / "hdb/cards"
    spec = json.loads((folder / "benchmark.yaml").read_text()) | {"media": media}
    (folder / "benchmark.yaml").write_text(json.dumps(spec))
    row = {"id": "a", "ground_truth": "{}", key: value}
    (folder / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    return load_benchmark(str(folder))


@pytest.mark.parametrize(
    ("media", "key", "value", "names"),
    [
        ("image", "file_name", "images/a.jpg", ["images/a.jpg"]),
        ("pdf", "file_name", "pdf/a.pdf", ["pdf/a.pdf"]),
        ("pages", "pages_file_names", ["images/a.jpg", "images/b.jpg"], None),
        ("image", "file_name", None, []),
    ],
)
def test_the_media_of_each_item(cards, media, key, value, names):
    benchmark = with_media(cards, media, key, value)
    expected = value if names is None else names
    assert benchmark.media() == {"a": [benchmark.folder / name for name in expected]}


@pytest.mark.parametrize("name", ["../secret.jpg", "/etc/passwd", "images/../../x.jpg"])
def test_media_outside_of_the_folder_are_refused(cards, name):
    with pytest.raises(HdbenchError, match=r"metadata.jsonl:1: .* is outside of the benchmark"):
        with_media(cards, "image", "file_name", name).media()
