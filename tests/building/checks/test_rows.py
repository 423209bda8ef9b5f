"""What is wrong with rows."""

import pytest


def test_unreadable_lines_are_named_and_others_checked(folder):
    folder.save()
    lines = (folder.path / "metadata.jsonl").read_text().splitlines()
    lines[2], lines[4], lines[6] = "{", "[1]", '{"id": "a", "id": "b"}'
    lines[8] = "[" * 10_000
    lines[10] = lines[10].replace("KKKKKK", "\\ud800")
    folder.write("metadata.jsonl", "\n".join(lines) + "\n")
    report = folder.check(save=False)
    unread, orphans = report.problems
    assert (unread.kind, unread.severity) == ("row_unreadable", "error")
    assert [example.line for example in unread.examples] == [3, 5, 7, 9, 11]
    assert (orphans.kind, orphans.count) == ("media_without_row", 5)
    assert report.items == 19


@pytest.mark.parametrize("item", [None, "", " ", 17])
def test_a_row_without_an_id(item, folder):
    folder.rows[1]["id"] = item
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("id_missing", "error")
    assert problem.examples[0].line == 2


def test_an_id_that_occurs_twice(folder):
    folder.rows[5]["id"] = folder.rows[2]["id"]
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("id_twice", "error")
    assert problem.examples == [(6, "card 2", '"line 3 has it too"')]


def test_a_row_without_a_ground_truth_must_say_null(folder):
    del folder.rows[4]["ground_truth"]
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("truth_missing", "error")
    folder.rows[4]["ground_truth"] = None
    report = folder.check()
    assert report.problems == []
    assert report.without_truth == 1
    assert "1 without a ground truth" in report.summary


def test_no_ground_truth_at_all(folder):
    for row in folder.rows:
        row["ground_truth"] = None
    assert (folder.only().kind, folder.only().severity) == ("no_truth", "warning")


@pytest.mark.parametrize(
    ("truth", "severity"),
    [({}, "error"), ({"title": " ", "year": None, "persons": [""]}, "warning")],
)
def test_an_empty_record(truth, severity, folder):
    folder.rows[4]["ground_truth"] = truth
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("truth_empty", severity)
    assert "write null" in problem.remedy


def test_ground_truths_with_accents_apart_are_one_problem(folder):
    folder.rows[3]["ground_truth"]["title"] = "Za\u0308hlung"
    folder.rows[5]["ground_truth"]["title"] = "O\u0308fen"
    problem = folder.only()
    assert (problem.kind, problem.severity, problem.count) == ("truth_not_nfc", "warning", 2)
    assert problem.examples[0].line == 4


def test_columns_are_those_of_the_description(folder):
    folder.rows[1]["colour"] = "red"
    del folder.rows[2]["century"]
    folder.rows[3]["century"] = "19"
    folder.rows[4]["century"] = 2**31
    problems = folder.check().problems
    assert {(each.kind, each.field, each.count) for each in problems} == {
        ("column_unknown", "colour", 1),
        ("column_wrong", "century", 1),
        ("column_wrong", "century", 2),
    }
    assert all(each.severity == "error" for each in problems)


@pytest.mark.parametrize(("value", "is_right"), [("1912-09-17", True), ("17.9.1912", False)])
def test_a_date_is_written_as_iso_has_it(value, is_right, folder):
    folder.spec["columns"] = {"century": "int32", "day": "date32"}
    for row in folder.rows:
        row["day"] = value
    assert (folder.check().problems == []) is is_right


def test_a_benchmark_of_texts(folder):
    folder.spec["media"] = "text"
    for number, row in enumerate(folder.rows):
        row["text"] = f"Card number {number}"
        del row["file_name"]
    assert folder.check().problems == []
    folder.rows[2]["text"] = folder.rows[1]["text"]
    assert folder.only().kind == "text_same"
    folder.rows[2]["text"] = " "
    assert folder.only().kind == "shown_wrong"
    del folder.rows[2]["text"]
    assert folder.only().kind == "shown_missing"


def test_made_up_columns_are_bounded(folder):
    folder.rows[0] |= {f"column {number}": 1 for number in range(5_000)}
    folder.rows[5]["id"] = folder.rows[2]["id"]
    report = folder.check()
    assert [problem.kind for problem in report.problems] == ["column_unknown"] * 100 + ["id_twice"]
    assert report.left_out == 4_900
