import datetime
import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from helpers.exported import csv_rows, make_benchmark, records, sheet, write_answers
from openpyxl import load_workbook

from hdbench.api import score
from hdbench.errors import HdbenchError
from hdbench.output.exporting.export import export
from hdbench.output.exporting.formats import MAX_ROWS, check_size

CARD = {
    "type": {"type": "Reference"},
    "author": {"last_name": "Müller", "first_name": "Maurice"},
    "publication": {
        "title": "Die Femurosteotomien",
        "year": 1957,
        "place": "Stuttgart",
        "pages": "X,184",
        "publisher": "Thieme",
        "format": "8°",
    },
    "library_reference": {"shelfmark": "Ab 12", "subjects": ""},
}
CARD_FIELDS = [
    "type.type",
    "author.last_name",
    "author.first_name",
    "publication.title",
    "publication.year",
    "publication.place",
    "publication.pages",
    "publication.publisher",
    "publication.format",
    "library_reference.shelfmark",
    "library_reference.subjects",
]
FIGURES = ("f1_micro", "f1_macro", "true_positives", "false_positives", "false_negatives")
COVERAGE = ("items", "answered", "unanswered", "unparsable")


def cards(folder, *answers, truths=None, files=None):
    """A benchmark of cards, and answers to it."""
    truths = truths or {answer["id"]: CARD for answer in answers}
    return make_benchmark(folder, "zettelkatalog", truths, files), write_answers(folder, *answers)


def exported(folder, benchmark, answers, form="csv"):
    return export(answers, form, out=folder / f"table.{form}", benchmark=benchmark).path


def same_figures(folder, benchmark, answers, names):
    """The figures of a run, and of the two tables that it is exported to."""
    given = score(benchmark, answers).figures()
    for form in ("csv", "xlsx"):
        read = score(benchmark, exported(folder, benchmark, answers, form)).figures()
        assert {name: read[name] for name in names} == {name: given[name] for name in names}, form
    return given


def test_a_card_is_a_row_with_the_fields_in_the_schemas_order(tmp_path):
    benchmark, answers = cards(tmp_path, {"id": "0001", "prediction": dict(reversed(CARD.items()))})
    head, row = csv_rows(exported(tmp_path, benchmark, answers))
    assert head == ["id", *CARD_FIELDS, "status"]
    assert row == [
        *("0001", "Reference", "Müller", "Maurice", "Die Femurosteotomien", "1957", "Stuttgart"),
        *("X,184", "Thieme", "8°", "Ab 12", "", "clean"),
    ]


def test_every_item_has_a_row_that_shows_how_it_was_read(tmp_path):
    whole = json.dumps(CARD)
    benchmark, answers = cards(
        tmp_path,
        {"id": "damaged", "text": whole.replace('"Reference"', '"Reference",')},
        {"id": "fenced", "text": f"```json\n{whole}\n```"},
        {"id": "cut", "text": whole[: whole.index('"place"')]},
        {"id": "prose", "text": "=I cannot\r\nread this card."},
        {"id": "list", "prediction": [1, 2]},
        {"id": "failed", "prediction": None, "error": "timeout"},
        {"id": "lost", "prediction": {"error": "no JSON"}},
        {"id": "empty", "prediction": {}},
        truths=dict.fromkeys(
            ["damaged", "fenced", "cut", "prose", "list", "failed", "lost", "empty", "never"], CARD
        ),
    )
    rows = {row.pop("id"): row for row in records(exported(tmp_path, benchmark, answers))}
    assert {item: row["status"] for item, row in rows.items()} == {
        "damaged": "repaired",
        "fenced": "unwrapped",
        "cut": "truncated",
        "prose": "unparsable",
        "list": "unparsable",
        "failed": "unanswered",
        "lost": "unparsable",
        "empty": "clean",
        "never": "unanswered",
    }
    assert list(rows)[-1] == "never"
    assert rows["fenced"]["publication.title"] == "Die Femurosteotomien"
    assert rows["prose"] == {"status": "unparsable", "text": "'=I cannot\nread this card."}
    assert rows["list"] == {"status": "unparsable", "text": "[1, 2]"}
    assert rows["failed"] == {"status": "unanswered", "error": "timeout"}
    assert rows["lost"] == {"status": "unparsable", "text": '{"error": "no JSON"}'}
    assert rows["empty"] == {"status": "clean", "text": "{}"}
    figures = same_figures(tmp_path, benchmark, answers, ("false_negatives", *COVERAGE))
    assert [figures[name] for name in COVERAGE] == [9, 4, 2, 3]


