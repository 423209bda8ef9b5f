"""A run's answers, item by item as `hdbench score` reads them, with or without ground truth."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hdbench.benchmarks.benchmark import METADATA, Benchmark, load_benchmark
from hdbench.benchmarks.spec import MEDIA_KEYS
from hdbench.common.jsonio import read_jsonl
from hdbench.errors import HdbenchError
from hdbench.reading.answer import Answer
from hdbench.reading.answers import Answers
from hdbench.reading.container import Container
from hdbench.reading.files import open_container
from hdbench.reading.run_info import RUN_FILE, RunInfo, is_run, read_run_info
from hdbench.results.warning_texts import id_message, in_words


class ItemAnswer(NamedTuple):
    """An item and its answer.

    Attributes:
        model: who answered, if the file names several.
        answer: as it was read; `unanswered` if there is none.
        files: the names of the item's images in the benchmark, if it has them.
    """

    model: str | None
    answer: Answer
    files: tuple[str, ...]


class RunAnswers:
    """A run's answers, which can be read any number of times; open it with `opened`.

    Attributes:
        schema: what a record looks like.
        notes: what was assumed in reading, one line each.
    """

    def __init__(self, path: Path, benchmark: Benchmark, info: RunInfo | None) -> None:
        schema = benchmark.answer_schema(*(info.prompts if info else ()))
        if schema is None:
            raise HdbenchError(
                f"{benchmark.id}: has no answer.schema.json, which says what the columns are"
            )
        self.schema = schema
        self._benchmark = benchmark
        self._own_images = info is not None and info.own_images
        items = info.items if info is not None else None
        self._asked = None if items is None else dict.fromkeys(items)  # quickly found, in order
        self._container: Container = open_container(path, self.schema)
        try:
            self._runs = {run: self._answers(run) for run in self._container.runs}
        except BaseException:
            self.close()
            raise
        self.notes = [
            *self._container.notes,
            *(
                in_words(**id_message(each))
                for answers in self._runs.values()
                for each in answers.differences
            ),
        ]

    @classmethod
    @contextmanager
    def opened(cls, path: Path, benchmark: str | None) -> Iterator["RunAnswers"]:
        """A run's answers, until the block ends.

        Args:
            path: a run folder; with `benchmark` also answers in any form.
            benchmark: the folder of the built benchmark; by default the one that run.json names.

        Raises:
            HdbenchError: the run, its answers or the benchmark is unusable.
        """
        info = read_run_info(path) if is_run(path) else None
        if info is None and benchmark is None:
            raise HdbenchError(
                f"{path}: no run here (no {RUN_FILE}): name the benchmark of these answers with "
                "--benchmark"
            )
        loaded = load_benchmark(benchmark or (info.benchmark if info else ""))
        if info and info.benchmark.rpartition("/")[2] != loaded.spec.name:
            raise HdbenchError(
                f"{path}: its run.json says that it answers {info.benchmark}, not {loaded.id}"
            )
        run = cls(path, loaded, info)
        try:
            yield run
        finally:
            run.close()

    def close(self) -> None:
        """Close what is held open."""
        self._container.close()

    def items(self) -> Iterator[ItemAnswer]:
        """Every item that was asked, in the benchmark's order, and its answer.

        Own images come in the order in which they were answered, those without an answer
        last.
        """
        for run, answers in self._runs.items():
            if self._own_images:
                for item_id in self._own_ids(run):
                    yield ItemAnswer(run, answers.take(item_id), ())
                continue
            for item_id, files in self._rows():
                if self._asked is None or item_id in self._asked:
                    yield ItemAnswer(run, answers.take(item_id), files)

    def _answers(self, run: str | None) -> Answers:
        asked, known = self._asked, self._benchmark
        ids: Iterable[str] = self._own_ids(run) if self._own_images else known.ids()
        ids = (item_id for item_id in ids if asked is None or item_id in asked)
        name = known.id if asked is None else f"{known.id}, of the items in {RUN_FILE},"
        return Answers(self._container, run, ids, name, self.schema)

    def _own_ids(self, run: str | None) -> list[str]:
        answered = self._container.runs[run]
        return [*answered, *(each for each in self._asked or () if each not in answered)]

    def _rows(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Id and names of images, one at a time: there may be 700,000."""
        key = MEDIA_KEYS[self._benchmark.spec.media]
        for line in read_jsonl(self._benchmark.folder / METADATA):
            names = line.value.get(key) or ()
            files = (names,) if isinstance(names, str) else tuple(map(str, names))
            yield str(line.value.get("id")), files
