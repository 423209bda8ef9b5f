"""Local models, run with transformers."""

import dataclasses
import importlib.metadata
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

import torch

from hdbench.errors import HdbenchError, Message
from hdbench.models.backend import (
    LOST_IN_A_ROW,
    SILENT,
    Asked,
    Backend,
    Observer,
    Question,
    Replies,
    Reply,
    in_order,
)
from hdbench.models.images import load_images
from hdbench.models.local_model import LocalModel, NoMemoryError, SchemaGrammar
from hdbench.models.model_files import find_model

_Read = tuple[Question, Any]
"""An item with its images, or with the reply that says why they cannot be read."""

READERS = 8
"""Maximum number of threads that decode images; so many images are in memory."""


class _Batch(NamedTuple):
    """Items as the model gets them, or why it cannot take them."""

    ids: list[str]
    inputs: Any
    failure: Message | None = None


class TransformersBackend(Backend):
    """Any image-text-to-text model in a folder or on the Hub, on this machine.

    Each item is one user turn: its images in order, then the prompt, then its text if it has one,
    in the form that the model's own chat template gives them. What else a model needs says its
    family, see `families.yaml`: if it has a prompt for a page of text, this is sent where the text
    alone is asked for, and always if it takes no other; `own_prompt` among the settings says so.

    Items are answered in batches, padded on the left. Images are decoded ahead in threads, up to
    `READERS`, and the next batch is prepared while the model works. If the processor refuses a
    batch, its items are asked one by one. If the first `LOST_IN_A_ROW` items are all refused, the
    run ends, and they are not returned as replies, so the same command asks them again. An image
    that cannot be read is its own item's failure and is not counted.

    Decoding is as `Decoding` says: what a model's own generation_config.json sets beyond the
    tokens that end an answer, such as a repetition penalty, is not applied. The rest of the batch
    changes a greedy answer only through the rounding of floating-point numbers, where two tokens
    are almost equally likely, as other hardware does.

    Args:
        asked: the model, and how it is asked.
        prompt: what is asked of each item.
        schema: the benchmark's answer schema.

    Raises:
        HdbenchError: no such model, or it cannot be used.
    """

    def __init__(self, asked: Asked, prompt: str, schema: dict[str, Any] | None) -> None:
        super().__init__(asked, prompt, schema)
        if asked.schema and schema is None:
            raise HdbenchError("the benchmark has no answer.schema.json to hold answers to")
        source = find_model(asked.model, asked.revision)
        self._model = LocalModel(source, trust_remote_code=asked.trust_remote_code)
        family = self._model.family
        if family.schema_as and schema is None:
            raise HdbenchError(
                "{model}: fills in a template that is made from an answer.schema.json, and the "
                "benchmark has none",
                model=self._model.source.name,
            )
        takes_other = asked.own_prompt is False or (asked.own_prompt is None and not family.only)
        self._own_prompt = None if takes_other else family.prompt
        if self._own_prompt is not None:
            self.prompt = self._own_prompt
        self._decoding = dataclasses.replace(
            asked.decoding,
            max_new_tokens=asked.decoding.max_new_tokens or family.longest,
            schema=bool(asked.schema),
        )
        self._grammar: SchemaGrammar | None = None
        if asked.schema and schema is not None:
            self._grammar = SchemaGrammar(schema, self._model.tokenizer, self._model.ends)

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that can change an answer."""
        family = self._model.family.model_dump(exclude_defaults=True)
        return {
            "model": self._model.source.name,
            "revision": self._model.source.revision,
            "sha256": self._model.source.sha256,
            "dtype": self._model.dtype,
            **dataclasses.asdict(self.asked.limits),
            "trust_remote_code": self.asked.trust_remote_code,
            **({"family": family} if family else {}),
            **({"own_prompt": self._own_prompt} if self._own_prompt is not None else {}),
            "constrained_by": self._grammar.version if self._grammar else None,
            "decoding": dataclasses.asdict(self._decoding),
        }

    def hardware(self) -> Mapping[str, Any]:
        """Return the device, the number of CPUs, the batch size and the libraries' versions.

        A batch that does not fit into memory can be made smaller without another run.
        """
        device = self._model.device
        return {
            "device": torch.cuda.get_device_name(device)
            if device.type == "cuda"
            else f"{device.type} {platform.processor() or platform.machine()}",
            "cpus": os.cpu_count(),
            "batch_size": self.asked.batch_size,
            "cuda": torch.version.cuda,
            **{
                package: importlib.metadata.version(package)
                for package in ("torch", "transformers", "tokenizers", "accelerate")
            },
        }

    def answer(self, questions: Iterable[Question], observer: Observer = SILENT) -> Replies:
        """Yield each question's id and reply, batch by batch.

        Raises:
            HdbenchError: the model cannot be loaded, refuses its first `LOST_IN_A_ROW` items, or
                fails; or memory does not suffice.
        """
        if self._own_prompt is not None:
            observer.notice(
                Message(
                    "{model}: the model is asked with its own prompt ({prompt}) instead of the "
                    "benchmark's",
                    model=self._model.source.name,
                    prompt=repr(self._own_prompt[:40]),
                )
            )
        replies: list[tuple[str, Reply]] = []
        has_taken_one = False
        pool = ThreadPoolExecutor(min(READERS, os.cpu_count() or 1))
        try:
            read = in_order(pool, self._read, questions, READERS)
            batches = iter(lambda: list(islice(read, self.asked.batch_size)), [])
            for unreadable, prepared in in_order(pool, self._prepared, batches, 1):
                yield from unreadable
                for item in self._replies(prepared, observer):
                    has_taken_one |= item[1].tokens is not None
                    replies.append(item)
                    if has_taken_one:
                        yield from replies
                        replies.clear()
                    elif len(replies) == LOST_IN_A_ROW:
                        raise HdbenchError(
                            "{model}: the model accepts none of the first {count} items ({place}: "
                            "{why}): fix it and run again",
                            model=self._model.source.name,
                            count=LOST_IN_A_ROW,
                            place=replies[0][0],
                            why=replies[0][1].error,
                        )
        finally:
            pool.shutdown(cancel_futures=True)
        yield from replies

    def _read(self, question: Question) -> _Read:
        try:
            shown = load_images(question.media, self.asked.limits) if question.shows_media else []
        except HdbenchError as error:
            return question, Reply(None, error=error.message)
        return question, shown

    def _prepared(self, items: list[_Read]) -> tuple[list[tuple[str, Reply]], list[_Batch]]:
        """Return the replies for unreadable items, and the others for the model."""
        unreadable = [(item.id, read) for item, read in items if isinstance(read, Reply)]
        return unreadable, self._encoded([item for item in items if isinstance(item[1], list)])

    def _encoded(self, items: list[_Read]) -> list[_Batch]:
        """Return a batch; if the model cannot take it, one for each item."""
        if not items:
            return []
        ids = [item.id for item, _ in items]
        prompts = [item.in_prompt(self.prompt) for item, _ in items]
        try:
            inputs = self._model.encode([images for _, images in items], prompts, self.schema)
        except NoMemoryError:
            raise
        except HdbenchError as error:
            if len(items) == 1:
                return [_Batch(ids, None, error.message)]
            return [batch for item in items for batch in self._encoded([item])]
        return [_Batch(ids, inputs)]

    def _replies(self, batches: list[_Batch], observer: Observer) -> Iterator[tuple[str, Reply]]:
        for batch in batches:
            started = time.perf_counter()
            if batch.failure:
                yield batch.ids[0], Reply(None, error=batch.failure)
                continue
            replies = self._model.generate(
                batch.ids, batch.inputs, self._decoding, self._grammar, observer
            )
            seconds = (time.perf_counter() - started) / len(batch.ids)
            for id_, reply in zip(batch.ids, replies, strict=True):
                yield id_, dataclasses.replace(reply, seconds=seconds)
