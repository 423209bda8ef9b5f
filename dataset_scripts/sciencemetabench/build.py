"""The rows of hdb/sciencemetabench, from the published dataset's own files."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.common.jsonio import read_jsonl
from hdbench.errors import HdbenchError
from hdbench.scoring.sciencemeta_accuracy import FIELDS


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per PDF: batch by batch, in the order of the published lists."""
    pdfs = {PurePosixPath(path).stem: path for path in source.paths("pdf/*.pdf")}
    for path in source.paths("data/*/*.jsonl"):
        batch, name = PurePosixPath(path).parts[-2:]
        kind = name.partition("_")[0]
        if kind not in FIELDS:
            kinds = ", ".join(FIELDS)
            raise HdbenchError(f"{source.locate(path)}: its name begins with none of {kinds}")
        for line in read_jsonl(source.locate(path)):
            sha256 = line.value.get("sha256")
            if not isinstance(sha256, str):
                raise HdbenchError(f"{source.locate(path)}:{line.number}: no sha256")
            fields = {key: line.value[key] for key in FIELDS[kind] if key in line.value}
            yield RecipeRow(
                sha256,
                (pdfs.get(sha256, f"pdf/{batch}/{sha256}.pdf"),),
                {"sha256": sha256, "kind": kind, **fields},
                {"batch": batch},
            )


def columns(ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The columns that people filter by."""
    return {"kind": ground_truth["kind"]}
