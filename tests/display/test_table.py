"""One table, as each of its renderers draws it."""

import io

import lxml.html
from rich.console import Console

from hdbench.common.display.table import Column, Table
from hdbench.common.display.terminal import print_table
from hdbench.errors import Message

ROWS = [
    {"field": "title", "f1": 1 / 3, "low": 0.2, "high": 0.5, "found": 1957, "image": None},
    {"field": "place|", "f1": None, "low": None, "high": None, "found": None, "image": None},
    {"field": "\x1b[31m", "f1": 1.0, "low": 0.9, "high": 1.0, "found": ["a"], "image": None},
]
TABLE = Table(
    ROWS,
    [
        Column("field", "field", Message("field")),
        Column("f1", "rate", ends=("low", "high")),
        Column("found", "value", Message("answer")),
        Column("image", "image"),
    ],
)


def printed(table, language="en", width=80, **settings):
    console = Console(file=io.StringIO(), width=width)
    print_table(console, table, language, **settings)
    return [line.split() for line in console.file.getvalue().splitlines()]


def test_a_notebook_has_numbers_at_the_right_and_no_empty_columns():
    rows = lxml.html.fromstring(TABLE._repr_html_()).xpath("//tr")
    cells = [
        [(each.text_content().strip(), "right" in each.get("style")) for each in row]
        for row in rows
    ]
    assert cells[0] == [
        ("field", False),
        ("f1", True),
        ("95% interval", True),
        ("answer", False),
    ]
    assert cells[1][1:] == [("0.333", True), ("0.200 to 0.500", True), ("1957", False)]
    assert cells[2][1:] == [("", True), ("", True), ("", False)]


def test_a_terminal_has_the_same_and_runs_nothing():
    lines = printed(TABLE, "de")
    assert lines[1][-4:] == ["Feld", "f1", "95-%-Intervall", "Antwort"]
    assert lines[3] == ["title", "0,333", "0,200", "bis", "0,500", "1957"]
    assert lines[5][0] == r"\x1b[31m"
    assert printed(TABLE, most=1)[4] == ["and", "2", "more"]
    assert printed(TABLE[:0]) == []


def test_markdown_and_csv_have_the_same_and_mark_nothing_up():
    lines = TABLE.to_markdown().splitlines()
    assert lines[2].replace(" ", "").startswith("|title|0.333|0.200to0.500|")
    assert lines[3].startswith(r"| place\|")
    assert TABLE.to_csv().decode("utf-8-sig").splitlines() == [
        "field,f1,low,high,found",
        f"title,{1 / 3},0.2,0.5,1957",
        "place|,,,,",
        r'\x1b[31m,1.0,0.9,1.0,"[""a""]"',
    ]


def test_a_data_frame_has_values_as_they_are():
    for frame in (TABLE.to_pandas(), TABLE[:].to_pandas()):
        assert frame["found"].tolist() == [1957, None, ["a"]]
        assert isinstance(frame["found"][0], int)
        assert frame["low"].dtype == float
