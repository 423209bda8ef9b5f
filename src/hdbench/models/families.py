"""What is known of a model's family: `families.yaml`, by the type and name of the model."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

from hdbench.common.json_schema import choices_of, types_of
from hdbench.common.validation import Strict

LONGEST = 4096
"""Tokens of the longest answer, if neither the user nor the family says another number."""

_KINDS = ("boolean", "integer", "number")


class Family(Strict):
    """A family of models; the comment in `families.yaml` says what its fields are."""

    types: tuple[str, ...] = Field(default=(), exclude=True)
    named: str = Field(default="", exclude=True)
    prompt: str | None = None
    only: bool = False
    form: Literal["text", "markdown", "json", "doctags", "boxes"] = "text"
    longest: int = LONGEST
    stops: tuple[str, ...] = ()
    template: str | None = None
    variables: Mapping[str, Any] = Field(default={})
    processor: Mapping[str, Any] = Field(default={})
    schema_as: str | None = None


@cache
def families() -> Mapping[str, Family]:
    """Return the families by their names."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return {name: Family.model_validate(entry) for name, entry in yaml.safe_load(text).items()}


def family_of(model_type: str, name: str) -> Family:
    """Return the family of a model; one of which nothing is known has the defaults.

    Example:
        >>> family_of("idefics3", "ibm-granite/granite-docling-258M").form
        'doctags'
    """
    for family in families().values():
        if model_type in family.types and family.named in name.lower():
            return family
    return Family()


def template_of(schema: Any) -> Any:
    """Return a schema as a template to fill in, as NuExtract takes it.

    Source: https://huggingface.co/numind/NuExtract-2.0-8B

    Example:
        >>> template_of({"properties": {"year": {"type": "integer"}, "by": {"items": {}}}})
        {'year': 'integer', 'by': ['verbatim-string']}
    """
    choices = [choice for choice in choices_of(schema) if types_of(choice) != {"null"}]
    part = choices[0] if choices and isinstance(choices[0], dict) else {}
    if "properties" in part:
        return {name: template_of(field) for name, field in part["properties"].items()}
    if "items" in part:
        return [template_of(part["items"])]
    if "enum" in part or "const" in part:
        return [value for value in part.get("enum", [part.get("const")]) if value is not None]
    if part.get("format") in ("date", "date-time"):
        return "date-time"
    kinds = types_of(part) if "type" in part else ()
    return next((kind for kind in _KINDS if kind in kinds), "verbatim-string")
