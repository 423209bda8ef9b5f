"""Description of a benchmark: its `benchmark.yaml`, and the keys and values that it may have."""

import datetime
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeGuard, get_args
from uuid import UUID

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from hdbench.about import NAMESPACE, installed_folder
from hdbench.benchmarks.sample import STRATUM, Sample
from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.common.files import is_private
from hdbench.common.validation import Strict, read_yaml, unfit, validate
from hdbench.errors import HdbenchError, Message, did_you_mean, nearest
from hdbench.scoring import METRICS, check_headline, make_metric
from hdbench.scoring.metric import PROTOCOLS, Metric, ProtocolName, check_protocol

DESCRIPTION = "benchmark.yaml"

_BARE = re.compile(r"\w[\w.-]*", re.ASCII)
_FULL_NAME = re.compile(r"(\w[\w-]*/)?\w[\w-]*", re.ASCII)


def recipe_names() -> list[str]:
    """Return the benchmarks that this hdbench can build."""
    own = installed_folder("dataset_scripts")
    return sorted(folder.name for folder in own.iterdir() if (folder / DESCRIPTION).is_file())


def bare(name: str) -> str:
    """Return a benchmark's or a metric's name without the namespace.

    Example:
        >>> bare("hdb/zettelkatalog"), bare("zettelkatalog"), bare("own/zettelkatalog")
        ('zettelkatalog', 'zettelkatalog', 'own/zettelkatalog')
    """
    return name.removeprefix(f"{NAMESPACE}/")


def is_name(text: str) -> bool:
    """Return whether a text looks like a benchmark's name, rather than like a file's.

    Example:
        >>> is_name("hdb/avisblatt"), is_name("answers.jsonl"), is_name("runs/2026/one")
        (True, False, False)
    """
    return _FULL_NAME.fullmatch(text) is not None


def full_name(name: str, *, on_the_hub: bool = False) -> str:
    """Return a benchmark's name with the namespace; a path stays as it is.

    Args:
        name: a name with the namespace or without it, or a path.
        on_the_hub: folders do not count.
    """
    if not _BARE.fullmatch(name):
        return name
    here = Path(name)
    is_path = (here / DESCRIPTION).is_file() or (
        here.is_dir() and not Path(NAMESPACE, name, DESCRIPTION).is_file()
    )
    return name if is_path and not on_the_hub else f"{NAMESPACE}/{name}"


def what_to_do(name: str) -> Message:
    """Return what to do about a benchmark that is not here: build it, or correct its name."""
    short, recipes = Path(name).name, recipe_names()
    built = [path.parent.name for path in Path(NAMESPACE).glob(f"*/{DESCRIPTION}")]
    if short not in recipes and bare(name) == short:
        near = nearest(short, [*recipes, *built])
        if near:
            return Message("did you mean {near}?", near=f"{NAMESPACE}/{near}")
    return Message("build it with: hdbench build {name}", name=short)


_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
_SPLIT = re.compile(r"\w+(\.\w+)*")

_COMMIT = re.compile(r"[0-9a-f]{40}")


MEDIA_KEYS = {
    "image": "file_name",
    "pages": "pages_file_names",
    "pdf": "file_name",
    "text": "text",
}
"""The key of a row's media in the metadata, by the column that `load_dataset` makes from it.

A text stands there itself; all others are the names of files."""

DEFAULT = "default"
"""The configuration of a metric that is loaded without a name."""

PUBLISHED_ENDING = "-published"
"""Ending of the configuration of a metric that has a benchmark's published rules."""

BUILT = (
    "agreement.json",
    "answer.schema.json",
    "benchmark.yaml",
    "CHANGELOG.md",
    "CITATION.cff",
    "example.png",
    "example_predictions.jsonl",
    "ground_truth.csv",
    "images",
    "metadata.jsonl",
    "pdf",
    "prompt.txt",
    "README.md",
    "SHA256SUMS",
)
"""Files and folders that building writes into a dataset, besides translations of its card."""

