"""The parts of a result: what was scored, against what, how it was read, and with what."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hdbench import __version__
from hdbench.answers import ReadAs
from hdbench.answers.batches import MAX_NUMBER
from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.sample import Sample
from hdbench.benchmarks.spec import ItemName
from hdbench.results.warning_texts import RunWarning


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
        sha256: see `hdbench.results.files.answers_sha256`.
    """

    path: str
    sha256: str


NO_FILE = ScoredFile.model_construct(path="", sha256="")  # building validators takes time


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data, without what is not known, except for the revision."""
        data = self.model_dump(mode="json") if self.benchmark else {}
        return {
            name: value
            for name, value in data.items()
            if value is not None or name == "dataset_revision"
        }


NO_DATASET = ScoredDataset.model_construct()

ALWAYS = ("benchmark", "dataset_version", "dataset_sha256", "headline", "higher_is_better")
"""The keys that a record has of each dataset."""


@dataclass(frozen=True)
class AnswersRead:
    """The reading of a file of answers, and what it showed.

    Attributes:
        read_as: how it was read.
        notes: what to know about it, one line each.
        schema_violations: field → rule of the schema → how often it was violated.
        warnings: what to look at.
        from_file: whether the answers came from a file.
    """

    read_as: ReadAs = ReadAs()
    notes: Sequence[str] = ()
    schema_violations: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    warnings: Sequence[RunWarning] = ()
    from_file: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data; empty if the answers did not come from a file."""
        if not self.from_file:
            return {}
        return {
            **self.read_as._asdict(),
            "notes": list(self.notes),
            "schema_violations": {
                name: dict(rules) for name, rules in self.schema_violations.items()
            },
            "warnings": [warning.to_dict() for warning in self.warnings],
        }


NOT_READ = AnswersRead(from_file=False)