def test_an_advertisement_is_a_row_with_its_pages_id(tmp_path):
    ad = {"date": "1731-01-02", "tags_section": "Verkauf", "ntokens": 3, "text": "1. Ein Pferd"}
    other = {"date": "1731-01-02", "tags_section": "Verkauf", "text": "2. Ein Hauß\nzu Basel"}
    truth = {"advertisements": [ad, other]}
    benchmark = make_benchmark(
        tmp_path,
        "avisblatt",
        dict.fromkeys(("two", "none", "prose", "odd", "never"), truth),
        {"two": {"file_name": "images/a.jpg"}},
    )
    answers = write_answers(
        tmp_path,
        {"id": "two", "prediction": {"advertisements": [ad, other]}},
        {"id": "none", "prediction": {"advertisements": []}},
        {"id": "prose", "text": "This is a page."},
        {"id": "odd", "prediction": {"advertisements": [ad, "3. Eine Uhr"], "page": 7}},
    )
    head, *_ = csv_rows(exported(tmp_path, benchmark, answers))
    fields = ["date", "tags_section", "ntokens", "text"]
    assert head == ["id", *fields, "status", "file_name", "error", "other_fields"]
    about = {"id": "two", "status": "clean", "file_name": "images/a.jpg"}
    assert records(exported(tmp_path, benchmark, answers)) == [
        about | ad | {"ntokens": "3"},
        about | other,
        {"id": "none", "status": "clean"},
        {"id": "prose", "status": "unparsable", "error": "no record in: This is a page."},
        {"id": "odd", "status": "clean", **ad, "ntokens": "3"}
        | {"other_fields": '{"page": 7, "advertisements": ["3. Eine Uhr"]}'},
        {"id": "never", "status": "unanswered", "error": "unanswered"},
    ]
    names = ("fuzzy", "cer", "fuzzy_text", "cer_text", "true_positives", "answered")
    same_figures(tmp_path, benchmark, answers, names)


def test_persons_of_a_letter_are_one_cell_even_in_a_wrapper(tmp_path):
    letter = {
        "letter_title": ["null"],
        "send_date": ["1926-02-16"],
        "sender_persons": ["Dr. Killer", None, 7],
        "receiver_persons": "Christ|Paravicini",
    }
    truth = {
        "letter_title": ["null"],
        "send_date": ["1926-02-16"],
        "sender_persons": [{"name": "Killer", "alternateName": ["Dr. Killer"], "inferred": None}],
        "receiver_persons": [{"name": "Christ", "alternateName": [], "inferred": None}],
        "has_signatures": True,
    }
    benchmark = make_benchmark(
        tmp_path, "rheinschifffahrt", dict.fromkeys(["bare", "wrapped", "text"], truth)
    )
    answers = write_answers(
        tmp_path,
        {"id": "bare", "prediction": letter},
        {"id": "wrapped", "prediction": {"metadata": letter}},
        {"id": "text", "prediction": {"metadata": json.dumps(letter)}},
    )
    bare, wrapped, text = records(exported(tmp_path, benchmark, answers))
    assert bare["sender_persons"] == "Dr. Killer | 7"
    assert bare["receiver_persons"] == "Christ|Paravicini"
    assert wrapped == bare | {"id": "wrapped", "status": wrapped["status"]}
    assert text == {
        "id": "text",
        "status": "clean",
        "text": json.dumps({"metadata": json.dumps(letter)}),
    }
    figures = same_figures(tmp_path, benchmark, answers, (*FIGURES, *COVERAGE))
    assert figures["true_positives"] == 9  # date, sender and receiver, three times


