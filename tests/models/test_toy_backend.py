"""A new backend: what has to be touched for it, and that everything else takes it as it is."""

import json
import re
from pathlib import Path

import pytest
from models.many_texts import ids_of, write_texts
from typer.testing import CliRunner

from hdbench.cli.app import app
from hdbench.errors import HdbenchError
from hdbench.models.backend import BACKENDS, Asked, BackendKind

ROOT = Path(__file__).parents[2]


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A working directory with a benchmark of four texts, and a backend more."""
    write_texts(tmp_path, 4)
    monkeypatch.chdir(tmp_path)
    kind = BackendKind("toy", "models.toy_backend:ToyBackend")
    monkeypatch.setitem(BACKENDS, kind.name, kind)
    return kind


def run(*arguments, benchmark="hdb/texts"):
    return CliRunner().invoke(app, ["run", benchmark, "-o", "runs/a", *arguments])


def test_a_run_is_asked_recorded_and_scored(toy):
    done = run("--model", "toy")
    assert done.exit_code == 0, done.output
    answers = [json.loads(line) for line in Path("runs/a/answers.jsonl").read_text().splitlines()]
    assert [answer["id"] for answer in answers] == ids_of(4)
    assert all(int(answer["text"]) > 0 for answer in answers)
    record = json.loads(Path("runs/a/run.json").read_text())
    assert (record["backend"], record["provider"], record["model"]) == ("toy", "local", "toy")
    scored = CliRunner().invoke(app, ["score", "hdb/texts", "runs/a"])
    assert scored.exit_code == 0, scored.output


def test_a_dry_run_knows_that_it_is_local(toy):
    said = run("--model", "toy", "--dry-run").stdout.splitlines()
    assert "the items go to: nowhere; toy runs on this machine" in said


def test_what_it_does_not_take_is_refused_by_its_name(toy, sample, monkeypatch):
    monkeypatch.chdir(sample)
    monkeypatch.setitem(BACKENDS, "toy", toy._replace(reads_prompts=False))
    done = run("--model", "toy", "--without-media", benchmark="hdb/zettelkatalog")
    assert "--model toy: reads plain text" in str(done.exception)
    with pytest.raises(HdbenchError, match=r"no backend 'toi': choose one of .*, toy"):
        Asked("m", backend="toi").kind  # noqa: B018


def test_backends_are_listed_once():
    for path in (ROOT / "src/hdbench").rglob("*.py"):
        if path.name != "backend.py" and not path.name.endswith("_backend.py"):
            compared = re.search(rf"[=!]= \"({'|'.join(BACKENDS)})\"", path.read_text())
            assert compared is None, (path, compared)
