"""The parts of a result: what was scored, against what, how it was read, what it warns of."""

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeGuard, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
)

from hdbench.about import __version__
from hdbench.answers.answer import READING, ReadAs
from hdbench.answers.entries import MAX_NUMBER
from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.sample import Sample
from hdbench.benchmarks.spec import ItemName
from hdbench.benchmarks.titles import Titles
from hdbench.common.texts import LANGUAGES, Texts
from hdbench.common.validation import unfit
from hdbench.evaluation.run import NO_RUN, RunInfo, run_name
from hdbench.scoring.metric import Metric, figure_title

if TYPE_CHECKING:
    from hdbench.statistics.bootstrap import Interval

_TEXTS = Texts(Path(__file__).with_name("texts"))

WarningText = dict[str, Any]
"""`key`, the key of a text, and `values`: the values of its placeholders, that is, texts, numbers,
messages and None."""


WarningKind = Literal[
    "same_input_tokens",
    "repeated_answer",
    "unparsable",
    "partial",
    "drafted",
    "no_record",
    "truncated",
    "too_many_items",
    "wrong_field",
    "organisations",
    "ids",
]
"""The gravest first: those because of which a score may not be the model's at all, those because of
which it cannot be compared, then those about a part of the answers."""


@dataclass(frozen=True)
class RunWarning:
    """Something about a run that a person should look at.

    Attributes:
        kind: what it is about: a `WarningKind`, unless it is from a file of results.
        text: what was seen, what it can mean, and what to do.
        count: in how many items or values it was seen.
        of: among how many.
        ids: the first items that show it.
    """

    kind: WarningKind | str
    text: WarningText
    count: int
    of: int
    ids: list[str]

    @property
    def message(self) -> str:
        """The text in one line of English."""
        return in_words(**self.text)

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as JSON data."""
        about = {"count": self.count, "of": self.of, "ids": self.ids}
        return {"kind": self.kind, "message": self.message, **self.text, **about}


def gravest_first(warnings: Iterable[RunWarning]) -> list[RunWarning]:
    """Return warnings in the order of `WarningKind`, and as they were within a kind.

    Example:
        >>> both = [RunWarning(kind, message(kind), 1, 2, []) for kind in ("ids", "partial")]
        >>> [warning.kind for warning in gravest_first(both)]
        ['partial', 'ids']
    """
    kinds: tuple[str, ...] = get_args(WarningKind)
    rank = {kind: number for number, kind in enumerate(kinds)}
    return sorted(warnings, key=lambda warning: rank.get(warning.kind, len(kinds)))


class Told(NamedTuple):
    """A message as it is shown.

    Attributes:
        text: the message.
        language: the language it is written in.
    """

    text: str
    language: str


def message(key: str, **values: Any) -> WarningText:
    """Return what a warning says, or a part of it, as JSON data.

    Args:
        key: its key in `texts/warnings.yaml`.
        values: the values of its placeholders; a placeholder with None stays empty.
    """
    return {"key": key, "values": values}


def in_words(key: str, values: Mapping[str, Any], language: str = "en") -> str:
    """Return a message in words.

    Args:
        key: same as in `message`.
        values: same as in `message`.
        language: one of `hdbench.common.texts.LANGUAGES`.

    Raises:
        ValueError: there is no such text, or it takes other values.

    Example:
        >>> in_words("truncated", {"count": 3, "given": 1263}, "de")[:40]
        '3 von 1.263 Antworten brechen ab, und wa'
        >>> in_words("truncated", {"count": 1, "given": 1263}, "de")[:40]
        '1 von 1.263 Antworten bricht ab, und was'
    """
    shown = {}
    for name, value in values.items():
        if isinstance(value, dict):
            parts = value.get("values")
            if not isinstance(parts, dict) or any(
                isinstance(part, dict) for part in parts.values()
            ):
                raise ValueError(f"{name} is no part of a message")
            value = in_words(value.get("key", ""), parts, language)  # noqa: PLW2901
        shown[name] = "" if value is None else value
    try:
        return _TEXTS.text(key, language, **shown)
    except (KeyError, IndexError, TypeError, OverflowError) as error:
        raise ValueError(f"no message {key!r} of {', '.join(values)}") from error


def people_in_words(people: Ceiling, language: str = "en") -> str:
    """Return the figure that people reach against each other, in one line.

    Args:
        people: from the benchmark.
        language: same as in `in_words`.

    Example:
        >>> ends = (0.93, 0.98)
        >>> people_in_words(
        ...     Ceiling(headline="f1", value=0.96, interval=ends, annotators=2, items=20)
        ... )
        'people: 0.960 (0.930 to 0.980), 2 annotators, 20 items'
    """
    low, high = people.interval or (None, None)
    values = {"value": people.value, "annotators": people.annotators, "count": people.items}
    if low is None:
        return in_words("people_few", values, language)
    return in_words("people", {**values, "low": low, "high": high}, language)


def id_messages(renamed: Mapping[str, str]) -> list[WarningText]:
    """Return the message about ids that differ from the benchmark's, if there are any.

    Args:
        renamed: the benchmark's id → the file's.
    """
    return [
        message("ids", count=len(renamed), written=repr(written), id=repr(item))
        for item, written in islice(renamed.items(), 1)
    ]


def in_language(warning: RunWarning, language: str, titles: Titles = str) -> Told:
    """Return a warning in a language.

    Args:
        warning: the warning.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title, before which the path is shown too, as in a prompt.
    """
    values = dict(warning.text["values"])
    for name in ("field", "list"):
        if isinstance(path := values.get(name), str) and titles(path) != path:
            values[name] = f"{titles(path)} ({path})"
    without = values.get("without")
    if isinstance(without, dict) and "headline" in (figures := without["values"]):
        headline = figure_title(str(figures["headline"]), language)
        values["without"] = without | {"values": figures | {"headline": headline}}
    return Told(in_words(warning.text["key"], values, language), language)


class ResultPart(BaseModel):
    """A part of a result, which may be from an untrusted file; unknown keys are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, defer_build=True)


