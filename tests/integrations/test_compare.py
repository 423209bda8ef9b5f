"""`hdbench.integrations.compare`, with the files and calls of ScienceMetaBench's description."""

import json

import openpyxl
import pytest

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.integrations.compare import main, write_similarity_data_to_excel
from hdbench.scoring.sciencemeta_accuracy import SciencemetaAccuracy

KEYS = ["isbn", "title", "author", "abstract", "category", "pub_time", "publisher"]

BENCH = [
    {"sha256": "a", "isbn": "", "title": "Growth", "pub_time": "1917", "kind": "textbook"},
    {"sha256": "b", "isbn": "978", "title": "Form", "publisher": "OUP", "kind": "textbook"},
    {"sha256": "c", "title": "Lost", "author": "A", "kind": "textbook"},
]
LLM = [
    {"sha256": "b", "isbn": "979", "title": "FORM", "publisher": ""},
    {"sha256": "a", "isbn": None, "title": "Grow", "pub_time": 1917, "abstract": "made up"},
]


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def files(tmp_path):
    """The model's file and the benchmark's; the model did not give the third record."""
    extra = {"abstract": "", "category": ""}  # each field must occur somewhere
    bench = [record | (extra if record["sha256"] == "c" else {}) for record in BENCH]
    return write(tmp_path / "llm.jsonl", LLM), write(tmp_path / "bench.jsonl", bench)


def test_described_example_runs_with_only_the_import_changed(tmp_path, monkeypatch, files):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    files[0].rename("data/llm-label_textbook.jsonl")
    files[1].rename("data/benchmark_textbook.jsonl")

    file_llm = "data/llm-label_textbook.jsonl"
    file_bench = "data/benchmark_textbook.jsonl"
    key_list = ["isbn", "title", "author", "abstract", "category", "pub_time", "publisher"]
    accuracy, key_accuracy, detail_data = main(file_llm, file_bench, key_list)
    write_similarity_data_to_excel(key_list, detail_data, "similarity_analysis.xlsx")

    # Of three records the third was not given: 0 in every field. In the first "Grow" is 2 · 4 / 10
    # of "Growth", and the abstract is invented; in the second "979" shares two signs of three.
    assert key_accuracy == {
        "isbn": pytest.approx((1 + 0.667) / 3),
        "title": pytest.approx((0.8 + 1) / 3),
        "author": pytest.approx(2 / 3),
        "abstract": pytest.approx(1 / 3),
        "category": pytest.approx(2 / 3),
        "pub_time": pytest.approx(2 / 3),
        "publisher": pytest.approx(1 / 3),
    }
    assert accuracy == pytest.approx(sum(key_accuracy.values()) / 7)
    assert [row["sha256"] for row in detail_data] == ["a", "b", "c"]
    assert detail_data[0]["llm_title"] == "Grow"
    assert detail_data[0]["benchmark_title"] == "Growth"
    assert detail_data[0]["similarity_title"] == 0.8

    book = openpyxl.load_workbook("similarity_analysis.xlsx")
    head, *rows = book.worksheets[0].iter_rows(values_only=True)
    assert head == (
        "sha256",
        *(f"{side}_{key}" for key in key_list for side in ("llm", "benchmark", "similarity")),
    )
    assert [row[0] for row in rows] == ["a", "b", "c"]
    assert rows[0][4:7] == ("Grow", "Growth", 0.8)
    assert rows[2][4:7] == (None, "Lost", 0.0)
    head, *means = book.worksheets[1].iter_rows(values_only=True)
    assert head == ("field", "accuracy")
    assert dict(means) == pytest.approx(key_accuracy | {"overall": accuracy})


def test_the_figures_are_those_of_the_metric(files):
    accuracy, key_accuracy, _ = main(*files, KEYS)
    metric = SciencemetaAccuracy("published")
    answers = {record["sha256"]: record for record in LLM}
    result = score_items(
        metric,
        [
            (Answer(answers.get(truth["sha256"]), id=truth["sha256"]), metric.prepare(truth))
            for truth in BENCH
        ],
    ).figures
    assert accuracy == result["overall_accuracy"]
    assert key_accuracy == result["field_accuracy"]


def cells(path, value):
    """The cell that holds a value, read back by another program than wrote it."""
    detail = {"sha256": "a", "llm_t": value, "benchmark_t": "x", "similarity_t": 0.25}
    write_similarity_data_to_excel(["t"], [detail], path)
    sheet = openpyxl.load_workbook(path).worksheets[0]
    assert sheet["D2"].value == 0.25
    return sheet["B2"]


@pytest.mark.parametrize(
    "value", ["=1+1", "+1", "-1", "@SUM(A1)", "{=1}", "=HYPERLINK(1)", "https://a.b", "007", " x "]
)
def test_text_stays_text_whatever_it_looks_like(tmp_path, value):
    cell = cells(tmp_path / "out.xlsx", value)
    assert (cell.data_type, cell.value) == ("s", value)
    assert cell.quotePrefix  # it stays so when the cell is edited
    assert cell.hyperlink is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("", None),
        (2021, "2021"),
        (["a"], "['a']"),
        (float("nan"), "nan"),
        ("x" * 32_767, "x" * 32_767),
        ("x" * 32_768, "x" * 32_742 + "… [cut: 32768 characters]"),
        # An emoji takes two of a cell's characters, and is not cut in half.
        ("😀" * 16_384, "😀" * 16_371 + "… [cut: 16384 characters]"),
        ("\ud800x", "\\ud800x"),
        ("a\x00\x1fb", "a\\x00\\x1fb"),
        ("<r></t></is></r>", "<r></t></is></r>"),
        ("\ufffe", "\\ufffe"),
    ],
)
def test_no_value_breaks_the_file(tmp_path, value, text):
    assert cells(tmp_path / "out.xlsx", value).value == text
