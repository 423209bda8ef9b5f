"""A benchmark: a dataset repository that says of itself how it is scored."""

import datetime
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from hdbench.errors import HdbenchError
from hdbench.jsonio import parse_json, read_jsonl
from hdbench.reading.schema import AnswerSchema
from hdbench.scoring import check_headline

METADATA = "metadata.jsonl"
PROMPTS = "prompt*.txt"
"""What models were asked with: the benchmark's prompt, and others of published runs."""

_DESCRIPTION = "benchmark.yaml"
_ON_THE_HUB = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")

MEDIA_KEYS = {"image": "file_name", "pages": "pages_file_names", "pdf": "file_name"}
"""The key of a row's media in the metadata, by the column that `load_dataset` makes of it."""

# A date is "date32": a string that looks like one would be given a time of day by `datasets`.
ColumnType = Literal["string", "int32", "int64", "float64", "bool", "date32", "strings"]


_ADDRESS = re.compile(
    r"https://[\w.-]+(?::\d+)?(?:/[\w./~%+-]*)?|mailto:[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII
)
_DATASET_PAGE = re.compile(r"https://[^/]+/datasets/[^/]+/([^/]+)")


def _checked_address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        wrong = "{text} is no address such as https://example.org/report or mailto:me@example.org"
        raise PydanticCustomError("address", wrong, {"text": repr(text)})
    return text


Address = Annotated[str, Field(max_length=300), AfterValidator(_checked_address)]
"""Where a reader may be sent: a page without query or fragment, or an e-mail address."""

Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A text that says something."""


class Strict(BaseModel):
    """Unknown keys are refused: a misspelt one must not go unnoticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class UrlSource(Strict):
    """Files that were published at one address each.

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
        hub: its name with namespace.
        revision: a commit.
    """

    hub: str
    revision: str


class Rights(Strict):
    """Why data without an open licence may be published.

    Attributes:
        stated_by: the person or institution who says so.
        since: the day from which on it holds.
        ground: on what ground, such as a contract or the owner's letter.
    """

    stated_by: Said
    since: datetime.date
    ground: Said

    def __str__(self) -> str:
        """A line for a person."""
        return f"stated by {self.stated_by}, since {self.since}: {self.ground}"


class BenchmarkSpec(Strict):
    """What `benchmark.yaml` says.

    Attributes:
        name: the dataset's name without namespace.
        version: the dataset's version, `1.0.0`; that of a sample ends in `+sample`.
        metric: the metric's name without namespace.
        headline: the figure that ranks.
        higher_is_better: the headline's direction.
        media: the column that holds what a model is shown: an image, a list of images, or a PDF.
        split: the one split.
        licence: an SPDX identifier, or `other` where none is stated.
        rights: why it may be published without an open licence; without it, it may not.
        citation: BibTeX.
        columns: the columns for the viewer, beside id, media, sha256 and ground_truth.
        files: further plain files of the repository.
        source: where it comes from; a benchmark made by its own author has none.
        maintainers: who maintains it.
        contact: where they are reached.
        corrected_by: who may correct its truth, and by what.
        report_errors_at: where errors in its truth are reported. An e-mail (`mailto:…`) and a form
            for a discussion on the Hub or an issue on GitHub (`…/discussions/new`, `…/issues/new`)
            are filled in with an item's values. Without it reports have no such link.
    """

    name: str
    title: str
    version: str
    metric: str
    headline: str
    higher_is_better: bool
    media: Literal["image", "pages", "pdf"]
    split: str
    licence: str
    rights: Rights | None = None
    citation: str
    columns: dict[str, ColumnType] = {}
    files: tuple[str, ...] = ()
    source: UrlSource | HubSource | None = None
    maintainers: tuple[Said, ...] = ()
    contact: Address | None = None
    corrected_by: Said | None = None
    report_errors_at: Address | None = None

    @field_validator("source")
    @classmethod
    def _is_pinned(cls, source: UrlSource | HubSource | None) -> UrlSource | HubSource | None:
        """A branch or tag can move, and two builds of one version would differ."""
        if source is not None and not _COMMIT.fullmatch(source.revision):
            raise PydanticCustomError(
                "commit",
                "revision: must be a commit (40 hexadecimal digits), not a branch or tag",
            )
        if isinstance(source, UrlSource) and source.revision not in source.url:
            raise PydanticCustomError("commit", "url: must name the commit that revision gives")
        return source

    @field_validator("report_errors_at")
    @classmethod
    def _is_of_this_dataset(cls, address: str | None, info: ValidationInfo) -> str | None:
        """A copied description must not send one's own data to the first dataset's public page."""
        found = _DATASET_PAGE.match(address or "")
        if found and found[1] != info.data.get("name"):
            wrong = "{address} is the page of another dataset: name your own, or leave it out"
            raise PydanticCustomError("address", wrong, {"address": repr(address)})
        return address


class Item(NamedTuple):
    """An item of a benchmark without its media."""

    id: str
    ground_truth: dict[str, Any]