class Versions(ResultPart):
    """The versions of everything that scores and their intervals depend on."""

    hdbench: str
    rapidfuzz: str
    json_repair: str
    numpy: str
    scipy: str
    python: str


@cache
def installed_versions() -> Versions:
    """Return the versions that are installed."""
    from importlib.metadata import version  # noqa: PLC0415  slow, and a reader needs none

    return Versions(
        hdbench=__version__,
        rapidfuzz=version("rapidfuzz"),
        json_repair=version("json_repair"),
        numpy=version("numpy"),
        scipy=version("scipy"),
        python=platform.python_version(),
    )


class ScoredFile(ResultPart):
    """The file or folder of answers that was scored; without a path if there is none.

    Attributes:
        path: where it was.
        sha256: see `hdbench.evaluation.run.answers_sha256`.
    """

    path: str
    sha256: str


NO_FILE = ScoredFile.model_construct(path="", sha256="")  # building validators takes time


MAX_MESSAGE = 10_000
"""Maximum number of characters in a warning in words; those of the checks have some 300."""


def counts_of(value: Any) -> dict[str, dict[str, int]]:
    """Return counts by name in objects by name: by hand, as pydantic would list every wrong one."""
    if not isinstance(value, dict) or not all(
        isinstance(counts, dict)
        and all(type(count) is int and 0 <= count <= MAX_NUMBER for count in counts.values())
        for counts in value.values()
    ):
        raise unfit("is not an object of counts by name")
    return value


