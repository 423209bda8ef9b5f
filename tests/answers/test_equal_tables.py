"""One table, whatever it comes as: its rows are the same answers, and the same ground truths."""

import csv
import gzip
import io
import json
import random
import zipfile
from xml.sax.saxutils import escape

import datasets
import openpyxl
import pandas as pd
import pytest

import hdbench.api as hd
from hdbench.answers.answers import Answers
from hdbench.answers.columns import propose
from hdbench.answers.files import open_container
from hdbench.answers.in_memory import entries, write_entries
from hdbench.answers.records import mapped
from hdbench.answers.schema import AnswerSchema
from hdbench.collections.new.truth_files import open_truth

TEXT, NULL = {"type": "string"}, "null"
SCHEMA = {
    "type": "object",
    "properties": {
        "title": TEXT,
        "year": {"type": ["integer", NULL]},
        "price": {"type": ["number", NULL]},
        "bound": {"type": ["boolean", NULL]},
        "subjects": {"type": "array", "items": TEXT},
        "author": {"type": "object", "properties": {"last_name": TEXT, "role": TEXT}},
    },
}
COLUMNS = ("id", "title", "year", "price", "bound", "subjects", "author.last_name", "author.role")
WORDS = [
    "Zürich",
    "Müller, Anna",
    'der "Wein"',
    "0012",
    "Ærø",
    "two\nlines",
    "Straße",
    "7 Bände",
    "x",
]
IDS = ["0001", "Kasten3_0007", "a b", "ü-1", "12", "B.4", "007", "Z"]


def made(seed):
    """A table of typed rows, some without any value; None is an empty cell."""
    draw = random.Random(seed)

    def some(make, share=0.7):
        return make() if draw.random() < share else None

    rows = []
    for item in draw.sample(IDS, draw.randint(2, len(IDS))):
        if rows and draw.random() < 0.15:
            rows.append(dict.fromkeys(COLUMNS) | {"id": item})
            continue
        rows.append(
            {
                "id": item,
                "title": some(lambda: draw.choice(WORDS)),
                "year": some(lambda: draw.choice([0, 1800, 1912, -5])),
                "price": some(lambda: draw.choice([0.0, 2.5, 3.0, 0.1, 1200.75])),
                "bound": some(lambda: draw.random() < 0.5),
                "subjects": some(lambda: draw.sample(WORDS[:1] + WORDS[4:5] + ["Ehe", "Lied"], 2)),
                "author.last_name": some(lambda: draw.choice(WORDS)),
                "author.role": some(lambda: draw.choice(["ed.", "0", "Verf."])),
            }
        )
    return rows


def flat(row):
    """A row as people have it in spreadsheets: lists between bars."""
    return [" | ".join(cell) if isinstance(cell, list) else cell for cell in map(row.get, COLUMNS)]


def nested(row):
    author = {key: row[f"author.{key}"] for key in ("last_name", "role")}
    return {key: row[key] for key in COLUMNS if "." not in key} | {"author": author}


def ods(rows):
    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        kind, attribute = "string", ""
        if isinstance(value, bool):
            kind, attribute = "boolean", f'office:boolean-value="{str(value).lower()}"'
        elif isinstance(value, int | float):
            kind, attribute = "float", f'office:value="{value}"'
        lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in str(value).split("\n"))
        return (
            f'<table:table-cell office:value-type="{kind}" {attribute}>{lines}</table:table-cell>'
        )

    space = "urn:oasis:names:tc:opendocument:xmlns"
    body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    return (
        f'<office:document-content xmlns:office="{space}:office:1.0" '
        f'xmlns:table="{space}:table:1.0" xmlns:text="{space}:text:1.0"><office:body>'
        f'<office:spreadsheet><table:table table:name="t">{body}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )


def every_form(rows, folder, *, with_polars=False):
    """Yield the paths of files, and tables in memory, with the same rows."""
    cells = [COLUMNS, *map(flat, rows)]
    for name, delimiter, encoding in (
        ("a.csv", ",", "utf-8"),
        ("semicolons.csv", ";", "utf-16"),
        ("a.tsv", "\t", "utf-8-sig"),
    ):
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter).writerows(cells)
        (folder / name).write_bytes(out.getvalue().encode(encoding))
        yield folder / name
    frame = pd.DataFrame(rows, columns=COLUMNS)
    # Its lists are written as Python has them, its numbers with gaps as 1800.0.
    frame.to_csv(folder / "pandas.csv", index=False)
    yield folder / "pandas.csv"
    book = openpyxl.Workbook()
    for row in cells:
        book.active.append(row)
    book.save(folder / "a.xlsx")
    yield folder / "a.xlsx"
    with zipfile.ZipFile(folder / "a.ods", "w") as archive:
        archive.writestr("META-INF/manifest.xml", "<a/>")
        archive.writestr("content.xml", ods(cells))
    yield folder / "a.ods"
    frame.to_parquet(folder / "a.parquet")
    yield folder / "a.parquet"
    lines = {"dotted.jsonl": rows, "nested.jsonl": [nested(row) for row in rows]}
    if all(any(row[name] is not None for row in rows) for name in COLUMNS):
        lines["without null.jsonl"] = [
            {key: value for key, value in row.items() if value is not None} for row in rows
        ]
    for name, each in lines.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in each))
        yield folder / name
    (folder / "a.json").write_text(json.dumps(lines["nested.jsonl"], indent=1))
    yield folder / "a.json"
    yield frame
    if with_polars:  # which takes 170 MB
        import polars as pl  # noqa: PLC0415

        yield pl.DataFrame(rows, infer_schema_length=None, strict=False)
    yield datasets.Dataset.from_list(lines["nested.jsonl"])


