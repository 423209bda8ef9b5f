"""One name for one concept."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src/hdbench"


def test_no_two_public_classes_have_the_same_name():
    modules = defaultdict(list)
    for path in SOURCES.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(path.relative_to(SOURCES).as_posix())
    assert len(modules) > 300
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}
