"""The page about hdbench in Python: its examples, run one after the other as they stand there."""

import doctest
import re
import shutil
from pathlib import Path

from helpers.pages import blocks, parts

PAGE = Path(__file__).parents[2] / "docs/python.md"
TASKS = (
    "Score a DataFrame",
    "Which fields of which items are wrong",
    "Compare two models",
    "Rank five models, and plot",
    "Your own records, and how they are compared",
)


def test_its_examples_give_what_it_says(sample, tmp_path, monkeypatch):
    shutil.copytree(sample / "hdb/zettelkatalog", tmp_path / "hdb/zettelkatalog")
    monkeypatch.chdir(tmp_path)
    others = ("Score while you train", "Write a metric")  # which tests of their own follow
    sections = [heading for heading in parts(PAGE) if heading not in others]
    shown = blocks(PAGE, *sections)
    examples = "".join(block.text for block in shown if block.language == "python")
    test = doctest.DocTestParser().get_doctest(examples, {}, "python.md", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0
    assert Path("models.pdf").read_bytes().startswith(b"%PDF")


def test_each_task_takes_at_most_five_lines():
    lines = {task: len(re.findall(r"^(?:>>>|\.\.\.) ", parts(PAGE)[task], re.M)) for task in TASKS}
    assert all(0 < count <= 5 for count in lines.values()), lines
