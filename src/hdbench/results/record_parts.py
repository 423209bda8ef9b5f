"""The parts of a result's record that have a fixed form, as models to check them with."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from hdbench.answers.run_info import RunInfo
from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.sample import Sample
from hdbench.benchmarks.spec import ItemName

MAX_NUMBER = 2**53
"""The largest value of an item's statistic: up to this value, sums are exact."""


class _Checked(BaseModel):
    """A part of a record; the figures, which follow from the rest, are not read."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, defer_build=True)


class Head(_Checked):
    """What makes a file a result, read before the rest: other rules have other statistics."""

    metric: str
    rules: int
    reading: int = Field(default=1, ge=1)  # the first results have none


class _Versions(_Checked):
    hdbench: str
    rapidfuzz: str
    json_repair: str
    numpy: str
    scipy: str
    python: str


class _Answers(_Checked):
    path: str
    sha256: str


def _checked_day(text: str) -> str:
    return date.fromisoformat(text).isoformat()


def _read_sample(value: Any) -> Any:
    """A sample from JSON, whose lists are tuples there."""
    return Sample.model_validate(value) if isinstance(value, dict) else value


def _read_item_name(value: Any) -> Any:
    """Return what an item is called, from JSON, in which its words are lists."""
    return ItemName.model_validate(value) if isinstance(value, dict) else value


def _read_ceiling(value: Any) -> Any:
    """Return what people reach, from JSON, in which an interval is a list."""
    return Ceiling.model_validate(value) if isinstance(value, dict) else value


class _Draft(_Checked):
    run: str
    model: str | None
    items: int = Field(ge=1, le=MAX_NUMBER)


class Dataset(_Checked):
    """What was scored against."""

    benchmark: str
    dataset_version: str
    dataset_sha256: str
    dataset_revision: str | None = None
    headline: str
    higher_is_better: bool
    sample: Annotated[Sample | None, BeforeValidator(_read_sample)] = None
    public_since: Annotated[str, AfterValidator(_checked_day)] | None = None
    people: Annotated[Ceiling | None, BeforeValidator(_read_ceiling)] = None
    drafts: list[_Draft] | None = None
    item_name: Annotated[ItemName | None, BeforeValidator(_read_item_name)] = None
    errata: Literal["proposed"] | None = None


class ReadingRecord(_Checked):
    """How answers were read."""

    strict: bool
    reread: bool
    as_given: bool


class _Used(_Checked):
    total: float = Field(ge=0, le=MAX_NUMBER)
    items: int = Field(ge=0, le=MAX_NUMBER)


class RunRecord(_Checked):
    """How a run was scored, and what it says about itself."""

    protocol: str
    options: dict[str, Any]
    versions: _Versions
    model: str | None = None
    answers: _Answers | None = None
    run: RunInfo | None = None
    usage: dict[Literal["input_tokens", "output_tokens", "seconds"], _Used] = {}
