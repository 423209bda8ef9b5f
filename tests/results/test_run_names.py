from pathlib import Path

import pytest

from hdbench.evaluation.run import run_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/gpt-4.1.jsonl", "gpt-4.1"),
        ("runs/gpt-4.1-mini.jsonl", "gpt-4.1-mini"),
        ("runs/gpt-4.1", "gpt-4.1"),
        ("runs/gpt-4.1/", "gpt-4.1"),
        ("qwen2.5-vl.jsonl.gz", "qwen2.5-vl"),
        ("qwen2.5-vl.ndjson.zst", "qwen2.5-vl"),
        ("claude-3.7.json", "claude-3.7"),
        ("claude-3.7.XLSX", "claude-3.7"),
        ("claude-3.7.parquet", "claude-3.7"),
        ("claude-3.7.csv.zip", "claude-3.7"),
        ("v1.2.final", "v1.2.final"),
        (".jsonl", ".jsonl"),
    ],
)
def test_a_run_is_called_by_its_file_without_known_endings(path, name):
    assert run_name(Path(path)) == name


def test_the_working_directory_has_its_own_name(tmp_path, monkeypatch):
    folder = tmp_path / "gemini-2.5"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert run_name(Path()) == "gemini-2.5"


def test_a_link_keeps_its_name(tmp_path):
    blob = tmp_path / "5f3a"
    blob.touch()
    link = tmp_path / "gpt-4.1.jsonl"
    link.symlink_to(blob)
    assert run_name(link) == "gpt-4.1"
