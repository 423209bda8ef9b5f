"""The command's options that open no page."""

import json
import socket

from annotating.pages import truths, write_collection

from hdbench.annotating.annotation import read_annotation
from hdbench.annotating.store import Store


def test_two_people_exchange_their_work(tmp_path, run_hdbench):
    title = {"title": "Faust", "year": None}
    for name, year in (("anna", 1808), ("ben", 1809)):
        folder = write_collection(tmp_path / name, [title, None])
        with Store.open(folder, name) as store:
            after = store.state("b1").head["ground_truth"]
            store.change("b1", "ground_truth", "year", year, after=after, how="blind")
    told = run_hdbench("hand-over", "anna", "a.zip", "--as", "anna", cwd=tmp_path)
    assert told.stdout.endswith(" changes by anna\n"), told.stderr
    merged = run_hdbench("merge", "ben", "a.zip", "--yes", cwd=tmp_path)
    assert "conflicts: 1\n  b1: year\n" in merged.stdout, merged.stderr
    assert truths(tmp_path / "ben")["b1"]["title"] == "Faust"


def test_what_cannot_be_opened_is_one_line(tmp_path, run_hdbench):
    folder = write_collection(tmp_path / "cards")
    told = run_hdbench("annotate", "cards", "--as", "Anna B.", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "pseudonym" in told.stderr
    other = {"id": "x9", "prediction": {"title": "Faust"}}
    (tmp_path / "drafts.jsonl").write_text(json.dumps(other))
    told = run_hdbench("annotate", folder, "--drafts", "drafts.jsonl", cwd=tmp_path)
    assert told.returncode == 2
    assert "x9" in told.stderr
    Store.open(folder, "me").close()  # nothing is left locked
    (tmp_path / "made").mkdir()
    (tmp_path / "made/build.py").touch()
    for name, why in (("made", "build.py makes its ground truths"), ("none", "no such folder")):
        told = run_hdbench("annotate", name, cwd=tmp_path)
        assert told.stderr.startswith(f"error: {name}: {why}")


def test_items_are_assigned_to_several_people(tmp_path, run_hdbench):
    folder = write_collection(tmp_path / "cards", [None] * 5)
    told = run_hdbench("assign", "cards", "anna", "ben", "--items", "3", cwd=tmp_path)
    assert "3 of 5 items that nobody has started are now assigned to anna and ben" in told.stdout
    assert len(read_annotation(folder).assignments[0].items) == 3
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that no page is served
        told = run_hdbench("annotate", folder, "--port", taken.getsockname()[1], cwd=tmp_path)
    assert "waiting for anna (3), ben (3)" in told.stderr
    assert told.stderr.endswith(" is taken: choose another one with --port\n")
    told = run_hdbench("assign", "cards", "anna", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
