"""An image in memory, as a file in a tar or Parquet file has it."""

import io
from typing import NamedTuple

from hdbench.errors import HdbenchError

MAX_IMAGE = 256 * 2**20
"""Maximum number of bytes of an image in an archive."""


class StoredImage(NamedTuple):
    """An image in memory, which opens as a file does.

    Attributes:
        place: where it is, for messages.
        data: the file's bytes; one more than `MAX_IMAGE` if it is larger.
    """

    place: str
    data: bytes

    def __str__(self) -> str:
        return self.place

    def open(self, mode: str = "rb") -> io.BytesIO:
        """Return it as an open file.

        Raises:
            HdbenchError: it is too large.
        """
        return io.BytesIO(self.read_bytes())

    def read_bytes(self) -> bytes:
        """Return its bytes.

        Raises:
            HdbenchError: it is too large.
        """
        if len(self.data) > MAX_IMAGE:
            raise HdbenchError(
                "{place}: larger than {most} MiB: shorten or divide it",
                place=self.place,
                most=MAX_IMAGE >> 20,
            )
        return self.data
