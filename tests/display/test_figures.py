"""The figures for papers: what they show is read back from what they draw."""

from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from hdbench.common.display.plots import Dot, Point, differences, dots, heat_map, scatter
from hdbench.common.display.scatter import pareto

pytestmark = pytest.mark.nightly

ROWS = [
    Dot("reader", 0.9, 0.85, 0.95, "1"),
    Dot("scribe", 0.5, None, None, "2–3"),
    Dot("clerk", None),
]
HOSTILE = [
    "$x^2$",
    "$\\frac{1}{",
    "--><script>alert(1)</script>",
    "שלום 中文 \u202egnp.exe",
    "\x00\x1b[31m\ud800\ufffe",
    "a\nb\r\tc",
    "x" * 500,
    "{0} %s",
    "",
]


def dot(plot):
    """The dots of a plot: their places."""
    lines = [line for line in plot.axes[0].get_lines() if line.get_marker() == "o"]
    return sorted(tuple(place) for line in lines for place in line.get_xydata().tolist())


def texts(plot):
    return [text.get_text() for text in plot.findobj(mpl.text.Text) if text.get_text()]


def overlaps(boxes):
    return [(a, b) for n, a in enumerate(boxes) for b in boxes[:n] if a.overlaps(b)]


def extents(plot, artists):
    plot.canvas.draw()
    return [artist.get_window_extent() for artist in artists]


def test_dots_and_intervals_are_the_numbers_given():
    plot = dots(ROWS, figure="f1", higher_is_better=True, notes="rank")
    assert dot(plot) == [(0.5, 1.0), (0.9, 0.0)]
    [intervals] = plot.axes[0].collections
    assert [line.tolist() for line in intervals.get_segments()] == [[[0.85, 0.0], [0.95, 0.0]]]
    labels = [label.get_text() for label in plot.axes[0].get_yticklabels()]
    assert labels == ["reader", "scribe", "clerk"]
    assert {"1", "2–3", "rank", "no value"} <= set(texts(plot))


def test_a_dot_without_an_interval_is_open_only_beside_others():
    def faces(rows):
        plot = dots(rows, figure="f1")
        lines = [line for line in plot.axes[0].get_lines() if line.get_marker() == "o"]
        return {line.get_markerfacecolor() for line in lines}, "".join(texts(plot))

    some, said = faces(ROWS)
    assert "white" in some
    assert "95% interval" in said
    assert "open dot: no interval" in said
    none, said = faces([row._replace(low=None) for row in ROWS])
    assert "white" not in none
    assert "interval" not in said


def test_people_are_a_line_with_their_name():
    plot = dots(ROWS, figure="f1", line=Dot("people", 0.7, 0.6, 0.8))
    [line] = [each for each in plot.axes[0].get_lines() if each.get_marker() == "None"]
    assert line.get_xdata() == [0.7, 0.7]
    assert "people" in texts(plot)
    assert "people 0.700 (0.600 to 0.800)" in plot.alt


def test_a_line_without_a_value_is_not_drawn():
    plot = dots(ROWS, figure="f1", line=Dot("people", None))
    assert all(line.get_marker() == "o" for line in plot.axes[0].get_lines())


@pytest.mark.parametrize("number", [0, 1, 60])
def test_any_number_of_rows_has_room(number):
    rows = [Dot(f"model {n}", n / 60, n / 70, n / 50, f"{n}") for n in range(number)]
    plot = dots(rows, figure="f1", title="A title", notes="rank")
    labels = plot.axes[0].get_yticklabels()
    assert len(labels) == number
    boxes = extents(plot, labels)
    assert not overlaps(boxes)
    assert all(box.x0 >= 0 and box.y0 >= 0 and box.y1 <= plot.bbox.y1 for box in boxes)
    assert plot.get_size_inches()[0] == 3.5


def test_differences_have_a_line_at_0_in_the_middle():
    rows = [Dot("title", 0.1, 0.05, 0.15), Dot("year", -0.3)]
    plot = differences(rows, figure="f1", names=("A", "B"))
    assert dot(plot) == [(-0.3, 1.0), (0.1, 0.0)]
    low, high = plot.axes[0].get_xlim()
    assert low == -high < -0.3
    [zero] = [line for line in plot.axes[0].get_lines() if line.get_marker() == "None"]
    assert zero.get_xdata() == [0, 0]
    assert any("f1: A minus B" in text for text in texts(plot))
    assert "+0.2" in texts(plot)


def test_what_does_not_differ_is_drawn_at_0():
    assert dot(differences([Dot("title", 0.0, 0.0, 0.0)])) == [(0.0, 0.0)]


POINTS = [
    Point("cheap", 0.5, 1.0, 0.4, 0.6),
    Point("same price", 0.4, 1.0),
    Point("good", 0.8, 5.0),
    Point("bad", 0.7, 6.0),
    Point("best", 0.9, 100.0),
    Point("unknown", 0.95, None),
    Point("nowhere", 0.95, float("nan")),
]


