"""`import hdbench as hd`: what is public, and what its import takes."""

import ast
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import hdbench as hd

LOADED = "import sys, hdbench; dir(hdbench); print(*sorted(sys.modules))"


def test_each_public_name_is_there_and_told_to_type_checkers():
    tree = ast.parse(Path(hd.__file__).read_text())
    told = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("hdbench.")
        for alias in node.names
    }
    assert told == {*hd.__all__, "__version__"}
    assert [name for name in hd.__all__ if getattr(hd, name, None) is None] == []
    assert len(dir(hd)) == len(hd.__all__) <= 20


def test_no_public_name_is_that_of_a_submodule():
    modules = [module.name for module in pkgutil.iter_modules(hd.__path__)]
    for name in modules:
        if name != "__main__":
            import_module(f"hdbench.{name}")
    assert set(modules) & set(hd.__all__) == set()
    assert callable(hd.score)
    assert callable(hd.compare_runs)


def test_the_import_loads_nothing_of_its_own_or_others():
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    own = [name for name in done.stdout.split() if name.startswith("hdbench")]
    assert own == ["hdbench", "hdbench.about"]
    assert not {"numpy", "pydantic", "yaml", "pandas"} & set(done.stdout.split())


def test_a_name_that_is_not_public_is_an_attribute_error():
    assert not hasattr(hd, "nothing")


KEPT = (
    *("Benchmark", "Board", "Comparison", "HdbenchError", "Metric", "ReadAs", "Result", "Settings"),
    *("compare_runs", "load_benchmark", "load_runs"),
    *("rank_runs", "read_result", "read_results", "score", "score_runs", "write_results"),
)
OF_0_2 = ("ReadAs", "Settings", "load_runs", "read_result", "read_results")
OF_0_2 += ("score", "score_runs", "write_results")


def test_no_public_name_is_lost():
    assert set(KEPT) - set(hd.__all__) == set()
    assert [name for name in OF_0_2 if not hasattr(import_module("hdbench.api"), name)] == []
