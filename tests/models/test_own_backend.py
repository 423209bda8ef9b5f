"""Backends that people write: an object with `ask`, passed in or registered by its package."""

import json
import sys
from pathlib import Path

import pytest
from models.many_texts import ids_of, write_texts
from typer.testing import CliRunner

import hdbench as hd
from hdbench.cli.app import app
from hdbench.models import backend

MODULE = """
class Mine:
    def ask(self, question):
        return {"title": "Stellingen"}
"""


class Mine:
    """Answers from what it is told, and counts what it is asked."""

    def __init__(self, replies):
        self.replies, self.asked = replies, []

    def ask(self, question):
        self.asked.append((question.id, question.prompt))
        reply = self.replies[int(question.id) % len(self.replies)]
        if isinstance(reply, Exception):
            raise reply
        return reply


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """A working directory with a benchmark of twelve texts."""
    write_texts(tmp_path, 12)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text_records_and_replies_are_kept_scored_and_asked_once(texts):
    record = {"title": "Stellingen", "year": 1924}
    mine = Mine([json.dumps(record), record, hd.Reply(json.dumps(record), {"output": 7})])
    result = hd.run("hdb/texts", mine, "runs/mine", limit=6)
    assert mine.asked[0] == ("000000", "Read it.\n\ntext <000000>")
    assert (result.model, result.answered, result.rates["f1_micro"]) == ("Mine", 6, 1.0)
    assert result.usage["output_tokens"].total == 14
    assert str(result) == repr(result)
    assert hd.run("hdb/texts", mine, "runs/mine", limit=6) == result
    assert [item for item, _ in mine.asked] == ids_of(6)


def test_an_exception_costs_its_item_and_the_first_ten_end_the_run(texts):
    result = hd.run("hdb/texts", Mine([{"title": "a"}, ValueError("no\npage")]), "runs/a")
    assert result.status["unanswered"] == 6
    with pytest.raises(hd.HdbenchError, match="Mine: failed for the first 10 items: ValueError"):
        hd.run("hdb/texts", Mine([ValueError("no page")]), "runs/b")
    with pytest.raises(hd.HdbenchError, match="ask returned int: return a text"):
        hd.run("hdb/texts", Mine([7]), "runs/c")
    with pytest.raises(hd.HdbenchError, match=r"must be an object with ask\(question\)"):
        hd.run("hdb/texts", print, "runs/d")


def test_a_package_registers_its_own(texts, monkeypatch):
    Path("mine.py").write_text(MODULE)
    about = Path("mine-1.0.dist-info")
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[hdbench.backends]\nmine = mine:Mine\n")
    monkeypatch.syspath_prepend(str(texts))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    backend._others.cache_clear()
    done = CliRunner().invoke(app, ["run", "hdb/texts", "--model", "mine", "-o", "runs/mine"])
    backend._others.cache_clear()
    assert done.exit_code == 0, done.output
    assert json.loads(Path("runs/mine/run.json").read_text())["backend"] == "mine"
    assert hd.score("hdb/texts", "runs/mine").answered == 12
