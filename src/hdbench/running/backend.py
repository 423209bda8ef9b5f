"""What every backend is: questions in, replies out."""

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol

LOST_IN_A_ROW = 10
"""This many items in a row without an answer end a run."""

IMAGES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".pdf"}
"""Extensions of the files that a model is shown."""


class InShard(NamedTuple):
    """What is in a shard: a member of a tar file, or the images of one row of a Parquet file.

    Attributes:
        shard: the file: a path, or a URL that fsspec reads.
        name: the member's name; in Parquet, the column's.
        place: where the member's bytes begin; in Parquet, the row.
        size: the member's bytes; None in Parquet, where it is not known before it is read.
    """

    shard: str
    name: str
    place: int
    size: int | None = None


class Question(NamedTuple):
    """An item to be answered.

    Attributes:
        id: the item's id.
        media: what the model is shown: images in order, or one PDF; the backend opens them.
        text: what it is given instead of media.
        values: name → what replaces it in the prompt, where it is in braces.
        without_media: whether the model gets the prompt alone, though the item has media.
    """

    id: str
    media: Sequence[Path | InShard]
    text: str = ""
    values: Mapping[str, str] = MappingProxyType({})
    without_media: bool = False

    @property
    def shows_media(self) -> bool:
        """Whether the model is shown images."""
        return not (self.text or self.without_media)

    def in_prompt(self, prompt: str) -> str:
        r"""The prompt for this item: its values filled in, and its text at the end.

        Example:
            >>> Question("2", [], "<b>", {"page": "7"}).in_prompt('Fix page {page}: {"a": {id}}')
            'Fix page 7: {"a": {id}}\n\n<b>'
        """
        filled = re.sub(r"\{([^{}]+)\}", lambda found: self.values.get(found[1], found[0]), prompt)
        return f"{filled.rstrip()}\n\n{self.text}" if self.text else filled


@dataclass(frozen=True)
class Reply:
    """The outcome of one question.

    Attributes:
        text: what the model wrote; None if nothing came back.
        tokens: `input` and `output`, if they were counted.
        seconds: how long it took; in a batch, the batch's time divided by its size.
        finish_reason: why the model stopped, such as `stop` or `length`, if known.
        constrained: whether the model was asked to hold the answer to the benchmark's schema.
        keeps_schema: whether it did, where it was asked to.
        error: in one line, what went wrong if there is no answer.
    """

    text: str | None
    tokens: dict[str, int] | None = None
    seconds: float | None = None
    finish_reason: str | None = None
    constrained: bool = False
    keeps_schema: bool | None = None
    error: str | None = None


@dataclass(frozen=True)
class Decoding:
    """How answers are sampled.

    Attributes:
        max_new_tokens: where an answer is cut off.
        temperature: 0 is greedy.
        top_p: nucleus sampling; 1 is off.
        seed: for the random numbers.
        schema: hold answers to the benchmark's schema, where the backend can.
    """

    max_new_tokens: int = 4096
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    schema: bool = False


class Observer:
    """Is told what a backend does between replies; this base class ignores it.

    Its methods can be called from any thread.
    """

    def notice(self, message: str) -> None:
        """Something about the run as a whole that a person should know."""

    def retrying(self, item_id: str, failure: str, seconds: float) -> None:
        """An item got no answer and will be asked again after this many seconds."""

    def at_once(self, requests: int) -> None:
        """A server gets this many requests at once from now on."""


SILENT = Observer()


class Backend(Protocol):
    """Answers questions with a model.

    Attributes:
        name: as given to `--backend`.
    """

    name: ClassVar[str]

    def settings(self) -> Mapping[str, Any]:
        """What defines a run: model, revision and whatever else can change an answer.

        JSON data. A resumed run must have the same settings.
        """

    def hardware(self) -> Mapping[str, Any]:
        """What it runs on and with which versions, as JSON data; may differ between sittings."""

    def answer(
        self,
        questions: Iterable[Question],
        *,
        deadline: float | None = None,
        observer: Observer = SILENT,
    ) -> Generator[tuple[str, Reply], None, None]:
        """Each question's id and reply, as they come, in any order; closing it stops it at once.

        Questions are taken only as they can be worked on, so a long run needs no more memory than
        a short one. If one item fails, its reply has an `error`, and the others go on.

        Args:
            questions: what to ask.
            deadline: by `time.monotonic`; items being asked at that moment get no reply.
            observer: is told what happens between replies.

        Raises:
            HdbenchError: nothing can be answered at all: no such model, no connection, a wrong key.
        """

    def close(self) -> None:
        """Release what it holds."""