def test_no_model_on_the_pareto_line_is_beaten():
    known = POINTS[:5]
    assert [point.label for point in pareto(known)] == ["cheap", "good", "best"]
    assert [point.label for point in pareto(known, higher_is_better=False)] == ["same price"]
    twins = [Point("a", 0.5, 1.0), Point("b", 0.5, 1.0)]
    assert pareto(twins) == twins


def test_costs_over_a_wide_span_are_logarithmic():
    plot = scatter(POINTS, figure="f1", cost="price")
    assert plot.axes[0].get_xscale() == "log"
    assert dot(plot) == [(1.0, 0.4), (1.0, 0.5), (5.0, 0.8), (6.0, 0.7), (100.0, 0.9)]
    [front] = [line for line in plot.axes[0].get_lines() if "no model" in str(line.get_label())]
    assert front.get_xydata()[:3].tolist() == [[1.0, 0.5], [5.0, 0.8], [100.0, 0.9]]
    said = "".join(texts(plot))
    assert "not shown, as their prices are not known: unknown, nowhere" in said
    narrow = scatter(POINTS[:4], figure="f1", cost="seconds")
    assert narrow.axes[0].get_xscale() == "linear"
    assert "seconds per item, lower is better" in texts(narrow)


def test_names_cover_neither_each_other_nor_dots():
    rng = np.random.default_rng(0)
    points = [
        Point(f"provider/model-{n}", float(value), float(10**cost))
        for n, (value, cost) in enumerate(rng.uniform((0.5, -1), (0.9, 1), (40, 2)))
    ]
    plot = scatter(points, figure="f1", cost="price")
    names = [text for text in plot.axes[0].texts if text.get_text().startswith("provider")]
    assert len(names) > 30
    boxes = extents(plot, names)
    assert not overlaps(boxes)
    places = plot.axes[0].transData.transform([(point.x, point.value) for point in points])
    assert not any(box.contains(*place) for box in boxes for place in places)


def test_cells_have_their_numbers_and_a_dash_where_there_is_none():
    values = [[0.25, None], [1.0, float("nan")], [0.0, 0.5]]
    plot = heat_map(values, rows=["title", "year", "place"], columns=["A", "B"], figure="f1")
    cells = {text.get_position(): text.get_text() for text in plot.axes[0].texts}
    assert cells == {
        (0.5, 0.5): "0.25",
        (1.5, 0.5): "–",
        (0.5, 1.5): "1.00",
        (1.5, 1.5): "–",
        (0.5, 2.5): "0.00",
        (1.5, 2.5): "0.50",
    }
    [mesh] = plot.axes[0].collections
    assert mesh.get_clim() == (0, 1)
    assert mesh.get_array().filled(-1).tolist() == [[0.25, -1], [1.0, -1], [0.0, 0.5]]


def test_many_columns_become_rows():
    models = [f"model {n}" for n in range(30)]
    values = [[n / 30 for n in range(30)], [0.5] * 30]
    plot = heat_map(values, rows=["title", "year"], columns=models, figure="f1")
    assert [label.get_text() for label in plot.axes[0].get_yticklabels()] == models
    assert [label.get_text() for label in plot.axes[0].get_xticklabels()] == ["title", "year"]
    assert plot.axes[0].collections[0].get_array()[3].tolist() == [0.1, 0.5]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_labels_are_shown_as_they_are(hostile):
    rows = [Dot(hostile, 0.5, 0.4, 0.6, hostile), Dot("title", 0.1)]
    made = [
        dots(rows, figure=hostile, title=hostile, notes=hostile, line=rows[0]),
        differences(rows, figure=hostile, names=(hostile, hostile)),
        scatter([Point(hostile, 0.5, 1.0), Point(hostile, 0.5, None)], figure="f1", cost="price"),
        heat_map([[0.5]], rows=[hostile], columns=[hostile], figure=hostile),
    ]
    for plot in made:
        svg = plot.bytes_of("svg")
        for element in ElementTree.fromstring(svg).iter():
            assert element.tag.rpartition("}")[2] not in ("script", "image", "text", "a")
        assert plot.get_size_inches()[1] < 5
        boxes = extents(plot, [text for text in plot.axes[0].get_yticklabels() if text.get_text()])
        assert all(box.x0 >= 0 for box in boxes)
        assert not any(text.get_parse_math() for text in plot.findobj(mpl.text.Text))


def test_what_a_figure_shows_is_also_in_words():
    plot = dots(ROWS, figure="f1", higher_is_better=True)
    assert plot.alt == (
        "f1, 95% interval, higher is better: reader 0.900 (0.850 to 0.950), 1; "
        "scribe 0.500, 2–3; clerk no value"
    )
    many = dots([Dot(f"{n}", 0.5) for n in range(100)], figure="f1")
    assert many.alt.endswith("59 0.500; and 40 more")
