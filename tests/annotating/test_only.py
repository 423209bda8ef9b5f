"""`hdbench annotate --only`: a plan's sample, a work list or a control sample."""

import pytest
from annotating.pages import write_collection

from hdbench.collections.trust.work_list import read_listed, write_listed
from hdbench.collections.truth.choice_pages import AuditPage
from hdbench.errors import HdbenchError
from hdbench.report.audit.findings import FoundField


@pytest.fixture
def folder(tmp_path):
    return write_collection(tmp_path / "cards", [None] * 4, ["a", "=b", "0007", "c"])


def listed(tmp_path, text, encoding="utf-8-sig"):
    path = tmp_path / "list.csv"
    path.write_bytes(text.encode(encoding))
    return read_listed(path)


def test_names_of_fields_may_have_anything_in_them(tmp_path):
    names = ("title", "place, year", 'the "other" one', "=size", "a\nb")
    with (tmp_path / "list.csv").open("wb") as file:
        write_listed(file, ["one"], [("7", name, "x", "why") for name in names])
    assert read_listed(tmp_path / "list.csv") == {"7": names}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("id;field;value\r\n7;title;\r\n", "cp1252"),  # as Excel saves it
        ("doubt\tID\n1\t7\n", "utf-16"),
    ],
)
def test_a_list_may_have_been_saved_by_a_spreadsheet_program(folder, tmp_path, text, encoding):
    found = {key: [FoundField("title", "x", "")] for key in listed(tmp_path, text, encoding)}
    page = AuditPage(folder, "me", None, found)
    assert page.key(0).item == "0007"
    page.close()


def test_what_is_no_list_or_has_other_items_is_refused(folder, tmp_path):
    with pytest.raises(HdbenchError, match="not a work list"):
        listed(tmp_path, "title,year\nFaust,1808\n")
    with pytest.raises(HdbenchError, match="has no rows"):
        listed(tmp_path, "id,field\n")
    with pytest.raises(HdbenchError, match="has no item 'x'"):
        AuditPage(folder, "me", None, {"a": (), "x": ()})


def test_single_values_are_looked_at_without_drafts(tmp_path, run_hdbench):
    command = ["annotate", tmp_path, "--only", "plan.yaml", "--drafts", "one.jsonl"]
    told = run_hdbench(*command, cwd=tmp_path)
    assert told.returncode == 2
    assert "plan.yaml: a list of single values: leave out --drafts" in told.stderr
