"""What README and docs show is what hdbench does now."""

import doctest
import re
from pathlib import Path

from helpers.pages import blocks

ROOT = Path(__file__).parents[1]
README, CONTRIBUTING, CHANGELOG = (
    ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")
)
PAGES = [README, CONTRIBUTING, *sorted((ROOT / "docs").glob("**/*.md"))]


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


def test_every_file_that_a_page_links_to_is_there_and_every_picture_is_shown():
    linked = set()
    for page in PAGES:
        links = re.findall(r"\]\(([^)#]+)[^)]*\)|src=\"([^\"]+)\"", page.read_text())
        paths = [path for link in links for path in link if path and "://" not in path]
        linked |= {(page.parent / path).resolve() for path in paths}
    assert [path for path in sorted(linked) if not path.exists()] == []
    assert {*(ROOT / "docs/pictures").iterdir()} - linked == set()


def test_there_is_little_to_read():
    pages = [page.stem for page in ROOT.glob("docs/*.md")]
    german = {page.stem for page in ROOT.glob("docs/de/*.md")}
    assert len(pages) == 12
    assert german == {"first-look", "score", "compare", "run"}
    [newest] = re.findall(r"^## \[.*?(?=^## \[)", CHANGELOG.read_text(), re.M | re.S)[:1]
    texts = (README.read_text(), CONTRIBUTING.read_text(), newest)
    sizes = [len(text.encode()) for text in texts]
    assert all(size < most for size, most in zip(sizes, (10_000, 9_000, 4_000), strict=True)), sizes
