"""Benchmarks and tables for the tests of exporting."""

import csv
import json
import shutil
from pathlib import Path

from openpyxl import load_workbook

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"


def make_benchmark(folder: Path, name: str, truths: dict, files: dict | None = None) -> str:
    """A built benchmark with the schema and metric of a real one, without its media."""
    built = folder / "hdb" / name
    built.mkdir(parents=True)
    for file in ("benchmark.yaml", "answer.schema.json"):
        shutil.copy(SCRIPTS / name / file, built)
    rows = [
        {"id": item, "ground_truth": json.dumps(truth), **(files or {}).get(item, {})}
        for item, truth in truths.items()
    ]
    (built / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(built)


def write_answers(folder: Path, *answers: dict) -> Path:
    """A file of answers."""
    path = folder / "given.jsonl"
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return path


def csv_rows(path: Path) -> list[list[str]]:
    """The cells of a CSV file, its head first."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def records(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file without their empty cells."""
    head, *rows = csv_rows(path)
    return [{title: cell for title, cell in zip(head, row, strict=True) if cell} for row in rows]


def sheet(path: Path):
    """The one sheet of a workbook."""
    (only,) = load_workbook(path).worksheets
    return only
