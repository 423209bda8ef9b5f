"""A dataset's folder as an archive: read and checked here without hdbench."""

import csv
import json
import subprocess

import pytest
import yaml

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.archive import write_archive

ALL = (
    "advertxml",
    "avisblatt",
    "bibliography",
    "companylists",
    "rheinschifffahrt",
    "zettelkatalog",
)


def test_the_checksums_are_those_of_all_files(sample):
    folder = sample / "hdb/zettelkatalog"
    checked = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=folder, capture_output=True)
    assert checked.returncode == 0, checked.stdout
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there - listed == {"SHA256SUMS", ".built-by-hdbench"}


@pytest.mark.parametrize("name", ALL)
def test_the_table_has_every_value_of_every_ground_truth(samples, name):
    folder = samples / "hdb" / name
    with (folder / "ground_truth.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["id", "field", "value"]
    found = {}
    for item, field, value in rows[1:]:
        assert (item, field) not in found
        found[item, field] = value
    expected = {}
    for line in (folder / "metadata.jsonl").read_text().splitlines():
        row = json.loads(line)
        collect(row["id"], "", json.loads(row["ground_truth"]), expected)
    assert found == expected


def collect(item, path, value, into):
    """Each value by the item and the path, as a person would name it."""
    if isinstance(value, dict) and value:
        for key in value:
            collect(item, key if not path else path + "." + key, value[key], into)
    elif isinstance(value, list) and value:
        for position in range(len(value)):
            collect(item, path + "[" + str(position) + "]", value[position], into)
    else:
        into[item, path] = value if isinstance(value, str) else json.dumps(value)


def test_the_citation_file_has_what_its_format_asks_for(sample):
    cited = yaml.safe_load((sample / "hdb/zettelkatalog/CITATION.cff").read_text())
    assert cited["authors"] == [
        {"family-names": "Müller", "given-names": "Gabriel"},
        {"family-names": "Hindermann", "given-names": "Maximilian"},
    ]
    assert {"cff-version", "message", "title", "authors", "type"} <= cited.keys()
    assert (cited["cff-version"], cited["license"], cited["type"]) == (
        "1.2.0",
        "CC0-1.0",
        "dataset",
    )


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ('=HYPERLINK("https://a.example","x")', """'=HYPERLINK("https://a.example","x")"""),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("@SUM(1;2)", "'@SUM(1;2)"),
        ("-2+3", "'-2+3"),
        ("\t=1+1", "\t'=1+1"),
        ("-2.5", "'-2.5"),
        (-2.5, "-2.5"),
        ("–", "–"),
    ],
)
def test_no_value_is_a_formula_in_a_spreadsheet(value, cell, tmp_path, sample):
    row = {"id": "a", "ground_truth": json.dumps({"title": value})}
    (tmp_path / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    write_archive(load_benchmark(str(sample / "hdb/zettelkatalog")).spec, tmp_path)
    with (tmp_path / "ground_truth.csv").open(newline="", encoding="utf-8-sig") as file:
        [_, found] = csv.reader(file)
    assert found == ["a", "title", cell]
