"""By which rules the answers to a new benchmark are scored."""

from collections.abc import Mapping, Sequence
from typing import Any

from hdbench.answers.sheets.mapping import Column
from hdbench.datasets.collecting.schema import transcribed
from hdbench.datasets.collecting.similar_benchmark import Like

COMPARE: dict[str, Any] = {
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "date": {"date": {"formats": ["%d.%m.%Y"]}},
}
"""What a column is read as → how its values are compared; all others by their similarity."""


def rules_of(like: Like) -> tuple[dict[str, Any], dict[str, Any]]:
    """The metric of another benchmark, and the options that it has there."""
    spec = like.spec
    rules = {
        "metric": spec.metric,
        "headline": spec.headline,
        "higher_is_better": spec.higher_is_better,
    }
    return rules, spec.protocols.get("documented", {})


def rules_for(
    schema: Mapping[str, Any], columns: Sequence[Column]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The metric that fits records of a form, and its options."""
    if path := transcribed(schema):
        rules = {"metric": "text_cer", "headline": "cer", "higher_is_better": False}
        return rules, {} if path == "text" else {"texts": {path: "always"}}
    properties = schema["properties"]
    options: dict[str, Any] = {"blank": [None, ""]}
    compare = {
        each.path: COMPARE[each.kind]
        for each in columns
        if each.path is not None and not each.key and each.kind in COMPARE
    }
    if compare:
        options["compare"] = compare
    lists = [name for name, each in properties.items() if "properties" in each.get("items", {})]
    if len(lists) == 1 and len(properties) == 1:
        options["root_list"] = lists[0]
    rules = {"metric": "record_f1", "headline": "f1_micro", "higher_is_better": True}
    return rules, options
