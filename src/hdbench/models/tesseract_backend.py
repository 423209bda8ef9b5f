"""Tesseract, which reads plain text from images, without a language model."""

import dataclasses
import functools
import io
from collections.abc import Mapping
from typing import Any

from PIL import Image

from hdbench.common import processes
from hdbench.errors import HdbenchError, Message
from hdbench.models.backend import Asked, AskerBackend, Question, Reply
from hdbench.models.images import load_images

PROGRAM = "tesseract"
LANGUAGES = "deu+Fraktur"
_PACKAGES = Message("tesseract-ocr, tesseract-ocr-deu and tesseract-ocr-script-frak")

_AT_ONCE = 30  # seconds for the program to say what it has


class TesseractBackend(AskerBackend):
    """OCR by Debian's Tesseract 5: an answer is the plain text of the item's images.

    The same image always gets the same answer.

    Args:
        asked: what is shown of an item.
        prompt: not asked.
        schema: of no use, as nothing but a text is read.

    Raises:
        HdbenchError: Tesseract or its language data is not installed.
    """

    def __init__(self, asked: Asked, prompt: str, schema: dict[str, Any] | None) -> None:
        super().__init__(self, asked, prompt, schema)
        self.at_once = asked.concurrency
        _check_languages()

    def settings(self) -> Mapping[str, Any]:
        """Return Tesseract's version and languages, and the image limits."""
        return {
            "tesseract": _version(),
            "languages": LANGUAGES,
            "timeout": self.asked.timeout,
            **dataclasses.asdict(self.asked.limits),
        }

    def ask(self, question: Question) -> Reply:
        """Return the text of an item's images.

        Raises:
            HdbenchError: an image cannot be read, or takes too long.
        """
        images = load_images(question.media, self.asked.limits)
        # A page break between them, as in a text for a ground truth of several pages.
        return Reply("\f".join(map(self._text_on, images)), finish_reason="stop")

    def _text_on(self, image: Image.Image) -> str:
        data = io.BytesIO()
        image.save(data, "PNG", compress_level=1)
        arguments = ["stdin", "stdout", "-l", LANGUAGES]
        return _tesseract(arguments, data.getvalue(), self.asked.timeout).strip()


@functools.cache
def _version() -> str:
    return _tesseract(["--version"], b"", _AT_ONCE).split("\n", 1)[0].removeprefix("tesseract ")


def _check_languages() -> None:
    """Check before the first image that the language data are there.

    Raises:
        HdbenchError: the program or a language is missing.
    """
    there = set(_tesseract(["--list-langs"], b"", _AT_ONCE).split())
    if missing := sorted(set(LANGUAGES.split("+")) - there):
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