def test_invented_fields_are_last_columns_and_still_count(tmp_path):
    invented = {"editor": "Ott", "notes": [{"page": 3}, "x"], "empty": {"none": None, "blank": ""}}
    other = CARD["publication"] | {"title": "A", "series": "B"}
    benchmark, answers = cards(
        tmp_path,
        {"id": "1", "prediction": CARD},
        {"id": "2", "prediction": CARD | invented},
        {"id": "3", "prediction": CARD | {"publication": other}},
    )
    head, *rows = csv_rows(exported(tmp_path, benchmark, answers))
    assert head[len(CARD_FIELDS) + 1 :] == [
        *("editor", "notes[0].page", "notes[1]", "publication.series", "status")
    ]
    assert rows[1][-5:] == ["Ott", "3", "x", "", "clean"]
    figures = same_figures(tmp_path, benchmark, answers, FIGURES)
    assert figures["false_positives"] == 3 + 2  # the invented, and one that is not the title


def test_impossible_column_names_are_kept_aside(tmp_path):
    hostile = {
        "=cmd|' /C calc'!A0": "1",
        "ID": "2",
        "status": "3",
        "Publication Year": "4",
        "a\nb": "5",
        "x" * 1000: "6",
        " ": "7",
        "file_name": "8",
        "author": "Ott",
        "\ud800": "9",
        "publication": {"title": "A", "year": {"printed": 1957}},
        "fine, though": "10",
    }
    benchmark, answers = cards(tmp_path, {"id": "1", "prediction": hostile})
    for form in ("csv", "xlsx"):
        written = export(answers, form, out=tmp_path / f"t.{form}", benchmark=benchmark)
        assert "other_fields" in written.notes[-1]
        assert score(benchmark, written.path).figures()["answered"] == 1
    (row,) = records(tmp_path / "t.csv")
    kept = json.loads(row.pop("other_fields"))
    surrogate = kept.pop("\ufffd")
    assert surrogate == "9"
    wanted = {
        name: value
        for name, value in hostile.items()
        if name not in ("fine, though", "publication", "\ud800")
    }
    assert kept == wanted
    assert row == {
        "id": "1",
        "publication.title": "A",
        "publication.year": '{"printed": 1957}',
        "fine, though": "10",
        "status": "clean",
    }


def test_a_model_that_invents_endlessly_gets_fifty_columns(tmp_path):
    invented = {f"field{number}": number for number in range(60)}
    benchmark, answers = cards(tmp_path, {"id": "1", "prediction": CARD | invented})
    head, row = csv_rows(exported(tmp_path, benchmark, answers))
    assert head[len(CARD_FIELDS) + 1 :] == [
        *(f"field{number}" for number in range(50)),
        *("status", "other_fields"),
    ]
    assert json.loads(row[-1]) == {f"field{number}": number for number in range(50, 60)}


def test_nothing_is_a_formula(tmp_path):
    texts = ["=1+1", "+cmd|' /C calc'!A0", "-A1", "@SUM(A1)", "Basel; =A1", ' "=A1', "＝A1"]
    kept = ["-", "+ -", "-12", "+3,5", "a=b"]
    benchmark, answers = cards(
        tmp_path,
        *(
            {"id": f"{number:03}", "prediction": {"publication": {"title": text}}}
            for number, text in enumerate(texts + kept)
        ),
    )
    titles = [row["publication.title"] for row in records(exported(tmp_path, benchmark, answers))]
    assert titles == [
        *("'=1+1", "'+cmd|' /C calc'!A0", "'-A1", "'@SUM(A1)", "Basel; '=A1", " \"'=A1", "'＝A1"),
        *kept,
    ]
    column = CARD_FIELDS.index("publication.title") + 2
    cells = [
        row[column - 1] for row in sheet(exported(tmp_path, benchmark, answers, "xlsx")).iter_rows()
    ]
    assert [cell.value for cell in cells[1:]] == texts + kept
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr"}


