"""The record that a prompt asks for, read from the JSON-like block in it."""

import re

TYPES = {
    "integer": {"type": "integer"},
    "whole number": {"type": "integer"},
    "text": {"type": "string"},
    '"string"': {"type": "string"},
    '"string or empty string"': {"type": "string"},
}


def fields_of_prompt(prompt):
    """Dotted path → the JSON Schema type that the prompt's block names for that field."""
    (block,) = re.findall(r"```json\n(.*?)```", prompt, re.DOTALL)
    fields, path = {}, []
    for line in block.splitlines()[1:-1]:
        if line.strip().startswith("}"):
            path.pop()
            continue
        key, kind = re.fullmatch(r' *"(\w+)": (.*?),?', line).groups()
        if kind == "{":
            path.append(key)
        elif kind in TYPES:
            fields[".".join([*path, key])] = TYPES[kind]
        else:
            choices = re.split(r" OR | \| ", kind)
            fields[".".join([*path, key])] = {"enum": [choice.strip('"') for choice in choices]}
    return fields


def fields_of_schema(schema, prefix=""):
    """Dotted path → type or enumeration of each leaf of a schema of nested objects."""
    fields = {}
    for key, child in schema["properties"].items():
        if child.get("type") == "object":
            fields |= fields_of_schema(child, f"{prefix}{key}.")
        else:
            fields[prefix + key] = {name: child[name] for name in ("type", "enum") if name in child}
    return fields


def as_the_prompt_asks(value):
    """A truth as an answer: "" for null, and no year where there is none."""
    if isinstance(value, dict):
        return {
            key: as_the_prompt_asks(child)
            for key, child in value.items()
            if not (key == "year" and child in (None, ""))
        }
    return "" if value is None else value
