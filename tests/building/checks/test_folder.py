"""A folder with everything wrong at once, and the commands that say so."""

import pytest

from hdbench.errors import HdbenchError

EVERYTHING = {
    ("benchmark.yaml", "key_wrong"),
    ("benchmark.yaml", "key_unknown"),
    ("prompt.txt", "prompt_without_fields"),
    ("README.md", "card_without_yaml"),
    ("CHANGELOG.md", "file_missing"),
    ("metadata.jsonl", "row_unreadable"),
    ("metadata.jsonl", "id_twice"),
    ("metadata.jsonl", "id_nearly_same"),
    ("metadata.jsonl", "truth_missing"),
    ("metadata.jsonl", "truth_empty"),
    ("metadata.jsonl", "mixed_types"),
    ("metadata.jsonl", "date_for_year"),
    ("metadata.jsonl", "rare_value"),
    ("metadata.jsonl", "schema_type"),
    ("metadata.jsonl", "field_not_in_schema"),
    ("metadata.jsonl", "column_unknown"),
    ("metadata.jsonl", "media_missing"),
    ("metadata.jsonl", "media_without_row"),
    ("metadata.jsonl", "media_not_image"),
    ("metadata.jsonl", "media_same"),
    ("metadata.jsonl", "path_outside"),
}


@pytest.fixture
def faulty(folder):
    """A folder with much wrong."""
    folder.spec |= {"headline": "f1", "licence": "mine", "licens": "mine"}
    folder.write("prompt.txt", "Transcribe.")
    folder.write("README.md", "# Cards\n")
    (folder.path / "CHANGELOG.md").unlink()
    folder.rows[1]["id"] = "card 0"
    folder.rows[2]["id"] = "CARD 0"
    del folder.rows[3]["ground_truth"]
    folder.rows[4]["ground_truth"] = {"title": ""}
    folder.truth(5)["year"] = "17.9.1912"
    folder.truth(7)["place"] = "Stuttgrat"
    folder.truth(8)["colour"] = "red"
    folder.rows[9]["shelf"] = "A"
    folder.rows[10]["file_name"] = "images/none.png"
    folder.rows[11]["file_name"] = "../x.png"
    (folder.path / "images/12.png").write_text("<svg></svg>")
    (folder.path / "images/13.png").write_bytes((folder.path / "images/14.png").read_bytes())
    folder.save()
    with (folder.path / "metadata.jsonl").open("a") as file:
        file.write("{\n")
    return folder


def test_all_problems_follow_file_order_with_errors_first(faulty):
    problems = faulty.check(save=False).problems
    assert {(each.file, each.kind) for each in problems} == EVERYTHING
    files = [each.file for each in problems]
    assert files == sorted(files, key=files.index)
    for file in set(files):
        found = [each.severity for each in problems if each.file == file]
        assert found == sorted(found)  # "error" before "warning"


def test_the_command_lists_everything_and_ends_with_2(faulty, run_hdbench):
    done = run_hdbench("check", "cards", cwd=faulty.path.parent)
    assert done.returncode == 2
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "benchmark.yaml"
    assert any(line.startswith("  error: headline: is not a rate of record_f1") for line in lines)
    assert '    line 8, id card 7: "Stuttgrat" ("Stuttgart" 14 times)' in lines
    report = faulty.check(save=False)
    assert lines[-1] == f"cards: 24 items, {report.errors} errors, {report.warnings} warnings"


@pytest.mark.slow
def test_with_warnings_alone_it_is_built_and_they_are_counted(folder, run_hdbench):
    folder.truth(7)["place"] = "Stuttgrat"
    folder.save()
    checked = run_hdbench("check", "cards", cwd=folder.path.parent)
    assert checked.returncode == 0
    done = run_hdbench("build", "cards", cwd=folder.path.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("hdb/cards: 24 rows, version 1.0.0")
    assert done.stderr == "1 warning: hdbench check cards\n"


def test_terminal_sequences_in_names_are_escaped(folder, run_hdbench):
    folder.rows[3]["id"] = folder.rows[2]["id"] = "\x1b[31mred"
    folder.rows[4]["\x1b[2J"] = 1
    folder.save()
    done = run_hdbench("check", "cards", cwd=folder.path.parent)
    assert "\x1b" not in done.stdout
    assert "\\x1b[31mred" in done.stdout


def test_what_is_not_in_the_plain_form_is_refused_in_one_line(folder, run_hdbench):
    done = run_hdbench("check", "nothing", cwd=folder.path.parent)
    assert (done.returncode, done.stderr) == (
        2,
        "error: nothing: no such folder: name the one that benchmark.yaml is in\n",
    )
    folder.write(".built-by-hdbench", "")
    with pytest.raises(HdbenchError, match="check the folder that it came from"):
        folder.check()
    (folder.path / ".built-by-hdbench").unlink()
    folder.write("build.py", "")
    with pytest.raises(HdbenchError, match=r"its build\.py makes the rows"):
        folder.check()
