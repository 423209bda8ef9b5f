"""A run's answers, item by item as `hdbench score` reads them, with or without ground truth."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.answer import Answer
from hdbench.answers.run_info import RUN_FILE, is_run, read_run_info
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.spec import MEDIA_KEYS
from hdbench.common.jsonio import read_jsonl
from hdbench.common.translation import current_language
from hdbench.errors import HdbenchError
from hdbench.evaluation.opened_run import OpenedRun
from hdbench.results.warning_texts import id_message, in_words


class ItemAnswer(NamedTuple):
    """An item and its answer.

    Attributes:
        model: the model that answered, if the file names several.
        answer: as it was read; `unanswered` if there is none.
        files: the names of the item's images in the benchmark, if it has them.
    """

    model: str | None
    answer: Answer
    files: tuple[str, ...]


class RunAnswers:
    """A run's answers, which can be read any number of times; open it with `opened`.

    Attributes:
        schema: the schema of a record.
        notes: assumptions made in reading, one line each; those about ids are in the terminal's
            language.
    """

    def __init__(self, run: OpenedRun) -> None:
        if run.schema is None:
            raise HdbenchError(
                "{benchmark}: has no answer.schema.json, which says what the columns are",
                benchmark=run.benchmark.id,
            )
        self.schema = run.schema
        self._run = run
        self._own_images = run.info is not None and run.info.own_images
        self._answers = {
            model: run.answers(
                model, filter(run.is_asked, self._own_ids(model)) if self._own_images else None
            )
            for model in run.models
        }
        self.notes = [
            *run.notes,
            *(
                in_words(**id_message(difference), language=current_language())
                for answers in self._answers.values()
                for difference in answers.differences
            ),
        ]

    @classmethod
    @contextmanager
    def opened(
        cls, path: Path, benchmark: str | None, called: str | None = None
    ) -> Iterator["RunAnswers"]:
        """Open a run's answers, until the block ends.

        Args:
            path: a run folder; with `benchmark` also answers in any form.
            benchmark: the folder of the built benchmark; by default the one that run.json names.
            called: the name of a file of answers in messages; by default its path.

        Raises:
            HdbenchError: the run, its answers or the benchmark is unusable.
        """
        if benchmark is None:
            if not is_run(path):
                raise HdbenchError(
                    "{place}: no run here (no {run_file}): name the benchmark of these answers "
                    "before them",
                    place=called or path,
                    run_file=RUN_FILE,
                )
            benchmark = read_run_info(path).benchmark
        with OpenedRun.opened(path, load_benchmark(benchmark), name=called) as run:
            yield cls(run)

    def items(self) -> Iterator[ItemAnswer]:
        """Yield every item that was asked, in the benchmark's order, with its answer.

        Own images come in the order in which they were answered, those without an answer
        last.
        """
        for model, answers in self._answers.items():
            if self._own_images:
                for item_id in self._own_ids(model):
                    yield ItemAnswer(model, answers.take(item_id), ())
                continue
            for item_id, files in self._rows():
                if self._run.is_asked(item_id):
                    yield ItemAnswer(model, answers.take(item_id), files)

    def _own_ids(self, model: str | None) -> list[str]:
        return list(dict.fromkeys([*self._run.answered(model), *(self._run.asked or ())]))

    def _rows(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield ids and names of images, one item at a time: there may be 700,000."""
        media = self._run.benchmark.spec.media
        for line in read_jsonl(self._run.benchmark.metadata):
            names = None if media == "text" else line.value.get(MEDIA_KEYS[media])
            files = (names,) if isinstance(names, str) else tuple(map(str, names or ()))
            yield str(line.value.get("id")), files
