"""Plan of what `hdbench new` is about to write, decided in full before anything is written."""

import datetime
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.cells import Kind
from hdbench.answers.columns import MappedColumn, propose
from hdbench.answers.entries import shown
from hdbench.answers.field_paths import FieldPath, field_paths
from hdbench.answers.records import Truth, Truths, mapped
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import SourceTable
from hdbench.benchmarks.building.archive import unusable
from hdbench.benchmarks.building.drafts import draft_prompt, schema_of_records, titles_of
from hdbench.benchmarks.sample import STRATUM
from hdbench.benchmarks.spec import PROVENANCE_COLUMNS, TRUTHS, is_reserved, recipe_names
from hdbench.collections.new.drawing import Draw, Population, draw, read_population
from hdbench.collections.new.matching import match_truths, sampled
from hdbench.collections.new.media import MediaFiles, find_media
from hdbench.collections.new.rules import Like, compared_exactly, find_like, rules_for
from hdbench.collections.new.truth_files import open_truth
from hdbench.common.files import is_writable
from hdbench.common.page_text.boxes import LINE_BOXES, as_column
from hdbench.errors import HdbenchError, Message

AS_COLUMN = "column:"
"""Prefix that `--map` has before the name of a column of the dataset, as in `column:century`."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_COLUMN_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_RESERVED = frozenset(
    {
        "id",
        "image",
        "pages",
        "pdf",
        "text",
        "sha256",
        *TRUTHS,
        STRATUM,
        LINE_BOXES,
        *PROVENANCE_COLUMNS,
    }
)

_CITATION = """\
@misc{{{key}{year},
  title = {{{title}}},
  author = {{}},
  year = {{{year}}},
}}
"""


@dataclass(frozen=True)
class CollectionRequest:
    """A request for a new benchmark.

    Attributes:
        name: the new benchmark's.
        images: where the images, PDFs or texts are.
        truth: where the ground truth is; None if there is none yet.
        like: the benchmark whose fields and rules are taken over, by its name or folder.
        columns: column of the table → where it goes: a field's path, `id`, `column:NAME`, or `-`.
        kinds: column of the table → what its cells are read as, where that is not what they look
            like; without `like` only.
        mapping: the mapping file for MARC.
        sample: how many items are drawn at random; None for all.
        by: the columns of the ground truth by whose values they are drawn in strata.
        seed: the seed of the draw.
        boxes: whether each image in a folder is an item, as `find_media` takes it.
        header_rows: the row of the table that names its columns, as `3`, or the first and last one,
            as `3-4`; None if they are to be found.
        skip_damaged: whether damaged records, and damaged files of texts, are left out.
        fields: the fields to be filled in, if there is neither a ground truth nor `like`.
        title: what people call the collection; its name if empty.
        licence: an identifier, or `other`.
        language: the two letters of the language that the items are in; `und` if not known.
    """

    name: str
    images: Path
    truth: Path | None = None
    like: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    mapping: Path | None = None
    sample: int | None = None
    by: Sequence[str] = ()
    seed: int = 0
    boxes: bool = False
    header_rows: str | None = None
    skip_damaged: bool = False
    fields: Sequence[str] = ()
    title: str = ""
    licence: str = "other"
    language: str = "und"


@dataclass(frozen=True)
class _GroundTruth:
    """The ground truth of a new benchmark, and the use of its columns if it is a table.

    Attributes:
        truths: id → the ground truth of each item that has one.
        notes: what was assumed, one line each.
        columns: what becomes of each column, if the ground truth is a table.
        grouping: the heading of a column of the table → the dataset's own column that it becomes.
        own_columns: id → the values of the dataset's own columns.
    """

    truths: dict[str, Truth] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    columns: list[MappedColumn] = field(default_factory=list)
    grouping: dict[str, str] = field(default_factory=dict)
    own_columns: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CollectionPlan(_GroundTruth):
    """A new benchmark's folder, before it is written.

    Attributes:
        requested: what was asked for.
        media: the items.
        strata: id → its stratum, if the items are a stratified sample.
        spec: what `benchmark.yaml` will say.
        schema: the form of an answer.
        prompt: the draft of the prompt.
    """

    requested: CollectionRequest
    media: MediaFiles
    strata: dict[str, int]
    spec: dict[str, Any]
    schema: dict[str, Any]
    prompt: str

    @property
    def fields(self) -> list[FieldPath]:
        """Return the fields of an answer."""
        return field_paths(AnswerSchema(self.schema))


class Sources(NamedTuple):
    """The files that a request names, read once: a plan can then be made anew with other columns.

    Attributes:
        like: the benchmark whose fields and rules are taken over.
        media: the items.
        strata: id → its stratum, if the items are a stratified sample.
        drawn: the sample, if there is one.
        truth: the ground truths as they were found; a table is not mapped yet.
        known: the ids of items that a collection has already, which are left out.
        taken: the ids that a collection has already for other files, which are left out.
    """

    like: Like | None
    media: MediaFiles
    strata: dict[str, int]
    drawn: Draw | None
    truth: SourceTable | Truths
    known: Sequence[str] = ()
    taken: Sequence[str] = ()


def read_sources(requested: CollectionRequest, out: Path = Path()) -> Sources:
    """Read the files that a request names; nothing is written.

    Args:
        requested: what was asked for.
        out: the folder that the benchmark's folder is going to be written into.

    Raises:
        HdbenchError: the name, the licence, the images, the ground truth or the other benchmark is
            unusable.
    """
    check_new_name(requested.name, out)
    if not _LANGUAGE.fullmatch(requested.language):
        raise HdbenchError(
            "language {language}: must be a code such as de, fr or la",
            language=requested.language,
        )
    check_licence(requested.licence)
    texts_by_option = {
        "--title": [requested.title],
        "--fields": requested.fields,
        "--map": requested.columns.values(),
    }
    for option, texts in texts_by_option.items():
        for text in texts:
            if not is_writable(text):
                raise HdbenchError("{option} {text}: not UTF-8", option=option, text=text)
    like = find_like(requested.like) if requested.like else None
    media = find_media(requested.images, boxes=requested.boxes)
    strata: dict[str, int] = {}
    drawn = None
    if requested.by and (requested.sample is None or requested.truth is None):
        raise HdbenchError("--by: needs --sample, and the columns of a table in --truth")
    if requested.sample is not None:
        if requested.by and requested.truth is not None:
            population = read_population(requested.truth, requested.header_rows)
        else:
            population = Population(
                str(requested.images), [item.id for item in media.items], {}, ()
            )
        drawn = draw(population, requested.sample, by=requested.by, seed=requested.seed)
        drawn = drawn._replace(notes=[*population.notes, *drawn.notes])
        media, strata = sampled(media, drawn)
    truth: SourceTable | Truths = Truths([], [])
    if requested.truth:
        truth = open_truth(
            requested.truth,
            requested.mapping,
            header_rows=requested.header_rows,
            skip_damaged=requested.skip_damaged,
        )
    return Sources(like, media, strata, drawn, truth)


def make_plan(requested: CollectionRequest, sources: Sources) -> CollectionPlan:
    """Decide on everything; nothing is written.

    Args:
        requested: what was asked for.
        sources: what it names.

    Raises:
        HdbenchError: the ground truth does not fit the images or the other benchmark.
    """
    like, media = sources.like, sources.media
    ground_truth = _ground_truth(requested, sources)
    records = [truth.record for truth in ground_truth.truths.values() if truth.record is not None]
    if requested.truth is not None and not records:
        raise HdbenchError(
            "{place}: has no ground truth for any of the images", place=requested.truth
        )
    schema = like.schema if like else _schema(requested, media.kind, records, ground_truth.columns)
    rules, options = like.rules if like else rules_for(schema, ground_truth.columns, records)
    notes = list(ground_truth.notes)
    if exact := compared_exactly(options):
        notes.append(
            Message(
                "compared exactly, so that one wrong sign is an error: {names}: see compare in "
                "benchmark.yaml, where fields can be added and taken out",
                names=", ".join(exact),
            )
        )
    if rules["metric"] == "text_cer" and like is None:
        notes.append(
            Message(
                "texts are compared as they are written, with their line ends and the hyphens "
                "before these; the metric's option normalize leaves such differences out"
            )
        )
    drawn = sources.drawn
    design = {} if drawn is None else {"sample": drawn.sample.model_dump(mode="json")}
    types = _column_types(ground_truth.own_columns, sources.strata)
    drafted = draft_prompt(schema, title=requested.title or requested.name, media=media.kind)
    return CollectionPlan(
        **vars(ground_truth) | {"notes": notes},
        requested=requested,
        media=media,
        strata=sources.strata,
        spec=_spec(requested, media.kind, types, rules, options) | design,
        schema=schema,
        prompt=like.prompt if like and like.prompt else drafted,
    )


def columns_of(requested: CollectionRequest, sources: Sources) -> list[MappedColumn]:
    """Return the use of each column of a table, even if no row of it fits an item yet.

    Raises:
        HdbenchError: something else is asked for than the table or the fields have.
    """
    if not isinstance(sources.truth, SourceTable):
        return []
    return _mapping(sources.truth, requested, sources.like, sources.media)[0]


def _ground_truth(requested: CollectionRequest, sources: Sources) -> _GroundTruth:
    """Return the ground truths by item, and the use of the columns if they are in a table."""
    source, media = sources.truth, sources.media
    if isinstance(source, SourceTable):
        columns, own = _mapping(source, requested, sources.like, media)
        if not any(column.path for column in columns):
            raise HdbenchError(
                "{place}: no column goes to a field: map at least one of {names}",
                place=source.name,
                names=shown(source.header),
            )
        truths = mapped(source, [column for column in columns if column.title not in own])
        matched = match_truths(truths, media)
        values = _own_columns(source, columns, own, media)
        notes = [*truths.notes, *matched.notes]
        return _GroundTruth(matched.by_id, notes, columns, own, values)
    if requested.columns:
        raise HdbenchError(
            "only the columns of a table can be mapped; this ground truth is not a table"
        )
    if requested.truth is None:
        return _GroundTruth()
    matched = match_truths(source, media)
    boxes = {} if media.kind == "text" else _line_boxes(matched.by_id, media)
    return _GroundTruth(matched.by_id, [*source.notes, *matched.notes], own_columns=boxes)


def _line_boxes(truths: Mapping[str, Truth], media: MediaFiles) -> dict[str, dict[str, Any]]:
    """Return the column with the places of lines, item by item; empty if none is known."""
    known = {
        name: as_column(truth.boxes) for name, truth in truths.items() if any(map(any, truth.boxes))
    }
    return {item.id: {LINE_BOXES: known.get(item.id)} for item in media.items} if known else {}


def check_licence(licence: str) -> None:
    """Refuse an unusable licence.

    Raises:
        HdbenchError: the message says what to write instead.
    """
    if reason_and_remedy := unusable(licence):
        wrong, remedy = reason_and_remedy
        raise HdbenchError("{name!r}: {wrong}: {remedy}", name=licence, wrong=wrong, remedy=remedy)


def check_new_name(name: str, out: Path = Path()) -> None:
    """Refuse a name that a new benchmark cannot have.

    Args:
        name: the name.
        out: the folder that the benchmark's folder is going to be written into.

    Raises:
        HdbenchError: the message says what is wrong with it.
    """
    if not _NAME.fullmatch(name):
        raise HdbenchError(
            "{place!r}: a name has small letters, digits, - _ and . only, as in letters-basel",
            place=name,
        )
    if is_reserved(name):
        raise HdbenchError(
            "{place}: a word of the metrics' configurations: choose another name", place=name
        )
    if name in recipe_names():
        raise HdbenchError(
            "{place}: hdbench has a benchmark of that name: choose another", place=name
        )
    if (out / name).exists():
        raise HdbenchError(
            "{place}: exists already: choose another name, or move it away", place=out / name
        )


def _mapping(
    table: SourceTable, requested: CollectionRequest, like: Like | None, media: MediaFiles
) -> tuple[list[MappedColumn], dict[str, str]]:
    """Return the use of each column, and the columns that become the dataset's own."""
    own = {
        title: path.removeprefix(AS_COLUMN)
        for title, path in requested.columns.items()
        if path.startswith(AS_COLUMN)
    }
    for title, name in own.items():
        if not _COLUMN_NAME.fullmatch(name) or name in _RESERVED:
            raise HdbenchError(
                "{title}={prefix}{name}: a column's name has small letters, digits and _ "
                "only, and is none of {names}",
                title=title,
                prefix=AS_COLUMN,
                name=name,
                names=", ".join(sorted(_RESERVED)),
            )
    proposed_paths = {
        title: "-" if title in own else path for title, path in requested.columns.items()
    }
    names = [item.id for item in media.items] if media.kind == "pages" else []
    names += [page.path.name for item in media.items for page in item.pages]
    paths = field_paths(AnswerSchema(like.schema)) if like else None
    columns = propose(
        table, paths=paths, file_names=names, given=proposed_paths, kinds=requested.kinds
    )
    # As for fields, a heading may be given in other capitals.
    names_by_title = {title.strip().casefold(): name for title, name in own.items()}
    grouping = {
        column.title: names_by_title[column.title.casefold()]
        for column in columns
        if column.path is None and column.title.casefold() in names_by_title
    }
    return columns, grouping


