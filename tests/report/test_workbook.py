"""The Excel workbook, read back by two independent readers."""

import io
import zipfile
from xml.etree import ElementTree

import openpyxl
import pytest
import xlsxwriter
from hypothesis import example, given
from hypothesis import strategies as st

from hdbench.answers.answer import Answer
from hdbench.common.csv_and_excel import cell_text, write_text
from hdbench.common.display import excel as module
from hdbench.evaluation.parts import ScoredDataset
from hdbench.evaluation.score import score_items
from hdbench.report.workbook import workbook
from hdbench.scoring import make_metric
from hdbench.statistics.bootstrap import intervals

HOSTILE = [
    '=HYPERLINK("https://example.org", "here")',
    "=1+1",
    "+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "-2+3",
    "{=1+1}",
    "https://example.org",
    "mailto:a@example.org",
    "internal:Sheet1!A1",
    "<r>x</r>",
    "<r></t></is></c>",
    "_x0041_",
    " two  spaces ",
    "1924",
    "Müller, 中文, 𝔘, שלום",
    "a\nb",
]
ESCAPED = {
    "\t=1+1": r"\t=1+1",
    "\x00\x07\x1f\x7f": r"\x00\x07\x1f\x7f",
    "\ufffe\uffff": r"\ufffe\uffff",
    "\ud800x": r"\ud800x",
    "_x0000_x0001_": r"_x0000\x5fx0001_",
}


def result_of(truths, answers, metric="zettel_f1", *, details=True):
    metric = make_metric(metric)
    return score_items(
        metric,
        [
            (Answer(answer, id=f"000{number}"), metric.prepare(truth))
            for number, (truth, answer) in enumerate(zip(truths, answers, strict=True))
        ],
        details=details,
        dataset=ScoredDataset(
            benchmark="hdb/cards", dataset_version="1.0.0", dataset_sha256="ab12"
        ),
    )


def opened(data):
    return openpyxl.load_workbook(io.BytesIO(data))


def table(data, sheet):
    head, *rows = opened(data)[sheet].iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rows]


