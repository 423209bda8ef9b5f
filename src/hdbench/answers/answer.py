"""A model's answer to one item, and what had to be done to read it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict, get_args

from hdbench.common.bounds import MAX_CELLS, MAX_TEXT
from hdbench.errors import HdbenchError

Status = Literal["clean", "unwrapped", "repaired", "truncated", "unparsable", "unanswered"]
"""Outcome of reading an answer.

- `clean`: the text is JSON, and that is the record; or the record was given.
- `unwrapped`: valid JSON inside something else: a fence, prose, a wrapper object, a list of one, a
  text inside JSON; or the bare list of a record that has only that list; or several JSON values
  that together are the record.
- `repaired`: damaged JSON.
- `truncated`: it breaks off; what is complete was kept.
- `unparsable`: there is a text or value, but no record in it.
- `unanswered`: there is no answer.
"""

STATUSES: tuple[Status, ...] = get_args(Status)

LOST: tuple[Status, ...] = ("unanswered", "unparsable")
"""The statuses of items that do not count as answered."""

Kind = Literal["thoughts", "message", "repeated", "format", "text", "other"]
"""Kind of an unparsable answer, which is something other than a record.

- `thoughts`: only what is between the tags of a model's thoughts.
- `message`: an object that says something or is an error, such as `{"message": …}`, what a server
  wraps around an answer, or a call of a tool; none with a record in it.
- `repeated`: what was asked: the prompt, its example, the record's form with placeholders such as
  `"string"` for values, or a JSON Schema.
- `format`: data, but not in JSON: XML, YAML, or a table in Markdown, HTML or CSV.
- `text`: any other text.
- `other`: any other JSON value.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""Of several in one answer, the first counts."""

TEXTS: tuple[Kind, ...] = ("text", "format")
"""The kinds that are an answer where a benchmark asks for one text."""


READING = 4
"""The version of the reading rules; raise it when a change may read another record, or none, from
the same file. Like a metric's `rules`, it is in every signature, and the changelog says what each
version changed for the recorded runs."""


class ReadAs(NamedTuple):
    """Options for reading a file of answers, which can change its score.

    Attributes:
        strict: only valid JSON that is the record itself counts; see `Result.strictly`.
        as_given: a prediction is taken as it is, and a text next to a null prediction is not read;
            this is how published results were scored.
    """

    strict: bool = False
    as_given: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those that are on."""
        return tuple(name for name, is_on in self._asdict().items() if is_on)


class WrittenAnswer(TypedDict, total=False):
    """An answer as a file has it, such as a line of a run's answers.jsonl, before it is read.

    Attributes:
        id: the item's id.
        text: what the model wrote.
        markdown: whether that is a file of Markdown.
        prediction: a JSON value that another program has read from the text.
        tokens: `input` and `output`, if they were counted.
        seconds: how long the model took, if that was measured.
        usd: what it cost in US dollars, if that is known.
        finish_reason: why the model stopped, such as `stop` or `length`, if known.
        constrained: whether the model was asked to hold the answer to the benchmark's schema.
        error: in one line, what went wrong if there is no answer.
        reasoning: the model's thoughts, if it wrote nothing else.
        refusal: the model's own words, if it refused to answer.
        raw_error: the server's error, as it was sent.
    """

    id: str
    text: str | None
    markdown: bool
    prediction: Any
    tokens: dict[str, int] | None
    seconds: float | None
    usd: float
    finish_reason: str
    constrained: bool
    error: str | None
    reasoning: str
    refusal: str
    raw_error: str


def answers_jsonl(answers: Iterable[WrittenAnswer]) -> bytes:
    """Return answers as JSON Lines.

    Raises:
        ValueError: there is a number that JSON does not have, such as NaN.
    """
    return "".join(json_text(answer) + "\n" for answer in answers).encode()


def json_text(value: Any) -> str:
    """Return a value as JSON on one line, its lone surrogates as escapes.

    Raises:
        ValueError: there is a number that JSON does not have, such as NaN.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class Answer(NamedTuple):
    """A model's answer, as it was read.

    Attributes:
        prediction: the record, a JSON value; what could not be read is here as it was given, and
            None is nothing.
        status: what was done to read it.
        kind: what it is, if it is unparsable.
        id: the item's id, as in the dataset; empty for a text that was read by itself.
        text: what the model wrote, if it was kept.
        markdown: whether that is a file of Markdown.
        tokens: `input` and `output`, if they were counted.
        seconds: how long the model took, if that was measured.
        error: what went wrong instead of an answer.
        confidences: how sure the model said that it is of values, by their paths, such as
            `publication.year` or `persons[0].name`; None if it said nothing.
    """

    prediction: Any
    status: Status = "clean"
    kind: Kind | None = None
    id: str = ""
    text: str | None = None
    markdown: bool = False
    tokens: dict[str, int] | None = None
    seconds: float | None = None
    error: str | None = None
    confidences: Mapping[str, float] | None = None

    @property
    def is_record(self) -> bool:
        """Return whether a record was found in it."""
        return self.status not in LOST


def too_large(place: object) -> HdbenchError:
    """Return the error of a table with over `MAX_CELLS` or more text than `MAX_TEXT`."""
    return HdbenchError(
        "{place}: more than {most:,} cells, rows times columns, or {size} million characters in "
        "them, where a text that several cells share counts for each: delete empty rows and "
        "columns, or split the table",
        place=place,
        most=MAX_CELLS,
        size=MAX_TEXT >> 20,
    )


NESTED = frozenset({dict, list})
"""The types of JSON values that have others in them; `isinstance` takes twice as long."""


def number_of_values(answer: Any) -> int:
    """Return the number of values in an answer, at any depth; an empty object or list counts as 1.

    Example:
        >>> number_of_values({"title": "Stellingen", "pages": [1, 2], "notes": {}})
        4
    """
    if type(answer) not in NESTED:
        return 1
    values = answer.values() if type(answer) is dict else answer
    return sum([number_of_values(each) if type(each) in NESTED else 1 for each in values]) or 1
