"""Which images of strangers are opened."""

import json

import pytest
from PIL import Image

from hdbench.benchmarks.building.source import copy_media, folder_source
from hdbench.collections.new.media import find_media
from hdbench.collections.truth.media import CollectionMedia
from hdbench.errors import HdbenchError
from hdbench.models.backend import ImageLimits
from hdbench.models.images import encoded_images, load_images


@pytest.fixture
def eps(tmp_path):
    """A program in PostScript, called a PNG: Pillow would have Ghostscript run it."""
    folder = tmp_path / "cards"
    (folder / "images").mkdir(parents=True)
    Image.new("RGB", (20, 20), "wheat").save(folder / "images/a.png", "EPS")
    row = {"id": "a", "file_name": "images/a.png", "ground_truth": None}
    (folder / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def test_postscript_is_not_run_whatever_it_is_called(eps, tmp_path):
    image = eps / "images/a.png"
    (tmp_path / "images").mkdir()
    for why, read in (
        ("not a readable image", lambda: CollectionMedia(eps).picture("a", 0)),
        ("cannot identify image file", lambda: load_images([image], ImageLimits())),
        ("cannot identify image file", lambda: encoded_images([image], ImageLimits())),
        (
            "cannot identify image file",
            lambda: copy_media(folder_source(eps, {}), "images/a.png", tmp_path, "image"),
        ),
        ("not an image, or damaged", lambda: find_media(eps / "images")),
    ):
        with pytest.raises(HdbenchError, match=why):
            read()
