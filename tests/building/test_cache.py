"""`load_dataset` keeps a cache of local folders too: it must never give another folder's rows."""

import datasets
import pytest

pytestmark = pytest.mark.nightly  # the cache is that of datasets


@pytest.fixture
def build_in(tmp_path, run_hdbench, monkeypatch):
    """Build into a folder of that name, and go there: the tests have one cache of datasets."""

    def build(name, *arguments):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        done = run_hdbench("build", *arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
        monkeypatch.chdir(folder)
        return folder

    return build


def load():
    return datasets.load_dataset("hdb/zettelkatalog", split="test")


def test_another_folder_of_that_name_is_not_taken_for_this_one(build_in, published, monkeypatch):
    sample = build_in("sample", "zettelkatalog", "--sample")
    assert load()["id"][0] == "sample-01"
    build_in("cards", published.recipe, "--source", published.source, "--run-script")
    assert load()["id"][0] == "00000"
    monkeypatch.chdir(sample)
    assert load()["id"][0] == "sample-01"


def test_a_new_build_in_the_same_place_is_seen(build_in, published):
    build_in("place", "zettelkatalog", "--sample")
    assert load()["id"][0] == "sample-01"
    build_in("place", published.recipe, "--source", published.source, "--run-script")
    assert load()["id"][0] == "00000"


def test_images_come_from_this_folder_when_an_equal_one_is_gone(build_in):
    first = build_in("first", "zettelkatalog", "--sample")
    assert load()[0]["image"].size == (960, 590)
    second = build_in("second", "zettelkatalog", "--sample")
    first.rename(first.with_name("moved"))
    image = load()[0]["image"]
    assert image.filename.startswith(str(second))
