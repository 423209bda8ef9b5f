"""Avisblatt and the letters, built from the published files."""

import gzip
import json
import shutil
from pathlib import Path

import pytest
from datasets import Image, List, load_dataset

from hdbench.answers.answer import Answer
from hdbench.common.jsonio import read_jsonl
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def source(shared):
    return shared / "upstream/humanities_data_benchmark"


@pytest.fixture
def built(published):
    assert "hdb/avisblatt: 5 rows, 2 files missing, version 1.1.1" in published.said
    assert "hdb/rheinschifffahrt: 57 rows, version 1.1.1" in published.said
    return published.folder


@pytest.fixture(scope="module")
def truths(source):
    """The published truths, by benchmark and item, read here without hdbench."""
    return {
        folder: {
            file.stem: json.loads(file.read_text())
            for file in sorted((source / f"benchmarks/{folder}/ground_truths").glob("*.json"))
            if file.stem not in {"letterFALSE", "persons"}
        }
        for folder in ("fraktur_adverts", "business_letters")
    }


@pytest.fixture(params=[False, True], ids=["cached", "streaming"])
def rows(request, built, monkeypatch, tmp_path):
    monkeypatch.chdir(built)

    def rows(name, columns=None, *, undecoded=None):
        found = load_dataset(
            f"hdb/{name}", split="test", streaming=request.param, cache_dir=str(tmp_path)
        )
        if undecoded:  # large images take most of the time
            found = found.cast_column(undecoded, List(Image(decode=False)))
        return list(found.select_columns(columns) if columns else found)

    return rows


def test_every_page_has_its_advertisements_as_published(rows, truths):
    pages = {row["id"]: row for row in rows("avisblatt")}
    assert list(pages) == [f"image_{number}" for number in range(1, 6)]
    for name, published in truths["fraktur_adverts"].items():
        ads = published
        if isinstance(published, dict):
            ads = [ad for ads in published.values() for ad in ads]
        as_published = pages[name]["ground_truth_published"]["advertisements"]
        for key in ("date", "tags_section", "text", "transcription"):
            assert [ad.get(key) for ad in as_published] == [ad.get(key) for ad in ads]
        assert pages[name]["advertisements"] == len(ads)
    assert sum(page["advertisements"] for page in pages.values()) == 103
    assert [page["image"] is None for page in pages.values()] == [True, True, False, False, False]
    assert pages["image_4"]["continued_section"] == "Es wird zum Verkauf angetragen"


def test_every_letter_has_its_pages_and_persons_as_published(rows, truths, source):
    letters = rows("rheinschifffahrt", undecoded="pages")
    assert len(letters) == len(truths["business_letters"]) == 57
    pages = [page for letter in letters for page in letter["pages"]]
    assert len(pages) == 98
    assert all(page["bytes"] or Path(page["path"]).stat().st_size for page in pages)
    assert Image().decode_example(pages[0]).size > (1000, 1000)
    persons = json.loads(
        (source / "benchmarks/business_letters/ground_truths/persons.json").read_text()
    )
    aliases = {person["name"]: person.get("alternateName") or [] for person in persons}
    markers = {None: "{}", "function": "<{}>", "correspondence": "<<{}>>"}
    for letter in letters:
        published = truths["business_letters"][letter["id"]]
        truth = letter["ground_truth_published"]
        assert truth["send_date"] == published["send_date"]
        assert truth["has_signatures"] is (published["has_signatures"] == "TRUE")
        for key in ("sender_persons", "receiver_persons"):
            names = [markers[person["inferred"]].format(person["name"]) for person in truth[key]]
            assert names == [name for name in published[key] if name != "None"]
            for person in truth[key]:
                assert set(person["alternateName"]) == set(aliases.get(person["name"], []))
        assert [letter["letter_title"] or "None"] == published["letter_title"]


def test_every_correction_is_in_the_card(built):
    card = (built / "hdb/avisblatt/README.md").read_text()
    assert "`image_5`, `advertisements[5].text`: the number 3 occurred twice" in card
    assert "`image_1`, `advertisements[*].date`: a stray apostrophe" in card
    assert "image_1.jpeg, benchmarks/fraktur_adverts/images/image_2.jpg" in card
    card = (built / "hdb/rheinschifffahrt/README.md").read_text()
    assert "ends in a blank" in card


def test_a_corrected_export_gives_a_new_version(source, tmp_path, run_hdbench):
    copy = tmp_path / "source"
    shutil.copytree(source / "benchmarks/business_letters", copy / "benchmarks/business_letters")
    table = copy / "benchmarks/business_letters/ground_truths/letters.csv"
    table.chmod(0o644)
    text = table.read_text(encoding="utf-8")
    assert "1926-02-16" in text
    table.write_text(text.replace("1926-02-16", "1926-02-17"), encoding="utf-8")
    build = ("build", "rheinschifffahrt", "--source", copy, "--accept-licence")

    refused = run_hdbench(*build, cwd=tmp_path)
    assert refused.returncode == 2
    assert "letters.csv: wrong checksum" in refused.stderr
    assert "--accept-changed letters.csv" in refused.stderr

    done = run_hdbench(*build, "--accept-changed", "letters.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "57 rows, version 1.1.1+changed." in done.stdout
    first = (tmp_path / "hdb/rheinschifffahrt/metadata.jsonl").read_text().splitlines()[0]
    assert json.loads(first)["send_date"] == "1926-02-17"


def test_unchanged_file_may_be_accepted_but_not_an_unknown_one(source, tmp_path, run_hdbench):
    build = ("build", "rheinschifffahrt", "--source", source, "--accept-licence")
    done = run_hdbench(*build, "--accept-changed", "persons.csv", cwd=tmp_path)
    assert "57 rows, version 1.1.1," in done.stdout
    done = run_hdbench(*build, "--accept-changed", "nothing.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "has no such file" in done.stderr


@pytest.mark.parametrize(
    ("name", "metric", "recorded"),
    [
        ("avisblatt", "avisblatt_cer", "fraktur_adverts"),
        ("rheinschifffahrt", "letters_f1", "business_letters"),
    ],
)
def test_every_recorded_run_scores_as_published(built, shared, name, metric, recorded):
    """The corrections change no published figure."""
    scorer = make_metric(metric, "published")
    lines = [line.value for line in read_jsonl(built / f"hdb/{name}/metadata.jsonl")]
    truths = {
        line["id"]: scorer.prepare(json.loads(line["ground_truth_published"])) for line in lines
    }
    with gzip.open(shared / f"recorded/{recorded}.jsonl.gz", "rt") as file:
        runs = [json.loads(line) for line in file]
    for run in runs:
        candidates = [(Answer(a["answer"], id=a["id"]), truths[a["id"]]) for a in run["answers"]]
        figures = score_items(scorer, candidates).figures
        assert {figure: figures[figure] for figure in run["scores"]} == run["scores"], run["run"]
