"""The recorded runs of the published benchmarks: `hdb/results`, in JSON Lines and in Parquet."""

import csv
import gzip
import hashlib
import math
import re
import shutil
import tarfile
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from hdbench.answers.answer import answers_jsonl, json_text
from hdbench.answers.entries import about
from hdbench.benchmarks.building.card import fill_card
from hdbench.benchmarks.building.recipe import find_recipe, read_registry
from hdbench.benchmarks.building.source import download_source
from hdbench.benchmarks.spec import UrlSource, recipe_names
from hdbench.common.cache import user_cache
from hdbench.common.files import bytes_in, file_in, file_sha256, read_errors
from hdbench.common.jsonio import MAX_LINE, UNIQUE, parse_json, parse_line, write_json
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.evaluation.run import RunInfo

HERE = Path(__file__).parent

REVISION = "82faeda52ce43844920a4b031ad0b0ede184c94f"
ADDRESS = "https://codeload.github.com/RISE-UNIBAS/humanities_data_benchmark/tar.gz"

TESTS = "benchmarks/benchmarks_tests.csv"
MAX_FILE = 16 * 2**20
MAX_FILES = 1_000_000
MAX_USD = 1e6  # of one answer

_NEEDED = re.compile(
    rf"[^/]+/({re.escape(TESTS)}"
    r"|results/[0-9]{4}-[0-9]{2}-[0-9]{2}/T[0-9]{1,6}"
    r"/(request_T[0-9]{1,6}_[^/]{1,200}|scoring)\.json)"
)
_RUN = re.compile(r"(?!.*\.parquet$)[A-Za-z0-9][\w.+-]*(/[A-Za-z0-9][\w.+-]*)*", re.ASCII)
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")

RUNS = pa.schema(
    {
        "run": pa.string(),
        "benchmark": pa.string(),
        "model": pa.string(),
        "provider": pa.string(),
        "date": pa.date32(),
        "prompt": pa.string(),
        "prompt_sha256": pa.string(),
        "items": pa.int64(),
        "answered": pa.int64(),
        "published": pa.string(),
        "reproducible": pa.bool_(),
        "cost_usd": pa.float64(),
    }
)
ANSWERS = pa.schema(
    {
        "run": pa.string(),
        "model": pa.string(),
        "provider": pa.string(),
        "id": pa.string(),
        "text": pa.string(),
        "prediction": pa.string(),
        "tokens": pa.struct({"input": pa.int64(), "output": pa.int64()}),
        "seconds": pa.float64(),
        "error": pa.string(),
    }
)

Run = dict[str, Any]
"""A run as a line of JSON has it: `run`, `provider`, `model`, `prompt`, `scores` and `answers`, and
perhaps `reproducible` and `cost_usd`; an answer has `id`, `answer` and `text`, and perhaps `tokens`
and `seconds`."""


class Source(NamedTuple):
    """Recorded runs.

    Attributes:
        runs: the name of a benchmark's folder at the publisher's → where each run is, and the run.
        commit: the commit of the published repository that has them; empty if that is not known.
        left_out: runs that are incomplete at the publisher's, among those that were read.
    """

    runs: Callable[[str], Iterator[tuple[str, Run]]]
    commit: str
    left_out: list[str]


class Built(NamedTuple):
    """What was built: benchmark → its runs; all answers; what has no runs, and what is left out."""

    runs: dict[str, int]
    answers: int
    missing: list[str]
    left_out: list[str]


def build(folder: Path, source: Path | None) -> Built:
    """Write the dataset into a folder.

    Args:
        folder: an empty folder.
        source: a folder with `BENCHMARK.jsonl.gz` of recorded runs, the published repository as a
            folder or .tar.gz, or None to download that.

    Raises:
        HdbenchError: the source has no runs, is damaged or cannot be downloaded.
    """
    if source is None:
        source = download_source(ADDRESS, REVISION, {REVISION: ""}).locate(REVISION)
    with _opened(source) as opened:
        rows: list[dict[str, Any]] = []
        missing = []
        for name, published_as, prompts in _benchmarks():
            written = [*_write_benchmark(name, prompts, opened.runs(published_as), folder)]
            rows += written
            missing += [] if written else [published_as]
    if not rows:
        raise HdbenchError(
            "{place}: has no recorded runs: it must have files such as {name}.jsonl.gz, or be a "
            "copy of the published repository",
            place=source,
            name=missing[0],
        )
    _write_table(folder / "runs.parquet", pa.Table.from_pylist(rows, RUNS))
    counts = Counter(row["benchmark"].removeprefix("hdb/") for row in rows)
    answers = sum(row["items"] for row in rows)
    built = Built(dict(counts), answers, missing, opened.left_out)
    (folder / "README.md").write_text(_card(built, rows, opened.commit, folder), encoding="utf-8")
    shutil.copyfile(HERE / "models.yaml", folder / "models.yaml")
    return built


