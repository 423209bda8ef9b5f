"""Where recorded runs come from: files of JSON Lines, or the published repository in any form."""

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol

from hdbench.benchmarks.names import recipe_names
from hdbench.benchmarks.spec import UrlSource
from hdbench.common import resources
from hdbench.common.folder_files import bytes_in, file_in
from hdbench.datasets.building.published_archive import PublishedArchive, downloaded, from_file
from hdbench.datasets.building.raw_runs import NEEDED, TESTS, RawRuns, kept_form
from hdbench.datasets.building.recipe import find_recipe, read_registry
from hdbench.datasets.building.recorded import RecordedRun, read_recorded
from hdbench.datasets.building.run_tables import json_text
from hdbench.datasets.building.tar_stream import MAX_FILE
from hdbench.errors import HdbenchError, Message
from hdbench.results.model_facts import RESULTS

REVISION = "82faeda52ce43844920a4b031ad0b0ede184c94f"

PUBLISHED = PublishedArchive(
    f"https://codeload.github.com/RISE-UNIBAS/humanities_data_benchmark/tar.gz/{REVISION}", REVISION
)
"""The archive of the repository that published the runs."""

REPRODUCIBLE = "reproducible.csv"
"""The file in the recipe that says of which runs the answers give the published figures."""


class PublishedBenchmark(NamedTuple):
    """A benchmark whose runs may be in a source.

    Attributes:
        name: the dataset's name, without its namespace.
        folder: the name of its folder at the publisher's.
        prompts: the name of each published prompt → its sha256.
    """

    name: str
    folder: str
    prompts: dict[str, str]

    @property
    def file(self) -> str:
        """Return the name of the file with its recorded runs."""
        return f"{self.folder}.jsonl.gz"


class ResultsSource(Protocol):
    """Recorded runs.

    Attributes:
        commit: the commit of the published repository whose runs these are; empty if they may be a
            part of them.
        left_out: run → why it is left out, among those that were read.
    """

    commit: str
    left_out: dict[str, Message]

    def has(self, benchmark: PublishedBenchmark) -> bool:
        """Return whether it has runs of a benchmark."""

    def runs(self, benchmark: PublishedBenchmark) -> Iterator[RecordedRun]:
        """Yield the runs of a benchmark that it has."""

    def name_of(self, benchmark: PublishedBenchmark) -> str:
        """Return the name in the source of a benchmark's runs."""


def published_benchmarks() -> list[PublishedBenchmark]:
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
            benchmarks.append(PublishedBenchmark(name, prompts.parent.name, hashes))
    return benchmarks


def results_source(
    path: Path | None, benchmarks: list[PublishedBenchmark], archive: PublishedArchive = PUBLISHED
) -> ResultsSource:
    """Return the recorded runs in a source.

    Args:
        path: a folder with `<folder of a benchmark>.jsonl.gz`, a copy of the published repository
            as a folder or .tar.gz, or None to download that.
        benchmarks: the benchmarks of which it should have runs.
        archive: what is downloaded.

    Raises:
        HdbenchError: it has no runs, or cannot be read or downloaded.
    """
    if path is None:
        files = downloaded(archive, NEEDED, kept_form)
        return _RawSource(RawRuns(files, archive.address), archive.revision)
    if path.is_file():
        files = from_file(path, archive.revision, NEEDED, kept_form)
        return _RawSource(RawRuns(files, str(path)), archive.revision)
    if any((path / benchmark.file).is_file() for benchmark in benchmarks):
        return _RecordedSource(path)
    if (path / TESTS).is_file():
        return _RawSource(RawRuns(_FolderFiles(path), str(path)), "")
    raise no_runs(str(path), benchmarks)


def no_runs(place: str, benchmarks: list[PublishedBenchmark]) -> HdbenchError:
    """Return the error of a source without any runs."""
    return HdbenchError(
        "{place}: has no recorded runs: it must have one or more of {names}, or be a copy of the "
        "published repository",
        place=place,
        names=", ".join(benchmark.file for benchmark in benchmarks),
    )


def recipe_folder() -> Path:
    """Return the recipe's folder."""
    return resources.folder("dataset_scripts") / RESULTS


class _RecordedSource:
    """A folder with files of JSON Lines."""

    commit = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.left_out: dict[str, Message] = {}

    def has(self, benchmark: PublishedBenchmark) -> bool:
        return (self._folder / benchmark.file).is_file()

    def runs(self, benchmark: PublishedBenchmark) -> Iterator[RecordedRun]:
        return read_recorded(file_in(self._folder, benchmark.file))

    def name_of(self, benchmark: PublishedBenchmark) -> str:
        return benchmark.file


class _RawSource:
    """A copy of the published repository."""

    def __init__(self, runs: RawRuns, commit: str) -> None:
        self._runs, self.commit, self.left_out = runs, commit, runs.left_out
        self._known = _known_runs()

    def has(self, benchmark: PublishedBenchmark) -> bool:
        return benchmark.folder in self._runs.benchmarks

    def runs(self, benchmark: PublishedBenchmark) -> Iterator[RecordedRun]:
        for run in self._runs.of(benchmark.folder):
            known = self._known.get((benchmark.name, run.run, predictions_sha256(run)))
            yield run.model_copy(update={"reproducible": known})

    def name_of(self, benchmark: PublishedBenchmark) -> str:
        return benchmark.folder


class _FolderFiles:
    """The needed files of a folder, see `RawFiles`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        paths = (path.relative_to(folder).as_posix() for path in folder.glob("results/*/*/*.json"))
        self.paths = [path for path in (TESTS, *sorted(paths)) if NEEDED.fullmatch(path)]

    def read(self, path: str) -> bytes:
        return kept_form(path, bytes_in(self._folder, path, MAX_FILE))


def predictions_sha256(run: RecordedRun) -> str:
    """Return the sha256 of a run's predictions, by which they are known to be the same."""
    predictions = {answer["id"]: answer["prediction"] for answer in run.answers}
    return hashlib.sha256(json_text(predictions).encode()).hexdigest()


def _known_runs() -> dict[tuple[str, str, str], bool]:
    """Return benchmark, run, sha256 of its predictions → whether they give its figures."""
    with (recipe_folder() / REPRODUCIBLE).open(encoding="utf-8", newline="") as file:
        return {
            (row["benchmark"], row["run"], row["predictions_sha256"]): row["reproducible"] == "true"
            for row in csv.DictReader(file)
        }