_BUILT = frozenset(map(str.casefold, BUILT))
_TRANSLATION = re.compile(r"readme\..+\.md")

_CONFIGURING = ("dataset_infos.json", "state.json")
"""Files that `datasets` reads instead of what a dataset has."""

# A date is "date32": a string that looks like one would be given a time of day by `datasets`.
ColumnType = Literal["string", "int32", "int64", "float64", "bool", "date32", "strings"]

PROVENANCE = "provenance"
DRAFT_MODEL = "draft_model"
PROVENANCE_COLUMNS: dict[str, ColumnType] = {PROVENANCE: "string", DRAFT_MODEL: "string"}
"""The keys of a row, and their types as columns of a dataset."""

BLIND = "blind"
IMPORTED = "imported"
AUDITED = "corrected after audit"
DRAFT = "draft:"
"""Beginning of the provenance of a corrected draft; the name of the run follows."""

_LINE = r"[^\x00-\x1f]{1,200}"
_HOW = re.compile(rf"{BLIND}|{IMPORTED}|{AUDITED}|{DRAFT}{_LINE}")
_MODEL = re.compile(_LINE)


class Provenance(NamedTuple):
    """Way in which a ground truth was made.

    Attributes:
        how: `blind` (typed in without a draft), `draft:RUN` (some of its values come from the
            answers of a run), `imported`, or `corrected after audit`.
        model: the model that wrote the draft, if that is known.
    """

    how: str
    model: str | None = None

    @property
    def run(self) -> str | None:
        """The run that the draft comes from; None without a draft."""
        return self.how.removeprefix(DRAFT) if self.how.startswith(DRAFT) else None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self | None:
        """Return a row's provenance; None without one, or if its column is about another thing.

        A collection may have a column `provenance` of its own, such as a book's former owners.

        Example:
            >>> Provenance.of_row({"provenance": "draft:qwen-1", "draft_model": "Qwen"})
            Provenance(how='draft:qwen-1', model='Qwen')
            >>> Provenance.of_row({"provenance": "St. Gallen, Stiftsbibliothek"})
        """
        how, model = row.get(PROVENANCE), row.get(DRAFT_MODEL)
        return cls(how, model if is_model(model) else None) if is_provenance(how) else None

    def as_row(self) -> dict[str, str]:
        """Return the keys of a row that say it."""
        model = {} if self.model is None else {DRAFT_MODEL: self.model}
        return {PROVENANCE: self.how, **model}


def is_provenance(value: Any) -> TypeGuard[str]:
    """Return whether a value says how a ground truth was made."""
    return isinstance(value, str) and _HOW.fullmatch(value) is not None


def is_model(value: Any) -> TypeGuard[str]:
    """Return whether a value can be the name of a draft's model."""
    return isinstance(value, str) and _MODEL.fullmatch(value) is not None


_ADDRESS = re.compile(
    r"https://[\w.-]+(?::\d+)?(?:/[\w./~%+-]*)?|mailto:[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII
)
_DATASET_PAGE = re.compile(r"https://[^/]+/datasets/[^/]+/([^/]+)")


def is_reserved(name: str) -> bool:
    """Return whether a name is one that the configurations of every metric have.

    Example:
        >>> is_reserved("documented"), is_reserved("letters-published"), is_reserved("letters")
        (True, True, False)
    """
    return name in (DEFAULT, *PROTOCOLS) or name.endswith(PUBLISHED_ENDING)


def _checked_address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise unfit(
            "{text!r} is not an address such as https://example.org/report or "
            "mailto:me@example.org",
            text=text,
        )
    return text


def _checked_name(text: str) -> str:
    """Return a name that a folder and a metric's configurations can have."""
    if not _NAME.fullmatch(text):
        raise unfit(
            "{text!r} cannot be the name of a folder: use letters, digits, - and _", text=text
        )
    if is_reserved(text):
        raise unfit(
            "{text!r} is a word of the metrics' configurations: choose another name", text=text
        )
    return text


