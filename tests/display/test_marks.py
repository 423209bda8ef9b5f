"""Marks, heat maps and figures in pages: what they show, and that they run nothing."""

import base64
import re
from xml.etree import ElementTree

from hdbench.common.display.marks import heat_table, mark, picture
from hdbench.common.display.plots import Dot, dots

HOSTILE = '"><script>alert(1)</script>\u202e{x}'


def parts(svg):
    """The marks of an SVG: what each is → its places from left to right, in percent."""
    return {
        shape.get("class").removeprefix("hdb-mark-"): [
            float(shape.get(name).removesuffix("%"))
            for name in ("x1", "cx", "x2")
            if shape.get(name) is not None
        ]
        for shape in ElementTree.fromstring(str(svg))
    }


def test_a_mark_shows_value_interval_and_line_on_its_scale():
    shown = parts(mark(0.5, (0.25, 0.75), 0, 1, line=1.0))
    assert shown["spread"] == [25, 75]
    assert shown["value"] == [50]
    assert shown["line"] == [100, 100]


def test_what_is_missing_is_not_drawn():
    assert set(parts(mark(None, None, 0, 1))) == {"scale"}
    assert set(parts(mark(0.5, None, 0, 1))) == {"scale", "value"}


def test_what_is_beyond_the_scale_stays_in_the_picture():
    shown = parts(mark(1.5, (-1.0, 2.0), 0, 1))
    assert shown["spread"] == [0, 100]
    assert shown["value"] == [100]


def test_heat_tables_have_numbers_colors_and_no_code():
    html = heat_table(
        [[0.0, 1.0], [0.46, None]],
        rows=["reader", HOSTILE],
        columns=["title", "x" * 500],
        caption="f1",
        language="de",
    )
    cells = re.findall(r'<td(?: class="(h\d+)")?>([^<]*)</td>', html)
    assert cells == [("", ""), ("h0", "0,00"), ("h10", "1,00"), ("h5", "0,46"), ("", "–")]
    assert "<script" not in html
    assert "\u202e" not in html
    assert "x" * 60 not in html
    assert html.count('scope="row"') == html.count('scope="col"') == 2


def test_a_figure_in_a_page_is_an_image_with_alt_text():
    plot = dots([Dot(HOSTILE, 0.5)], figure="f1")
    html = str(picture(plot))
    data = base64.b64decode(re.search('base64,([^"]*)"', html)[1])
    assert data == plot.bytes_of("svg", transparent=True)
    assert data != plot.bytes_of("svg")  # no white plate on a dark page
    assert "<script" not in html
    assert "0.500" in re.search('alt="([^"]*)"', html)[1]
