"""Licences under which a dataset may be built and published without further permission."""

OPEN_LICENCES = {
    "apache-2.0": "Apache-2.0",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "cc0-1.0": "CC0-1.0",
    "mit": "MIT",
    "pddl": "PDDL-1.0",
}
"""The Hub's name for each → its SPDX identifier."""
