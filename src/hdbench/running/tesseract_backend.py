"""The baseline without a language model: Tesseract reads, and plain rules make the record."""

import dataclasses
import json
import os
import time
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from hdbench.baselines.by_schema import baseline_for
from hdbench.baselines.ocr import check_languages, version
from hdbench.errors import HdbenchError, Message
from hdbench.running.backend import SILENT, Asked, Backend, Observer, Question, Reply
from hdbench.running.images import load_images

RULES = 2
"""Version of the rules; raise it whenever the same image can get a different answer."""

TIMEOUT = 120.0
"""Maximum seconds for reading one image once."""


class TesseractBackend(Backend):
    """OCR by Debian's Tesseract 5, and rules for cards, pages of ads, letters, papers and texts.

    The fields of the answer schema decide which rules are used, not a benchmark's name.
    The same image always gets the same answer. A handwritten item is answered too, mostly wrongly:
    this is the floor that a model must beat.

    Args:
        asked: what is shown of an item.
        prompt: not asked.
        schema: the benchmark's answer schema.
        timeout: seconds for one reading of one image; an item that takes longer is an error.
        at_once: items at once; by default one per processor.

    Raises:
        NoRulesError: there are no rules for the schema.
        HdbenchError: Tesseract or its language data is not installed.
    """

    def __init__(
        self,
        asked: Asked,
        prompt: str,
        schema: dict[str, Any] | None,
        *,
        timeout: float = TIMEOUT,
        at_once: int | None = None,
    ) -> None:
        super().__init__(asked, prompt, schema)
        self._baseline = baseline_for(schema)
        check_languages(self._baseline.languages)
        self._timeout = timeout
        self._at_once = at_once or os.cpu_count() or 1

    def settings(self) -> Mapping[str, Any]:
        """Return Tesseract's version and languages, the rules' version and the image limits."""
        return {
            "tesseract": version(),
            "languages": self._baseline.languages,
            "rules": RULES,
            "timeout": self._timeout,
            **dataclasses.asdict(self.asked.limits),
        }

    def hardware(self) -> Mapping[str, Any]:
        """Return the processors, and Tesseract's version."""
        return {"cpus": os.cpu_count(), "tesseract": version()}

    def answer(
        self,
        questions: Iterable[Question],
        *,
        deadline: float | None = None,
        observer: Observer = SILENT,
    ) -> Generator[tuple[str, Reply], None, None]:
        """Yield each question's id and reply, in order.

        A page takes seconds, so those under way at the deadline are read to the end.

        Raises:
            HdbenchError: never; what fails is an item's error.
        """
        pool = ThreadPoolExecutor(self._at_once)
        running: deque[tuple[str, Future[Reply]]] = deque()
        try:
            for question in questions:
                running.append((question.id, pool.submit(self._reply, question)))
                if len(running) > self._at_once:
                    item, future = running.popleft()
                    yield item, future.result()
            while running:
                item, future = running.popleft()
                yield item, future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _reply(self, question: Question) -> Reply:
        begun = time.monotonic()
        try:
            images = load_images(question.media, self.asked.limits)
            record = self._baseline.read(images, self._timeout)
        except HdbenchError as error:
            return Reply(None, seconds=time.monotonic() - begun, error=error.message)
        except Exception as error:  # a page that the rules were not made for must not end the run
            message = Message(
                "the rules failed on it: {kind}: {why}",
                kind=type(error).__name__,
                why=" ".join(str(error).split()),
            )
            return Reply(None, seconds=time.monotonic() - begun, error=message)
        text = json.dumps(record, ensure_ascii=False)
        return Reply(text, seconds=time.monotonic() - begun, finish_reason="stop")
