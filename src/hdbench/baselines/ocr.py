"""Calling Tesseract: an image in, words with their places out."""

import csv
import functools
import io
from typing import NamedTuple

from PIL import Image

from hdbench.common import processes
from hdbench.errors import HdbenchError, Message

PROGRAM = "tesseract"
_PACKAGES = Message("tesseract-ocr, tesseract-ocr-deu and tesseract-ocr-script-frak")
ANYWHERE, ONE_COLUMN, ONE_BLOCK = 1, 4, 6
"""Modes of page segmentation: Tesseract finds columns on its own, reads one, or reads a block."""

_WORD = "5"  # a row's level
_AT_ONCE = 30  # seconds for the program to say what it has


class Word(NamedTuple):
    """A word on an image, in pixels from the upper left corner.

    Attributes:
        line: identifies the line that Tesseract put it in.
    """

    text: str
    left: int
    top: int
    right: int
    bottom: int
    line: tuple[int, ...] = ()

    @property
    def height(self) -> int:
        """Return the height in pixels."""
        return self.bottom - self.top


def read_words(
    image: Image.Image,
    languages: str,
    *,
    segmentation: int,
    timeout: float,
    enlarge: int = 1,
    locally: bool = False,
) -> list[Word]:
    """Return the words of an image, in Tesseract's order.

    Args:
        image: what is read.
        languages: such as `deu+Fraktur`.
        segmentation: `ANYWHERE`, `ONE_COLUMN` or `ONE_BLOCK`.
        timeout: seconds.
        enlarge: how many times it is enlarged for reading; places are given in the original size.
        locally: tell ink and paper apart by their surroundings: for a sheet on a dark ground.

    Raises:
        HdbenchError: the program or a language is missing, or the image took too long.
    """
    size = (image.width * enlarge, image.height * enlarge)
    data = io.BytesIO()
    larger = image.convert("L").resize(size, Image.Resampling.LANCZOS)
    larger.save(data, "PNG", compress_level=1)
    arguments = ["stdin", "stdout", "-l", languages, "--psm", str(segmentation)]
    if locally:
        arguments += ["-c", "thresholding_method=2"]  # Sauvola's
    arguments.append("tsv")
    table = _tesseract(arguments, data.getvalue(), timeout)
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        _word(row, enlarge) for row in rows if row["level"] == _WORD and (row["text"] or "").strip()
    ]


def _word(row: dict[str, str], enlarge: int) -> Word:
    left, top, width, height = (int(row[key]) for key in ("left", "top", "width", "height"))
    line = tuple(int(row[key]) for key in ("block_num", "par_num", "line_num"))
    box = (left // enlarge, top // enlarge, (left + width) // enlarge, (top + height) // enlarge)
    return Word(row["text"].strip(), *box, line)


@functools.cache
def version() -> str:
    """Tesseract's version.

    Raises:
        HdbenchError: it is not installed.
    """
    return _tesseract(["--version"], b"", _AT_ONCE).split("\n", 1)[0].removeprefix("tesseract ")


def check_languages(languages: str) -> None:
    """Check before the first image that the language data are there.

    Raises:
        HdbenchError: the program or a language is missing.
    """
    there = set(_tesseract(["--list-langs"], b"", _AT_ONCE).split())
    if missing := sorted(set(languages.split("+")) - there):
        raise HdbenchError(
            "tesseract has no language data {language!r}: install the Debian packages {packages}",
            language=missing[0],
            packages=_PACKAGES,
        )


def _tesseract(arguments: list[str], data: bytes, timeout: float) -> str:
    # Its threads gain little on one image and get in the way of reading several at once.
    variables = {"OMP_THREAD_LIMIT": "1"}
    try:
        done = processes.run(
            [PROGRAM, *arguments], given=data, timeout=timeout, variables=variables
        )
    except FileNotFoundError as error:
        raise HdbenchError(
            "the program {program} is not installed: install the Debian packages {packages}",
            program=PROGRAM,
            packages=_PACKAGES,
        ) from error
    except processes.TimeoutExpired as error:
        raise HdbenchError(
            "tesseract was stopped after {seconds:g} seconds", seconds=timeout
        ) from error
    except processes.CalledProcessError as error:
        said = " ".join(error.stderr.decode("utf-8", "replace").split())
        raise HdbenchError(
            "tesseract: {why}",
            why=said[:300] or Message("ended with {status}", status=error.returncode),
        ) from error
    return done.stdout.decode("utf-8", "replace")
