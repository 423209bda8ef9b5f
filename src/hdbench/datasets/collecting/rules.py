"""Rules by which answers to a new benchmark are scored: those of another, or those that fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdbench.answers.sheets.fields import Column
from hdbench.benchmarks.names import full_name, recipe_names
from hdbench.benchmarks.spec import BenchmarkSpec, read_spec
from hdbench.common import resources
from hdbench.common.folder_files import file_in, text_in
from hdbench.common.jsonio import parse_file
from hdbench.common.names import bare, did_you_mean
from hdbench.datasets.collecting.schema import transcribed
from hdbench.errors import HdbenchError

COMPARE: dict[str, Any] = {
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "date": {"date": {"formats": ["%d.%m.%Y"]}},
}
"""Kind of values in a column → how its values are compared; all others by their similarity."""

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
        folder = Path(str(resources.folder("dataset_scripts") / own))
    path = folder / "answer.schema.json"
    schema = parse_file(text_in(folder, path.name), path)
    if not isinstance(schema, dict):
        raise HdbenchError("{place}: must be an object in braces", place=path)
    text = text_in(folder, "prompt.txt") if (folder / "prompt.txt").exists() else None
    return Like(name, read_spec(file_in(folder, "benchmark.yaml")), schema, text)


def rules_for(schema: Mapping[str, Any], columns: Sequence[Column]) -> Rules:
    """Return the metric that fits records of a form, and its options."""
    if path := transcribed(schema):
        rules = {"metric": "text_cer", "headline": "cer", "higher_is_better": False}
        return rules, {} if path == "text" else {"texts": {path: "always"}}
    properties = schema["properties"]
    options: dict[str, Any] = {"blank": [None, ""]}
    compare = {
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