def _benchmarks() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the benchmarks that the repository published: name, folder there, prompt → sha256."""
    for name in recipe_names():
        recipe = find_recipe(name)
        if isinstance(recipe.spec.source, UrlSource):
            prompts = PurePosixPath(recipe.spec.source.prompt).parent
            registry = read_registry(recipe.folder)
            paths = [path for path in map(PurePosixPath, registry) if path.parent == prompts]
            yield name, prompts.parent.name, {path.name: registry[str(path)] for path in paths}


def _write_benchmark(
    name: str, prompts: dict[str, str], runs: Iterator[tuple[str, Run]], folder: Path
) -> Iterator[dict[str, Any]]:
    """Write the runs of a benchmark, and yield the row of each."""
    tables = []
    for place, run in progress(runs, f"Runs of {name}"):
        try:
            info, answers = _checked(run, name, prompts)
            lines = answers_jsonl(answers)
            shown = {"run": info.run, "model": info.model, "provider": info.provider}
            rows = [shown | _answer_row(each) for each in answers]
            tables.append(pa.Table.from_pylist(rows, ANSWERS))
        except (KeyError, TypeError, ValueError) as error:
            why: object = error
            if isinstance(error, ValidationError):
                first = error.errors()[0]
                why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise HdbenchError(
                "{place}: not a recorded run: {why}", place=place, why=why
            ) from error
        run_folder = folder / name / info.run.replace("/", "_")
        if run_folder.exists():
            raise HdbenchError(
                "{place}: the run {run!r} is there twice: keep one", place=place, run=info.run
            )
        run_folder.mkdir(parents=True)
        write_json(run_folder / "run.json", info.model_dump(exclude_none=True))
        (run_folder / "answers.jsonl").write_bytes(lines)
        yield _run_row(info, answers)
    if tables:  # one row group per run would be two and a half times as large
        _write_table(folder / name / "answers.parquet", pa.concat_tables(tables))


def _checked(run: Run, name: str, prompts: dict[str, str]) -> tuple[RunInfo, list[Any]]:
    """Return what a run says about itself, and its answers.

    Raises:
        KeyError, TypeError, ValueError: it is not a run, or its name cannot name a folder.
    """
    if not _RUN.fullmatch(run["run"]):
        raise ValueError(f"{run['run']!r} cannot name a folder")
    answers = [
        {
            "id": each["id"],
            "prediction": each["answer"],
            "text": each.get("text"),
            **{key: each[key] for key in ("tokens", "seconds") if each.get(key) is not None},
        }
        for each in run["answers"]
    ]
    for each in answers:
        if not (isinstance(each["id"], str) and isinstance(each["text"], str | None)):
            raise TypeError(f"the answer {each['id']!r} has an id or a text that is not a string")
    day = None
    with suppress(ValueError):
        day = date.fromisoformat(run["run"][:10]).isoformat()
    prompt = run["prompt"]
    info = RunInfo(
        run=run["run"],
        benchmark=f"hdb/{name}",
        model=run["model"],
        provider=run["provider"],
        date=day,
        prompt=prompt and {"name": prompt, "sha256": prompts.get(prompt) or None},
        items=[each["id"] for each in answers],
        published=run["scores"],
        reproducible=run.get("reproducible"),
        cost_usd=run.get("cost_usd"),
    )
    return info, answers


def _run_row(info: RunInfo, answers: list[Any]) -> dict[str, Any]:
    answered = [
        each for each in answers if each["prediction"] is not None or (each["text"] or "").strip()
    ]
    return {
        **{key: getattr(info, key) for key in ("run", "benchmark", "model", "provider")},
        "date": info.date and date.fromisoformat(info.date),
        "prompt": info.prompt and info.prompt.name,
        "prompt_sha256": info.prompt and info.prompt.sha256,
        "items": len(answers),
        "answered": len(answered),
        "published": json_text(info.published),
        "reproducible": info.reproducible,
        "cost_usd": info.cost_usd,
    }


def _answer_row(answer: dict[str, Any]) -> dict[str, Any]:
    prediction, text = answer["prediction"], answer["text"]
    return {
        **{key: answer.get(key) for key in ("id", "tokens", "seconds")},
        "text": text and _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text),
        "prediction": None if prediction is None else json_text(prediction),
    }


def _write_table(path: Path, table: pa.Table) -> None:
    pq.write_table(table, path, compression="zstd")


@contextmanager
def _opened(source: Path) -> Iterator[Source]:
    """Open a source until the block ends; see `build`."""
    if source.is_dir():
        yield _published(source, "") if (source / TESTS).is_file() else _recorded(source)
        return
    with tempfile.TemporaryDirectory() as unpacked:
        commit = _unpack(source, Path(unpacked))
        tops = [*Path(unpacked).iterdir()]
        if len(tops) != 1 or not (tops[0] / TESTS).is_file():
            raise HdbenchError("{place}: lacks {name}", place=source, name=TESTS)
        yield _published(tops[0], commit)


def _unpack(archive: Path, folder: Path) -> str:
    """Unpack what is needed of an archive as GitHub packs a commit, and return that commit."""
    try:
        with read_errors(archive), tarfile.open(archive, "r|gz") as packed:
            for count, member in enumerate(filter(_is_needed, packed)):
                if count >= MAX_FILES:
                    raise tarfile.ReadError(f"more than {MAX_FILES:,} files")
                packed.extract(member, folder, filter="data")
            return packed.pax_headers.get("comment", "")
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        if archive.is_relative_to(user_cache()):  # the download broke off
            archive.unlink()
        raise HdbenchError(
            "{place}: not a .tar.gz of the published repository, or damaged: {why}: get it again",
            place=archive,
            why=error,
        ) from error


def _is_needed(member: tarfile.TarInfo) -> bool:
    return member.isreg() and member.size <= MAX_FILE and bool(_NEEDED.fullmatch(member.name))


def _recorded(folder: Path) -> Source:
    """Return the runs in gzipped JSON Lines, a run on each line."""

    def runs(benchmark: str) -> Iterator[tuple[str, Run]]:
        if not (folder / f"{benchmark}.jsonl.gz").is_file():
            return
        path = file_in(folder, f"{benchmark}.jsonl.gz")
        try:
            with read_errors(path), gzip.open(path) as file:
                lines = iter(lambda: file.readline(MAX_LINE + 1), b"")
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield f"{path}:{number}", parse_line(line, f"{path}:{number}", UNIQUE)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise HdbenchError(
                "{place}: a damaged gzip file: {why}: get it again", place=path, why=error
            ) from error

    return Source(runs, "", [])


def _published(folder: Path, commit: str) -> Source:
    """Return the runs as their publisher keeps them: a JSON file per request, and their figures."""
    tests = _tests(folder / TESTS)
    with (HERE / "reproducible.csv").open(encoding="utf-8", newline="") as file:
        reproducible = {
            (row["run"], row["predictions_sha256"]): row["reproducible"] == "true"
            for row in csv.DictReader(file)
        }
    folders: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("results/*/T*")):
        if path.name in tests:
            folders[tests[path.name]["name"]].append(path)
    left_out: list[str] = []

    def runs(benchmark: str) -> Iterator[tuple[str, Run]]:
        for path in folders[benchmark]:
            place = f"{path.parent.name}/{path.name}"
            try:
                run = _published_run(folder, path, tests[path.name]) | {"run": place}
            except (HdbenchError, ValueError):
                left_out.append(place)
                continue
            predictions = json_text({each["id"]: each["answer"] for each in run["answers"]})
            sha256 = hashlib.sha256(predictions.encode()).hexdigest()
            yield place, run | {"reproducible": reproducible.get((place, sha256))}

    return Source(runs, commit, left_out)


def _tests(path: Path) -> dict[str, dict[str, str]]:
    """Return test → the benchmark, model and prompt that it is of; a run has its test's name."""
    about_test = ("name", "provider", "model", "prompt_file")
    try:
        with read_errors(path), path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            return {row["id"]: {key: row[key] for key in about_test} for row in rows}
    except (csv.Error, KeyError, UnicodeDecodeError) as error:
        raise HdbenchError("{place}: not a table of tests: {why}", place=path, why=error) from error


