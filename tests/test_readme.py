"""What README and docs show is what hdbench does now."""

import doctest
import re
from pathlib import Path

import pytest
from helpers.pages import blocks

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def current(text):
    """An output without what differs from machine to machine: versions, and hdbench's place."""
    text = re.sub(r"(rapidfuzz|json_repair|hdbench):[^|\s]+", r"\1:X", text)
    text = re.sub(r"\S+( -P)? -m hdbench|\S*hdbench(?= (score|build|demo))", "hdbench", text)
    return [line.rstrip() for line in text.strip().splitlines()]


def shown(page):
    (text,) = [each.text for each in blocks(page) if each.language == "text"]
    return current(text)


def test_the_output_of_the_demo_is_current(tmp_path, run_hdbench):
    done = run_hdbench("demo", cwd=tmp_path, COLUMNS="100")
    whole = current(done.stdout)
    assert shown(ROOT / "docs/first-look.md") == whole
    rest = iter(whole)
    assert [line for line in shown(README) if line not in rest] == []  # a part, in its order


def test_the_examples_in_python_run(sample, run_hdbench, monkeypatch):
    assert run_hdbench("demo", cwd=sample).returncode == 0
    monkeypatch.chdir(sample)
    (examples,) = re.findall(r"```python\n(>>>.*?)```", README.read_text(), re.DOTALL)
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", None, None)
    assert doctest.DocTestRunner().run(test) == doctest.TestResults(failed=0, attempted=6)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_it_links_to_is_there(page):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)|src=\"([^\"]+)\"", page.read_text())
    paths = [path for link in links for path in link if path and "://" not in path]
    for path in paths:
        assert (page.parent / path).exists(), path


def test_the_readme_is_short():
    assert len(README.read_bytes()) < 10_000
