"""A run: what the `run.json` next to its answers says of it, and its answers, item by item."""

import hashlib
import mmap
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hdbench.answers.answers import Answers, match_ids
from hdbench.answers.entries import Container
from hdbench.answers.files import open_container
from hdbench.answers.forms import ENDINGS, OUR_ANSWERS, RUN_FILE, Folder, is_one_object
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.bounds import MAX_RUN_INFO
from hdbench.common.files import file_sha256, read_errors, utf8_text
from hdbench.common.jsonio import parse_file
from hdbench.common.validation import check_written_by, validate
from hdbench.errors import HdbenchError, Message


class _Checked(BaseModel):
    """Untrusted data: types are not converted; unknown keys are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, defer_build=True)


TEXT_PROMPT = "as-text.txt"
"""The name of the prompt that asks for a page's text alone, as programs read it unasked."""


class Prompt(_Checked):
    """The prompt that a run used: runs with different prompts are not ranked together.

    Attributes:
        name: the name of its file.
        sha256: the hash of its bytes; None if it is not known.
        text: the prompt itself; empty if it is not known.
    """

    name: str
    sha256: str | None = None
    text: str = Field(default="", exclude=True)


class PartInfo(_Checked):
    """Which part of a run it is.

    Attributes:
        number: from 1.
        of: how many parts the run has.
        subset: how the items of the run were chosen, if they are not all items.
    """

    number: int
    of: int
    subset: str | None = None


