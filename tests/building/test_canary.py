"""The canary: in the card and in benchmark.yaml, and nowhere else."""

from pathlib import Path

from helpers.lines import write_lines

from hdbench.benchmarks.spec import read_spec

RECIPES = Path(__file__).parents[2] / "dataset_scripts"
GUID = "2a1ec2c3-0f2a-4bd0-9f53-6d3f1b9a2c11"
LINE = f"hdbench canary GUID {GUID}: benchmark data should never be in training corpora"
ROWS = [{"text": "Rother Wein", "id": "a", "ground_truth": {"text": "Roter Wein"}}]


def test_the_card_has_it_in_a_line_and_no_other_file(tmp_path, run_hdbench):
    write_lines(tmp_path / "lines", ROWS, canary=GUID)
    done = run_hdbench("build", "./lines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    built = tmp_path / "hdb/lines"
    assert (built / "README.md").read_text().splitlines().count(LINE) == 1
    having = {path.name for path in built.rglob("*") if path.is_file() and GUID in path.read_text()}
    assert having == {"README.md", "benchmark.yaml"}
    assert {"prompt.txt", "answer.schema.json", "metadata.jsonl"} <= {
        path.name for path in built.iterdir()
    }
    assert str(read_spec(built / "benchmark.yaml").canary) == GUID


def test_without_one_the_card_says_nothing_of_it(tmp_path, run_hdbench):
    write_lines(tmp_path / "lines", ROWS)
    assert run_hdbench("build", "./lines", cwd=tmp_path).returncode == 0
    assert "canary" not in (tmp_path / "hdb/lines/README.md").read_text()
