"""A benchmark made by hand: images, rows and five keys. hdbench drafts the rest, and says so."""

import json

import pytest
from PIL import Image

DESCRIPTION = """\
name: letters
title: Letters to a printer
metric: record_f1
media: image
licence: cc0-1.0
"""
TRUTHS = {"1": {"sender": "Frey", "year": 1896}, "2": {"sender": "Moser", "year": None}}


@pytest.fixture
def letters(tmp_path):
    """The folder as a person has made it."""
    folder = tmp_path / "letters"
    (folder / "images").mkdir(parents=True)
    (folder / "benchmark.yaml").write_text(DESCRIPTION)
    with (folder / "metadata.jsonl").open("w") as rows:
        for number, truth in TRUTHS.items():
            name = f"images/{number}.png"
            Image.new("RGB", (40, 30 + int(number)), "white").save(folder / name)
            rows.write(json.dumps({"id": number, "file_name": name, "ground_truth": truth}) + "\n")
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
    answers = [{"id": number, "prediction": truth} for number, truth in TRUTHS.items()]
    (letters.parent / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
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
