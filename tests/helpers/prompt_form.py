"""The fields that a prompt, a schema and a truth ask for, so that they can be held together."""

import re

import json_repair

TYPES = {
    "text": {"type": "string"},
    "string": {"type": "string"},
    "string or empty string": {"type": "string"},
    "integer": {"type": "integer"},
    "whole number": {"type": "integer"},
    "whole number or text": {"type": ["integer", "string"]},
    "text or null": {"type": ["string", "null"]},
    "true or false": {"type": "boolean"},
}


def fields_of_prompt(prompt):
    """Path → JSON Schema type of each field in the prompt's block, which names the types."""
    (block,) = re.findall(r"```json\n(.*?)```", prompt, re.DOTALL)
    block = re.sub(r'" (?:OR|\|) "', "|", block)
    named = "|".join(sorted(TYPES, key=len, reverse=True))
    block = re.sub(rf"(?<=[ \[])({named})(?=[,\n\]}}])", r'"\1"', block)
    fields = {}
    for path, named in leaves(json_repair.loads(re.sub(r",\s*\.\.\.", "", block))):
        fields[path] = TYPES[named] if named in TYPES else {"enum": named.split("|")}
    return fields


def leaves(value, path=""):
    """Path and value of each leaf; a list's items share the path `list[]`."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child, f"{path}[]")
    else:
        yield path, value


def fields_of_schema(schema, path="", root=None):
    """Path → type or enumeration of each leaf of a schema."""
    root = root or schema
    if "$ref" in schema:
        return fields_of_schema(root["$defs"][schema["$ref"].rpartition("/")[2]], path, root)
    if "anyOf" in schema:  # the first form is the one that is asked for
        return fields_of_schema(schema["anyOf"][0], path, root)
    if schema.get("type") == "object":
        fields = {}
        for key, child in schema["properties"].items():
            fields |= fields_of_schema(child, f"{path}.{key}" if path else key, root)
        return fields
    if schema.get("type") == "array":
        return fields_of_schema(schema["items"], f"{path}[]", root)
    return {path: {name: schema[name] for name in ("type", "enum") if name in schema}}


def as_the_prompt_asks(benchmark, truth):
    """A truth as the answer that the benchmark's prompt asks for."""
    if benchmark == "zettelkatalog":  # "" for null, and no year where there is none
        return _card(truth)
    if benchmark == "avisblatt":
        keys = ("date", "tags_section", "ntokens", "text")
        ads = truth["advertisements"]
        return {"advertisements": [{key: ad[key] for key in keys if key in ad} for ad in ads]}
    if benchmark == "rheinschifffahrt":  # a person who was inferred does not stand in the letter
        names = {
            key: [person["name"] for person in truth[key] if not person["inferred"]]
            for key in ("sender_persons", "receiver_persons")
        }
        return {"letter_title": [], "send_date": truth["send_date"], **names}
    if benchmark == "companylists":  # null for the text "null"
        entries = [
            {**entry, "location": None if entry["location"] == "null" else entry["location"]}
            for entry in truth["entries"]
        ]
        return {**truth, "entries": entries}
    return {key: value for key, value in truth.items() if key not in {"sha256", "kind"}}


def _card(value):
    if isinstance(value, dict):
        return {
            key: _card(child)
            for key, child in value.items()
            if not (key == "year" and child in (None, ""))
        }
    return "" if value is None else value