def are_texts(value: Any) -> TypeGuard[list[str]]:
    """Return whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _texts_of(value: Any) -> list[str]:
    if not are_texts(value):
        raise unfit("is not a list of texts")
    return value


def _warnings_of(value: Any) -> list[RunWarning]:
    if not isinstance(value, list) or not all(map(_is_warning, value)):
        raise unfit("not all have {keys}", keys=", ".join(_WARNING))
    return [
        RunWarning(
            warning["kind"],
            {name: warning[name] for name in ("key", "values")},
            *(warning[name] for name in ("count", "of", "ids")),
        )
        for warning in value
        if warning["kind"] != "drafted"  # which follows from the drafts of the dataset
    ]


_WARNING = {"kind": str, "message": str, "count": int, "of": int, "ids": list}
_WARNING |= {"key": str, "values": dict}


def _is_warning(value: Any) -> bool:
    if not (
        isinstance(value, dict)
        and value.keys() == _WARNING.keys()
        and all(type(value[name]) is kind for name, kind in _WARNING.items())
        and are_texts(value["ids"])
    ):
        return False
    try:
        return all(
            len(in_words(value["key"], value["values"], language)) <= MAX_MESSAGE
            for language in LANGUAGES
        )
    except ValueError:
        return False


Counts = Annotated[dict[str, dict[str, int]], PlainValidator(counts_of)]
"""Name → name → count."""

Warnings = Annotated[
    list[RunWarning],
    PlainValidator(_warnings_of),
    PlainSerializer(lambda warnings: [warning.to_dict() for warning in warnings]),
]


def _checked_day(text: str) -> str:
    return date.fromisoformat(text).isoformat()


class DraftedItems(ResultPart):
    """Items whose ground truths were made by correcting the same model's drafts.

    Attributes:
        run: the run that gave the drafts.
        model: its model, if that is known.
        items: how many items.
    """

    run: str
    model: str | None
    items: int = Field(ge=1, le=MAX_NUMBER)


class ScoredDataset(ResultPart):
    """The dataset that answers were scored against; without a name if ground truths came alone.

    Attributes:
        benchmark: its name.
        dataset_version: its version.
        dataset_sha256: the hash of its content.
        dataset_revision: the commit, if it is from the Hub.
        headline: the figure used for ranking.
        higher_is_better: the direction of that; None if the metric has to say it.
        sample: how its items were drawn from a population, if they were.
        public_since: the day from which the ground truth was public, if that is known.
        item_name: what an item is called, if the benchmark says it.
        drafts: the items whose ground truths were made from drafts, if there are any.
        errata: `proposed` if the proposed corrections of ground truths count.
        people: what people reach against each other by the same rules, if that is known.
    """

    benchmark: str = ""
    dataset_version: str = ""
    dataset_sha256: str = ""
    dataset_revision: str | None = None
    headline: str = ""
    higher_is_better: bool | None = None
    sample: Sample | None = None
    public_since: Annotated[str, AfterValidator(_checked_day)] | None = None
    item_name: ItemName | None = None
    drafts: list[DraftedItems] | None = None
    errata: Literal["proposed"] | None = None
    people: Ceiling | None = None


NO_DATASET = ScoredDataset.model_construct()


class AnswersRead(ResultPart):
    """The reading of a file of answers, and what it showed.

    Attributes:
        version: the version of the reading rules, `hdbench.answers.answer.READING`.
        strict: see `ReadAs`.
        as_given: see `ReadAs`.
        notes: what to know about it, one line each.
        schema_violations: field → rule of the schema → how often it was violated.
        warnings: what to look at.
    """

    version: int = Field(default=READING, ge=1)
    strict: bool = False
    as_given: bool = False
    notes: Annotated[list[str], PlainValidator(_texts_of)] = []
    schema_violations: Counts = {}
    warnings: Warnings = []

    @property
    def read_as(self) -> ReadAs:
        """How it was read."""
        return ReadAs(self.strict, self.as_given)


NOT_READ = AnswersRead.model_construct()


def own_drafts(drafts: Iterable[DraftedItems], run: RunInfo, model: str | None, path: str) -> int:
    """Return how many ground truths were made from drafts of a run or its model.

    A run counts as the same if it has the same name, and a model in whatever capitals, with or
    without its maker. A file of answers that named no model is known by the name of the file.

    Args:
        drafts: those that ground truths were made from.
        run: what the run says about itself.
        model: its model, if that is known.
        path: where its answers are.
    """
    return sum(draft.items for draft in drafts if _is_own(draft, run, model, path))


def _is_own(draft: DraftedItems, run: RunInfo, model: str | None, path: str) -> bool:
    if model and draft.model and _is_same_model(model, draft.model):
        return True
    if run != NO_RUN:
        return run.run == draft.run
    return draft.model in (draft.run, None) and run_name(Path(path)) == draft.run


def _is_same_model(one: str, other: str) -> bool:
    """Return whether two names mean one model, such as `gpt-5` and `openai/gpt-5`."""
    ones, others = (name.strip().casefold().split("/") for name in (one, other))
    shorter = min(len(ones), len(others))
    return ones[-shorter:] == others[-shorter:]


class AmountUsed(BaseModel):
    """An amount that was used over a run's answers.

    Attributes:
        total: its sum.
        items: the number of answers for which it is known.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, defer_build=True)

    total: Annotated[int | float, Field(ge=0, le=MAX_NUMBER)]
    items: Annotated[int, Field(ge=0, le=MAX_NUMBER)]


