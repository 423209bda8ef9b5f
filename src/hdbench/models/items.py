"""The items that a run asks about: a benchmark's, or a user's images, also in archives."""

import glob
import logging
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common import pdf
from hdbench.common.bounds import MAX_GROUP, MAX_IMAGE, MAX_WHOLE
from hdbench.common.files import Entries, entries, read_text
from hdbench.errors import HdbenchError
from hdbench.evaluation.run import FIRST, NAMED, OF_ALL, PART, PartInfo
from hdbench.models.backend import IMAGES, Question, StoredImage

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".parquet")


ROWS = 16
"""Number of rows of a Parquet file that are taken at once."""

_IDS = ("id", "__key__")


class Archives:
    """The images in some archives, an item each.

    An item's id is the image's path in a tar file, without its extension, which is the `__key__` of
    a WebDataset; in a Parquet file, it is the value of the column `id` or `__key__`.

    Args:
        files: tar and Parquet files, in order.
        limit: at most this many items, from the first.

    Attributes:
        places: id → the file that it is in, in order.

    Raises:
        HdbenchError: a file cannot be read, or two items have the same id.
    """

    def __init__(self, files: Sequence[Path], limit: int | None = None) -> None:
        self.places: dict[str, Path] = {}
        for file in files:
            for item, _ in _items(file, with_images=False):
                if len(self.places) == limit:
                    return
                if item in self.places:
                    raise HdbenchError(
                        "{place}: a second image called {name!r}: give one of them another name",
                        place=file,
                        name=item,
                    )
                self.places[item] = file

    def shown(self, questions: Sequence[Question]) -> Iterator[Question]:
        """Yield questions about items, in the order of `places`, each with its image.

        Raises:
            HdbenchError: a file cannot be read.
        """
        for file, asked in groupby(questions, lambda question: self.places[question.id]):
            left = {question.id for question in asked}
            for item, image in _items(file, with_images=True):
                if item in left:
                    left.remove(item)
                    yield Question(item, [image])
                if not left:
                    break


def _items(file: Path, *, with_images: bool) -> Iterator[tuple[str, StoredImage]]:
    import datasets  # noqa: PLC0415  slow to import
    import pyarrow as pa  # noqa: PLC0415

    datasets.logging.set_verbosity(logging.CRITICAL)  # it would report what is raised
    read = _in_parquet if file.suffix.lower() == ".parquet" else _in_tar
    try:
        yield from read(file, with_images=with_images)
    except HdbenchError:
        raise
    except (OSError, EOFError, ValueError, tarfile.TarError, pa.ArrowException) as error:
        why = str(error).partition("\n")[0]
        raise HdbenchError("{place}: cannot be read: {why}", place=file, why=why) from error


def _in_tar(file: Path, *, with_images: bool) -> Iterator[tuple[str, StoredImage]]:
    from datasets import StreamingDownloadManager  # noqa: PLC0415  slow to import

    # Not load_dataset("webdataset"): it reads and decodes also what is no image, whatever its size.
    with file.open("rb") as opened:
        for name, member in StreamingDownloadManager().iter_archive(opened):
            path = PurePosixPath(name)
            if path.suffix.lower() in IMAGES:
                data = member.read(MAX_IMAGE + 1) if with_images else b""
                yield str(path.with_suffix("")), StoredImage(f"{file}: {name}", data)


def _in_parquet(file: Path, *, with_images: bool) -> Iterator[tuple[str, StoredImage]]:
    import pyarrow.parquet as pq  # noqa: PLC0415  slow to import
    from datasets import load_dataset  # noqa: PLC0415

    about = pq.read_metadata(file)
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    if any(group.total_byte_size > MAX_GROUP for group in groups):
        raise HdbenchError(
            "{place}: has groups of rows larger than {most} MiB: write it with row_group_size=100",
            place=file,
            most=MAX_GROUP >> 20,
        )
    columns = _columns(about.schema.to_arrow_schema())
    if len(columns) < 2 or "::" in str(file):  # noqa: PLR2004
        raise HdbenchError(
            "{place}: must have a column id and a column with images, and no :: in its name",
            place=file,
        )
    rows = load_dataset(
        "parquet",
        data_files=glob.escape(str(file)),
        split="train",
        streaming=True,
        columns=columns if with_images else columns[:1],
        batch_size=ROWS,
    )
    for row in rows:
        item, image = str(row[columns[0]]), row[columns[1]] if with_images else None
        data = image.get("bytes") if isinstance(image, Mapping) else image
        yield item, StoredImage(f"{file}: {item}", data or b"")


def _columns(schema: Any) -> list[str]:
    """Return the columns with the ids and the images, as far as there are any."""
    import pyarrow as pa  # noqa: PLC0415  slow to import

    def has_images(kind: Any) -> bool:
        if pa.types.is_struct(kind):
            return any(part.name == "bytes" and has_images(part.type) for part in kind)
        return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))

    ids = [name for name in _IDS if name in schema.names]
    return ids[:1] + [column.name for column in schema if has_images(column.type)][:1]


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