def _published_run(folder: Path, path: Path, test: dict[str, str]) -> Run:
    """Return a run; one whose figures, or one of whose requests, cannot be read is an error."""

    def read(name: Path) -> dict[str, Any]:
        data = bytes_in(folder, name.relative_to(folder).as_posix(), MAX_FILE)
        value = parse_json(data.decode("utf-8-sig"))
        if not isinstance(value, dict):
            raise ValueError("not an object")
        return value

    def named(key: str) -> str:
        texts = (request.get(key) for request in requests.values())
        return next((text for text in texts if isinstance(text, str) and text.strip()), test[key])

    requests = {
        each.stem.split("_", 2)[2]: read(each) for each in sorted(path.glob("request_T*_*.json"))
    }
    scores = read(path / "scoring.json")
    is_newer = any("score" in request or "usage" in request for request in requests.values())
    return {
        "provider": named("provider"),
        "model": named("model"),
        "prompt": test["prompt_file"] or None,
        "scores": {
            key: value
            for key, value in scores.items()
            if type(value) in (int, float) and math.isfinite(value)
        },
        "answers": [
            _answer(item, request, is_newer=is_newer) for item, request in sorted(requests.items())
        ],
        "cost_usd": _cost(requests.values()),
    }


def _answer(item: str, request: dict[str, Any], *, is_newer: bool) -> dict[str, Any]:
    """Return the answer of a request.

    In newer runs, it is what was parsed at the time, and what was not parsed was scored as no
    answer. In older ones, what has no `parsed` was parsed from the text when the run was scored:
    with these answers, twelve runs have their published figures that do not have them otherwise.
    """
    text = request["text"] if isinstance(request.get("text"), str) else None
    parsed = request.get("parsed")
    if "parsed" not in request and not is_newer:
        parsed = parsed_text(text or "")
    counted = about({key: request[key] for key in ("usage", "duration") if key in request})
    return {"id": item, "answer": parsed, "text": text, **counted}


