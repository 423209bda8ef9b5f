"""`hdbench score`: standard input, and how many warnings are printed."""

import hashlib
import json
import subprocess
import sys
import tempfile
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from helpers.results import flat_of
from helpers.run_folders import RIGHT

from hdbench.cli import arguments
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.slow

LINES = [{"id": f"000{number}", "prediction": RIGHT} for number in range(3)]


def as_lines(values):
    return "".join(json.dumps(value) + "\n" for value in values)


def piped(text, *arguments, cwd):
    command = [sys.executable, "-m", "hdbench", *arguments]
    return subprocess.run(command, cwd=cwd, input=text.encode(), capture_output=True, timeout=300)


def test_answers_come_from_standard_input(cards, run_hdbench):
    text = as_lines(LINES)
    done = piped(text, "score", "cards", "-", "--json", "result.json", cwd=cards)
    assert done.returncode == 0, done.stderr
    result = flat_of(cards / "result.json")
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    assert result["answers"] == {"path": "standard input", "sha256": sha256}
    # A run like that of the same file: the hash of the bytes is what `verify` compares.
    (cards / "answers.jsonl").write_text(text)
    assert run_hdbench("verify", "result.json", cwd=cards).stderr.endswith(
        "its answers 'standard input' are not here: name them with --answers PATH\n"
    )
    verified = run_hdbench("verify", "result.json", "--answers", "answers.jsonl", cwd=cards)
    assert (verified.returncode, "equal" in verified.stdout) == (0, True), verified.stderr


def test_standard_input_is_compared_and_reported(cards):
    (cards / "other.jsonl").write_text(as_lines(LINES[:2]))
    text = as_lines(LINES)
    done = piped(text, "compare", "cards", "-", "other.jsonl", cwd=cards)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"A standard input, B other\n")
    done = piped(text, "compare", "-", "other.jsonl", cwd=cards)
    assert done.stderr.startswith(b"error: standard input: name the benchmark of these answers")
    done = piped(text, "report", "cards", "-", "--out=report", cwd=cards)
    assert done.returncode == 0, done.stderr
    reported = flat_of(cards / "report/result.json")
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    assert reported["answers"] == {"path": "standard input", "sha256": sha256}


def test_standard_input_is_bounded_and_its_copy_is_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(arguments, "MAX_UNPACKED", 7)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"8 bytes!")))
    with (
        pytest.raises(HdbenchError, match=r"^standard input: larger than 0 GiB: name a file$"),
        arguments.answers_at(Path("-")),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
