"""The reconciliation service as a real OpenRefine uses it."""

import csv
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from authorities.reconciling import write_files
from helpers.openrefine import OpenRefine

pytestmark = [pytest.mark.nightly, pytest.mark.needs("openrefine")]

NAMES = ["Müller, Karl", "MUELLER, Carl", "Frey, Max", "Frey, Anna", "Muller, Karl", ""]


@contextmanager
def served(files):
    """The address of `hdbench reconcile`."""
    command = [sys.executable, "-m", "hdbench", "reconcile", *map(str, files), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            assert process.wait(timeout=120) == 0


def test_openrefine_finds_the_ids_of_a_column(tmp_path):
    with (tmp_path / "cards.csv").open("w", newline="") as file:
        rows = [["id", "author"], *([f"c{n}", name] for n, name in enumerate(NAMES))]
        csv.writer(file).writerows(rows)
    with served(write_files(tmp_path)) as url, OpenRefine(tmp_path / "refine") as program:
        project = program.open(tmp_path / "cards.csv")
        project.reconcile("author", url, "persons")
        project.add_identifiers("author", "author: identifier")
        exported = project.export(tmp_path / "reconciled.csv")
    with exported.open(newline="", encoding="utf-8") as file:
        found = [(row["author"], row["author: identifier"]) for row in csv.DictReader(file)]
    assert found == [
        ("Müller, Karl", "118585053"),
        ("Müller, Karl", "118585053"),  # the preferred name, as OpenRefine exports it
        ("Frey, Max", ""),  # two persons
        ("Frey, Anna", "118535676"),
        ("Muller, Karl", ""),  # a person has to say so
        ("", ""),
    ]
