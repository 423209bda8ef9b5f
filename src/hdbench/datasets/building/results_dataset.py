"""The dataset of recorded runs, `hdb/results`: each run's answers in JSON Lines and in Parquet."""

import datetime
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from hdbench.answers.folders import OUR_ANSWERS
from hdbench.answers.run_info import RUN_FILE, Prompt, RunInfo
from hdbench.common.jsonio import write_json
from hdbench.common.progress import progress
from hdbench.common.regular_files import file_sha256
from hdbench.datasets.building.card import fill_card
from hdbench.datasets.building.namespace import writing
from hdbench.datasets.building.published_archive import PublishedArchive
from hdbench.datasets.building.recorded import RecordedRun
from hdbench.datasets.building.results_sources import (
    PUBLISHED,
    PublishedBenchmark,
    no_runs,
    published_benchmarks,
    recipe_folder,
    results_source,
)
from hdbench.datasets.building.run_tables import (
    ANSWERS_TABLE,
    RUN_TABLE,
    RUNS,
    answers_jsonl,
    answers_table,
    run_row,
    write_table,
)
from hdbench.errors import Message, shortened
from hdbench.results.model_facts import MODELS_FILE, RESULTS

NAME = RESULTS

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class BuiltResults:
    """The dataset of recorded runs that was built.

    Attributes:
        folder: the repository.
        runs: benchmark → how many runs it has.
        answers: how many there are in all.
        missing: the names in the source of benchmarks without runs.
        left_out: run → why it is left out.
    """

    folder: Path
    runs: dict[str, int]
    answers: int
    missing: list[str]
    left_out: dict[str, Message]

    @property
    def line(self) -> Message:
        """Return the lines that report the build to the user."""
        return Message(
            "{folder}: {total} runs ({runs}), {answers} answers; not in the source: {missing}"
            if self.missing
            else "{folder}: {total} runs ({runs}), {answers} answers",
            folder=self.folder,
            total=sum(self.runs.values()),
            runs=", ".join(f"{name} {count}" for name, count in self.runs.items()),
            answers=self.answers,
            missing=", ".join(self.missing),
        )

    @property
    def left_out_lines(self) -> list[Message]:
        """Return a line for each reason why runs are left out."""
        runs_by_reason: dict[Message, list[str]] = {}
        for run, why in self.left_out.items():
            runs_by_reason.setdefault(why, []).append(run)
        return [
            Message(
                "{count:,} run is left out, since {why}: {names}",
                plural="{count:,} runs are left out, since {why}: {names}",
                count=len(runs),
                why=why,
                names=shortened(runs),
            )
            for why, runs in runs_by_reason.items()
        ]


def build_results(
    out: Path, source: Path | None, archive: PublishedArchive = PUBLISHED
) -> BuiltResults:
    """Write `hdb/results` into a namespace folder, whole or not at all.

    Building the same input again gives the same bytes.

    Args:
        out: the namespace folder, such as `hdb`.
        source: see `results_source`.
        archive: what is downloaded if there is no source.

    Raises:
        HdbenchError: the source cannot be read or downloaded, or has no runs.
    """
    benchmarks = published_benchmarks()
    runs = results_source(source, benchmarks, archive)
    with writing(out, NAME) as folder:
        rows: list[dict[str, Any]] = []
        for benchmark in filter(runs.has, benchmarks):
            rows += _write_benchmark(benchmark, runs.runs(benchmark), folder)
        if not rows:
            raise no_runs(str(source or archive.address), benchmarks)
        write_table(folder / "runs.parquet", pa.Table.from_pylist(rows, RUNS))
        counts = Counter(row["benchmark"].removeprefix("hdb/") for row in rows)
        built = BuiltResults(
            folder,
            dict(counts),
            sum(row["items"] for row in rows),
            [runs.name_of(benchmark) for benchmark in benchmarks if benchmark.name not in counts],
            dict(runs.left_out),
        )
        (folder / "README.md").write_text(_card(built, rows, runs.commit), encoding="utf-8")
        shutil.copyfile(recipe_folder() / MODELS_FILE, folder / MODELS_FILE)
    return replace(built, folder=out / NAME)


