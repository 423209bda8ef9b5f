"""Local models, run with transformers."""

import dataclasses
import importlib.metadata
import math
import os
import platform
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from typing import Any, NamedTuple

from PIL import Image

from hdbench.errors import HdbenchError, Message
from hdbench.models.backend import (
    LOST_IN_A_ROW,
    SILENT,
    Asked,
    Backend,
    Observer,
    Question,
    Reply,
)
from hdbench.models.images import load_images, why_unreadable
from hdbench.models.local_model import LocalModel
from hdbench.models.logits import SchemaGrammar
from hdbench.models.model_files import find_model, vlm_module

WINDOW = 4
"""Number of batches whose items are grouped by size."""
READERS = 8
"""Maximum number of threads that decode images."""
WINDOW_BYTES = 512 * 2**20
"""Maximum bytes of their images, if each item has one of the largest size."""


_Read = tuple[Question, list[Image.Image]]


class _Window:
    """Neighboring items, whose images are being read, to be put into batches by their size."""

    def __init__(
        self, items: list[tuple[Question, Future[list[Image.Image]] | None]], *, by_size: bool
    ) -> None:
        self._reading = items
        self._by_size = by_size
        self._sorted: deque[_Read] = deque()

    def take(self, count: int) -> tuple[list[tuple[str, Reply]], list[_Read]]:
        """Return the replies for items that cannot be read, once; and the next items."""
        unreadable: list[tuple[str, Reply]] = []
        read = []
        for question, images in self._reading:
            try:
                read.append((question, images.result() if images else []))
            except (HdbenchError, MemoryError) as error:
                unreadable.append((question.id, Reply(None, error=why_unreadable(error))))
        self._reading = []
        if self._by_size:
            # The largest first, so that running out of the device's memory shows at once.
            read.sort(key=_size, reverse=True)
        self._sorted.extend(read)
        return unreadable, [self._sorted.popleft() for _ in range(min(count, len(self._sorted)))]


def _size(item: _Read) -> tuple[int, int]:
    """Return an item's pixels and its length of text, which mostly decide its tokens."""
    question, images = item
    return sum(image.width * image.height for image in images), len(question.text)


class _Batch(NamedTuple):
    """Items as the model gets them, or why it cannot take them."""

    ids: list[str]
    images: list[list[Image.Image]]
    prompts: list[str]
    inputs: Any
    failure: Message | None


