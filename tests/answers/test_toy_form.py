"""A new form of answers: what has to be touched for it, and that everything else reads it."""

import gzip
import re
import zipfile
from pathlib import Path

import pytest

from hdbench.answers.files import open_container
from hdbench.answers.forms import FORMS, ITEM_ENDINGS, AnswerForm, folder_endings
from hdbench.answers.run_names import run_name
from hdbench.errors import HdbenchError

ROOT = Path(__file__).parents[2]
TOY = AnswerForm("Toy", (".toy", ".txy"), "answers.toy_form:open_toy", signature=(b"#toy",))
TEXT = "#toy\n0001 = {}\n0002 = Sorry\n"
ANSWERS = {"0001": {"text": "{}"}, "0002": {"text": "Sorry"}}


@pytest.fixture
def toy():
    FORMS.append(TOY)
    yield
    FORMS.remove(TOY)


def answers_in(path):
    container = open_container(path, None)
    try:
        assert len(container.notes) == 1
        assert container.where(container.runs[None]["0001"]).endswith(": 0001")
        return {id_: container.load(key) for id_, key in container.runs[None].items()}
    finally:
        container.close()


@pytest.mark.parametrize("name", ["a.toy", "a.TXY", "a.csv", "a"])
def test_a_file_is_known_by_how_it_begins(toy, tmp_path, name):
    path = tmp_path / name
    path.write_text(f"\ufeff \n{TEXT}")
    assert answers_in(path) == ANSWERS
    path.write_bytes(gzip.compress(TEXT.encode()))
    assert answers_in(path) == ANSWERS


def test_a_folder_or_zip_may_hold_it(toy, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "answers.toy").write_text(TEXT)
    (run / "notes.docx").write_text("")
    assert answers_in(run) == ANSWERS
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr("answers.toy", TEXT)
    assert answers_in(tmp_path / "run.zip") == ANSWERS


def test_its_endings_are_known_and_messages_list_it(toy, tmp_path):
    assert run_name(Path("gpt-4.1.toy.gz")) == "gpt-4.1"
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7")
    with pytest.raises(HdbenchError, match="read from JSON, JSON Lines, Parquet, CSV, XLSX, Toy, "):
        open_container(path, None)


def test_without_it_such_a_file_is_taken_for_a_table(tmp_path):
    (tmp_path / "a.toy").write_text(TEXT)
    with pytest.raises(HdbenchError, match=r"a\.toy"):
        open_container(tmp_path / "a.toy", None)
    assert run_name(Path("a.toy")) == "a.toy"


def test_folders_hold_the_same_files_as_before():
    assert set(folder_endings()) == {
        *(".json", ".txt", ".jsonl", ".ndjson", ".parquet", ".csv", ".tsv", ".xlsx"),
        *(".jsonl.gz", ".jsonl.zst", ".ndjson.gz", ".ndjson.zst"),
    }


def test_contributing_names_files_and_endings_are_listed_once():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.partition("## Read another form of answers\n")[2].partition("\n## ")[0]
    files = {"src/hdbench/answers/<name>.py", "src/hdbench/answers/forms.py", "docs/scoring.md"}
    assert set(re.findall(r"`((?:src/hdbench|docs)/[\w/.<>]+)`", section)) == files
    endings = {each for form in FORMS for each in form.endings} - {*ITEM_ENDINGS}
    for path in (ROOT / "src/hdbench/answers").rglob("*.py"):
        listed = re.findall(r'"(\.\w+)"', path.read_text())
        assert path.name == "forms.py" or not endings & {*listed}, path


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_documentation_has_every_form(form):
    table = (ROOT / "docs/scoring.md").read_text().partition("| form | what it looks like |")[2]
    names = "".join(re.findall(r"(?m)^\|(.*?)\|", table.partition("\n\n")[0]))
    assert form.name in names
