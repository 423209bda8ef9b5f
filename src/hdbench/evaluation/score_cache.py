"""Scores of runs that were scored before, in the user's own cache."""

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import hdbench
from hdbench.answers.answer import STATUSES
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.cache import FileCache, user_cache
from hdbench.common.regular_files import file_sha256
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import Settings, score_loaded
from hdbench.results.parts import installed_versions
from hdbench.results.record import from_record, to_record
from hdbench.results.result import Result

MAX_ENTRY, MAX_CACHE = 64 * 2**20, 512 * 2**20
"""Maximum size in bytes of what is kept of one run, and of everything together."""

MAX_FILES = 10_000
"""A run of more files is scored each time: hashing them takes as long."""

Scored = dict[str | None, Result]


class ScoreCache:
    """Keeps the per-item statistics of runs, so that ranking them again takes no scoring.

    What is kept is in the user's cache, for this user alone, and never beside a run: a run folder
    may come from somebody else, and may not bring its own figures. The name of an entry is the hash
    of all that decides a score: the contents of the run's and the benchmark's files, their paths,
    the settings, the code of hdbench and the versions of what is installed. So an entry is never
    stale. The folder can be deleted at any time. `hdbench score` and `hdbench verify` always score.
    """

    def __init__(self) -> None:
        self._written = False

    @cached_property
    def folder(self) -> Path:
        """Return where scores are kept."""
        return user_cache() / "scores"

    @cached_property
    def _kept(self) -> FileCache | None:
        """Return what is kept there; None if nothing can be."""
        try:
            return FileCache(self.folder, max_entry=MAX_ENTRY)
        except OSError:
            return None

    def score(
        self, benchmark: Benchmark, answers: Path, settings: Sequence[Settings]
    ) -> list[Scored]:
        """Do the same as `score_loaded`, from the cache if possible.

        Args:
            benchmark: what was answered.
            answers: a file or folder of answers.
            settings: how they are scored, in turn; with details, they are always scored.

        Raises:
            HdbenchError: see `score_loaded`.
        """
        keys = _keys(benchmark, answers, settings)
        results = [None if key is None else self._read(key) for key in keys]
        missing = [position for position, scored in enumerate(results) if scored is None]
        if missing:
            new = score_loaded(benchmark, answers, [settings[position] for position in missing])
            # A run may have gone on while it was scored.
            kept = keys == _keys(benchmark, answers, settings)
            for position, scored in zip(missing, new, strict=True):
                results[position] = scored
                key = keys[position]
                if key is not None and kept:
                    self._write(key, scored)
        return [scored for scored in results if scored is not None]

    def trim(self) -> None:
        """Delete what was used longest ago, as far as there is too much; after all is scored."""
        if self._written and self._kept is not None:
            self._kept.bound(MAX_CACHE)

    def _read(self, key: str) -> Scored | None:
        """Return the scores of that name; None if there are none that can be used."""
        data = None if self._kept is None else self._kept.get(key)
        if data is None:
            return None
        try:
            return {run["model"]: _unpacked(run, self.folder / key) for run in json.loads(data)}
        except (ValueError, LookupError, TypeError, HdbenchError):
            return None

    def _write(self, key: str, scored: Scored) -> None:
        if self._kept is not None:
            runs = [{"model": model, **_packed(result)} for model, result in scored.items()]
            self._kept.add(key, json.dumps(runs).encode())
            self._written = True


def _packed(result: Result) -> dict[str, Any]:
    """Return a result as JSON data, with what its record does not have."""
    return {
        "record": to_record(result, intervals=False),
        "statuses": [STATUSES.index(status) for status in result.statuses],
        "worst": result.worst,
    }


def _unpacked(run: Mapping[str, Any], path: Path) -> Result:
    statuses = [STATUSES[index] for index in run["statuses"]]
    return replace(from_record(run["record"], str(path)), statuses=statuses, worst=run["worst"])


def _keys(benchmark: Benchmark, answers: Path, settings: Sequence[Settings]) -> list[str | None]:
    """Return the name of the entry under each of the settings; None where there can be none."""
    read = None if all(setting.details for setting in settings) else _files(answers)
    if read is None:
        return [None] * len(settings)
    common = [
        *(hdbench.__version__, _code(), _installed(), repr(installed_versions())),
        *(benchmark.id, benchmark.revision, str(answers), read),
        [(path.name, file_sha256(path)) for path in benchmark.scored_by()],
    ]
    keys: list[str | None] = []
    for setting in settings:
        metric = benchmark.spec.make_metric(setting.protocol, **setting.options)
        ours = type(metric).__module__.startswith("hdbench.")
        data = json.dumps([*common, repr(setting)]).encode()
        keys.append(None if setting.details or not ours else hashlib.sha256(data).hexdigest())
    return keys


def _files(answers: Path) -> list[tuple[str, str]] | None:
    """Return a run's files with their hashes; None if they are too many, or not plain files."""
    try:
        if not answers.is_dir():
            return [(answers.name, file_sha256(answers))] if answers.is_file() else None
        files: list[tuple[str, str]] = []
        for folder, folders, names in os.walk(answers):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if len(files) == MAX_FILES or path.is_symlink() or not path.is_file():
                    return None
                files.append((str(path.relative_to(answers)), file_sha256(path)))
            if any(Path(folder, name).is_symlink() for name in folders):
                return None
    except OSError:  # what is wrong with them is said when they are read
        return None
    return files


@cache
def _code() -> str:
    """Return the hash of hdbench's own code and data, which can change within a version."""
    digest = hashlib.sha256()
    root = Path(hdbench.__file__).parent
    for path in sorted((*root.rglob("*.py"), *root.rglob("*.yaml"))):
        digest.update(f"{path.relative_to(root)}\0{file_sha256(path)}\n".encode())
    return digest.hexdigest()


@cache
def _installed() -> list[str]:
    """Return what is installed, with versions: any library that reads files may have a part."""
    return sorted(
        {distribution.name for path in sys.path for distribution in Path(path).glob("*.dist-info")}
    )