def test_years_sort_as_numbers_and_leading_zeros_stay_text(tmp_path):
    years = [1957, "1961", "0012", "um 1900", 10**20, 1957.5]
    benchmark, answers = cards(
        tmp_path,
        *(
            {"id": f"000{number}", "prediction": {"publication": {"year": year, "title": "1957"}}}
            for number, year in enumerate(years)
        ),
    )
    rows = list(sheet(exported(tmp_path, benchmark, answers, "xlsx")).iter_rows(values_only=True))
    year, title = (rows[0].index(f"publication.{name}") for name in ("year", "title"))
    assert [row[year] for row in rows[1:]] == [
        *(1957, 1961, "0012", "um 1900", "100000000000000000000", 1957.5)
    ]
    assert {row[title] for row in rows[1:]} == {"1957"}
    assert [row[0] for row in rows[1:]] == [f"000{number}" for number in range(len(years))]


def test_the_sheet_has_a_head_that_stays_and_a_filter(tmp_path):
    benchmark, answers = cards(tmp_path, {"id": "1", "prediction": CARD})
    found = sheet(exported(tmp_path, benchmark, answers, "xlsx"))
    assert found.freeze_panes == "B2"
    assert found.auto_filter.ref == "A1:M2"
    assert all(cell.alignment.wrap_text for cell in found[1])


def test_null_and_empty_and_absent_fields_look_the_same(tmp_path):
    truth = {"publication": {"title": "A", "place": ""}}
    benchmark, answers = cards(
        tmp_path,
        {"id": "null", "prediction": {"publication": {"title": "A", "place": None}}},
        {"id": "absent", "prediction": {"publication": {"title": "A"}}},
        {"id": "empty", "prediction": {"publication": {"title": "A", "place": ""}}},
        truths=dict.fromkeys(["null", "absent", "empty"], truth),
    )
    # zettel_f1 takes an empty text for a correct answer to the empty text, and null for none.
    assert score(benchmark, answers).figures()["true_positives"] == 3 + 1
    for form in ("csv", "xlsx"):
        read = score(benchmark, exported(tmp_path, benchmark, answers, form)).figures()
        assert read["true_positives"] == 3 + 3
    same_figures(tmp_path, benchmark, answers, ("false_positives", "false_negatives"))


def test_too_long_text_is_cut_in_excel_and_complete_in_csv(tmp_path):
    title = "𝔄" * 20_000  # two units each
    benchmark, answers = cards(
        tmp_path, {"id": "1", "prediction": {"publication": {"title": title}}}
    )
    (row,) = records(exported(tmp_path, benchmark, answers))
    assert row["publication.title"] == title
    (cut,) = [
        cell
        for cell in next(
            sheet(exported(tmp_path, benchmark, answers, "xlsx")).iter_rows(2, values_only=True)
        )
        if cell and "cut" in str(cell)
    ]
    assert cut.endswith("𝔄… [cut: 20000 characters]")
    assert len(cut.encode("utf-16-le")) // 2 in (32_766, 32_767)


def test_what_excel_cannot_hold_is_refused_and_csv_named():
    check_size(MAX_ROWS - 1, 16_384)
    for rows, columns in ((MAX_ROWS, 2), (1, 16_385)):
        with pytest.raises(HdbenchError, match="--format csv"):
            check_size(rows, columns)


