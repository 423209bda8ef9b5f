"""The items that a run asks about: all of a benchmark's, some of them, or a user's images."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common import pdf
from hdbench.common.bounds import MAX_WHOLE
from hdbench.common.regular_files import Entries, entries, read_text
from hdbench.errors import HdbenchError
from hdbench.evaluation.run_info import FIRST, NAMED, OF_ALL, PART, PartInfo
from hdbench.models.archives import ARCHIVES, Archives
from hdbench.models.backend import IMAGES, Question


class Choice(NamedTuple):
    """The items of a run.

    Attributes:
        questions: in the benchmark's order, or sorted by name.
        subset: how they were chosen; None if they are all the items.
        part: which part of a run they are; None if they are the whole.
        passed_over: files of a folder that are not images.
        not_opened: the paths in the folder of links, pipes and devices.
        archives: where the images are, if they are not files of their own.
    """

    questions: list[Question]
    subset: str | None = None
    part: PartInfo | None = None
    passed_over: Sequence[str] = ()
    not_opened: Sequence[str] = ()
    archives: Archives | None = None


def of_benchmark(
    benchmark: Benchmark,
    *,
    ids: Sequence[str] = (),
    limit: int | None = None,
    without_media: bool = False,
) -> Choice:
    """Return items of a benchmark.

    Args:
        benchmark: the benchmark.
        ids: only these items; none means all.
        limit: at most this many, from the first.
        without_media: ask with the prompt alone.

    Raises:
        HdbenchError: an id is not in the benchmark, the items are PDFs and
            pypdfium2 is not installed, or they are texts and have no media to leave out.
    """
    if without_media and benchmark.spec.media == "text":
        raise HdbenchError(
            "--without-media: the items of {benchmark} are texts, which are part of the prompt",
            benchmark=benchmark.id,
        )
    shown = benchmark.shown()
    if unknown := sorted(set(ids) - shown.keys()):
        raise HdbenchError(
            "--ids: {benchmark} has no id {id!r}", benchmark=benchmark.id, id=unknown[0]
        )
    chosen = [item for item in shown if not ids or item in set(ids)]
    how = []
    if len(chosen) < len(shown):
        how.append(NAMED.format(count=len(chosen)))
    if limit is not None and limit < len(chosen):
        chosen = chosen[:limit]
        how.append(FIRST.format(count=limit))
    subset = f"{'; '.join(how)}, {OF_ALL.format(count=len(shown))}" if how else None
    questions = [Question(item, *shown[item]) for item in chosen]
    if without_media:
        questions = [question._replace(media=[], without_media=True) for question in questions]
    return _checked(Choice(questions, subset))


def named_ids(text: str | None) -> list[str]:
    """Return ids separated by commas, or those in a file with one per line; empty for None.

    Raises:
        HdbenchError: the file cannot be read, is too large, or there are no ids.
    """
    if text is None:
        return []
    is_file = os.path.isfile(text)
    names = read_text(Path(text), MAX_WHOLE).splitlines() if is_file else text.split(",")
    ids = [name.strip() for name in names if name.strip()]
    if not ids:
        raise HdbenchError("--ids {given}: names no id", given=text)
    return ids


def own_images(folder: Path, *, limit: int | None = None) -> Choice:
    """Return a user's own images in a folder: a file per item, or a folder of pages per item.

    The id is the file's name without its extension, or the folder's name. Pages are in the order
    of the numbers in their names. Instead, the images can be in tar or Parquet files; see
    `Archives`.

    Args:
        folder: the folder.
        limit: at most this many items, from the first.

    Raises:
        HdbenchError: there is no such folder or no image in it, two items have the same id, there
            are images beside archives, or there are PDFs and pypdfium2 is not installed.
    """
    choice = _in_folder(folder)
    if archives := [name for name in choice.passed_over if name.lower().endswith(ARCHIVES)]:
        if choice.questions:
            raise HdbenchError(
                "{place}: holds {name} beside images: keep them in folders of their own",
                place=folder,
                name=archives[0],
            )
        held = Archives([folder / name for name in archives], limit)
        others = [name for name in choice.passed_over if name not in archives]
        questions = [Question(item, []) for item in held.places]
        choice = Choice(questions, None, None, others, choice.not_opened, held)
    if not choice.questions:
        raise HdbenchError(
            "{place}: no images here: they must be {images}, or in {archives}",
            place=folder,
            images=", ".join(sorted(IMAGES)),
            archives=", ".join(ARCHIVES),
        )
    return _checked(choice._replace(questions=choice.questions[:limit]))


def part_of(choice: Choice, number: int, of: int) -> Choice:
    """Return one of several contiguous parts of the items, which have about the same size.

    Args:
        choice: the items.
        number: which part, from 1.
        of: how many there are.

    Raises:
        HdbenchError: there are fewer items than parts.

    Example:
        >>> part = part_of(Choice([Question(id_, []) for id_ in "abcde"]), 2, 3)
        >>> [question.id for question in part.questions], part.subset
        (['b', 'c'], 'part 2 of 3, of 5 items')
    """
    count = len(choice.questions)
    if of > count:
        raise HdbenchError("{of} parts of {count} items: make fewer", of=of, count=count)
    questions = choice.questions[count * (number - 1) // of : count * number // of]
    subset = f"{PART.format(number=number, of=of)}, {OF_ALL.format(count=count)}"
    return choice._replace(
        questions=questions,
        subset=subset,
        part=PartInfo(number=number, of=of, subset=choice.subset),
    )


def _in_folder(folder: Path) -> Choice:
    plain, not_opened = entries(folder)
    questions: dict[str, Question] = {}
    passed_over = []
    for entry in plain:
        inner = entries(entry) if entry.is_dir() else Entries([], [])
        pages = list(filter(_is_image, inner.plain))
        not_opened += inner.others
        item = entry.name if entry.is_dir() else entry.stem
        if not pages and not _is_image(entry):
            passed_over.append(entry.name)
            continue
        if item in questions:
            raise HdbenchError(
                "{place}: a second image called {name!r}: give one of them another name",
                place=entry,
                name=item,
            )
        questions[item] = Question(item, pages or [entry])
    names = [path.relative_to(folder).as_posix() for path in not_opened]
    return Choice(list(questions.values()), passed_over=passed_over, not_opened=names)


def _checked(choice: Choice) -> Choice:
    """Return a choice; refuse PDFs once, not for every item, where nothing can read them."""
    media = (file for question in choice.questions for file in question.media)
    if any(str(file).lower().endswith(".pdf") for file in media):
        pdf.pdfium()
    return choice


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in IMAGES and path.is_file()
