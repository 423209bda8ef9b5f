"""Authority files, and what the schemas of the Reconciliation Service API 0.2 ask for."""

import os
import subprocess
import sys
from contextlib import contextmanager

PERSONS = """\
Müller, Karl;118585053
Mueller, Carl;118585053
Frey, Anna;118535676
Frey, Max;11
Frey, Max;12
"""
PLACES = "Basel;Q78\nBasle;Q78\nBâle;Q78\nFrey, Anna;Q1\nBern;\n"

TEXT = {"type": "string"}
NAMED = {"type": "object", "required": ["id", "name"], "properties": {"id": TEXT, "name": TEXT}}
URI = {"type": "string", "pattern": "^(https?://|urn:)"}
PLACE = {
    "type": "object",
    "required": ["service_url", "service_path"],
    "properties": {
        "service_url": {"type": "string", "pattern": "^https?://.*[^/]$"},
        "service_path": {"type": "string", "pattern": "^/"},
    },
}
MANIFEST = {
    "type": "object",
    "required": ["versions", "name", "identifierSpace", "schemaSpace"],
    "properties": {
        "versions": {"type": "array", "items": TEXT, "contains": {"const": "0.2"}},
        "name": TEXT,
        "identifierSpace": URI,
        "schemaSpace": URI,
        "defaultTypes": {"type": "array", "items": NAMED},
        "view": {
            "type": "object",
            "required": ["url"],
            "properties": {"url": {"type": "string", "pattern": r"\{\{id\}\}"}},
        },
        "preview": {
            "type": "object",
            "required": ["url", "width", "height"],
            "properties": {
                "url": {"type": "string", "pattern": r"\{\{id\}\}"},
                "width": {"type": "integer"},
                "height": {"type": "integer"},
            },
        },
        "suggest": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"entity": PLACE, "type": PLACE, "property": PLACE},
        },
        "extend": {
            "type": "object",
            "properties": {"propose_properties": PLACE, "property_settings": {"type": "array"}},
        },
    },
}
RESULTS = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "required": ["result"],
        "properties": {
            "result": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["id", "name", "score", "match", "type"],
                    "additionalProperties": False,
                    "properties": {
                        "id": TEXT,
                        "name": TEXT,
                        "description": TEXT,
                        "score": {"type": "number", "minimum": 0, "maximum": 100},
                        "match": {"type": "boolean"},
                        "type": {"type": "array", "items": NAMED},
                    },
                },
            }
        },
    },
}
SUGGESTED = {
    "type": "object",
    "required": ["result"],
    "properties": {"result": {"type": "array", "items": NAMED}},
}
PROPOSED = {
    "type": "object",
    "required": ["type", "properties"],
    "properties": {"type": TEXT, "properties": {"type": "array", "items": NAMED}},
}
EXTENDED = {
    "type": "object",
    "required": ["meta", "rows"],
    "properties": {
        "meta": {"type": "array", "items": NAMED},
        "rows": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"str": TEXT}},
                },
            },
        },
    },
}


def write_files(folder):
    """The authority files of persons and places."""
    (folder / "persons.csv").write_text(PERSONS)
    (folder / "places.csv").write_text(PLACES)
    return [folder / "persons.csv", folder / "places.csv"]


@contextmanager
def served(files):
    """The address of `hdbench reconcile`."""
    command = [sys.executable, "-m", "hdbench", "reconcile", *map(str, files), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            assert process.wait(timeout=120) == 0
