"""Commands on answers in parts: the same as on one file."""

import json

import pytest
from helpers.run_folders import RIGHT, write_cards

SCHEMA = {
    "type": "object",
    "required": ["title", "year"],
    "properties": {"title": {"type": "string"}, "year": {"type": "integer"}},
}
WRONG = {"title": "Stellingen", "year": 1942}
ANSWERS = {
    f"000{number}": {"prediction": RIGHT if number % 2 else WRONG, "tokens": {"input": number}}
    for number in range(4)
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory, run_hdbench):
    """The same answers as one file, and in two parts."""
    here = tmp_path_factory.mktemp("runs")
    write_cards(here)
    (here / "hdb/cards/answer.schema.json").write_text(json.dumps(SCHEMA))
    lines = [json.dumps({"id": item, **answer}) + "\n" for item, answer in ANSWERS.items()]
    other = [line.replace("1942", "1924") for line in lines]
    (here / "other.jsonl").write_text("".join(other))
    (here / "whole").mkdir()
    (here / "whole/answers.jsonl").write_text("".join(lines))
    (here / "parts").mkdir()
    (here / "parts/part-1.jsonl").write_text("".join(lines[:3]))
    (here / "parts/part-2.jsonl").write_text(lines[3])
    return here


def ran(run_hdbench, here, *arguments):
    done = run_hdbench(*arguments, cwd=here)
    assert done.returncode == 0, done.stderr


def test_compare_gives_the_same_figures(runs, run_hdbench):
    found = []
    for name in ("parts", "whole"):
        names = ("--name", "a", "--name", "b")
        given = ("compare", "hdb/cards", name, "other.jsonl", *names)
        ran(run_hdbench, runs, *given, "--json", f"{name}.json")
        found.append(json.loads((runs / f"{name}.json").read_text())["comparisons"])
    assert found[0] == found[1]
    assert found[0][0]["figures"]["f1_micro"]["a"] == 0.75  # two of four years are wrong
