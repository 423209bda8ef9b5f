import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.common.grouping import GROUPS, MAX_VALUES, grouped


def test_few_numbers_are_groups_of_their_own_in_order_of_size():
    found = grouped([10, 9, 100, 9, None])
    assert found.order == ["9", "10", "100", None]
    assert found.labels == ["10", "9", "100", "9", None]
    assert found.note is None


def test_the_13th_number_makes_ranges():
    assert grouped(range(MAX_VALUES)).note is None
    found = grouped(range(MAX_VALUES + 1))
    assert len(found.order) <= GROUPS
    assert found.note.startswith("13 different numbers in 5 groups: < ")


def test_years_are_cut_at_round_ones_whatever_the_order():
    years = list(range(1701, 1951))
    random.Random(1).shuffle(years)
    found = grouped([str(year) for year in years])
    assert found.order == ["< 1750", "1750–1799", "1800–1849", "1850–1899", "≥ 1900"]
    by_year = dict(zip(years, found.labels, strict=True))
    assert [by_year[year] for year in (1749, 1750, 1799, 1800, 1900)] == [
        *("< 1750", "1750–1799", "1750–1799", "1800–1849", "≥ 1900")
    ]


def test_some_that_are_no_numbers_count_as_missing_and_are_said():
    found = grouped([*map(str, range(1800, 1900)), "[1912?]", "", "um 1900"])
    assert found.labels[100:] == [None, None, None]
    assert found.note.endswith("; 2 values are not numbers")
    mostly_text = grouped([*map(str, range(20)), *"abcdef"])
    assert mostly_text.note is None


def test_texts_lists_and_flags():
    found = grouped([["b", "a"], True, "  x  y ", " "])
    assert found.labels == ["b | a", "true", "x y", None]


@given(
    st.lists(
        st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e3, 1e3).map(lambda x: round(x, 3))),
        min_size=1,
        max_size=80,
    )
)
def test_each_number_is_in_the_range_that_says_so(numbers):
    found = grouped(numbers)
    assert set(found.labels) == set(found.order)
    if found.note is None:
        return
    assert len(found.order) <= GROUPS
    ordered = [label for _, label in sorted(zip(numbers, found.labels, strict=True))]
    places = [found.order.index(label) for label in ordered]
    assert places == sorted(places)


@pytest.mark.parametrize("values", [[], [None], ["", " "]])
def test_a_column_without_values(values):
    assert set(grouped(values).order) == set(grouped(values).labels)