def _own_columns(
    table: SourceTable, columns: Sequence[MappedColumn], own: Mapping[str, str], media: MediaFiles
) -> dict[str, dict[str, str | None]]:
    """Return the dataset's own columns, item by item."""
    if not own:
        return {}
    as_fields = [
        replace(column, path=own.get(column.title), kind="text", separator=None)
        for column in columns
        if column.key or column.title in own
    ]
    truths = match_truths(mapped(table, as_fields), media).by_id
    return {
        item.id: {
            name: (truths[item.id].record or {}).get(name) if item.id in truths else None
            for name in own.values()
        }
        for item in media.items
    }


def _schema(
    requested: CollectionRequest,
    media: str,
    records: Sequence[Mapping[str, Any]],
    columns: Sequence[MappedColumn],
) -> dict[str, Any]:
    """Return the form of an answer: that of the ground truths, or of the requested fields."""
    titles = {
        column.path.removesuffix("[]"): titles_of(column.title)
        for column in columns
        if column.path is not None and not column.key
    }
    title = f"The answer for one item of {requested.title or requested.name}"
    if records:
        return schema_of_records(records, title=title, titles=titles)
    names = requested.fields or (["pages[].text"] if media == "pages" else ["text"])
    empty: dict[str, Any] = {}
    for name in names:
        _add_field(empty, name)
    return schema_of_records([empty], title=title)


