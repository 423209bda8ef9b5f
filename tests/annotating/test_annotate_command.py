"""The command's options that open no page."""

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


def test_everybody_reads_the_same_items(tmp_path, run_hdbench):
    folder = write_collection(tmp_path / "cards", [None] * 5)
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that no page is served
        port = taken.getsockname()[1]
        for name in ("anna", "ben"):
            asked = ("annotate", folder, "--as", name, "--double", "3", "--port", port)
            told = run_hdbench(*asked, cwd=tmp_path)
    (double,) = read_annotation(folder).assignments
    assert (double.annotators, len(double.items)) == (("anna", "ben"), 3)
    assert "waiting for anna (3), ben (3)" in told.stderr
    assert told.stderr.endswith(" is taken: choose another one with --port\n")
    told = run_hdbench("annotate", folder, "--double", "4", cwd=tmp_path)
    assert told.returncode == 2
    assert "3 items are read by several people here: --double 3" in told.stderr
