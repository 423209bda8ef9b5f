"""Tables in notebooks."""

import lxml.html

from hdbench.common.display.html import HtmlTable, block
from hdbench.common.display.table import RowTable


def cells(html):
    """The texts of the cells of a table, row by row, with how each is aligned."""
    rows = lxml.html.fromstring(html).xpath("//tr")
    return [
        [(cell.text_content().strip(), "right" in cell.get("style")) for cell in row]
        for row in rows
    ]


def test_numbers_stand_at_the_right_below_their_name():
    table = HtmlTable(["field", "f1"], [["title", 1 / 3], ["year", None], ["place", 1]])
    head, *rows = cells(block(tables=[table]))
    assert head == [("field", False), ("f1", True)]
    assert [row[1] for row in rows] == [("0.333", True), ("", True), ("1", True)]


def test_a_value_among_texts_is_shown_as_it_is():
    table = RowTable([{"expected": 1200.5}, {"expected": "1896-05-03"}], ["expected"])
    assert cells(table._repr_html_())[1:] == [[("1200.5", False)], [("1896-05-03", False)]]


def test_columns_without_a_value_are_left_out():
    rows = [{"id": "a", "image": None}, {"id": "b", "image": None}]
    assert cells(RowTable(rows, ["id", "image"])._repr_html_())[0] == [("id", False)]
    assert len(cells(RowTable([], ["id", "image"])._repr_html_())[0]) == 2


def test_a_data_frame_has_values_as_they_are():
    rows = [{"found": 1957, "f1": 1}, {"found": None, "f1": None}, {"found": 1958, "f1": 1}]
    table = RowTable(rows, ["found", "f1"], values=["found"])
    for frame in (table.to_pandas(), table[:].to_pandas()):
        assert frame["found"].tolist() == [1957, None, 1958]
        assert isinstance(frame["found"][0], int)
        assert frame["f1"].dtype == float