def _checked_split(text: str) -> str:
    if not _SPLIT.fullmatch(text):  # as `datasets` has it
        raise unfit("{text!r} cannot be the name of a split: use letters, digits and _", text=text)
    return text


def _checked_file(text: str) -> str:
    path = PurePosixPath(text)
    if path.is_absolute() or not path.name or ".." in path.parts or "\\" in text or "\0" in text:
        raise unfit("{text!r} is not the name of a file in the benchmark's folder", text=text)
    # Hidden files configure programs: by `.huggingface.yaml`, `datasets` would read any place.
    if any(part.startswith(".") for part in path.parts) or is_private(path):
        raise unfit("{text!r} is hidden or says who annotated what: leave it out", text=text)
    return text


Address = Annotated[str, Field(max_length=300), AfterValidator(_checked_address)]
"""Where a reader may be sent: a page without query or fragment, or an e-mail address."""

Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A text that is not blank."""


LanguageCode = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
"""A language by its ISO 639-1 code, such as `de`."""


class UrlSource(Strict):
    """Files that were each published at an address of their own.

    Attributes:
        url: the address that the registry's paths are relative to; it names the revision.
        revision: a commit.
        prompt: the published prompt's path there.
    """

    url: str
    revision: str
    prompt: str


class HubSource(Strict):
    """A dataset repository on the Hub.

    Attributes:
        hub: its name with the namespace.
        revision: a commit.
    """

    hub: str
    revision: str


class Rights(Strict):
    """Why data without an open licence may be published.

    Attributes:
        stated_by: the person or institution who says so.
        since: the day from which it holds.
        ground: the grounds for it, such as a contract or the owner's letter.
    """

    stated_by: Said
    since: datetime.date
    ground: Said

    def __str__(self) -> str:
        """Return a line for a person."""
        return f"stated by {self.stated_by}, since {self.since}: {self.ground}"


Word = Annotated[
    str, StringConstraints(pattern=r"^[^\W\d_]([\w' -]*[^\W_])?$", max_length=40, strict=True)
]
"""A word or a few: letters first, and nothing that means something in a page or a terminal."""


class ItemName(Strict):
    """The word for an item in sentences: card, letter, page.

    Attributes:
        en: one and several in English, as in `per card` and `263 cards`.
        de: the same in German, as in `je Brief` and `von 57 Briefen`; `Eintrag` without it.
    """

    en: tuple[Word, Word]
    de: tuple[Word, Word] | None = None


class BenchmarkSpec(Strict):
    """Content of `benchmark.yaml`: `name`, `title`, `metric`, `media` and `licence`, and more.

    Attributes:
        name: the dataset's name without the namespace; not a protocol's, `default`, or a name that
            ends in `-published`.
        title: what people call it, in English or by its own name.
        titles: the same in other languages, by `hdbench.common.texts.LANGUAGES`.
        version: the dataset's version, at first `1.0.0`; that of a sample ends in `+sample`.
        metric: the metric's name; the namespace is left out.
        headline: the figure used for ranking; without it, the metric's first one.
        higher_is_better: the headline's direction; without it, as the metric declares it.
        protocols: protocol → the options of the metric that it has here, by their names; a protocol
            that is not named has none.
        ranked: whether its figures can rank models; if not, the Space has no leaderboard of it.
        media: the column that holds what a model is shown: an image, a list of images, a PDF, or a
            text, which follows the prompt.
        split: the one split; `test` without it.
        licence: an SPDX identifier, or `other` if none is stated.
        rights: why it may be published without an open licence; without it, it may not.
        citation: BibTeX.
        columns: the columns for the viewer, besides id, media, sha256 and the ground truths.
        prompt_columns: those of them that the prompt names in braces: `{page_number}` stands for
            the item's value. Other braces in a prompt are left as they are.
        files: further plain files in the repository.
        source: where it comes from; a benchmark made by its own author has none.
        owners: whose data they are, if they were published elsewhere: they alone can accept a
            correction of a value.
        maintainers: who maintains it.
        contact: where they can be reached.
        corrected_by: who may correct its ground truth, and by what means.
        report_errors_at: where to report errors in its ground truth. An e-mail (`mailto:…`) and a
            form for a discussion on the Hub or an issue on GitHub (`…/discussions/new`,
            `…/issues/new`) are filled in with an item's values. Without it, reports have no such
            link.
        sample: how its items were drawn from a larger whole, if they were; a stratified sample has
            a column `stratum`.
        public_since: the day from which anybody could read its ground truth. Models released
            later may have seen it, and leaderboards mark them.
        canary: a GUID of its own, by which corpora can be searched for the benchmark. It stands in
            the card and in `benchmark.yaml`, and in nothing that a model is shown or asked for.
        item_name: what an item is called in sentences about results; `item` without it.
    """

    name: Annotated[str, AfterValidator(_checked_name)]
    title: str
    titles: dict[LanguageCode, Said] = Field(default_factory=dict)
    version: str
    metric: Annotated[str, AfterValidator(bare)]
    headline: str
    higher_is_better: bool
    protocols: dict[ProtocolName, dict[str, Any]] = Field(default_factory=dict)
    ranked: bool = True
    media: Literal["image", "pages", "pdf", "text"]
    split: Annotated[str, AfterValidator(_checked_split)]
    licence: str
    rights: Rights | None = None
    citation: str
    columns: dict[str, ColumnType] = Field(default_factory=dict)
    prompt_columns: tuple[str, ...] = ()
    files: tuple[Annotated[str, AfterValidator(_checked_file)], ...] = ()
    source: UrlSource | HubSource | None = None
    owners: tuple[Said, ...] = ()
    maintainers: tuple[Said, ...] = ()
    contact: Address | None = None
    corrected_by: Said | None = None
    report_errors_at: Address | None = None
    sample: Sample | None = None
    public_since: datetime.date | None = None
    canary: UUID | None = None
    item_name: ItemName | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, values: Any) -> Any:
        """Add what a benchmark may leave out, so that what is built from it says all."""
        if not isinstance(values, dict):
            return values
        defaults = {"version": "1.0.0", "split": "test", "citation": "", "higher_is_better": True}
        name = values.get("metric")
        if isinstance(name, str) and bare(name) in METRICS:
            figures = METRICS[bare(name)].figures
            headline = values.get("headline", figures[0].name)
            directions = {figure.name: figure.higher_is_better for figure in figures}
            defaults |= {
                "headline": headline,
                "higher_is_better": directions.get(headline) is not False,
            }
        return defaults | values

    @field_validator("source")
    @classmethod
    def _is_pinned(cls, source: UrlSource | HubSource | None) -> UrlSource | HubSource | None:
        """Refuse a branch or tag: it can move, and two builds of one version would differ."""
        if source is not None and not _COMMIT.fullmatch(source.revision):
            raise unfit("revision: must be a commit (40 hexadecimal digits), not a branch or tag")
        if isinstance(source, UrlSource) and source.revision not in source.url:
            raise unfit("url: must contain the commit given in revision")
        return source

    @field_validator("columns")
    @classmethod
    def _are_not_truths(cls, columns: dict[str, ColumnType]) -> dict[str, ColumnType]:
        for name in TRUTHS:
            if name in columns:
                raise unfit("{name!r} is a column that every dataset has", name=name)
        return columns

    @field_validator("files")
    @classmethod
    def _have_names_of_their_own(cls, files: tuple[str, ...], info: ValidationInfo) -> Any:
        """Refuse equal names: a dataset has no folders, and some systems take `A` for `a`."""
        seen: dict[str, str] = {}
        for file in files:
            name = PurePosixPath(file).name.casefold()
            if name in seen:
                raise unfit(
                    "{first!r} and {second!r} would have one name in the dataset, which has no "
                    "folders for them: rename one of them",
                    first=seen[name],
                    second=file,
                )
            seen[name] = file
            if name in _BUILT or _TRANSLATION.fullmatch(name):
                raise unfit(
                    "{file!r} would replace what hdbench writes under this name: rename it",
                    file=file,
                )
            if name in (*_CONFIGURING, f"{info.data.get('name', '')}.py".casefold()):
                raise unfit(
                    "{file!r}: `datasets` would take the file for a part of itself: rename it",
                    file=file,
                )
        return files

    @field_validator("prompt_columns")
    @classmethod
    def _are_columns(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for name in names:
            if name not in info.data.get("columns", names):
                raise unfit("{name!r} is not one of the columns", name=name)
        return names

    @field_validator("report_errors_at")
    @classmethod
    def _is_of_this_dataset(cls, address: str | None, info: ValidationInfo) -> str | None:
        """Refuse the page of another dataset: a copied description must not send data there."""
        page = _DATASET_PAGE.match(address or "")
        if page and page[1] != info.data.get("name"):
            raise unfit(
                "{address!r} is the page of another dataset: name your own, or leave it out",
                address=address,
            )
        return address

    @field_validator("sample")
    @classmethod
    def _has_its_column(cls, sample: Sample | None, info: ValidationInfo) -> Sample | None:
        column = info.data.get("columns", {}).get(STRATUM)
        if sample is not None and len(sample.strata) > 1 and column != "int32":
            raise unfit(
                "a stratified sample needs a column {name} (int32) with each item's stratum",
                name=STRATUM,
            )
        return sample

    def title_in(self, language: str) -> str:
        """Return what people call it, in a language if it has a title in that."""
        return self.titles.get(language, self.title)

    def make_metric(self, protocol: str = "documented", /, **options: Any) -> Metric:
        """Return the benchmark's metric, with the options that a protocol has here.

        Args:
            protocol: `documented` or `published`.
            options: take precedence over the benchmark's.

        Raises:
            HdbenchError: there is no such protocol or option, or a value is out of range.
        """
        own = self.protocols.get(check_protocol(protocol), {})
        return make_metric(self.metric, protocol, **{**own, **options})


def read_spec(path: Path) -> BenchmarkSpec:
    """Return what a `benchmark.yaml` says.

    Raises:
        HdbenchError: it is unusable, or this hdbench lacks its metric or headline; the message
            names the file and the key.
    """
    spec = validate(BenchmarkSpec, read_yaml(path, MAX_TEXT_FILE), path)
    try:
        check_headline(spec.metric, spec.headline, spec.higher_is_better)
        for protocol in spec.protocols:
            spec.make_metric(protocol)
    except HdbenchError as error:
        raise HdbenchError("{place}: {why}", place=path, why=error) from error
    return spec


# The ground truths of a row: what counts, what was published, and what is proposed

TRUTH = "ground_truth"
"""The column with the records that `documented` scores against."""

PUBLISHED = "ground_truth_published"
"""The column with the records as they were published, which `published` scores against."""

PROPOSED = "ground_truth_proposed"
"""The column with the proposed corrections of values too, where a benchmark has any."""

TRUTHS = (TRUTH, PUBLISHED, PROPOSED)

ErrataName = Literal["accepted", "proposed"]
"""Which corrections of values count: those that the data's owners accepted, or all of them."""

ERRATA_NAMES: tuple[ErrataName, ...] = get_args(ErrataName)


def check_errata(errata: str, protocol: ProtocolName) -> ErrataName:
    """Return the choice of corrections of that name.

    Raises:
        HdbenchError: there is none of that name, or the protocol knows no corrections.
    """
    for choice in ERRATA_NAMES:
        if errata != choice:
            continue
        if choice == "proposed" and protocol == "published":
            raise HdbenchError(
                "--errata proposed: the protocol published scores against what was published, "
                "without any correction: use --protocol documented"
            )
        return choice
    raise HdbenchError(
        "no errata {errata!r}: choose one of {choices}{near}",
        errata=errata,
        choices=", ".join(ERRATA_NAMES),
        near=did_you_mean(errata, ERRATA_NAMES),
    )
