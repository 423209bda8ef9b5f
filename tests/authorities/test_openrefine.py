"""The reconciliation service as a real OpenRefine uses it."""

import csv

import pytest
from authorities.reconciling import served, write_files
from helpers.openrefine import OpenRefine

pytestmark = [pytest.mark.nightly, pytest.mark.needs("openrefine")]

NAMES = ["Müller, Karl", "MUELLER, Carl", "Frey, Max", "Frey, Anna", "Muller, Karl", ""]


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
