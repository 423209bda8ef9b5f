"""ScienceMetaBench from a tree of the published layout: a folder, and a Hub on loopback."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from datasets import load_dataset

from hdbench.about import installed_folder
from hdbench.common.jsonio import read_jsonl

pytestmark = pytest.mark.nightly


@pytest.fixture
def tree(tmp_path) -> Path:
    """Two batches in the published layout, made of the sample's own PDFs."""
    sample = installed_folder("dataset_scripts") / "sciencemetabench/sample"
    for number, line in enumerate(read_jsonl(sample / "metadata.jsonl")):
        truth = dict(line.value["ground_truth"])
        kind, batch = truth.pop("kind"), ("20250806", "20251022")[number % 2]
        name = f"{batch}/{kind}_{batch[4:]}"
        lists, pdfs = tmp_path / f"tree/data/{name}.jsonl", tmp_path / f"tree/pdf/{name}"
        lists.parent.mkdir(parents=True, exist_ok=True)
        pdfs.mkdir(parents=True)
        truth["path"] = "where/it/came/from"  # what is no field of the kind is no truth
        lists.write_text(json.dumps(truth, ensure_ascii=False) + "\n", encoding="utf-8")
        shutil.copy(sample / line.value["file_name"], pdfs)
    return tmp_path / "tree"


@pytest.fixture
def build(tmp_path, run_hdbench):
    return lambda *arguments, **environment: run_hdbench(
        *("build", "sciencemetabench", *arguments), cwd=tmp_path, **environment
    )


def pdf(tree) -> Path:
    return next(tree.rglob("*.pdf"))


def test_each_record_has_its_pdf_kind_and_batch(build, tree, tmp_path, monkeypatch):
    done = build("--source", tree)
    assert done.returncode == 0, done.stderr
    assert "3 rows, version 1.1.1" in done.stdout
    monkeypatch.chdir(tmp_path)
    for streaming in (False, True):
        rows = list(
            load_dataset(
                "hdb/sciencemetabench",
                split="val",
                streaming=streaming,
                cache_dir=str(tmp_path / "cache"),
            )
        )
        assert sorted(row["kind"] for row in rows) == ["ebook", "paper", "textbook"]
        assert {row["batch"] for row in rows} == {"20250806", "20251022"}
        for row in rows:
            assert row["id"] == row["sha256"] == row["ground_truth"]["sha256"]
            assert row["ground_truth"]["kind"] == row["kind"]
            assert "path" not in row["ground_truth"]
            assert row["ground_truth"]["title"][:4] in row["pdf"].pages[0].extract_text()
    copies = list((tmp_path / "hdb/sciencemetabench/pdf").iterdir())
    assert {hashlib.sha256(copy.read_bytes()).hexdigest() for copy in copies} == {
        copy.stem for copy in copies
    }


def missing(tree):
    path = pdf(tree)
    path.unlink()
    return path.name


def changed(tree):
    path = pdf(tree)
    path.write_bytes(path.read_bytes() + b"\n")
    return f"{path}: wrong checksum"


def damaged(tree):
    """A file that is named by its content, but is no PDF."""
    data = b"%PDF-1.7 and nothing more"
    sha256 = hashlib.sha256(data).hexdigest()
    lists = next(tree.rglob("*.jsonl"))
    lists.write_text(json.dumps({"sha256": sha256, "title": "x"}) + "\n")
    (tree / f"pdf/{sha256}.pdf").write_bytes(data)
    return "damaged PDF"


def other_kind(tree):
    lists = next(tree.rglob("*.jsonl"))
    lists.rename(lists.with_name("thesis_0806.jsonl"))
    return "thesis_0806.jsonl: its name begins with none of"


@pytest.mark.parametrize("spoil", [missing, changed, damaged, other_kind])
def test_a_bad_tree_stops_the_build_and_leaves_nothing(build, tree, tmp_path, spoil):
    message = spoil(tree)
    done = build("--source", tree)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "hdb").exists()


def test_no_hub_at_all(build, tmp_path):
    done = build(
        HF_ENDPOINT="http://127.0.0.1:9",
        HF_HUB_OFFLINE="0",
        HDBENCH_CACHE=str(tmp_path / "downloads"),
    )
    assert done.returncode == 2
    assert "opendatalab/ScienceMetaBench: cannot be downloaded" in done.stderr
    assert not (tmp_path / "hdb").exists()
