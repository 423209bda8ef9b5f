"""A benchmark: a dataset repository that describes how it is scored."""

import json
import re
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.agreement import AGREEMENT, Agreement
from hdbench.benchmarks.sample import STRATUM
from hdbench.benchmarks.spec import (
    DESCRIPTION,
    MEDIA_KEYS,
    PROPOSED,
    PUBLISHED,
    TRUTH,
    TRUTHS,
    BenchmarkSpec,
    ErrataName,
    Provenance,
    full_name,
    read_spec,
    what_to_do,
)
from hdbench.benchmarks.titles import FieldTitles
from hdbench.common.files import MissingFileError, file_in, file_sha256, is_writable
from hdbench.common.jsonio import (
    FINITE,
    json_reason,
    parse_file,
    parse_json,
    parse_line,
    plain_id,
    raw_lines,
    read_jsonl,
)
from hdbench.common.validation import read_text_file, validate
from hdbench.errors import HdbenchError, Message, did_you_mean
from hdbench.scoring.metric import ProtocolName

METADATA = "metadata.jsonl"
PEOPLE = "people"
"""Folder with what people did: what they entered, read and decided, in a file for each. It is never
published, and stays when the benchmark is built again."""

LEDGER = "ledger.jsonl"
"""What was planned, verified and decided about values: `hdbench.collections.trust.ledger`."""

SCHEMA = "answer.schema.json"
EXAMPLE = "example_predictions.jsonl"
"""Answers to some of the items, to try the scoring with; a benchmark need not have it."""

PROMPTS = "prompt*.txt"
"""The prompts that models were given: the benchmark's own, and others from published runs."""

_TEXT = (str, type(None))
_ON_THE_HUB = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


class NoBenchmarkError(HdbenchError):
    """A benchmark is neither in a folder below the working directory nor on the Hub."""


class Item(NamedTuple):
    """An item of a benchmark without its media, to be scored.

    Attributes:
        id: its id.
        ground_truth: its ground truth.
        provenance: how that was made; None if the benchmark does not say it.
        published: its ground truth as published; None if that is the same.
        proposed: its ground truth with the proposed corrections too; None if that is the same.
    """

    id: str
    ground_truth: dict[str, Any]
    provenance: Provenance | None = None
    published: dict[str, Any] | None = None
    proposed: dict[str, Any] | None = None

    def reference(self, protocol: ProtocolName, errata: ErrataName = "accepted") -> dict[str, Any]:
        """Return the ground truth that an answer is scored against.

        Args:
            protocol: `published` takes it as it was published.
            errata: `proposed` also counts the proposed corrections.
        """
        other = self.published if protocol == "published" else None
        if errata == "proposed":
            other = self.proposed
        return self.ground_truth if other is None else other


class _Row(NamedTuple):
    """A line of the metadata without the media.

    Attributes:
        where: the file and the line's number.
        id: the item's id.
        texts: the columns of ground truths that the line has → their JSON texts.
        provenance: how it was made.
    """

    where: str
    id: str
    texts: dict[str, str | None]
    provenance: Provenance | None

    def record(self, column: str) -> dict[str, Any] | None:
        """Return the ground truth in a column; None if there is none.

        Raises:
            HdbenchError: it is not a record in JSON.
        """
        text = self.texts.get(column)
        if text is None:
            return None
        try:
            record = parse_json(text, FINITE)
        except ValueError as error:
            raise HdbenchError(
                "{place}: {column} is not JSON (item {id!r}): {why}",
                place=self.where,
                column=column,
                id=self.id[:100],
                why=json_reason(error),
            ) from error
        if not isinstance(record, dict):
            raise _not_an_object(self.where, column)
        return record

    def item(self) -> Item | None:
        """Return the item; None if it has no ground truth."""
        truth = self.record(TRUTH)
        if truth is None:
            return None
        published, proposed = self._other(PUBLISHED), self._other(PROPOSED)
        return Item(self.id, truth, self.provenance, published, proposed)

    def _other(self, column: str) -> dict[str, Any] | None:
        """Return a further ground truth; None if there is none, or if it is the same."""
        return None if self.texts.get(column) == self.texts[TRUTH] else self.record(column)


