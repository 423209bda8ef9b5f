"""Finished records of a small collection, as `hdbench trust finish` writes them."""

import json

from trust.collection import SCHEMA, SPEC

from hdbench.benchmarks.benchmark import load_benchmark

HOSTILE = '=cmd|"/c calc"!A1 <script>&\x00'
RECORDS = {
    "0012": {
        "title": ("checked", "Über die Ehe"),
        "year": ("accepted", 1898),
        "imprint.place": ("worked", "Basel"),
        "keywords": ("accepted", ["Recht", "Diss."]),
        "shelfmark": ("accepted", "1898-03-04"),
    },
    "a/b ü": {
        "title": ("corrected", HOSTILE),
        "year": ("open", 1900),
        "imprint.place": ("checked", None),
        "keywords": ("accepted", []),
        "shelfmark": ("accepted", "0007"),
    },
}
FIELDS = ["title", "year", "imprint.place", "keywords", "shelfmark"]


def write_finished(folder):
    """The benchmark and the file with its finished records."""
    cards = folder / "cards"
    (cards / "images").mkdir(parents=True)
    (cards / "benchmark.yaml").write_text(json.dumps(SPEC))
    (cards / "answer.schema.json").write_text(json.dumps(SCHEMA))
    lines, rows = [], []
    for number, (item, values) in enumerate(RECORDS.items()):
        fields = {
            name: {"origin": origin, "value": value} for name, (origin, value) in values.items()
        }
        lines.append({"delivery": 1, "fields": fields, "hash": "0" * 64, "id": item})
        name = f"images/card {number}.png"
        (cards / name).write_bytes(b"png")
        rows.append({"id": item, "file_name": name, "ground_truth": {"title": "x"}})
    (cards / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    records = folder / "records.jsonl"
    records.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load_benchmark(str(cards)), records
