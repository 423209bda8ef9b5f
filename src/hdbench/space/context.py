"""The settings of a Space's operator: its benchmarks, and limits on visitors."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hdbench.answers.forms import RUN_FILE
from hdbench.benchmarks.benchmark import EXAMPLE, Benchmark, load_benchmark
from hdbench.benchmarks.model_facts import RESULTS
from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.common.hub import one_line_errors
from hdbench.errors import HdbenchError, changed
from hdbench.evaluation.run import is_run

PDFS = "*.pdf"
"""Files that are not fetched: thousands take gigabytes, and reports do without their pictures."""


@dataclass(frozen=True)
class SpaceContext:
    """The settings of a Space's operator.

    Attributes:
        namespace: the folder with the built benchmarks.
        max_upload: maximum bytes of a file.
        max_waiting: maximum pieces of work that may wait.
        keep_seconds: the time for which uploads and downloads are kept.
        models: the local models that a visitor may run, each a repository on the Hub or a folder.
        max_run_items: maximum items that a visitor may have a model read.
        max_run_seconds: maximum seconds of such a run.
        contact: where the operator can be reached: an address (https or mailto).
    """

    namespace: Path
    max_upload: int = 50 * 2**20
    max_waiting: int = 60
    keep_seconds: int = 3600
    models: tuple[str, ...] = ()
    max_run_items: int = 20
    max_run_seconds: float = 300
    contact: str | None = None

    @property
    def results(self) -> Path | None:
        """Return the folder with the recorded runs; None if there is none."""
        folder = self.namespace / RESULTS
        return folder if folder.is_dir() else None

    @cached_property
    def benchmarks(self) -> dict[str, Benchmark]:
        """Name → benchmark, of those in the namespace folder when first needed.

        Raises:
            HdbenchError: there is none, or one is unusable.
        """
        folders = sorted(path.parent for path in self.namespace.glob(f"*/{DESCRIPTION}"))
        if not folders:
            raise HdbenchError(
                "{place}: no benchmark here: build them with: hdbench build NAME",
                place=self.namespace,
            )
        loaded = [load_benchmark(str(folder)) for folder in folders]
        return {benchmark.spec.name: benchmark for benchmark in loaded}

    @cached_property
    def ids(self) -> dict[str, list[str]]:
        """Return each benchmark's name → the ids of its items, read when first needed.

        Raises:
            HdbenchError: a benchmark's metadata cannot be read.
        """
        return {name: list(benchmark.ids()) for name, benchmark in self.benchmarks.items()}

    @property
    def first(self) -> str:
        """Return the benchmark that is chosen at first: the one with the most recorded runs.

        Without any, the first one with its own example answers, preferably one with pictures.
        """

        def order(name: str) -> tuple[int, bool, bool]:
            benchmark = self.benchmarks[name]
            has_example = (benchmark.folder / EXAMPLE).is_file()
            return len(self.run_folders(name)), has_example, benchmark.spec.media != "text"

        return max(self.benchmarks, key=order)

    def choices(self, language: str = "en") -> list[tuple[str, str]]:
        """Return the title and name of each benchmark, as a field offers them in a language."""
        return [(loaded.spec.title_in(language), name) for name, loaded in self.benchmarks.items()]

    @property
    def ranked(self) -> list[tuple[str, str]]:
        """Return those of `choices` whose figures can rank models."""
        return [
            (title, name) for title, name in self.choices() if self.benchmarks[name].spec.ranked
        ]

    def benchmark(self, name: str) -> Benchmark:
        """Return the benchmark with that name.

        Raises:
            HdbenchError: there is none.
        """
        if name not in self.benchmarks:
            raise HdbenchError(
                "no benchmark {name!r} here: choose one of {names}",
                name=str(name)[:100],
                names=", ".join(self.benchmarks),
            )
        return self.benchmarks[name]

    def run_folders(self, benchmark: str) -> dict[str, Path]:
        """Return name → folder of each recorded run of a benchmark, by name.

        Raises:
            HdbenchError: there is no such benchmark.
        """
        name = self.benchmark(benchmark).spec.name
        if self.results is None or not (self.results / name).is_dir():
            return {}
        return {
            folder.name: folder
            for folder in sorted((self.results / name).iterdir())
            # A symbolic link could lead to any other folder.
            if not folder.is_symlink() and not (folder / RUN_FILE).is_symlink() and is_run(folder)
        }

    def public_id(self, benchmark: Benchmark) -> str:
        """Return a benchmark's name on the Hub, without folders of the server: `hdb/cards`."""
        return f"{self.namespace.resolve().name}/{benchmark.spec.name}"

    def without_folders(self, value: Any, *folders: Path) -> Any:
        """Return a message or JSON value without folders of the server; benchmarks have their ids.

        Args:
            value: the value: a text, a `Message`, or one with texts in it.
            folders: further folders, whose files are named relative to them.
        """
        replacements = [(f"{folder}/", "") for folder in folders]
        replacements.append((f"{self.namespace}/", f"{self.namespace.resolve().name}/"))

        def plain(text: str) -> str:
            for folder, name in replacements:
                text = text.replace(folder, name)
            return text

        return mapped(value, plain)


def uploads() -> Path:
    """Return the folder where Gradio keeps uploads and downloads; `serve` sets it."""
    return Path(os.environ["GRADIO_TEMP_DIR"])


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with its texts, keys among them, changed."""
    if isinstance(value, Mapping):
        return {change(key): mapped(child, change) for key, child in value.items()}
    if isinstance(value, list):
        return [mapped(child, change) for child in value]
    return changed(value, change)


def fetch_namespace(owner: str, folder: Path) -> Path:
    """Fetch the benchmarks among the datasets of a user or organization, and its recorded runs.

    Args:
        owner: the user's or organization's name on the Hub.
        folder: the folder for them; files that it has already are not fetched again.

    Returns:
        The namespace folder.

    Raises:
        HdbenchError: the Hub cannot be asked, or the owner has no benchmark.
    """
    from huggingface_hub import HfApi, snapshot_download  # noqa: PLC0415  slow to import

    namespace = folder / owner
    hub = HfApi()
    with one_line_errors(owner, "look at the Space's namespace and at the connection"):
        for dataset in hub.list_datasets(author=owner):
            name = dataset.id.partition("/")[2]
            if name == RESULTS or hub.file_exists(dataset.id, DESCRIPTION, repo_type="dataset"):
                snapshot_download(
                    dataset.id,
                    repo_type="dataset",
                    local_dir=namespace / name,
                    ignore_patterns=PDFS,
                )
    if not namespace.is_dir():
        raise HdbenchError(
            "{place}: has no benchmark on the Hub: use hdbench publish first", place=owner
        )
    return namespace
