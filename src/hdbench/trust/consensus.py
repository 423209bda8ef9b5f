"""The consensus of several runs, as a run of its own that is scored beside them."""

import datetime
import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hdbench import __version__
from hdbench.answers.folders import OUR_ANSWERS
from hdbench.answers.run_info import RUN_FILE, RunInfo
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.jsonio import whole_file, write_json
from hdbench.common.os_errors import write_errors
from hdbench.errors import HdbenchError
from hdbench.results.files import answers_sha256
from hdbench.trust.checked import as_record
from hdbench.trust.opening import Opened, opened_run
from hdbench.trust.runs import Runs
from hdbench.trust.values import schema_with_fields, whole_values


def write_consensus(benchmark: Benchmark, paths: Sequence[Path], out: Path) -> int:
    """Write a run with the values that are most similar to those of the other runs.

    Each field has the value that `hdbench.trust.runs.choose` takes; a list of objects is one
    value, as its objects cannot be paired with those of other runs. An item has no answer if no run
    has one.

    Args:
        benchmark: the benchmark that the runs answer.
        paths: runs of one model each, in order of preference, which decides between equals.
        out: the run folder to write; it must not exist, or be empty.

    Returns:
        How many items have an answer.

    Raises:
        HdbenchError: there are fewer than two runs, or they were asked different items; a run is
            unusable; the folder holds something, or cannot be written.
    """
    schema = schema_with_fields(benchmark)
    if len(paths) < 2:  # noqa: PLR2004
        raise HdbenchError("a consensus needs two runs or more")
    fields = whole_values(schema)
    with ExitStack() as stack:
        opened = [stack.enter_context(opened_run(path, benchmark)) for path in paths]
        asked = _asked(paths, opened)
        run_info = _run_info(benchmark, paths, opened, out, asked)
        _prepare(out)
        metric = benchmark.spec.make_metric("documented")
        runs = Runs([run.answers for run in opened], metric, fields)
        answered = 0
        with (
            whole_file(out / OUR_ANSWERS) as unfinished,
            unfinished.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
        ):
            for item_id in benchmark.ids() if asked is None else asked:
                judged = runs.judged(item_id, runs.records(item_id))
                if all(choice.run is None for choice in judged):
                    continue
                answer = {"id": item_id, "prediction": as_record(judged, fields)}
                file.write(json.dumps(answer, ensure_ascii=False, allow_nan=False) + "\n")
                answered += 1
    try:
        write_json(out / RUN_FILE, run_info)
    except HdbenchError:
        (out / OUR_ANSWERS).unlink()  # so that the same command works once there is room
        raise
    return answered


def _asked(paths: Sequence[Path], opened: Sequence[Opened]) -> list[str] | None:
    """Return the items that all runs were asked; None for all items."""
    first, *others = [None if run.info is None else run.info.items for run in opened]
    for path, items in zip(paths[1:], others, strict=True):
        if (items and set(items)) != (first and set(first)):
            raise HdbenchError(
                "{place}: was asked other items than {first}: give runs on the same",
                place=path,
                first=paths[0],
            )
    return first


def _run_info(
    benchmark: Benchmark,
    paths: Sequence[Path],
    opened: Sequence[Opened],
    out: Path,
    asked: list[str] | None,
) -> dict[str, Any]:
    """Return the content of run.json: what all runs have in common, and their names."""
    infos = [run.info for run in opened]
    prompt = _prompt(infos)
    return {
        "run": out.resolve().name,
        "benchmark": next((info.benchmark for info in infos if info), benchmark.id),
        "model": f"consensus of {', '.join(run.name for run in opened)}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        **({} if prompt is None else {"prompt": prompt}),
        **({} if asked is None else {"items": asked}),
        "consensus_of": [run.name for run in opened],
        "answers_sha256": [answers_sha256(path) for path in paths],
        "hdbench": __version__,
    }


def _prompt(infos: Iterable[RunInfo | None]) -> dict[str, Any] | None:
    """Return the prompt that all runs were given; None if they differ or one is unknown."""
    first, *others = [info.prompt if info else None for info in infos]
    if first is None or any(prompt != first for prompt in others):
        return None
    text = {"text": first.text} if first.text else {}
    return {"name": first.name, "sha256": first.sha256, **text}


def _prepare(out: Path) -> None:
    with write_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        names = sorted(path.name for path in out.iterdir())
    if names:
        raise HdbenchError(
            "{place}: holds {name!r} already: choose another -o", place=out, name=names[0]
        )
