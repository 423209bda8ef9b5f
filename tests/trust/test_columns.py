"""The columns of each value against those of a plain procedure, and what they are scaled to."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.planned_cards import FIELDS, Catalogue
from hypothesis import given
from hypothesis import strategies as st
from reference import learned as naive

from hdbench.collections.trust import probabilities
from hdbench.collections.trust.cuts import BILLION
from hdbench.collections.trust.probabilities import (
    chosen_values,
    columns_of,
    names_of_columns,
    probabilities_of,
    probability,
    scales_of,
    shape_of,
)
from hdbench.collections.trust.runs import Runs, fields_called
from hdbench.common.value_text import text_of

pytestmark = pytest.mark.slow

VALUES = st.one_of(
    st.sampled_from([None, "", " null ", "Basel", "BASEL", "Basle ", "Zürich", "Diss. 1961, 8°"]),
    st.integers(0, 3),
    st.text("aB1.é", max_size=4),
)


@pytest.fixture(scope="module")
def cards(tmp_path_factory):
    """A benchmark for its metric and its fields."""
    return Catalogue(tmp_path_factory.mktemp("cards"), items=1).benchmark


@st.composite
def answers(draw):
    """For each run the record of each item, or None; some item is answered."""
    items, number = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    record = st.one_of(st.none(), st.fixed_dictionaries(dict.fromkeys(FIELDS, VALUES)))
    said = [draw(st.lists(record, min_size=items, max_size=items)) for _ in range(number)]
    said[-1][0] = said[-1][0] or dict.fromkeys(FIELDS, "Basel")
    return said


def described(cards, said):
    ids = [str(number) for number in range(len(said[0]))]
    taken = [
        SimpleNamespace(take=lambda item, run=run: SimpleNamespace(prediction=run[int(item)]))
        for run in said
    ]
    metric = cards.spec.make_metric("documented")
    runs = Runs(taken, metric, fields_called(FIELDS, cards))
    return chosen_values(runs, ids, FIELDS)


def texts(said):
    return [
        [None if record is None else [text_of(record[name]) for name in FIELDS] for record in run]
        for run in said
    ]


def table(rows, names):
    return np.array([[float(row[name]) for name in names] for row in rows])


@given(answers())
def test_columns_are_those_of_the_plain_procedure(cards, said):
    values = described(cards, said)
    rows = naive.columns(texts(said), FIELDS)

    names = names_of_columns(values)

    assert set(names) == set(rows[0])
    found = columns_of(values, np.arange(len(values)))
    assert found == pytest.approx(table(rows, names), abs=1e-9)


@given(answers())
def test_columns_are_scaled_and_constant_ones_dropped(cards, said):
    values = described(cards, said)
    rows = naive.standardized(naive.columns(texts(said), FIELDS))
    scales, names = scales_of(values), np.array(names_of_columns(values))

    found = scales.scaled(columns_of(values, np.arange(len(values))))

    assert set(names[scales.varies]) == set(rows[0])
    assert found[:, scales.varies] == pytest.approx(table(rows, names[scales.varies]), abs=1e-6)
    assert not found[:, ~scales.varies].any()


@given(answers())
def test_blocks_do_not_matter(cards, said):
    values = described(cards, said)
    coefficients = {name: place / 7 for place, name in enumerate(names_of_columns(values))}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probabilities, "AT_ONCE", 2)
        scales = scales_of(values)
        found = probabilities_of(values, scales, -1.0, coefficients)

    scaled = scales_of(values).scaled(columns_of(values, np.arange(len(values))))
    whole = probability(-1.0 + scaled @ np.array(list(coefficients.values())))
    assert np.abs(found - whole * BILLION).max() <= 1


def test_a_constant_column_of_very_many_values_is_dropped(cards):
    values = described(cards, [[dict.fromkeys(FIELDS, "Basel")] * 70_000] * 2)

    scales = scales_of(values)

    # Their mean is not exactly what each of them is: ln 70,000 has no end.
    names = np.array(names_of_columns(values))
    assert set(names[scales.varies]) == {
        *(f"field={name}" for name in FIELDS),
        *(f"same×field={name}" for name in FIELDS),
        *(f"shape_count×field={name}" for name in FIELDS),
    }


def test_items_without_an_answer_are_left_out_and_not_counted(cards):
    record = {"title": "Stellingen", "place": "Basel", "year": None}

    values = described(cards, [[None, record, record], [None, None, record]])

    assert values.items.tolist() == [1, 2]
    assert values.same.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert values.text_count.tolist() == [[2, 2, 2]] * 2
    assert values.empty.tolist() == [[False, False, True]] * 2


def test_one_run_has_no_columns_about_others(cards):
    values = described(cards, [[{"title": "A", "place": "b", "year": 1}]])

    fields = [f"field={name}" for name in FIELDS]
    shapes = [f"shape_count×field={name}" for name in FIELDS]
    assert names_of_columns(values) == [*fields, "empty", "text_count", "shape_count", *shapes]


@given(st.text())
def test_the_shape_is_that_of_the_plain_procedure(text):
    assert shape_of(text) == naive.shape(text)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", ""),
        ("Diss. Bern 1961", "Aaaa. Aaaa 9999"),
        ("Āß²№٣ ǅ中", "Aa9№9 aa"),
        ("a\n\tB", "a\n\tA"),
    ],
)
def test_shapes_by_hand(text, shape):
    assert shape_of(text) == shape