def parsed_text(text: str) -> Any:
    """Return what the publisher's program found in a text: JSON, alone or in a fence, or an error.

    Older runs were scored with the error, whose message is left out.
    """
    fenced = _FENCED.search(text)
    for part in (text, *([fenced[1]] if fenced else [])):
        with suppress(ValueError):
            return parse_json(part)
    return {"error": "x"}


def _cost(requests: Any) -> float | None:
    """Return what a run cost; None unless it is recorded of each answer that came."""
    costs: list[float] = []
    for request in requests:
        usage = request.get("usage")
        cost = usage.get("estimated_cost_usd") if isinstance(usage, dict) else None
        if type(cost) in (int, float) and 0 <= cost < MAX_USD:
            costs.append(cost)
        elif request.get("text") or request.get("parsed") is not None:
            return None
    return math.fsum(costs) if costs else None


def _card(built: Built, rows: list[dict[str, Any]], commit: str, folder: Path) -> str:
    """Return the README.md beside this file, filled in, with what `load_dataset` needs."""
    files = {"runs": "runs.parquet"} | {name: f"{name}/answers.parquet" for name in built.runs}
    configs: list[dict[str, Any]] = [
        {
            "config_name": name,
            # `datasets` finds a folder's cache by its configs alone: without the content hash in
            # them, another build would be read from this one's cache.
            "description": f"sha256 {file_sha256(folder / path)}",
            "data_files": [{"split": "test", "path": path}],
        }
        for name, path in files.items()
    ]
    configs[0]["default"] = True
    dates = sorted(str(row["date"]) for row in rows if row["date"])
    run = rows[-1]["run"]  # its name has no sign of Markdown
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
    return fill_card(HERE, {"configs": configs}, values).text
