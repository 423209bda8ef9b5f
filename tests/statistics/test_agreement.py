"""Agreement between people: published and hand-computed alphas, and a naive one beside it."""

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.scoring.text_equality import similarity
from hdbench.statistics import agreement as module
from hdbench.statistics.agreement import Unit, field_agreement

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units,
# of which the last has one value, so that there is nothing to compare.
PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def of(*units, item=None):
    """The agreement in units that are each of an item of their own, unless one is given."""
    return field_agreement(
        [Unit(number if item is None else item, unit) for number, unit in enumerate(units)],
        resamples=100,
    )


def naive(units, distance):
    """Alpha by its definition: the mean distance within units, by that of all values."""
    values = [value for unit in units for value in unit]
    within = sum(
        distance(one, other) / (len(unit) - 1)
        for unit in units
        for one, other in permutations(unit, 2)
    ) / len(values)
    number = len(values) * (len(values) - 1)
    among = sum(distance(one, other) for one, other in permutations(values, 2)) / number
    return None if among == 0 else 1 - within / among


def nominal(one, other):
    return float(one != other)


def by_similarity(one, other):
    return 0.0 if one is other is None else 1 - similarity(one, other)


def test_the_published_example():
    rows = [line.split() for line in PUBLISHED.split("\n")[1:-1]]
    units = [tuple(each for each in unit if each != ".") for unit in zip(*rows, strict=True)]
    found = of(*units[:-1])
    assert round(found.alpha.value, 3) == 0.743
    # 3 of 6 pairs agree in the second and the eighth unit, where one of four says otherwise, none
    # in the sixth with 1, 2, 3 and 4, and all elsewhere.
    assert found.share.value == pytest.approx((8 + 3 / 6 + 0 / 6 + 3 / 6) / 11)
    assert (found.units, found.items) == (11, 11)


def test_by_hand():
    found = of(("ab", "ab"), ("ab", "ac"))
    assert found.share.value == 0.5
    # Four values, ab three times: they differ in 2 of 4 places, and in 6 of 12 by chance.
    assert found.alpha.value == pytest.approx(1 - (2 / 4) / (6 / 12))
    found = of(("abcd", "abce"), ("xyzu", "xyzu"))
    # abcd and abce share three of four letters: the distance is 1/4. By chance, of 12 ordered pairs
    # 2 are these, 2 the equal ones, and the other 8 have nothing in common.
    assert found.alpha_similarity.value == pytest.approx(1 - (2 * 0.25 / 4) / (8.5 / 12))
    assert found.alpha.value == pytest.approx(1 - (2 / 4) / (10 / 12))


def test_nothing_is_a_value_of_its_own():
    found = of((None, None), ("ab", None), ("ab", "ab"))
    assert found.share.value == pytest.approx(2 / 3)
    # Three of six values are ab: 2 * 9 of 30 pairs differ, all by 1, and 2 of 6 within units.
    assert found.alpha.value == pytest.approx(1 - (2 / 6) / (18 / 30))
    assert found.alpha_similarity.value == pytest.approx(found.alpha.value)


def test_alpha_is_not_defined_where_all_are_equal():
    found = of(*[("May", "May")] * 12)
    assert found.share.value == 1
    assert found.alpha.value is found.alpha.interval is found.alpha_similarity.value is None
    low, high = found.share.interval
    assert high == 1
    assert 0.7 < low < 0.9  # of 12 items, up to 3/12 may be unseen


def test_fewer_than_ten_items_have_no_interval():
    units = [("a", "a"), ("b", "c"), ("b", "b")] * 4
    nine, ten = of(*units[:9]), of(*units[:10])
    assert nine.alpha.interval is nine.share.interval is nine.alpha_similarity.interval is None
    assert None not in (ten.alpha.interval, ten.share.interval, ten.alpha_similarity.interval)
    in_one = of(*[("a", "b"), ("b", "b")] * 20, item=0)  # forty units of one item
    assert (in_one.units, in_one.items, in_one.share.interval) == (40, 1, None)


def test_alpha_undefined_in_most_draws_has_no_interval():
    # Only one of ten items has another value: without it, alpha is not defined.
    found = of(("b", "b"), *[("a", "a")] * 9)
    assert found.alpha.value == 1
    assert found.alpha.interval is None
    assert found.share.interval is not None


def test_intervals_hold_the_figure_and_narrow_with_the_items():
    few = [("a", "a"), ("b", "b"), ("c", "c"), ("a", "b")] * 5
    widths = []
    for units in (few, few * 10):
        found = of(*units)
        for figure in (found.share, found.alpha, found.alpha_similarity):
            low, high = figure.interval
            assert -1 <= low < figure.value < high <= 1
        low, high = found.alpha.interval
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


def test_the_same_seed_gives_the_same_intervals():
    units = [Unit(item, ("a", "ab" if item % 3 else "a")) for item in range(30)]
    one, same, other = (field_agreement(units, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.share.value == other.share.value
    assert one.share.interval != other.share.interval


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.text("abü", max_size=3)), min_size=2, max_size=4),
        min_size=1,
        max_size=12,
    )
)
def test_a_naive_alpha_is_the_same(units):
    found = of(*map(tuple, units))
    pairs = ((found.alpha, nominal), (found.alpha_similarity, by_similarity))
    for estimate, distance in pairs:
        assert estimate.value == pytest.approx(naive(units, distance), abs=1e-9)
    shares = [
        sum(times * (times - 1) for times in Counter(unit).values()) / (len(unit) * (len(unit) - 1))
        for unit in units
    ]
    assert found.share.value == pytest.approx(sum(shares) / len(shares))


def test_without_the_package_alpha_is_the_same(monkeypatch):
    units = [("a", "ab"), ("ab", "ab"), (None, "c"), ("c", "c", "a")] * 5
    packaged = of(*units)
    monkeypatch.setattr(module, "_MAX_COINCIDENCES", 0)
    own = of(*units)
    for one, other in (
        (packaged.alpha, own.alpha),
        (packaged.alpha_similarity, own.alpha_similarity),
    ):
        assert one.value == pytest.approx(other.value)
        assert one.interval == other.interval


def test_too_many_different_values_have_no_alpha_by_similarity(monkeypatch):
    monkeypatch.setattr(module, "MAX_DIFFERENT", 2)
    found = of(("a", "b"), ("b", "b"), ("c", "c"))
    assert found.alpha_similarity.value is None
    assert found.alpha.value == pytest.approx(naive([("a", "b"), ("b", "b"), ("c", "c")], nominal))
