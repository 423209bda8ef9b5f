"""What programs import: scoring answers, and reading and writing results."""

from hdbench.answers import ReadAs
from hdbench.evaluation.runs import load_runs
from hdbench.evaluation.score import Settings, score, score_runs
from hdbench.results.files import read_result, read_results, write_results

__all__ = [
    "ReadAs",
    "Settings",
    "load_runs",
    "read_result",
    "read_results",
    "score",
    "score_runs",
    "write_results",
]
