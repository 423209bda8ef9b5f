"""A run opened for reading: what it says about itself, and its answers item by item."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hdbench.answers.answer import Bounds
from hdbench.answers.answers import Answers
from hdbench.answers.container import Container
from hdbench.answers.files import open_container
from hdbench.answers.folders import RUN_FILE
from hdbench.answers.ids import match_ids
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.result_file import is_result
from hdbench.evaluation.run_info import (
    RunInfo,
    has_answers,
    is_run,
    part_notes,
    read_run_info,
)


class RunAnswers:
    """A file or folder of answers to a benchmark; open it with `opened`.

    Attributes:
        benchmark: what is answered.
        info: what a run folder says about itself; None if it is not one.
        schema: what an answer looks like; None if the benchmark does not say.
        asked: the ids that were asked, in order; None if all were.
        models: the models in the file; only None if it names none.
        left_out: own images that are not items of the benchmark.
        container: the file or folder.
        notes: what was assumed while reading, one line each.
        place: what messages call the answers.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        info: RunInfo | None,
        schema: AnswerSchema | None,
        container: Container,
        *,
        place: str,
    ) -> None:
        self.benchmark, self.info, self.schema = benchmark, info, schema
        items = info.items if info is not None else None
        self.asked = None if items is None else dict.fromkeys(items)
        self.models = list(container.runs)
        self.notes = container.notes
        self.left_out: frozenset[str] = frozenset()
        self.container, self.place = container, place

    @classmethod
    @contextmanager
    def opened(
        cls,
        path: Path,
        benchmark: Benchmark,
        bounds: Bounds = Bounds(),
        *,
        name: str | None = None,
        own_as_items: bool = False,
    ) -> Iterator["RunAnswers"]:
        """Open a run until the block ends.

        Args:
            path: a file or folder of answers in any form, or a run folder.
            benchmark: what it answers.
            bounds: how much is read.
            name: what messages call a file of answers; by default its path.
            own_as_items: take own images for the benchmark's items that have the same ids. They
                may have been asked with the prompt of another benchmark.

        Raises:
            HdbenchError: the answers are unusable, are to another benchmark, or have more models
                than `bounds` allows; no own image has the id of an item.
        """
        if is_result(path):
            raise HdbenchError(
                "{place}: this is a result of hdbench score, not a run's answers: give the "
                "file or folder that was scored",
                place=name or path,
            )
        info = read_run_info(path) if is_run(path) else None
        own_as_items = own_as_items and info is not None and info.own_images
        other = info is not None and info.benchmark.rpartition("/")[2] != benchmark.spec.name
        if info is not None and other and not own_as_items:
            raise HdbenchError(
                "{place}: its run.json says that it answers {answered}, not {benchmark}: use "
                "that benchmark",
                place=path,
                answered=info.benchmark,
                benchmark=benchmark.id,
            )
        schema = benchmark.answer_schema(*(info.prompts if info else ()))
        if info is not None and not has_answers(path):
            container = Container()
            container.runs[None] = {}
        else:
            container = open_container(path, schema, name=name, ids=benchmark.ids())
        try:
            if bounds.models is not None and len(container.runs) > bounds.models:
                raise HdbenchError(
                    "{place}: has answers of {models} models, and at most {most} can be shown: "
                    "split the file",
                    place=name or path,
                    models=len(container.runs),
                    most=bounds.models,
                )
            run = cls(benchmark, info, schema, container, place=name or str(path))
            run.notes += part_notes(path)
            if own_as_items:
                run._take_own_as_items(path)
            yield run
        finally:
            container.close()

    def _take_own_as_items(self, path: Path) -> None:
        """Count items with the ids of own images as asked, and leave out the other images."""
        own = self.asked or {item: None for model in self.models for item in self.answered(model)}
        items = list(self.benchmark.ids())
        try:
            matched = match_ids(own, items)
        except HdbenchError as error:
            raise HdbenchError("{place}: {why}", place=path, why=error) from error
        self.asked = {item: None for item in items if item in own or item in matched.ids}
        self.left_out = frozenset(matched.unknown)
        if not self.asked:
            such = Message(" (such as {id!r})", id=next(iter(own))) if own else ""
            raise HdbenchError(
                "{place}: none of its own images has the id of an item of {benchmark}{such}: "
                "name the benchmark that has these ids",
                place=path,
                benchmark=self.benchmark.id,
                such=such,
            )

    def is_asked(self, item_id: str) -> bool:
        """Return whether an item of the benchmark was asked."""
        return self.asked is None or item_id in self.asked

    def answered(self, model: str | None) -> Iterable[str]:
        """Return the ids of a model's answers, as the file has them."""
        return (item_id for item_id in self.container.runs[model] if item_id not in self.left_out)

    def answers(
        self,
        model: str | None,
        ids: Iterable[str] | None = None,
    ) -> Answers:
        """Return a model's answers, looked up by id.

        Args:
            model: one of `models`.
            ids: the ids of the items; without them, those of the benchmark that were asked.

        Raises:
            HdbenchError: an id in the file is none of `ids`, or two fit the same item.
        """
        name = self.benchmark.id
        if self.asked is not None:
            name = Message(
                "{benchmark}, of the items in {run_file},", benchmark=name, run_file=RUN_FILE
            )
        return Answers(
            self.container,
            model,
            filter(self.is_asked, self.benchmark.ids()) if ids is None else ids,
            name,
            self.schema,
            left_out=self.left_out,
        )