def read_yaml(path: Path) -> Any:
    """The value of a YAML file.

    Raises:
        HdbenchError: it cannot be read, or is not YAML.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HdbenchError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise HdbenchError(f"{path}: not YAML: {' '.join(str(error).split())}") from error


def read_text_file(path: Path) -> str:
    """The text of a file.

    Raises:
        HdbenchError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise HdbenchError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise HdbenchError(f"{path}: not UTF-8 (byte {error.start + 1}): save as UTF-8") from error


Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], value: Any, path: Path) -> Model:
    """A value of a file as a model.

    Raises:
        HdbenchError: it does not fit; the message names the file and the first wrong key.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise HdbenchError(f"{path}: {key or 'the file'}: {first['msg']}") from error


def read_spec(path: Path) -> BenchmarkSpec:
    """What a `benchmark.yaml` says.

    Raises:
        HdbenchError: it is unusable, or this hdbench lacks its metric or headline; the message
            names the file and the key.
    """
    spec = validate(BenchmarkSpec, read_yaml(path), path)
    try:
        check_headline(spec.metric, spec.headline)
    except HdbenchError as error:
        raise HdbenchError(f"{path}: {error}") from error
    return spec


@dataclass(frozen=True)
class Benchmark:
    """A benchmark in a folder: its description and, one at a time, its items.

    Attributes:
        id: its name with namespace, or the folder it was read from.
        folder: where its files are.
        spec: what it says of itself.
        revision: the commit of one from the Hub; None of one in a folder.
        within: where its media may lie: what comes from the Hub are links into the client's cache.
    """

    id: str
    folder: Path
    spec: BenchmarkSpec
    revision: str | None = None
    within: Path | None = None

    @property
    def schema(self) -> Path | None:
        """The JSON Schema of an answer, where the benchmark has one."""
        path = self.folder / "answer.schema.json"
        return path if path.is_file() else None

    def answer_schema(self, *prompts: str) -> AnswerSchema | None:
        """The form of an answer, which knows the benchmark's prompts; None where it has no schema.

        Args:
            prompts: what else a model was asked with.

        Raises:
            HdbenchError: the schema or a prompt is unusable.
        """
        if self.schema is None:
            return None
        own = [read_text_file(path) for path in sorted(self.folder.glob(PROMPTS))]
        return AnswerSchema.load(self.schema, [*own, *prompts])

    def ids(self) -> Iterator[str]:
        """The items' ids in the dataset's order.

        Raises:
            HdbenchError: see `items`, but for the ground truth's JSON.
        """
        return (item_id for _, item_id, _ in self._rows())

    def items(self) -> Iterator[Item]:
        """The items in the dataset's order, without their media.

        Raises:
            HdbenchError: a line of the metadata is unusable, or an id occurs twice.
        """
        for where, item_id, truth in self._rows():
            try:
                ground_truth = parse_json(truth)
            except ValueError as error:
                raise HdbenchError(f"{where}: ground_truth is not JSON: {error}") from error
            if not isinstance(ground_truth, dict):
                raise HdbenchError(f"{where}: ground_truth is not an object")
            yield Item(item_id, ground_truth)

    def media(self) -> dict[str, list[Path]]:
        """Id → the files that a model is shown: a letter's pages, or one; none where there is none.

        They are not opened, and need not be there.

        Raises:
            HdbenchError: see `ids`, or a file is not below the benchmark's folder.
        """
        found = {}
        for line in read_jsonl(self.folder / METADATA):
            names = line.value.get(MEDIA_KEYS[self.spec.media]) or []
            files = [
                self.folder / str(name) for name in ([names] if isinstance(names, str) else names)
            ]
            for file in files:
                if not file.resolve().is_relative_to((self.within or self.folder).resolve()):
                    where = f"{self.folder / METADATA}:{line.number}"
                    raise HdbenchError(
                        f"{where}: {str(file)!r} is outside of the benchmark's folder"
                    )
            found[str(line.value.get("id"))] = files
        return found

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        """The place, the id and the ground truth's JSON of each line of the metadata."""
        path = self.folder / METADATA
        seen: set[str] = set()
        for line in read_jsonl(path):
            where = f"{path}:{line.number}"
            item_id, truth = line.value.get("id"), line.value.get("ground_truth")
            if not isinstance(item_id, str) or not isinstance(truth, str):
                raise HdbenchError(f'{where}: needs the texts "id" and "ground_truth"')
            if item_id in seen:
                raise HdbenchError(f"{where}: the id {item_id!r} occurs twice")
            seen.add(item_id)
            yield where, item_id, truth

    def content_hash(self) -> str:
        """The sha256 of the metadata, which names every media file by its own sha256."""
        with (self.folder / METADATA).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def load_benchmark(name: str, *, revision: str | None = None, media: bool = False) -> Benchmark:
    """The benchmark in a folder below the working directory, else on the Hub: `hdb/zettelkatalog`.

    From the Hub comes what describes it, and its media only where they are asked for.

    Args:
        name: the folder; or the dataset's name with namespace.
        revision: a tag, branch or commit on the Hub, where it is then taken from in any case.
        media: whether its media are needed.

    Raises:
        HdbenchError: there is no such benchmark, or its `benchmark.yaml` is unusable.
    """
    folder = Path(name)
    if revision is None and (folder / _DESCRIPTION).is_file():
        return Benchmark(name, folder, read_spec(folder / _DESCRIPTION))
    if not _ON_THE_HUB.fullmatch(name) or (revision is None and folder.is_dir()):
        raise HdbenchError(
            f"{name}: no benchmark here (no {folder / _DESCRIPTION}): "
            f"build it with: hdbench build {folder.name}"
        )
    from hdbench.hub import fetch_dataset  # noqa: PLC0415  slow to import

    try:
        folder = fetch_dataset(name, revision=revision, media=media)
    except HdbenchError as error:
        if revision is not None:
            raise
        raise HdbenchError(
            f"{name}: no benchmark here: build it with: hdbench build {folder.name}; "
            f"and none on the Hub: {error}"
        ) from error
    if not (folder / _DESCRIPTION).is_file():
        raise HdbenchError(f"{name}: this dataset on the Hub is no benchmark: no {_DESCRIPTION}")
    return Benchmark(name, folder, read_spec(folder / _DESCRIPTION), folder.name, folder.parents[1])
