"""An example file of answers for each benchmark, to try with one click."""

import json
import shutil
from pathlib import Path
from typing import Any

from hdbench.benchmarks.benchmark import EXAMPLE, Benchmark
from hdbench.common.writing import write_whole
from hdbench.scoring.flatten import flatten

MADE = "example_made_from_the_truth.jsonl"

ITEMS = 300
"""Maximum items of a made example."""

WRONG_EVERY, ABSENT_EVERY = 3, 10


def write_example(benchmark: Benchmark, folder: Path) -> Path:
    """Write a benchmark's example: its own if it has one, otherwise one made from its ground truth.

    In a made example, every third answer has an error, and every tenth is left out. Its name says
    that it is made.

    Args:
        benchmark: the benchmark.
        folder: the folder for the file.

    Raises:
        HdbenchError: the benchmark's metadata cannot be read.
    """
    published = benchmark.folder / EXAMPLE
    if published.is_file():
        return Path(shutil.copyfile(published, folder / EXAMPLE))
    metric, lines = benchmark.spec.make_metric(), []
    for position, item in enumerate(benchmark.items()):
        if position >= ITEMS:
            break
        if position % ABSENT_EVERY == ABSENT_EVERY - 1:
            continue
        answer = metric.right_answer(item.reference(metric.protocol))
        if position % WRONG_EVERY == WRONG_EVERY - 1:
            leaves = flatten({"": answer}).values()
            texts = [leaf for leaf in leaves if isinstance(leaf, str)]
            answer = _with_error(answer, max(texts, key=len, default=""))
        lines.append(json.dumps({"id": item.id, "prediction": answer}) + "\n")
    write_whole(folder / MADE, "".join(lines).encode())
    return folder / MADE


def _with_error(answer: Any, text: str) -> Any:
    """Return an answer in which a text is cut off at the end."""
    if isinstance(answer, dict):
        return {key: _with_error(value, text) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_with_error(value, text) for value in answer]
    return text[: len(text) * 3 // 4] if answer == text else answer
