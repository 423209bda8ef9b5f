"""Rules by which answers to a new benchmark are scored: those of another, or those that fit."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdbench.about import installed_folder
from hdbench.answers.cells import iso_date
from hdbench.answers.columns import MappedColumn
from hdbench.answers.field_paths import field_paths
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.words import meanings, plain
from hdbench.benchmarks.building.checks.values import dotted, is_blank, nodes_of
from hdbench.benchmarks.building.drafts import transcribed
from hdbench.benchmarks.spec import BenchmarkSpec, bare, full_name, read_spec, recipe_names
from hdbench.common.files import file_in, text_in
from hdbench.common.jsonio import parse_file
from hdbench.errors import HdbenchError, did_you_mean

COMPARE: dict[str, Any] = {
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "date": {"date": {"formats": ["%d.%m.%Y"]}},
}
"""Kind of values in a column → how its values are compared; all others by their similarity."""

_IDENTIFIERS = {"isbn", "doi", "shelfmark", "id"}
"""Meanings of names of fields whose values identify something; see `meanings`."""

_SCHEMES = {"issn", "url", "uri", "urn", "orcid", "gnd", "viaf", "wikidata", "barcode"}
"""Further words with which such names end."""

_IDENTIFIER = re.compile(
    r"\d+|https?://\S+|(?:doi:\s?)?10\.\d{4,9}/\S+|(?:ISBN |ISSN )?(?:\d[- ]?){7,}[\dXx]", re.ASCII
)
"""Digits alone; a URL; a DOI; an ISBN, ISSN, ORCID iD or GND number, which may end with an X."""

Rules = tuple[dict[str, Any], dict[str, Any]]
"""The metric's keys in `benchmark.yaml`, and the metric's options."""


@dataclass(frozen=True)
class Like:
    """Another benchmark, whose fields and rules a collection takes over.

    Attributes:
        name: as it was given.
        spec: what it says about itself.
        schema: the form of its answers, as its file has it.
        prompt: its prompt; None if it is not at hand.
    """

    name: str
    spec: BenchmarkSpec
    schema: dict[str, Any]
    prompt: str | None

    @property
    def rules(self) -> Rules:
        """Return its metric, with its options."""
        names = ("metric", "headline", "higher_is_better")
        rules = {name: getattr(self.spec, name) for name in names}
        return rules, self.spec.protocols.get("documented", {})


def find_like(name: str) -> Like:
    """Return the benchmark in a folder, or one that hdbench has.

    Raises:
        HdbenchError: there is none of that name, or it has no usable schema.
    """
    folder = Path(full_name(name))
    if not (folder / "benchmark.yaml").is_file():
        own, names = bare(name), recipe_names()
        if own not in names:
            raise HdbenchError(
                "--like {name}: neither a folder with a benchmark.yaml nor one of hdbench's "
                "benchmarks ({names}){near}",
                name=name,
                names=", ".join(names),
                near=did_you_mean(own, names),
            )
        folder = Path(str(installed_folder("dataset_scripts") / own))
    path = folder / "answer.schema.json"
    schema = parse_file(text_in(folder, path.name), path)
    if not isinstance(schema, dict):
        raise HdbenchError("{place}: must be an object in braces", place=path)
    text = text_in(folder, "prompt.txt") if (folder / "prompt.txt").exists() else None
    return Like(name, read_spec(file_in(folder, "benchmark.yaml")), schema, text)


def rules_for(
    schema: dict[str, Any], columns: Sequence[MappedColumn], records: Iterable[dict[str, Any]]
) -> Rules:
    """Return the metric that fits records of a form, and its options.

    Args:
        schema: the form of an answer.
        columns: what becomes of each column, if the ground truth is a table.
        records: the ground truths.
    """
    if path := transcribed(schema):
        rules = {"metric": "text_cer", "headline": "cer", "higher_is_better": False}
        return rules, {} if path == "text" else {"texts": {path: "always"}}
    properties = schema["properties"]
    options: dict[str, Any] = {"blank": [None, ""]}
    compare = dict.fromkeys(_identifiers(schema, records), "exact") | {
        column.path: COMPARE[column.kind]
        for column in columns
        if column.path is not None and not column.key and column.kind in COMPARE
    }
    if compare:
        options["compare"] = compare
    lists = [
        name
        for name, items_schema in properties.items()
        if "properties" in items_schema.get("items", {})
    ]
    if len(lists) == 1 and len(properties) == 1:
        options["root_list"] = lists[0]
    rules = {"metric": "record_f1", "headline": "f1_micro", "higher_is_better": True}
    return rules, options


def compared_exactly(options: Mapping[str, Any]) -> list[str]:
    """Return the fields whose values have to be right to the last sign."""
    return [path for path, how in options.get("compare", {}).items() if how == "exact"]


def _identifiers(schema: dict[str, Any], records: Iterable[dict[str, Any]]) -> list[str]:
    """Return the fields of identifiers, by their names or by all their values.

    Of three ISBNs with a wrong digit each, all are alike enough to be right by similarity.
    """
    values: dict[str, list[str]] = {}
    for record in records:
        for path, value in nodes_of(record):
            if isinstance(value, str | int | float) and not is_blank(value):
                values.setdefault(dotted(path), []).append(str(value).strip())
    return [
        field.path
        for field in field_paths(AnswerSchema(schema))
        if _names_identifier(field.path.rpartition(".")[2])
        or _are_identifiers(values.get(field.path, []))
    ]


def _are_identifiers(values: Sequence[str]) -> bool:
    """Return whether there are values, and all have a form that only identifiers have."""
    return (
        bool(values) and all(map(_IDENTIFIER.fullmatch, values)) and not all(map(iso_date, values))
    )


def _names_identifier(name: str) -> bool:
    """Return whether a name says that its values identify something.

    Example:
        >>> [*map(_names_identifier, ("isbn[]", "author_gnd", "Inventarnummer", "place"))]
        [True, True, True, False]
    """
    words = [plain(word) for word in re.split(r"[\W_]+", name.removesuffix("[]"))]
    return words[-1] in _SCHEMES or bool(_IDENTIFIERS.intersection(meanings(name)[-1:]))
