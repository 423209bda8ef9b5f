"""The CSV files, as Python's csv module and a spreadsheet's rules read them."""

import csv
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hdbench.answers.answer import Answer
from hdbench.common.display.table import Column, Table
from hdbench.evaluation.score import score_items
from hdbench.report.workbook import csv_files
from hdbench.scoring import make_metric


def result_of(truth, *answers, metric="zettel_f1"):
    metric = make_metric(metric)
    prepared = metric.prepare(truth)
    items = [(Answer(answer, id=f"000{n}"), prepared) for n, answer in enumerate(answers)]
    return score_items(metric, items, details=True)


def rows(data, delimiter=","):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))


def one_cell(value):
    return rows(Table([{"text": value}], [Column("text")]).to_csv())[1][0]


def test_the_errors_stand_one_a_line_with_a_mark_for_excel():
    files = csv_files(
        result_of({"title": "Müller", "year": 1924}, {"title": "Muller", "year": 1924})
    )
    assert set(files) == {"fields.csv", "items.csv", "errors.csv"}
    text = files["errors.csv"].decode("utf-8")
    assert text.startswith("\ufeffid,status,field,outcome,kind,expected,found,similarity\r\n")
    [line] = text.splitlines()[1:]
    assert line.startswith("0000,clean,title,substituted,diacritics,Müller,Muller,0.83")


def test_numbers_are_unrounded_and_missing_values_are_empty():
    files = csv_files(result_of({"title": "a", "year": 1924}, {"title": "a"}, None))
    head, first, second = rows(files["items.csv"])
    item = dict(zip(head, first, strict=True))
    assert float(item["f1"]) == 2 / 3  # one of two found
    assert (item["true_positives"], item["false_negatives"]) == ("1", "1")
    assert dict(zip(head, second, strict=True))["status"] == "unanswered"
    fields = {row[0]: row for row in rows(files["fields.csv"])[1:]}
    assert fields["year"][1:4] == ["0", "0", "2"]


@pytest.mark.parametrize(
    ("hostile", "cell"),
    [
        ('=HYPERLINK("https://x.org")', '\'=HYPERLINK("https://x.org")'),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1+1", "'＝1+1"),
        ("  =1", "  '=1"),
        ("\t=1", r"\t=1"),
        ("\r=1", r"\r=1"),
        ("a;=1", "a;'=1"),
        ('a;"=1"', 'a;"\'=1"'),
        ("a\nb", r"a\nb"),
        ("\x00\ud800\u202e", r"\x00\ud800\u202e"),
        ("S. 12-20; Abb.", "S. 12-20; Abb."),
        ("x=1", "x=1"),
    ],
)
def test_no_text_is_a_formula(hostile, cell):
    assert one_cell(hostile) == cell


def test_a_negative_number_of_ours_stays_a_number():
    assert one_cell(-0.5) == "-0.5"


def test_a_field_that_a_model_named_is_no_formula():
    files = csv_files(result_of({"title": "a"}, {"title": "a", "=1+1": "b"}))
    assert [row[0] for row in rows(files["fields.csv"])[1:]].count("'=1+1") == 1


@given(st.lists(st.text(st.characters()) | st.text(";,=+-@\"' \t\r\nx"), min_size=1, max_size=3))
@example(['a;"=1+1', "b"])
@example(['";=1', '";"="'])
def test_neither_commas_nor_semicolons_make_a_formula(texts):
    row = dict(enumerate(texts))
    data = Table([row], [*map(Column, row)]).to_csv()
    assert len(data.decode("utf-8-sig").split("\r\n")) == 3  # a head, a row, the end
    assert len(rows(data)[1]) == len(texts)
    for delimiter in ",;":
        for cell in rows(data, delimiter)[1]:
            # Dashes for empty fields stay; a comma behind them makes no formula.
            is_dash = re.fullmatch(r"-+(,.*)?", cell, re.DOTALL)
            assert is_dash or not re.match(r"""[\s"]*[=+\-@＝＋－＠]""", cell)


@pytest.mark.parametrize(
    ("metric", "truth"),
    [
        ("letters_f1", {"send_date": ["1926-02-16"], "sender_persons": [], "receiver_persons": []}),
        ("sciencemeta_accuracy", {"kind": "ebook", "title": "On Growth", "isbn": "978"}),
        ("avisblatt_cer", {"advertisements": [{"date": "1731-01-02", "text": "1. Wein"}]}),
    ],
)
def test_every_metric_has_its_files(metric, truth):
    files = csv_files(result_of(truth, None, {"title": "x"}, metric=metric))
    assert len(rows(files["items.csv"])) == 3
    assert len({len(row) for row in rows(files["items.csv"])}) == 1
    assert {row[0] for row in rows(files["errors.csv"])[1:]} == {"0000", "0001"}
