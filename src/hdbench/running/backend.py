"""What every backend is: questions in, replies out."""

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

LOST_IN_A_ROW = 10
"""Items without an answer, one after the other, that end a run."""


class Question(NamedTuple):
    """An item to be answered.

    Attributes:
        id: the item's.
        media: what the model is shown: images in their order, or one PDF; opened by the backend.
    """

    id: str
    media: list[Path]


@dataclass(frozen=True)
class Reply:
    """What came of one question.

    Attributes:
        text: what the model wrote; None where nothing came.
        tokens: `input` and `output`, where they were counted.
        seconds: how long it took; of a batch, its time divided by its size.
        finish_reason: why the model stopped, as `stop` or `length`, where that is known.
        constrained: whether the answer was held to the benchmark's schema while it was written.
        error: what went wrong instead of an answer, in a line.
    """

    text: str | None
    tokens: dict[str, int] | None = None
    seconds: float | None = None
    finish_reason: str | None = None
    constrained: bool = False
    error: str | None = None


@dataclass(frozen=True)
class Decoding:
    """How answers are sampled.

    Attributes:
        max_new_tokens: an answer is cut off there.
        temperature: 0 is greedy.
        top_p: nucleus sampling; 1 is off.
        seed: of the random numbers.
        schema: hold answers to the benchmark's schema, where the backend can.
    """

    max_new_tokens: int = 4096
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    schema: bool = False


class Observer:
    """Hears what a backend does between two replies; by itself it makes nothing of it.

    Its methods can be called from any thread.
    """

    def notice(self, message: str) -> None:
        """Something about the run as a whole that a person should know."""

    def retrying(self, item_id: str, failure: str, seconds: float) -> None:
        """An item got no answer, and is asked again after so many seconds."""


SILENT = Observer()


class Backend(Protocol):
    """Answers questions with a model.

    Attributes:
        name: as `--backend` has it.
    """

    name: ClassVar[str]

    def settings(self) -> Mapping[str, Any]:
        """What a run of it is: model, revision and whatever else can change an answer.

        JSON data. A run that is resumed must have the same.
        """

    def hardware(self) -> Mapping[str, Any]:
        """On what it runs and with which versions, as JSON data; may differ between sittings."""

    def answer(
        self,
        questions: Iterable[Question],
        *,
        deadline: float | None = None,
        observer: Observer = SILENT,
    ) -> Generator[tuple[str, Reply], None, None]:
        """Each question's id and reply, as they come, in any order; closed, it stops at once.

        Questions are taken as they can be worked on, so that a long run needs no more memory than
        a short one. What fails for one item is its reply's `error`, and the others go on.

        Args:
            questions: what to ask.
            deadline: on `time.monotonic`; what is being asked then has no reply.
            observer: hears what happens between two replies.

        Raises:
            HdbenchError: nothing can be answered at all: no such model, no connection, a wrong key.
        """

    def close(self) -> None:
        """Give back what is held."""