def read(given, ids, folder):
    """The status and the record of each answer."""
    path = given
    if not hasattr(given, "is_file"):
        path = folder / "in memory.jsonl"
        write_entries(path, entries(given))
    schema = AnswerSchema(SCHEMA)
    container = open_container(path, schema, ids=lambda: ids)
    try:
        answers = Answers(container, None, ids, "b", schema)
        taken = [answers.take(item) for item in ids]
        return [(answer.id, answer.status, answer.prediction) for answer in taken]
    finally:
        container.close()


def assert_equal(seed, folder, *, with_polars=False):
    rows = made(seed)
    ids = [row["id"] for row in rows]
    expected = None
    for given in every_form(rows, folder, with_polars=with_polars):
        found = read(given, ids, folder)
        if expected is None:
            expected = found
            for row, (_, status, record) in zip(rows, found, strict=True):
                blank = all(row[name] is None for name in COLUMNS[1:])
                assert status == ("unanswered" if blank else "clean")
                if not blank:
                    assert {**record["author"], **record} == {
                        "last_name": row["author.last_name"] or "",
                        "role": row["author.role"] or "",
                        "author": record["author"],
                        "title": row["title"] or "",
                        "subjects": row["subjects"] or [],
                        **{name: row[name] for name in ("year", "price", "bound")},
                    }
        assert found == expected, (seed, getattr(given, "name", type(given)))


def truths(given, rows):
    """The key and record of each ground truth in a file, and how its columns are read."""
    table = open_truth(given)
    files = [f"{row['id']}.jpg" for row in rows]
    columns = propose(table, paths=None, file_names=files, given={})
    found = mapped(table, columns)
    return (
        [(truth.key, truth.record) for truth in found.truths],
        sorted((each.title, str(each.path), each.kind, each.key) for each in columns),
    )


def assert_equal_truths(seed, folder):
    rows = made(seed)
    if sum(row["subjects"] is not None for row in rows) == 1:  # one bar in CSV makes no list
        rows = [row | {"subjects": None} for row in rows]
    files = [given for given in every_form(rows, folder) if hasattr(given, "is_file")]
    packed = folder / "a.jsonl.gz"
    packed.write_bytes(gzip.compress((folder / "dotted.jsonl").read_bytes()))
    expected = truths(files[0], rows)
    for given in [*files, packed]:
        assert truths(given, rows) == expected, (seed, given.name)


@pytest.mark.parametrize("seed", range(20))
def test_a_table_has_the_same_ground_truths_in_every_form(seed, tmp_path):
    assert_equal_truths(seed, tmp_path)


def test_a_text_with_a_bar_is_a_list_only_where_lists_cannot_be_written(tmp_path):
    rows = [{"id": item, "title": "Die Ehe | Ein Lied"} for item in ("1", "2")]
    table, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    table.write_text("id,title\n1,Die Ehe | Ein Lied\n2,Die Ehe | Ein Lied\n")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert truths(table, rows)[0][0] == ("1", {"title": ["Die Ehe", "Ein Lied"]})
    assert truths(lines, rows)[0][0] == ("1", {"title": "Die Ehe | Ein Lied"})
    given = rows[0] | {"title": "Die Ehe"}
    result = hd.score(pd.DataFrame(rows), [given, rows[1]], metric="record_f1")
    assert result.rates["f1_micro"] == 0.5


@pytest.mark.parametrize("seed", range(40))
def test_a_table_has_the_same_answers_in_every_form(seed, tmp_path):
    assert_equal(seed, tmp_path)


@pytest.mark.nightly
def test_two_thousand_tables_have_the_same_answers_in_every_form(tmp_path):
    for seed in range(2_000):
        assert_equal(seed, tmp_path, with_polars=True)


def test_dates_are_alike_in_memory_and_in_parquet(tmp_path):
    frame = pd.DataFrame({"id": ["1"], "title": [pd.Timestamp("1912-09-17")]})
    frame.to_parquet(tmp_path / "a.parquet")
    for given in (frame, tmp_path / "a.parquet"):
        assert read(given, ["1"], tmp_path) == [("1", "clean", {"title": "1912-09-17"})]


@pytest.mark.parametrize("seed", range(3))
def test_a_table_scored_against_itself_is_perfect_whatever_both_come_as(seed, tmp_path):
    rows = [row for row in made(seed) if row["title"]]
    truths = pd.DataFrame(rows, columns=COLUMNS)
    results = {
        repr(hd.score(truths, given, metric="record_f1").rates)
        for given in every_form(rows, tmp_path)
    }
    assert len(results) == 1
    assert "'f1_micro': 1.0" in results.pop()


@pytest.mark.parametrize("seed", range(2))
def test_answers_have_the_same_result_to_the_last_digit_in_every_form(seed, tmp_path):
    rows = [row for row in made(seed) if row["title"]]
    truths = pd.DataFrame(rows, columns=COLUMNS)
    wrong = [row | {"title": "Wyn", "year": 1801} for row in rows[:1]] + rows[1:]
    (tmp_path / "wrong").mkdir()
    results = {}
    for given in every_form(wrong, tmp_path / "wrong"):
        result = hd.score(truths, given, metric="record_f1").to_dict()
        name = getattr(given, "name", type(given).__name__)
        for key in ("answers", "run"):
            result.pop(key)
        # Not which column is read as which field: in JSON, their order is another one.
        notes = [note for note in result["reading"]["notes"] if ": read as " not in note]
        result["reading"]["notes"] = [note.replace(str(given), "FILE") for note in notes]
        results[name] = result
    first = next(iter(results.values()))
    for name, result in results.items():
        assert result == first, name
