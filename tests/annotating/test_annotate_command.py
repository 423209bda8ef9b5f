"""The command's options that open no page."""

import socket

from annotating.pages import write_collection

from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import Double


def test_everybody_reads_the_same_items(tmp_path, run_hdbench):
    folder = write_collection(tmp_path / "cards", [None] * 5)
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that no page is served
        port = taken.getsockname()[1]
        for name in ("anna", "ben"):
            asked = ("annotate", folder, "--as", name, "--double", "3", "--port", port)
            told = run_hdbench(*asked, cwd=tmp_path)
    anna, ben = People(folder).of_kind(Double)
    assert (anna.by, ben.by, anna.items, len(anna.items)) == ("anna", "ben", ben.items, 3)
    assert told.stderr.endswith(" is taken: choose another one with --port\n")
    told = run_hdbench("annotate", folder, "--double", "4", cwd=tmp_path)
    assert told.returncode == 2
    assert "3 items are read by several people here" in told.stderr