def test_images_of_ones_own_are_a_table_without_a_truth(tmp_path):
    benchmark = make_benchmark(tmp_path, "zettelkatalog", {})
    run = tmp_path / "my-run.1"
    run.mkdir()
    info = {"run": "my-run.1", "benchmark": "hdb/zettelkatalog", "model": "m", "own_images": True}
    (run / "run.json").write_text(json.dumps(info | {"items": ["scan 2", "scan 1", "scan 3"]}))
    lines = [{"id": "scan 1", "text": json.dumps(CARD)}, {"id": "scan 2", "text": "no"}]
    (run / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = records(export(run, "csv", out=tmp_path / "t.csv", benchmark=benchmark).path)
    assert [(row["id"], row["status"]) for row in found] == [
        ("scan 1", "clean"),
        ("scan 2", "unparsable"),
        ("scan 3", "unanswered"),
    ]


def test_run_names_its_table_and_exports_only_the_asked_items(tmp_path, monkeypatch):
    make_benchmark(tmp_path, "zettelkatalog", dict.fromkeys("abc", CARD))
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "runs/gemini-1.5"
    run.mkdir(parents=True)
    info = {
        "run": "gemini-1.5",
        "benchmark": "hdb/zettelkatalog",
        "model": "m",
        "items": ["c", "a"],
    }
    (run / "run.json").write_text(json.dumps(info))
    (run / "answers.jsonl").write_text(json.dumps({"id": "c", "prediction": CARD}) + "\n")
    written = export(run, "csv")
    assert str(written.path) == "gemini-1.5.csv"
    assert [row["id"] for row in records(written.path)] == ["a", "c"]
    (run / "run.json").write_text(json.dumps(info | {"benchmark": "hdb/avisblatt"}))
    with pytest.raises(HdbenchError, match="answers hdb/avisblatt, not hdb/zettelkatalog"):
        export(run, "csv", benchmark="hdb/zettelkatalog")


def test_table_name_keeps_the_dots_of_the_answers_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    benchmark, answers = cards(tmp_path, {"id": "0001", "prediction": CARD})
    named = answers.rename(tmp_path / "gpt-4.1.jsonl")
    assert export(named, "csv", benchmark=benchmark).path.name == "gpt-4.1.csv"


def test_the_models_of_a_file_are_told_apart(tmp_path):
    benchmark, answers = cards(
        tmp_path,
        {"id": "1", "model": "one", "prediction": CARD},
        {"id": "1", "model": "two", "prediction": CARD},
        truths={"1": CARD},
    )
    rows = records(exported(tmp_path, benchmark, answers))
    assert [(row["id"], row["model"]) for row in rows] == [("1", "one"), ("1", "two")]


def test_a_table_is_replaced_whole_or_not_at_all(tmp_path):
    benchmark, answers = cards(tmp_path, {"id": "1", "prediction": CARD})
    old = tmp_path / "table.csv"
    old.write_text("old")
    answers.write_text(json.dumps({"id": "unknown", "prediction": CARD}))
    with pytest.raises(HdbenchError, match="no id 'unknown'"):
        exported(tmp_path, benchmark, answers)
    assert old.read_text() == "old"
    answers.write_text(json.dumps({"id": "1", "prediction": CARD}))
    before = {path.name for path in tmp_path.iterdir()}
    assert exported(tmp_path, benchmark, answers) == old
    assert old.read_text(encoding="utf-8-sig").startswith("id,")
    assert {path.name for path in tmp_path.iterdir()} == before
    with pytest.raises(HdbenchError, match="cannot be written"):
        export(answers, "xlsx", out=tmp_path / "none/t.xlsx", benchmark=benchmark)
    with pytest.raises(HdbenchError, match="holds the answers themselves"):
        export(answers, "csv", out=answers, benchmark=benchmark)


def test_answers_without_a_run_file_need_a_benchmark(tmp_path):
    _, answers = cards(tmp_path, {"id": "1", "prediction": CARD})
    with pytest.raises(HdbenchError, match="before them"):
        export(answers, "csv")


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_the_same_run_gives_the_same_bytes(form, tmp_path):
    benchmark, answers = cards(tmp_path, {"id": "1", "prediction": CARD | {"z": 1, "a": 2}})
    first = exported(tmp_path, benchmark, answers, form).read_bytes()
    assert exported(tmp_path, benchmark, answers, form).read_bytes() == first
    if form == "xlsx":  # it has no time of its own in it
        made = load_workbook(tmp_path / "table.xlsx").properties.created
        assert made == datetime.datetime(1980, 1, 1)


def test_json_lines_are_read_again_as_the_same_answers(tmp_path):
    card = {"publication": {"title": "A", "place": None, "year": "0012"}, "x": {"y": [1, None]}}
    benchmark, answers = cards(
        tmp_path,
        {"id": "clean", "prediction": card},
        {"id": "fenced", "text": f"Here:\n```json\n{json.dumps(CARD)}\n```"},
        {"id": "prose", "text": "I cannot \ud800 read this."},
        {"id": "lost", "error": "timeout", "prediction": None},
        truths=dict.fromkeys(["clean", "fenced", "prose", "lost", "unasked"], CARD),
    )
    path = exported(tmp_path, benchmark, answers, "jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [
        {"id": "clean", "status": "clean", "prediction": card},
        {"id": "fenced", "status": "unwrapped", "prediction": CARD},
        {"id": "prose", "status": "unparsable", "text": "I cannot \ud800 read this."},
        {"id": "lost", "status": "unanswered", "error": "timeout", "prediction": None},
        {"id": "unasked", "status": "unanswered", "prediction": None},
    ]
    old, new = (score(benchmark, each) for each in (answers, path))
    assert new.statistics == old.statistics
    assert (new.figures()["answered"], new.figures()["unparsable"]) == (2, 1)


def test_parquet_has_the_same_as_json_lines_in_groups_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.output.exporting.formats.ROW_GROUP", 2)
    benchmark, answers = cards(
        tmp_path,
        {"id": "clean", "prediction": CARD},
        {"id": "prose", "text": "I cannot \ud800 read this."},
        {"id": "lost", "error": "timeout", "prediction": None},
        truths=dict.fromkeys(["clean", "prose", "lost", "unasked"], CARD),
    )
    path = exported(tmp_path, benchmark, answers, "parquet")
    file = pq.ParquetFile(path)
    assert file.num_row_groups == 2
    rows = file.read().to_pylist()
    assert json.loads(rows[0]["prediction"]) == CARD
    assert rows == [
        {**empty("clean"), "status": "clean", "prediction": rows[0]["prediction"]},
        {**empty("prose"), "status": "unparsable", "text": "I cannot \\ud800 read this."},
        {**empty("lost"), "error": "timeout"},
        empty("unasked"),
    ]


def empty(item):
    about = {"id": item, "status": "unanswered"}
    return about | dict.fromkeys(["model", "prediction", "text", "error"])


def test_json_lines_name_the_models_of_a_file(tmp_path):
    benchmark, answers = cards(
        tmp_path,
        {"id": "1", "model": "one", "prediction": CARD},
        {"id": "1", "model": "two", "prediction": CARD},
        truths={"1": CARD},
    )
    path = exported(tmp_path, benchmark, answers, "jsonl")
    models = [json.loads(line)["model"] for line in path.read_text().splitlines()]
    assert models == ["one", "two"]


def test_format_follows_the_file_ending_and_is_csv_without_one(tmp_path, run_hdbench):
    benchmark, answers = cards(tmp_path, {"id": "0001", "prediction": CARD})
    command = ("export", benchmark, answers)
    done = run_hdbench(*command, cwd=tmp_path)
    table = tmp_path / f"{answers.stem}.csv"
    assert (done.returncode, csv_rows(table)[0]) == (0, ["id", *CARD_FIELDS, "status"]), done.stderr
    done = run_hdbench(*command, "-o", "lines.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "lines.jsonl").read_text())["prediction"] == CARD
    done = run_hdbench(*command, "-o", "table.txt", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: table.txt: its ending says no format: choose one of xlsx")
    assert not (tmp_path / "table.txt").exists()
    piped = subprocess.run(
        [sys.executable, "-m", "hdbench", "export", benchmark, "-"],
        cwd=tmp_path,
        input=answers.read_bytes(),
        capture_output=True,
        timeout=300,
    )
    assert piped.stdout.startswith(b"answers.csv: 1 rows"), piped.stderr
    assert csv_rows(tmp_path / "answers.csv")[1][0] == "0001"