def parts(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def cards():
    """Two fields right, one wrong, one missing, one invented; and an item without an answer."""
    truth = {"title": "Stellingen", "year": 1924, "publisher": "Thieme", "pages": "12"}
    answer = {"title": "Stellingen", "year": 1924, "publisher": "Thieme Verlag", "place": "Bern"}
    return result_of([truth, truth], [answer, None])


def test_hostile_texts_are_plain_text():
    texts = [*HOSTILE, *ESCAPED]
    wanted = [*HOSTILE, *ESCAPED.values()]
    data = workbook(
        result_of([{"title": "Stellingen"}] * len(texts), [{"title": t} for t in texts])
    )
    sheet = opened(data)["Errors"]
    answers = [row[6] for row in sheet.iter_rows(min_row=2)]
    assert [cell.value for cell in answers] == wanted
    assert {cell.data_type for cell in answers} == {"s"}
    assert not any(cell.hyperlink for cell in answers)
    for name, content in parts(data).items():
        assert b"<f>" not in content, name
        assert b"relationships/hyperlink" not in content, name


def test_a_hostile_name_of_a_field_is_plain_text():
    data = workbook(result_of([{"title": "Stellingen"}], [{"title": "x", "=1+1": "y"}]))
    for sheet in ("Fields", "Errors", "Error classes"):
        cells = [cell for row in opened(data)[sheet].iter_rows() for cell in row]
        assert [cell.data_type for cell in cells if cell.value == "=1+1"] == ["s"]


@given(st.text(st.characters(), max_size=12))
@example("<r>_x0000_x0001_</r>")
@example("\n\n")
def test_any_text_is_read_back_and_the_file_is_sound(text):
    data = io.BytesIO()
    with xlsxwriter.Workbook(data, {"in_memory": True}) as book:
        sheet, look = book.add_worksheet("x"), book.add_format({"quote_prefix": True})
        sheet.write_number(0, 1, 7)
        write_text(sheet, 0, 0, text, look)
    for content in parts(data.getvalue()).values():
        ElementTree.fromstring(content)
    wanted = cell_text(text)
    assert (opened(data.getvalue())["x"]["A1"].value or "") == wanted


@pytest.mark.parametrize("sign", ["e", "é", "𝔘", "\x00", "\ud800"])
def test_a_text_longer_than_a_cell_is_cut_and_says_so(sign):
    shown = cell_text(sign * 40_000)
    assert shown.endswith("… [cut: 40000 characters]")
    assert 32_700 < len(shown.encode("utf-16-le")) // 2 <= 32_767


def test_the_errors_are_those_of_the_items(cards):
    data = workbook(cards)
    head = ("id", "status", "field", "outcome", "error class", "truth", "answer")
    rows = {tuple(row[name] for name in head) for row in table(data, "Errors")}
    lost = ("0001", "unanswered")
    assert rows == {
        ("0000", "clean", "publisher", "substituted", "over_specified", "Thieme", "Thieme Verlag"),
        ("0000", "clean", "pages", "missing", "missing", "12", None),
        ("0000", "clean", "place", "spurious", "invented", None, "Bern"),
        (*lost, "title", "missing", "missing", "Stellingen", None),
        (*lost, "year", "missing", "missing", "1924", None),
        (*lost, "publisher", "missing", "missing", "Thieme", None),
        (*lost, "pages", "missing", "missing", "12", None),
    }


def test_numbers_are_numbers(cards):
    items = table(workbook(cards), "Items")
    assert [item["id"] for item in items] == ["0000", "0001"]
    assert [item["F1"] for item in items] == [pytest.approx(cards.per_item[0]["f1"]), 0]
    fields = {row["field"]: row for row in table(workbook(cards), "Fields")}
    assert fields["title"]["F1"] == pytest.approx(2 / 3)  # one right, one missing
    assert fields["title"]["FN"] == 1


def test_the_summary_has_the_headline_with_its_interval():
    result = result_of([{"title": "a"}] * 20, [{"title": "a"}, {"title": "b"}] * 10)
    sheet = opened(workbook(result))["Summary"]
    rows = {row[0]: row[1:] for row in sheet.iter_rows(values_only=True) if row[0]}
    assert list(rows)[1].startswith(
        "10 of 20 items need no correction; on average 0.50 of 1 fields per item are wrong (0."
    )
    assert list(rows)[2] == "F1 (micro) 0.5000."
    interval = intervals(result).figures["f1_micro"]
    assert rows["figure"] == ("value", "95% from", "95% to", "direction")
    assert rows["F1 (micro)"] == (
        0.5,
        pytest.approx(interval.low),
        pytest.approx(interval.high),
        "higher is better",
    )


def test_more_rows_than_a_sheet_takes_are_counted_in_a_note(cards, monkeypatch):
    whole = table(workbook(cards), "Errors")
    monkeypatch.setattr(module, "MAX_ROWS", 2)
    rows = table(workbook(cards), "Errors")
    assert rows[:2] == whole[:2]
    assert rows[2]["id"] == f"and {len(whole) - 2} more rows, which are in the CSV file"


@pytest.mark.parametrize(
    ("metric", "truth", "answer", "sheets"),
    [
        (
            "letters_f1",
            {
                "send_date": ["1926-02-16"],
                "sender_persons": [{"name": "Meyer, Hans", "alternateName": []}],
                "receiver_persons": [],
            },
            {"send_date": "1926-02-17"},
            5,
        ),
        (
            "sciencemeta_accuracy",
            {"kind": "ebook", "title": "On Growth", "isbn": "978"},
            {"title": "On Form"},
            5,
        ),
        (
            "avisblatt_cer",
            {"advertisements": [{"date": "1731-01-02", "text": "1. Rother Wein", "ntokens": 3}]},
            {"advertisements": [{"date": "1731-01-02", "text": "1. Rotber Wein"}]},
            5,  # it has no fields, and confuses characters
        ),
    ],
)
def test_every_metric_has_its_sheets(metric, truth, answer, sheets):
    data = workbook(result_of([truth, truth], [answer, None], metric))
    assert len(opened(data).sheetnames) == sheets
    assert len(table(data, "Items")) == 2
    assert {row["id"] for row in table(data, "Errors")} == {"0000", "0001"}