class TransformersBackend(Backend):
    """Any image-text-to-text model in a folder or on the Hub, on this machine.

    Each item is one user turn: its images in order, then the prompt, then its text if it has one,
    in the form that the model's own chat template gives them. GOT-OCR2 takes no instructions: it
    gets the images with the prompt that its processor writes, and the setting `own_prompt` says so.

    Items are answered in batches, padded on the left. Images are decoded and resized ahead in
    threads, up to `READERS`, and the next batch is prepared while the model works. Within a
    window of `WINDOW` batches, fewer if their images could take more than `WINDOW_BYTES`, items are
    sorted by size, so that less is padded: answers come in another order than questions. The first
    ones, up to `LOST_IN_A_ROW` or more, are not sorted. At most two windows and two batches are in
    memory. A batch that does not fit into the device's memory is halved until it does. If the first
    `LOST_IN_A_ROW` items are all refused, by the processor or the model, the run ends, and they are
    not returned as replies, so the same command asks them again. An image that cannot be read is
    its own item's failure and is not counted.

    Decoding is as `Decoding` says: what a model's own generation_config.json sets beyond the
    tokens that end an answer, such as a repetition penalty, is not applied. A sampled answer
    depends on the seed and the item's id (see `sampling`). The rest of the batch changes an
    answer only through the rounding of floating-point numbers, where two tokens are almost equally
    likely.

    Args:
        asked: the model, and how it is asked.
        prompt: what is asked of each item.
        schema: the benchmark's answer schema, for `asked.schema`.
        device: see `LocalModel`.
        model: a model that is loaded already; by default the one that is asked for is loaded.

    Raises:
        HdbenchError: no such model, or it cannot be used; torch or transformers is not installed.
    """

    def __init__(
        self,
        asked: Asked,
        prompt: str,
        schema: dict[str, Any] | None,
        *,
        device: str | None = None,
        model: LocalModel | None = None,
    ) -> None:
        super().__init__(asked, prompt, schema)
        size = self._batch_size = asked.batch_size
        if size < 1:
            raise HdbenchError("the batch size must be 1 or more, not {size}", size=size)
        if asked.schema and schema is None:
            raise HdbenchError("the benchmark has no answer.schema.json to hold answers to")
        self._decoding = dataclasses.replace(asked.decoding, schema=bool(asked.schema))
        fitting = WINDOW_BYTES // (4 * asked.limits.max_side**2) // size  # Pillow takes 4 for RGB
        self._window = size * max(1, min(WINDOW, fitting)) if size > 1 else 1
        vlm_module("torch")  # before a folder of gigabytes is hashed
        self._model = model or LocalModel(
            find_model(asked.model, asked.revision),
            device,
            trust_remote_code=asked.trust_remote_code,
        )
        self._grammar: SchemaGrammar | None = None
        if asked.schema and schema is not None:
            self._grammar = SchemaGrammar(schema, self._model.tokenizer, self._model.ends)

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that can change an answer.

        So can the batch size, as padding changes how numbers round, and the window, in which items
        of about the same size come into the same batch.
        """
        return {
            "model": self._model.source.name,
            "revision": self._model.source.revision,
            "sha256": self._model.source.sha256,
            "dtype": self._model.dtype,
            **dataclasses.asdict(self.asked.limits),
            "batch_size": self._batch_size,
            **({"window": self._window} if self._window > 1 else {}),
            "trust_remote_code": self.asked.trust_remote_code,
            **({"own_prompt": True} if self._model.has_own_prompt else {}),
            "constrained_by": self._grammar.version if self._grammar else None,
            "decoding": dataclasses.asdict(self._decoding),
        }

    def hardware(self) -> Mapping[str, Any]:
        """Return the device, the number of CPUs and the versions of the libraries."""
        torch = vlm_module("torch")
        device = self._model.device
        return {
            "device": torch.cuda.get_device_name(device)
            if device.type == "cuda"
            else f"{device.type} {platform.processor() or platform.machine()}",
            "cpus": os.cpu_count(),
            "cuda": torch.version.cuda,
            **{
                package: importlib.metadata.version(package)
                for package in ("torch", "transformers", "tokenizers", "accelerate")
            },
        }

    def answer(
        self,
        questions: Iterable[Question],
        *,
        observer: Observer = SILENT,
    ) -> Generator[tuple[str, Reply], None, None]:
        """Yield each question's id and reply, batch by batch.

        Raises:
            HdbenchError: the model cannot be loaded, refuses its first `LOST_IN_A_ROW` items, or
                fails for a reason other than memory.
        """
        if self._model.has_own_prompt:
            observer.notice(
                Message(
                    "{model}: the model takes no instructions: it is asked with its own prompt "
                    "(OCR) instead of the benchmark's, and answers in plain text",
                    model=self._model.source.name,
                )
            )
        remaining = iter(questions)
        reading: deque[tuple[Question, Future[list[Image.Image]] | None]] = deque()
        windows: deque[_Window] = deque()
        ahead: deque[Future[tuple[list[tuple[str, Reply]], _Batch]]] = deque()
        replies: list[tuple[str, Reply]] = []
        has_taken_one = False
        begun = 0
        count = min(READERS, os.cpu_count() or 1)
        most, limits = max(self._window, 2 * count), self.asked.limits
        readers = ThreadPoolExecutor(count)
        with ThreadPoolExecutor(1) as pool, ExitStack() as at_the_end:
            at_the_end.callback(readers.shutdown, cancel_futures=True)
            while True:
                for question in islice(remaining, most - len(reading)):
                    shown = question.shows_media
                    images = readers.submit(load_images, question.media, limits) if shown else None
                    reading.append((question, images))
                if not windows and reading:
                    items = [reading.popleft() for _ in range(min(self._window, len(reading)))]
                    batches = math.ceil(len(items) / self._batch_size)
                    # The first items keep their order: the largest ones alone would not show
                    # whether the model takes any.
                    by_size = self._batch_size > 1 and begun >= LOST_IN_A_ROW
                    windows.extend([_Window(items, by_size=by_size)] * batches)
                    begun += len(items)
                if windows:
                    ahead.append(pool.submit(self._prepared, windows.popleft()))
                elif not ahead:
                    break
                if len(ahead) > 1 or not (windows or reading):
                    unreadable, batch = ahead.popleft().result()
                    yield from unreadable
                    for item in self._replies(batch):
                        has_taken_one |= item[1].tokens is not None
                        replies.append(item)
                        if has_taken_one:
                            yield from replies
                            replies.clear()
                        elif len(replies) == LOST_IN_A_ROW:
                            raise self._takes_none(*replies[0])
        yield from replies

    def close(self) -> None:
        """Free the model's memory."""
        self._model.close()

    def _takes_none(self, first_id: str, first: Reply) -> HdbenchError:
        return HdbenchError(
            "{model}: the model accepts none of the first {count} items ({place}: {why}): fix it "
            "and run again",
            model=self._model.source.name,
            count=LOST_IN_A_ROW,
            place=first_id,
            why=first.error,
        )

    def _prepared(self, window: _Window) -> tuple[list[tuple[str, Reply]], _Batch]:
        """Return the replies for unreadable items, and a batch of the others for the model."""
        unreadable, items = window.take(self._batch_size)
        ids = [question.id for question, _ in items]
        prompts = [question.in_prompt(self.prompt) for question, _ in items]
        return unreadable, self._encoded(ids, [images for _, images in items], prompts)

    def _encoded(
        self, ids: list[str], images: list[list[Image.Image]], prompts: list[str]
    ) -> _Batch:
        if not ids:
            return _Batch(ids, images, prompts, None, None)
        try:
            return _Batch(ids, images, prompts, self._model.encode(images, prompts), None)
        except HdbenchError as error:
            return _Batch(ids, images, prompts, None, error.message)

    def _replies(self, batch: _Batch) -> Iterator[tuple[str, Reply]]:
        """Yield a batch's replies; a batch that fails is asked again in halves."""
        started = time.perf_counter()
        failure = batch.failure
        replies: list[Reply] = []
        if batch.ids and not failure:
            try:
                replies = self._model.generate(
                    batch.ids, batch.inputs, self._decoding, self._grammar
                )
            except MemoryError as error:
                failure = Message(
                    "out of memory: {why}: make the batch or the images smaller", why=error
                )
        seconds = (time.perf_counter() - started) / max(len(batch.ids), 1)
        if not failure:
            for id_, reply in zip(batch.ids, replies, strict=True):
                yield id_, dataclasses.replace(reply, seconds=seconds)
        elif len(batch.ids) == 1:
            yield batch.ids[0], Reply(None, seconds=seconds, error=failure)
        else:
            middle = len(batch.ids) // 2
            for half in (slice(middle), slice(middle, None)):
                halved = self._encoded(batch.ids[half], batch.images[half], batch.prompts[half])
                yield from self._replies(halved)