def _add_field(record: dict[str, Any], path: str) -> None:
    """Add an example of a field such as `year`, `author.name` or `entries[].name`."""
    *outer, last = path.split(".")
    for name in outer:
        inner = record.setdefault(name.removesuffix("[]"), [{}] if name.endswith("[]") else {})
        record = inner[0] if isinstance(inner, list) else inner
    record[last.removesuffix("[]")] = [""] if last.endswith("[]") else ""


def _spec(
    requested: CollectionRequest,
    media: str,
    columns: Mapping[str, str],
    rules: Mapping[str, Any],
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values of `benchmark.yaml`."""
    return {
        "name": requested.name,
        "title": requested.title or requested.name,
        "version": "1.0.0",
        **rules,
        **({"protocols": {"documented": options}} if options else {}),
        "media": media,
        "split": "test",
        "licence": requested.licence,
        "canary": str(uuid.uuid4()),
        "citation": _CITATION.format(
            key=re.sub(r"\W", "", requested.name),
            title=re.sub(r"[{}\\]", "", requested.title or requested.name),
            year=datetime.date.today().year,
        ),
        **({"columns": columns} if columns else {}),
    }


def _column_types(
    own: Mapping[str, Mapping[str, Any]], strata: Mapping[str, int]
) -> dict[str, str]:
    """Return the dataset's own columns and their types."""
    names = dict.fromkeys(name for values in own.values() for name in values)
    types = {name: "strings" if name == LINE_BOXES else "string" for name in names}
    return types | ({STRATUM: "int32"} if strata else {})
