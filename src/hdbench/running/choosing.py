"""Which items a run asks about: all of a benchmark's, some of them, or a user's own images."""

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common import pdf
from hdbench.common.natural_order import by_numbers
from hdbench.errors import HdbenchError
from hdbench.running.backend import Question

QUICK = 20
"""Maximum number of items in a quick subset."""

IMAGES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".pdf"}
"""Extensions of the files that are used; others in a folder are skipped."""


class Choice(NamedTuple):
    """The items of a run.

    Attributes:
        questions: in the benchmark's order, or sorted by name.
        subset: how they were chosen; None if they are all the items.
        passed_over: files of a folder that are not images.
    """

    questions: list[Question]
    subset: str | None
    passed_over: list[str]


def of_benchmark(
    benchmark: Benchmark,
    *,
    ids: Sequence[str] = (),
    limit: int | None = None,
    quick: bool = False,
    without_media: bool = False,
) -> Choice:
    """Items of a benchmark.

    Args:
        benchmark: the benchmark.
        ids: only these items; none means all.
        limit: at most this many, from the first.
        quick: a fixed subset of 20, drawn from the ids alone: the same everywhere and every time.
        without_media: ask with the prompt alone.

    Raises:
        HdbenchError: an id is not in the benchmark, the limit is below 1, the items are PDFs and
            pypdfium2 is not installed, or they are texts and have no media to leave out.
    """
    if without_media and benchmark.spec.media == "text":
        raise HdbenchError(
            f"--without-media: the items of {benchmark.id} are texts, which are part of the prompt"
        )
    shown = benchmark.shown()
    if unknown := sorted(set(ids) - shown.keys()):
        raise HdbenchError(
            f"--ids: {benchmark.id} has no id {unknown[0]!r}"
            + (f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else "")
        )
    if limit is not None and limit < 1:
        raise HdbenchError(f"--limit {limit}: must be 1 or more")
    chosen = [item for item in shown if not ids or item in set(ids)]
    how = []
    if len(chosen) < len(shown):
        how.append(f"{len(chosen)} named ids")
    if quick and len(chosen) > QUICK:
        drawn = set(random.Random(0).sample(sorted(chosen), QUICK))  # noqa: S311  no secret
        chosen = [item for item in chosen if item in drawn]
        how.append(f"quick, {QUICK} drawn with seed 0")
    if limit is not None and limit < len(chosen):
        chosen = chosen[:limit]
        how.append(f"the first {limit}")
    subset = f"{'; '.join(how)}, of {len(shown)} items" if how else None
    questions = [Question(item, *shown[item]) for item in chosen]
    if without_media:
        questions = [each._replace(media=[], without_media=True) for each in questions]
    return _chosen(questions, subset, [])


def named_ids(text: str | None) -> list[str]:
    """Comma-separated ids, or those in a file, one per line; none for None.

    Raises:
        HdbenchError: the file cannot be read, or there are no ids.
    """
    if text is None:
        return []
    try:
        is_file = os.path.isfile(text)
        names = Path(text).read_text(encoding="utf-8").splitlines() if is_file else text.split(",")
    except (OSError, UnicodeDecodeError) as error:
        raise HdbenchError(f"--ids {text}: cannot be read: {error}") from error
    found = [name.strip() for name in names if name.strip()]
    if not found:
        raise HdbenchError(f"--ids {text}: names no id")
    return found


def own_images(folder: Path, *, limit: int | None = None) -> Choice:
    """A user's own images: one file per item, or one folder per item with its pages.

    The id is the file's name without its extension, or the folder's name. Pages are in the order
    of the numbers in their names.

    Raises:
        HdbenchError: there is no such folder or no image in it, two items have the same id, or
            there are PDFs and pypdfium2 is not installed.
    """
    try:
        entries = sorted(folder.iterdir(), key=by_numbers)
    except OSError as error:
        raise HdbenchError(f"{folder}: cannot be read: {error.strerror}") from error
    questions: dict[str, Question] = {}
    passed_over = []
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        pages = sorted(filter(_is_image, entry.iterdir()), key=by_numbers) if entry.is_dir() else []
        item = entry.name if entry.is_dir() else entry.stem
        if not pages and not _is_image(entry):
            passed_over.append(entry.name)
            continue
        if item in questions:
            raise HdbenchError(
                f"{entry}: a second image called {item!r}: give one of them another name"
            )
        questions[item] = Question(item, pages or [entry])
    if not questions:
        raise HdbenchError(f"{folder}: no images here: they must be {', '.join(sorted(IMAGES))}")
    chosen = list(questions.values())[:limit]
    return _chosen(chosen, None, passed_over)


def _chosen(questions: list[Question], subset: str | None, passed_over: list[str]) -> Choice:
    if any(path.suffix.lower() == ".pdf" for each in questions for path in each.media):
        pdf.pdfium()  # what is missing is said once, and not as the answer to every item
    return Choice(questions, subset, passed_over)


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in IMAGES and path.is_file() and not path.is_symlink()