class RunInfo(_Checked):
    """Information on a run, as its `run.json` has it.

    Attributes:
        run: its name.
        benchmark: what it answers, such as `hdb/zettelkatalog`.
        model: the model that answered.
        provider: who ran the model.
        date: the date of the run, such as `2026-01-24`.
        prompt: what the model was asked.
        items: the ids that were asked; None if all were. No other item counts.
        subset: how the items were chosen, if they are not all items.
        part: which part of a run it is, if it is one.
        own_images: whether it is a run on a user's own images, which count as the items of a
            benchmark that have the same ids.
        without_media: whether the model got the prompt alone, without the items' media; such a run
            is the floor beneath the model's score, and is not ranked.
        published: its figures as they were published.
        reproducible: whether its answers give these figures: where they are false, the figures were
            computed by other code or from other answers. None if that is not said.
        cost_usd: what it cost.
        sittings: when and how hdbench asked, one after the other.
    """

    run: str
    benchmark: str
    model: str
    provider: str | None = None
    date: str | None = None
    prompt: Prompt | None = None
    items: list[str] | None = Field(default=None, min_length=1)
    subset: str | None = None
    part: PartInfo | None = Field(default=None, exclude=True)
    own_images: bool = False
    without_media: bool | None = None
    published: dict[str, Any] | None = None
    reproducible: bool | None = None
    cost_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    sittings: list[dict[str, Any]] = Field(default=[], exclude=True)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The prompt texts that the model was given, as far as they are known."""
        return (self.prompt.text,) if self.prompt and self.prompt.text else ()

    @property
    def prompt_sha256(self) -> str | None:
        """The hash of the prompt, if that is known."""
        return None if self.prompt is None else self.prompt.sha256

    @model_validator(mode="after")
    def _items_differ(self) -> Self:
        if self.items is not None and len(set(self.items)) < len(self.items):
            raise ValueError("an id in items occurs twice")
        return self

    def for_result(self) -> Self:
        """Return what a result keeps of it: not the items, which the result has itself."""
        return self.model_copy(
            update={
                "prompt": self.prompt and self.prompt.model_copy(update={"text": ""}),
                "items": None,
                "own_images": False,
                "without_media": self.without_media or None,
                "sittings": [],
            }
        )


NO_RUN = RunInfo.model_construct(run="", benchmark="", model="")
"""Information on answers without a run folder."""


_PART = re.compile(r"part-0*([1-9][0-9]{0,4})-of-([1-9][0-9]{0,4})")


class RunPart(NamedTuple):
    """One part of a run.

    Attributes:
        number: which one it is, from 1.
        of: how many there are.
        folder: its run folder.
    """

    number: int
    of: int
    folder: Path

    @property
    def exists(self) -> bool:
        """Return whether anything of it is recorded."""
        return (self.folder / RUN_FILE).is_file()

    def count_answers(self) -> int:
        """Return how many answers it has, without an incomplete one."""
        path = self.folder / OUR_ANSWERS
        if not path.is_file() or path.is_symlink():
            return 0
        with path.open("rb") as file:
            return sum(line.endswith(b"\n") for line in file)


def part_folder(run: Path, number: int, of: int) -> Path:
    """Return the folder of a part; their names sort in the order of the parts.

    Example:
        >>> part_folder(Path("runs/qwen"), 2, 16).name
        'part-02-of-16'
    """
    return run / f"part-{number:0{len(str(of))}}-of-{of}"


def run_parts(run: Path) -> list[RunPart]:
    """Return all parts of a run in order, also those that do not exist; none for other folders.

    Raises:
        HdbenchError: the parts do not belong together.
    """
    if not run.is_dir() or (run / RUN_FILE).exists():
        return []
    found = {
        int(match[2]): path.name
        for path in run.glob("part-*-of-*")
        if (match := _PART.fullmatch(path.name)) and RunPart(0, 0, path).exists
    }
    if len(found) > 1:
        one, other = sorted(found.values())[:2]
        raise HdbenchError(
            "{place}: holds {one} and {other}: keep the parts of one run in a folder of their own",
            place=run,
            one=one,
            other=other,
        )
    return [
        RunPart(number, of, part_folder(run, number, of))
        for of in found
        for number in range(1, of + 1)
    ]


def whole_run(folder: Path) -> Path:
    """Return the folder of the run that a run folder is a part of, or else that folder itself."""
    return folder.parent if _PART.fullmatch(folder.name) else folder


def is_run(folder: Path) -> bool:
    """Return whether a folder is a run folder, or has the parts of a run."""
    return (folder / RUN_FILE).is_file() or bool(run_parts(folder))


def has_answers(folder: Path) -> bool:
    """Return whether a run has any answer yet, in any form."""
    if parts := run_parts(folder):
        return any(part.count_answers() for part in parts)
    path = folder / OUR_ANSWERS
    if path.is_file():
        return path.stat().st_size > 0
    return any(file.name != RUN_FILE for file in folder.iterdir())


def read_run_info(folder: Path) -> RunInfo:
    """Return the information on the run in a folder, or on all parts of one together.

    Raises:
        HdbenchError: its run.json cannot be read, is too large, or lacks something; or the parts
            are not of one run.
    """
    parts = run_parts(folder)
    if not parts:
        return _read(folder / RUN_FILE)
    first, *others = [_read(part.folder / RUN_FILE) for part in parts if part.exists]
    for other in others:
        for name in ("benchmark", "model", "prompt", "own_images", "without_media"):
            if getattr(other, name) != getattr(first, name):
                raise HdbenchError(
                    "{place}: its parts differ in {name}: keep each run in a folder of its own",
                    place=folder,
                    name=name,
                )
    subset = first.part.subset if first.part else None
    items = [item for info in (first, *others) for item in info.items or ()]
    known = [info.cost_usd for info in (first, *others) if info.cost_usd is not None]
    return first.model_copy(
        update={
            "run": folder.resolve().name,
            "part": None,
            "subset": subset,
            "items": items if subset or first.own_images else None,
            "sittings": [sitting for info in (first, *others) for sitting in info.sittings],
            "cost_usd": fsum(known) if len(known) == 1 + len(others) else None,
        }
    )


def part_notes(folder: Path) -> list[Message]:
    """Return a line for each part of a run that is missing or has not answered all of its items."""
    notes = []
    for part in run_parts(folder):
        if not part.exists:
            notes.append(
                Message(
                    "{place}: part {number} of {of} is missing",
                    place=folder,
                    number=part.number,
                    of=part.of,
                )
            )
            continue
        items, answered = len(_read(part.folder / RUN_FILE).items or ()), part.count_answers()
        if answered < items:
            notes.append(
                Message(
                    "{place}: part {number} of {of} is not finished: {answered:,} of {items:,} "
                    "items are answered",
                    place=folder,
                    number=part.number,
                    of=part.of,
                    answered=answered,
                    items=items,
                )
            )
    return notes


def _read(path: Path) -> RunInfo:
    with read_errors(path), path.open("rb") as file:
        raw = file.read(MAX_RUN_INFO + 1)
    text = utf8_text(raw, path)
    if len(raw) > MAX_RUN_INFO:
        raise HdbenchError("{place}: larger than {most} MiB", place=path, most=MAX_RUN_INFO >> 20)
    data = parse_file(text, str(path))
    if isinstance(data, dict) and data.get("sittings"):  # hdbench asked, and wrote all of it
        remedy = Message("run the model again, in another folder")
        check_written_by(data.get("hdbench"), path, remedy)
    return validate(RunInfo, data, path)


NAMED = "{count} named ids"
FIRST = "the first {count}"
PART = "part {number} of {of}"
STOPPED = "stopped after {count}"
OF_ALL = "of {count} items"

_STEPS = [
    (template, re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[0-9]{1,9})", re.escape(template))))
    for template in (NAMED, FIRST, PART, STOPPED, OF_ALL)
]
_SEPARATOR = re.compile("(; |, (?=of ))")


def subset_in_words(recorded: str) -> str:
    """Return what a run recorded as a message, or as it is where hdbench would not write it so.

    Example:
        >>> from hdbench.common.texts import translated
        >>> translated(subset_in_words("the first 20, of 711 items"), "de")
        'die ersten 20, von 711 Einträgen'
        >>> translated(subset_in_words("those with a date"), "de")
        'those with a date'
    """
    pieces = _SEPARATOR.split(recorded)
    steps = {f"step{number}": _message(step) for number, step in enumerate(pieces[::2])}
    if None in steps.values():
        return recorded
    named = zip_longest(steps, pieces[1::2], fillvalue="")
    return Message("".join(f"{{{name}}}{separator}" for name, separator in named), **steps)


def _message(step: str) -> Message | None:
    for template, pattern in _STEPS:
        if match := pattern.fullmatch(step):
            return Message(
                template, **{name: int(text) for name, text in match.groupdict().items()}
            )
    return None


def run_name(path: Path) -> str:
    """Return the name of a run: that of its file or folder, without the extensions of its form.

    Only known extensions are removed, as the names of many models have dots.

    Args:
        path: a file or folder of answers, or a result. A symbolic link is not followed, because
            the Hub's cache keeps files under their hashes.

    Example:
        >>> run_name(Path("runs/gpt-4.1.jsonl.gz")), run_name(Path("runs/gpt-4.1"))
        ('gpt-4.1', 'gpt-4.1')
    """
    name = Path(os.path.abspath(path)).name  # `.` and `..` have the names of their folders
    while ending := next((candidate for candidate in ENDINGS if _has(name, candidate)), ""):
        name = name[: -len(ending)]
    return name


class Named(NamedTuple):
    """A run that has a name, which others may have too.

    Attributes:
        name: its model, or else its file.
        own: what the run or else its file is called; None if that is the name already.
        path: where it is.
    """

    name: str
    own: str | None
    path: Path


def distinct_names(runs: Sequence[Named]) -> list[str]:
    """Return the names of runs that are shown together.

    Of one model's runs, each is followed by its own name; where several have the same, by as much
    of its path as tells them apart. Two names are the same only if the paths are.

    Args:
        runs: the runs.

    Example:
        >>> def run(model: str | None, file: str) -> Named:
        ...     path = Path(file)
        ...     return Named(model or run_name(path), run_name(path) if model else None, path)
        >>> distinct_names([run("gpt", "a.jsonl"), run("gpt", "b.jsonl"), run(None, "c.jsonl")])
        ['gpt (a)', 'gpt (b)', 'c']
        >>> distinct_names([run("gpt", "a/answers.jsonl"), run("gpt", "b/answers.jsonl")])
        ['gpt (a/answers)', 'gpt (b/answers)']
        >>> distinct_names([run(None, "a/answers.jsonl"), run(None, "b/answers.jsonl")])
        ['a/answers', 'b/answers']
    """
    alike: dict[str, dict[str | None, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        alike[run.name][run.own].append(run.path)
    names = []
    for name, own, path in runs:
        if len(alike[name]) == len(alike[name][own]) == 1:
            names.append(name)
            continue
        paths = alike[name][own]
        shown = own if len(paths) == 1 else _apart(path, paths)
        names.append(name if shown is None else shown if own is None else f"{name} ({shown})")
    return names


def _apart(path: Path, paths: Sequence[Path]) -> str:
    """Return the end of a path that others do not have, without the extensions of its form."""
    all_parts = [(*other.parent.parts, run_name(other)) for other in paths]
    parts = (*path.parent.parts, run_name(path))
    lengths = range(1, len(parts) + 1)
    alone = (n for n in lengths if sum(other[-n:] == parts[-n:] for other in all_parts) == 1)
    return "/".join(parts[-next(alone, 1) :])


def _has(name: str, ending: str) -> bool:
    return len(name) > len(ending) and name.lower().endswith(ending)


_RESULT_KEYS = (b'"protocol"', b'"signature"', b'"unanswered"', b'"unparsable"')
"""Keys of every result that `hdbench score` writes; several results are in a list under `runs`."""


def is_result(path: Path) -> bool:
    """Tell whether a file is a result of `hdbench score`, or several, rather than answers.

    Answers may be large, and are not parsed for it: their first line tells them from a result, or
    else the file is searched for the keys that every result has. A file that cannot be read is not
    a result.
    """
    if not path.is_file():  # a pipe or device might never end
        return False
    try:
        if not is_one_object(path):
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
            return all(raw.find(key) >= 0 for key in _RESULT_KEYS)
    except OSError:
        return False


def answers_sha256(path: Path) -> str:
    """Return the sha256 of the file of answers, or of what `sha256sum` prints for a folder's files.

    For a folder, it covers the files that are read, by name: `sha256sum *.json | sha256sum`; of a
    run in parts, those of each part.

    Raises:
        HdbenchError: it cannot be read, or is a folder with a symbolic link.
    """
    with read_errors(path):
        if not path.is_dir():
            return file_sha256(path)
        digest = hashlib.sha256()
        inner = [
            f"{part.folder.name}/{name}"
            for part in run_parts(path)
            if part.exists
            for name in Folder(part.folder).names
        ]
        for name in inner or Folder(path).names:
            line = f"{file_sha256(path / name)}  ".encode() + os.fsencode(name)
            # A line break in a name would turn one file into two.
            digest.update(line.replace(b"\\", b"\\\\").replace(b"\n", b"\\n") + b"\n")
        return digest.hexdigest()


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
        most_models: int | None = None,
        *,
        name: str | None = None,
        own_as_items: bool = False,
    ) -> Iterator["RunAnswers"]:
        """Open a run until the block ends.

        Args:
            path: a file or folder of answers in any form, or a run folder.
            benchmark: what it answers.
            most_models: the maximum number of models; None is any number.
            name: what messages call a file of answers; by default its path.
            own_as_items: take own images for the benchmark's items that have the same ids. They
                may have been asked with the prompt of another benchmark.

        Raises:
            HdbenchError: the answers are unusable, are to another benchmark, or have more models
                than `most_models`; no own image has the id of an item.
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
            container = open_container(path, schema, name=name, ids=benchmark.ids)
        try:
            if most_models is not None and len(container.runs) > most_models:
                raise HdbenchError(
                    "{place}: has answers of {models} models, and at most {most} can be shown: "
                    "split the file",
                    place=name or path,
                    models=len(container.runs),
                    most=most_models,
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