class RatedFigure(NamedTuple):
    """A rate with its interval.

    Attributes:
        name: its name.
        value: its value.
        interval: its interval; None where there is none.
        item_range: from the lowest to the highest single item, where there are too few items.
        higher_is_better: its direction.
    """

    name: str
    value: float
    interval: "Interval | None"
    item_range: "Interval | None"
    higher_is_better: bool

    @property
    def ends(self) -> "Interval | None":
        """The interval or, with too few items, the range over single ones."""
        return self.interval or self.item_range

    @property
    def is_share(self) -> bool:
        """Return whether it can be drawn on a line from 0 to 1."""
        ends = [] if self.interval is None else [self.interval.low, self.interval.high]
        return all(0 <= number <= 1 for number in (self.value, *ends))


def item_set(ids: Sequence[str]) -> str:
    """Return a name for a set of items, within which results are compared: number and short hash.

    Example:
        >>> item_set(["b", "a"]) == item_set(["a", "b"])
        True
        >>> item_set(["a", "b"])
        '2-3554d2b8a1e3'
    """
    return f"{len(ids)}-{hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()[:12]}"


def signature(
    metric: Metric,
    read_as: ReadAs = ReadAs(),
    versions: Versions | None = None,
    *,
    reading_version: int = READING,
    benchmark: tuple[str, str] | None = None,
    errata: str | None = None,
) -> str:
    """Return one line that says how a score was computed: metric, protocol, options, versions.

    Args:
        metric: the metric with its protocol and options.
        read_as: how the answers were read.
        versions: the versions it was scored with; the installed ones, if not given.
        reading_version: the version of the reading rules.
        benchmark: the name and version of the benchmark whose options the metric was given by name.
        errata: `proposed` if the proposed corrections of ground truths count.

    Example:
        >>> from hdbench.scoring.zettel_f1 import ZettelF1
        >>> signature(ZettelF1("published"))  # doctest: +ELLIPSIS
        'zettel_f1|protocol:published|threshold:0.92|weights:1|rules:4|reading:4|rapidfuzz:...|json_repair:...|hdbench:...'
    """
    versions = versions or installed_versions()
    parts = {
        "protocol": metric.protocol,
        **({"benchmark": benchmark[0], "dataset_version": benchmark[1]} if benchmark else {}),
        **{name: _compact(value) for name, value in metric.signed_options.items()},
        **({} if errata is None else {"errata": errata}),
        "rules": metric.rules,
        "reading": reading_version,
        **dict.fromkeys(read_as.names, "true"),
        **{name: getattr(versions, name) for name in ("rapidfuzz", "json_repair", "hdbench")},
    }
    return "|".join([metric.name, *(f"{name}:{value}" for name, value in parts.items())])


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
