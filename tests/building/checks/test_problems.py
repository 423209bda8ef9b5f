"""The texts of problems, and the modules that find them."""

import ast
from pathlib import Path
from string import Formatter

import pytest

from hdbench.benchmarks.building import checks
from hdbench.common.texts import read_texts

FOLDER = Path(checks.__path__[0])
TEXTS = read_texts(FOLDER / "problems.yaml")
MODULES = "".join(path.read_text() for path in FOLDER.glob("*.py"))

BY_NAME = {"file_missing", "all_dates"}
"""Kinds whose cases are called like a file or a column."""


@pytest.mark.parametrize("name", TEXTS)
def test_a_problem_is_found_somewhere(name):
    kind = name.partition(".")[0]
    assert f'"{name}"' in MODULES or kind in BY_NAME


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_what_a_module_adds_has_texts_and_their_values(path):
    for node in ast.walk(ast.parse(path.read_text())):
        called = getattr(node, "func", None)
        if getattr(called, "attr", getattr(called, "id", "")) not in {"add", "_add", "_Unusable"}:
            continue
        names = [each for each in ast.walk(node) if isinstance(each, ast.Constant)]
        for name in (each.value for each in names if each.value in TEXTS):
            given = {each.arg for each in node.keywords}
            given |= {each.value for each in names if called.__dict__.get("id") == "_Unusable"}
            templates = (TEXTS[name]["message"], TEXTS[name]["remedy"])
            needed = {
                place for text in templates for _, place, *_ in Formatter().parse(text) if place
            }
            assert needed <= given or None in given, name
