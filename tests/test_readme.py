"""The README's examples and output are what hdbench does now."""

import doctest
import re
from pathlib import Path

from plain import PLAIN

README = Path(__file__).parents[1] / "README.md"


def current(text):
    """An output without what differs from machine to machine: versions, and hdbench's place."""
    text = re.sub(r"(rapidfuzz|json_repair|hdbench):[^|\s]+", r"\1:X", text)
    text = re.sub(r"\S+ -m hdbench|\S*hdbench(?= (score|build|demo))", "hdbench", text)
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_output_of_the_demo_is_current(tmp_path, run_hdbench):
    (block,) = re.findall(r"```text\n(.*?)```", README.read_text(), re.DOTALL)
    done = run_hdbench("demo", cwd=tmp_path, COLUMNS="100", **PLAIN)
    assert current(done.stdout) == current(block)


def test_the_examples_in_python_run(sample, run_hdbench, monkeypatch):
    assert run_hdbench("demo", cwd=sample, **PLAIN).returncode == 0
    monkeypatch.chdir(sample)
    (examples,) = re.findall(r"```python\n(>>>.*?)```", README.read_text(), re.DOTALL)
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", None, None)
    assert doctest.DocTestRunner().run(test) == doctest.TestResults(failed=0, attempted=8)


def test_every_file_it_links_to_is_there():
    links = re.findall(r"\]\(([^)#]+)\)|src=\"([^\"]+)\"", README.read_text())
    paths = [path for link in links for path in link if path and "://" not in path]
    assert len(paths) >= 5
    for path in paths:
        assert (README.parent / path).exists(), path
