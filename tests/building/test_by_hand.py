"""A benchmark made by hand, as CONTRIBUTING shows it: hdbench drafts the rest, and says so."""

import json
from pathlib import Path

import pytest
from helpers.pages import blocks
from PIL import Image

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
FILES = {each.file: each.text for each in blocks(CONTRIBUTING, "Add a benchmark") if each.file}


@pytest.fixture
def letters(tmp_path):
    """The folder as a person has made it."""
    folder = tmp_path / "letters"
    (folder / "images").mkdir(parents=True)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for number in (1, 2):
        Image.new("RGB", (40, 30 + number), "white").save(folder / f"images/{number}.png")
    return folder


def test_what_it_lacks_is_drafted_and_said(letters, run_hdbench):
    def run(*arguments):
        done = run_hdbench(*arguments, cwd=letters.parent)
        assert done.returncode == 0, done.stderr
        return done.stdout

    written = {path.name for path in letters.iterdir()}
    assert run("check", "letters").splitlines()[-1] == "letters: 2 items, 0 errors, 4 warnings"
    assert {path.name for path in letters.iterdir()} == written  # looking changes nothing
    drafts = "answer.schema.json, prompt.txt, README.md, CHANGELOG.md"
    assert f"letters: drafts written: {drafts}: read them" in run("build", "letters")
    assert run("check", "letters").splitlines()[-1] == "letters: 2 items, 0 errors, 0 warnings"
    assert '"sender": text' in (letters / "prompt.txt").read_text()
    answers = (letters / "metadata.jsonl").read_text().replace("ground_truth", "prediction")
    (letters.parent / "answers.jsonl").write_text(answers)
    assert "f1_micro          1.0000" in run("score", "hdb/letters", "answers.jsonl")


def test_what_a_person_wrote_stays_and_the_prompt_follows_their_schema(letters, run_hdbench):
    schema = {"type": "object", "properties": {"sender": {"type": "string", "title": "Absender"}}}
    (letters / "answer.schema.json").write_text(json.dumps(schema))
    (letters / "metadata.jsonl").write_text(
        '{"id": "1", "file_name": "images/1.png", "ground_truth": {"sender": "Frey"}}'
    )
    (letters / "images/2.png").unlink()
    assert run_hdbench("build", "letters", cwd=letters.parent).returncode == 0
    assert json.loads((letters / "answer.schema.json").read_text()) == schema
    assert "- sender: Absender" in (letters / "prompt.txt").read_text()


def test_nothing_is_drafted_beside_errors(letters, run_hdbench):
    (letters / "images/2.png").unlink()
    done = run_hdbench("build", "letters", cwd=letters.parent)
    assert done.returncode == 2
    assert not (letters / "prompt.txt").exists()
