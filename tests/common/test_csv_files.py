"""CSV in which nothing is executed, and which is read back as it was."""

import csv
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hdbench.answers.csv_lines import lines
from hdbench.common.csv_and_excel import write_csv

SIGNS = "=+-@＝＋－＠"
NO_FORMULA = re.compile(rf"""[+-]?[0-9]+([.,][0-9]+)?\Z|-+\Z|(?![\s"]*[{re.escape(SIGNS)}])""")
# Lone surrogates become escapes.
TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    st.sampled_from([*SIGNS, "'", '"', ";", ",", " ", "\t", "\n", "\r", "a", "1", "."]), max_size=9
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "table.csv"


@given(cells=st.lists(TEXT, min_size=2, max_size=4))
@example(cells=["'=1+1", "''-a", "a;'=b", "Ma'=", "-2+3", "'-5", "d'@home"])
def test_what_is_written_is_read_back_and_never_a_formula(cells, path):
    write_csv(path, ["id", *map(str, range(len(cells)))], [["x", *cells]])
    text = path.read_bytes().decode("utf-8-sig")
    [_, (_, _, found)] = lines(text, ",", "table.csv")
    assert found == ["x", *cells]
    [_, raw] = csv.reader(io.StringIO(text, newline=""))
    for cell in raw:
        for part in cell.split(";"):
            assert NO_FORMULA.match(part)


def test_numbers_stay_numbers(path):
    write_csv(path, ["id", "n", "f", "none"], [["a", -2, -2.5e-07, None]])
    assert path.read_bytes().decode("utf-8-sig") == "id,n,f,none\r\na,-2,-2.5e-07,\r\n"
