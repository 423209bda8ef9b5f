"""The dataset of recorded runs, `hdb/results`: each run's answers in JSON Lines and in Parquet."""

import datetime
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pyarrow as pa

from hdbench.answers.folders import OUR_ANSWERS
from hdbench.answers.run_info import RUN_FILE, Prompt, RunInfo
from hdbench.benchmarks.names import recipe_names
from hdbench.benchmarks.spec import UrlSource
from hdbench.common import resources
from hdbench.common.folder_files import file_in
from hdbench.common.hashing import file_sha256
from hdbench.common.jsonio import write_json
from hdbench.common.progress import progress
from hdbench.datasets.building.card import fill_card
from hdbench.datasets.building.namespace import writing
from hdbench.datasets.building.recipe import find_recipe, read_registry
from hdbench.datasets.building.recorded import read_recorded
from hdbench.datasets.building.run_tables import (
    ANSWERS_TABLE,
    RUN_TABLE,
    RUNS,
    answers_jsonl,
    answers_table,
    run_row,
    write_table,
)
from hdbench.errors import HdbenchError, Message
from hdbench.results.model_facts import MODELS_FILE, RESULTS

NAME = RESULTS

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class _Published(NamedTuple):
    """A benchmark whose runs may be in the source.

    Attributes:
        name: the dataset's name, without its namespace.
        file: the name of the file with its runs.
        prompts: the name of each published prompt → its sha256.
    """

    name: str
    file: str
    prompts: dict[str, str]


@dataclass(frozen=True)
class BuiltResults:
    """The dataset of recorded runs that was built.

    Attributes:
        folder: the repository.
        runs: benchmark → how many runs it has.
        answers: how many there are in all.
        missing: the files that the source lacks.
    """

    folder: Path
    runs: dict[str, int]
    answers: int
    missing: list[str]

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


def build_results(out: Path, source: Path | None) -> BuiltResults:
    """Write `hdb/results` into a namespace folder, whole or not at all.

    Building the same input again gives the same bytes.

    Args:
        out: the namespace folder, such as `hdb`.
        source: a folder with a file `<published name>.jsonl.gz` for one or more benchmarks.

    Raises:
        HdbenchError: there is no source, or one of its files is unusable.
    """
    if source is None:
        raise HdbenchError(
            "{name}: the recorded runs cannot be downloaded: name the folder with their .jsonl.gz "
            "files with --source DIR",
            name=NAME,
        )
    benchmarks = _published_benchmarks()
    available = [benchmark for benchmark in benchmarks if (source / benchmark.file).is_file()]
    missing = [benchmark.file for benchmark in benchmarks if benchmark not in available]
    if not available:
        raise HdbenchError(
            "{place}: has no recorded runs: it must have one or more of {names}",
            place=source,
            names=", ".join(missing),
        )
    with writing(out, NAME) as folder:
        rows: list[dict[str, Any]] = []
        for benchmark in available:
            rows += _write_benchmark(benchmark, file_in(source, benchmark.file), folder)
        write_table(folder / "runs.parquet", pa.Table.from_pylist(rows, RUNS))
        counts = Counter(row["benchmark"].removeprefix("hdb/") for row in rows)
        built = BuiltResults(folder, dict(counts), sum(row["items"] for row in rows), missing)
        (folder / "README.md").write_text(_card(built, rows), encoding="utf-8")
        shutil.copyfile(_recipe() / MODELS_FILE, folder / MODELS_FILE)
    return replace(built, folder=out / NAME)


def _published_benchmarks() -> list[_Published]:
    """Return the benchmarks that were published as folders of one repository, with prompts."""
    benchmarks = []
    for name in recipe_names():
        recipe = find_recipe(name)
        if isinstance(recipe.spec.source, UrlSource):
            prompts = PurePosixPath(recipe.spec.source.prompt).parent
            registry = read_registry(recipe.folder)
            hashes = {
                path.name: sha256
                for path, sha256 in ((PurePosixPath(key), registry[key]) for key in registry)
                if path.parent == prompts
            }
            benchmarks.append(_Published(name, f"{prompts.parent.name}.jsonl.gz", hashes))
    return benchmarks


def _write_benchmark(benchmark: _Published, file: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Write the runs of a benchmark, and yield the row of each."""
    benchmark_folder = folder / benchmark.name
    benchmark_folder.mkdir()
    tables = []
    for run in progress(read_recorded(file), f"Runs of {benchmark.name}"):
        info = RunInfo(
            run=run.run,
            benchmark=f"hdb/{benchmark.name}",
            model=run.model,
            provider=run.provider,
            date=_date(run.run),
            prompt=Prompt(name=run.prompt, sha256=benchmark.prompts.get(run.prompt) or None),
            items=[answer["id"] for answer in run.answers],
            published=run.published,
            reproducible=run.reproducible,
        )
        (benchmark_folder / run.folder).mkdir()
        write_json(benchmark_folder / run.folder / RUN_FILE, info.model_dump(exclude_none=True))
        (benchmark_folder / run.folder / OUR_ANSWERS).write_bytes(answers_jsonl(run.answers))
        tables.append(answers_table(info, run.answers))
        yield run_row(info, run.answers)
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


def _recipe() -> Path:
    return resources.folder("dataset_scripts") / NAME


def _card(built: BuiltResults, rows: list[dict[str, Any]]) -> str:
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
        "those": "that benchmark" if len(built.missing) == 1 else "those benchmarks",
        "config": rows[-1]["benchmark"].removeprefix("hdb/"),
        "run": run,
        "folder": run.replace("/", "_"),
    }
    return fill_card(_recipe(), {"configs": configs}, values).text
