"""Names in the code: one for one concept, and none that is too long."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src/hdbench"

MAX_LENGTH = 60
"""Characters in the name of a test."""


def test_no_two_public_classes_have_the_same_name():
    modules = defaultdict(list)
    for path in SOURCES.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(path.relative_to(SOURCES).as_posix())
    assert len(modules) > 300
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}


def test_no_test_has_a_name_that_is_too_long():
    names = {
        node.name
        for path in Path(__file__).parents[1].rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert len(names) > 3000
    assert [name for name in names if len(name) > MAX_LENGTH] == []
