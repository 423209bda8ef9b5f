"""Shards of small images."""

import io
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def picture(number, size=(40, 30), kind="PNG"):
    """The bytes of an image whose colour tells its number."""
    data = io.BytesIO()
    Image.new("RGB", size, (number % 256, number // 256, 100)).save(data, kind)
    return data.getvalue()


def number_of(image):
    """The number that an image was made from."""
    red, green, _ = image.getpixel((0, 0))
    return red + 256 * green


def tar_of(members):
    """The bytes of a tar file of names and bytes; what has no bytes is a ready TarInfo."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, content in members:
            if content is None:
                tar.addfile(name)
                continue
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return data.getvalue()


def parquet_of(columns, rows_in_a_group=10):
    """The bytes of a Parquet file."""
    data = io.BytesIO()
    pq.write_table(pa.table(columns), data, row_group_size=rows_in_a_group)
    return data.getvalue()


def images_column(contents):
    """A column as `datasets` has it for the feature Image."""
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    return pa.array([{"bytes": each, "path": None} for each in contents], kind)