def _write_benchmark(
    benchmark: PublishedBenchmark, runs: Iterable[RecordedRun], folder: Path
) -> Iterator[dict[str, Any]]:
    """Write the runs of a benchmark, and yield the row of each."""
    benchmark_folder = folder / benchmark.name
    tables = []
    for run in progress(runs, f"Runs of {benchmark.name}"):
        info = RunInfo(
            run=run.run,
            benchmark=f"hdb/{benchmark.name}",
            model=run.model,
            provider=run.provider,
            date=_date(run.run),
            prompt=None
            if run.prompt is None
            else Prompt(name=run.prompt, sha256=benchmark.prompts.get(run.prompt) or None),
            items=[answer["id"] for answer in run.answers],
            published=run.published,
            reproducible=run.reproducible,
            cost_usd=run.cost_usd,
        )
        (benchmark_folder / run.folder).mkdir(parents=True)
        write_json(benchmark_folder / run.folder / RUN_FILE, info.model_dump(exclude_none=True))
        (benchmark_folder / run.folder / OUR_ANSWERS).write_bytes(answers_jsonl(run.answers))
        tables.append(answers_table(info, run.answers))
        yield run_row(info, run.answers)
    if tables:
        # One row group per run would be two and a half times as large.
        write_table(benchmark_folder / ANSWERS_TABLE, pa.concat_tables(tables))


def _date(run: str) -> str | None:
    """Return the day that the name of a run begins with.

    Example:
        >>> _date("2026-01-24/T0252")
        '2026-01-24'
    """
    match = _DATE.match(run)
    with suppress(ValueError):  # there is no such day
        return datetime.date.fromisoformat(match[0]).isoformat() if match else None
    return None


def _card(built: BuiltResults, rows: list[dict[str, Any]], commit: str) -> str:
    """Return the recipe's README.md, filled in, with what `load_dataset` needs in its YAML."""
    # The second of each finds runs that are added later, such as those that the Space proposes.
    files = {"runs": ["runs.parquet", f"*/*/{RUN_TABLE}"]} | {
        name: [f"{name}/{ANSWERS_TABLE}", f"{name}/*/{ANSWERS_TABLE}"] for name in built.runs
    }
    configs: list[dict[str, Any]] = [
        {
            "config_name": name,
            # `datasets` finds a folder's cache by its configs alone: without the content hash in
            # them, another build would be read from this one's cache.
            "description": f"sha256 {file_sha256(built.folder / paths[0])}",
            "data_files": [{"split": "test", "path": paths}],
        }
        for name, paths in files.items()
    ]
    configs[0]["default"] = True
    dates = sorted(str(row["date"]) for row in rows if row["date"])
    run = rows[-1]["run"]  # its name has no sign of Markdown, see `recorded`
    page = "https://huggingface.co/datasets/hdb"
    lines = (
        f"| `{name}` | {n} | [`hdb/{name}`]({page}/{name}) |" for name, n in built.runs.items()
    )
    values = {
        "benchmarks": "1 benchmark" if len(built.runs) == 1 else f"{len(built.runs)} benchmarks",
        "runs": str(sum(built.runs.values())),
        "answers": str(built.answers),
        "dates": f", of {dates[0]} to {dates[-1]}" if dates else "",
        "table": "\n".join(lines),
        "missing": ", ".join(built.missing),
        "commit": commit,
        "left_out": str(len(built.left_out) or ""),
        "those": "that benchmark" if len(built.missing) == 1 else "those benchmarks",
        "config": rows[-1]["benchmark"].removeprefix("hdb/"),
        "run": run,
        "folder": run.replace("/", "_"),
    }
    return fill_card(recipe_folder(), {"configs": configs}, values).text
