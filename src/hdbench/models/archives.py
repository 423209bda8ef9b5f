"""Images in tar and Parquet files, which are read one by one, without being unpacked."""

import glob
import logging
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from hdbench.common.bounds import MAX_GROUP, MAX_IMAGE
from hdbench.errors import HdbenchError
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