class Shown(NamedTuple):
    """Content of an item that a model gets.

    Attributes:
        media: the files, a letter's pages or one file; none if there are none. They are not
            opened, and need not exist.
        text: the text, if the benchmark has texts instead of media.
        values: name → what replaces it in the prompt, where it is in braces.
    """

    media: list[Path]
    text: str
    values: dict[str, str]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark in a folder: its description and, one at a time, its items.

    Attributes:
        id: its name with the namespace, or the folder it was read from.
        folder: where its files are.
        spec: what it says about itself.
        revision: the commit, if it comes from the Hub; None if it is in a folder.
        within: where its media may be: files from the Hub are links into the client's cache.
    """

    id: str
    folder: Path
    spec: BenchmarkSpec
    revision: str | None = None
    within: Path | None = None

    @property
    def schema(self) -> Path | None:
        """The JSON Schema of an answer, if the benchmark has one."""
        return self.file(SCHEMA) if (self.folder / SCHEMA).exists() else None

    @property
    def metadata(self) -> Path:
        """The file with its rows."""
        return self.file(METADATA)

    def file(self, name: str) -> Path:
        """Return the path of one of its files.

        Raises:
            HdbenchError: there is none, it is outside the folder, or is not a regular file.
        """
        return file_in(self.folder, name, self.within)

    def answer_schema(self, *prompts: str) -> AnswerSchema | None:
        """Return the form of an answer, which knows the prompts; None without a schema.

        Args:
            prompts: other prompts that a model was given.

        Raises:
            HdbenchError: the schema or a prompt is unusable.
        """
        if self.schema is None:
            return None
        prompts_here = sorted(path.name for path in self.folder.glob(PROMPTS))
        own = [read_text_file(self.file(name)) for name in prompts_here]
        return AnswerSchema.load(self.schema, [*own, *prompts])

    def field_titles(self, language: str) -> FieldTitles:
        """Return what people call the fields of an answer in a language, as the schema says.

        Raises:
            HdbenchError: the schema is unusable.
        """
        schema = None if self.schema is None else AnswerSchema.load(self.schema)
        return FieldTitles(schema, language)

    @property
    def agreement(self) -> Agreement | None:
        """Return how well the people agree who made the ground truth, if the benchmark says it.

        Raises:
            HdbenchError: its file is unusable.
        """
        if not (self.folder / AGREEMENT).exists():
            return None
        path = self.file(AGREEMENT)
        return validate(Agreement, parse_file(read_text_file(path), path), path)

    def ids(self) -> Iterator[str]:
        """Yield the ids of all items, also of those without a ground truth, in the dataset's order.

        Raises:
            HdbenchError: a line has no id, or an id occurs twice.
        """
        path, seen = self.metadata, set[str]()
        for number, _, raw in raw_lines(path):
            item_id = plain_id(raw)
            if item_id is None:
                where = f"{path}:{number}"
                item_id = _row(where, parse_line(raw, where)).id
            if item_id in seen:
                raise self._twice(item_id, number)
            seen.add(item_id)
            yield item_id

    def every_item(self) -> Iterator[tuple[str, Item | None]]:
        """Yield the id of each item with the item; None if it has no ground truth.

        Raises:
            HdbenchError: see `items`.
        """
        name, seen = str(self.metadata), set[str]()
        for number, _, raw in raw_lines(self.metadata):
            where = f"{name}:{number}"
            row = _row(where, parse_line(raw, where, FINITE))
            # Seldom, and the key may have an escaped letter.
            may_be_twice = raw.count(b'"id"') > 1 or b"\\u006" in raw
            other = plain_id(raw) if may_be_twice else None
            if other is not None and other != row.id:
                raise HdbenchError(
                    "{place}: has two ids, {id!r} and {other!r}: keep one",
                    place=where,
                    id=other,
                    other=row.id,
                )
            if row.id in seen:
                raise self._twice(row.id, number)
            seen.add(row.id)
            yield row.id, row.item()

    def items(self) -> Iterator[Item]:
        """Yield the items that have a ground truth, in the dataset's order, without their media.

        Those without one, are shown to models, but not scored.

        Raises:
            HdbenchError: a line of the metadata is unusable, or an id occurs twice.
        """
        return (item for _, item in self.every_item() if item is not None)

    def _twice(self, item_id: str, number: int) -> HdbenchError:
        return HdbenchError(
            "{place}:{number}: the id {id!r} occurs twice: give each item its own",
            place=self.metadata,
            number=number,
            id=item_id,
        )

    def media(self, only: Container[str] | None = None) -> dict[str, list[Path]]:
        """Return id → the files shown to a model; see `shown`."""
        return {item: shown.media for item, shown in self.shown(only).items()}

    def shown(self, only: Container[str] | None = None) -> dict[str, Shown]:
        """Return id → what a model gets of the item.

        Args:
            only: the ids of the items wanted; all of them, if not given.

        Raises:
            HdbenchError: see `ids`, a file is not below the benchmark's folder or not a regular
                one, or the text is missing.
        """
        items = {}
        for line in read_jsonl(self.metadata):
            item_id = str(line.value.get("id"))
            if only is not None and item_id not in only:
                continue
            where = f"{self.folder / METADATA}:{line.number}"
            content = line.value.get(MEDIA_KEYS[self.spec.media])
            text, files = "", []
            if self.spec.media == "text":
                if not isinstance(content, str) or not content.strip():
                    raise HdbenchError('{place}: needs the text "text"', place=where)
                text = content
            else:
                names = [content] if isinstance(content, str) else content or []
                files = [self.folder / str(name) for name in names]
                for name in names:
                    with suppress(MissingFileError):
                        self.file(str(name))
            values = {
                name: "" if value is None else str(value)
                for name in self.spec.prompt_columns
                for value in [line.value.get(name)]
            }
            items[item_id] = Shown(files, text, values)
        return items

    def strata(self) -> dict[str, int]:
        """Return id → the item's stratum, if this is a stratified sample; otherwise empty.

        Raises:
            HdbenchError: an item has none of the sample's strata.
        """
        sample = self.spec.sample
        if sample is None or len(sample.strata) == 1:
            return {}
        strata = {}
        for line in read_jsonl(self.metadata):
            stratum = line.value.get(STRATUM)
            if type(stratum) is not int or not 0 <= stratum < len(sample.strata):
                raise HdbenchError(
                    "{place}:{line}: {key}: {value} is not a whole number from 0 "
                    "to {most}: the place of one of the strata in {file}",
                    place=self.folder / METADATA,
                    line=line.number,
                    key=STRATUM,
                    value=repr(stratum),
                    most=len(sample.strata) - 1,
                    file=DESCRIPTION,
                )
            strata[str(line.value.get("id"))] = stratum
        return strata

    def column(self, name: str) -> dict[str, Any]:
        """Return id → its value in a column; `stratum` gives the values that its stratum has.

        Raises:
            HdbenchError: there is no such column; see also `strata`.
        """
        if name not in self.spec.columns:
            columns = self.spec.columns
            existing = ", ".join(columns) or Message("none")
            raise HdbenchError(
                "{benchmark}: no column {name!r}; it has: {has}{near}",
                benchmark=self.id,
                name=name,
                has=existing,
                near=did_you_mean(name, columns),
            )
        sample = self.spec.sample
        if name == STRATUM and sample is not None:
            named = [", ".join(stratum.values.values()) or None for stratum in sample.strata]
            return {item: named[stratum_number] for item, stratum_number in self.strata().items()}
        lines = read_jsonl(self.metadata)
        return {str(line.value.get("id")): line.value.get(name) for line in lines}

    def scored_by(self) -> list[Path]:
        """Return the files that decide what an answer scores."""
        named = (DESCRIPTION, METADATA, SCHEMA, AGREEMENT)
        own = [self.folder / name for name in named]
        return [path for path in (*own, *sorted(self.folder.glob(PROMPTS))) if path.is_file()]

    def content_hash(self) -> str:
        """Return the sha256 of the metadata, which names every media file by its own sha256."""
        return file_sha256(self.metadata)


def _not_an_object(where: str, column: str) -> HdbenchError:
    return HdbenchError("{place}: {column} is not an object", place=where, column=column)


def _row(where: str, line: dict[str, Any]) -> _Row:
    item_id = line.get("id")
    texts = {column: _json_text(line[column]) for column in TRUTHS if column in line}
    if not isinstance(item_id, str) or not isinstance(texts.get(TRUTH), _TEXT):
        raise HdbenchError(
            '{place}: needs "id" and "ground_truth", each a text in quotes', place=where
        )
    for column, text in texts.items():
        if not isinstance(text, _TEXT):
            raise _not_an_object(where, column)
    if not is_writable(item_id):
        raise HdbenchError(
            "{place}: the id {id!r} has half a character: give the item another id",
            place=where,
            id=item_id,
        )
    if TRUTH not in texts:
        raise HdbenchError('{place}: needs "ground_truth", null if there is none', place=where)
    return _Row(where, item_id, texts, Provenance.of_row(line))


def _json_text(truth: Any) -> Any:
    """Return a ground truth as JSON text; a collection has it as an object before it is built."""
    return json.dumps(truth, ensure_ascii=False) if isinstance(truth, dict) else truth


def load_benchmark(name: str, *, revision: str | None = None, media: bool = False) -> Benchmark:
    """Return the benchmark in a folder below the working directory, else that on the Hub.

    From the Hub, what describes it is fetched, and its media only if requested.

    Args:
        name: the folder, or the dataset's name; `zettelkatalog` is `hdb/zettelkatalog`.
        revision: a tag, branch or commit on the Hub; if given, the benchmark always comes from
            there.
        media: whether its media are needed.

    Raises:
        NoBenchmarkError: there is no such benchmark, or it cannot be fetched.
        HdbenchError: its `benchmark.yaml` is unusable, or the revision cannot be fetched.
    """
    name = full_name(name, on_the_hub=revision is not None)
    folder = Path(name)
    if revision is None and (folder / DESCRIPTION).exists():
        return Benchmark(name, folder, read_spec(file_in(folder, DESCRIPTION)))
    if not _ON_THE_HUB.fullmatch(name) or (revision is None and folder.is_dir()):
        raise NoBenchmarkError(
            "{place}: no benchmark here (no {file}): {advice}",
            place=name,
            file=folder / DESCRIPTION,
            advice=what_to_do(name),
        )
    from hdbench.common.hub import fetch_dataset  # noqa: PLC0415  slow to import

    try:
        folder = fetch_dataset(name, revision=revision, media=media)
    except HdbenchError as error:
        if revision is not None:
            raise
        raise NoBenchmarkError(
            "{place}: no benchmark here ({advice}), and none on the Hub: {why}",
            place=name,
            advice=what_to_do(name),
            why=error,
        ) from error
    if not (folder / DESCRIPTION).is_file():
        raise HdbenchError(
            "{place}: this dataset on the Hub is not a benchmark: it has no {file}",
            place=name,
            file=DESCRIPTION,
        )
    return Benchmark(name, folder, read_spec(folder / DESCRIPTION), folder.name, folder.parents[1])
