import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hdbench.collections.new.drawing import Population, allocated, draw

KINDS = {"Monographie": 800, "Dissertation": 150, "Karte": 45, "Handschrift": 4, "Globus": 1}


def whole(order=None):
    rows = [
        (f"{kind}-{n}", kind, 1700 + n % 250) for kind, size in KINDS.items() for n in range(size)
    ]
    if order is not None:
        random.Random(order).shuffle(rows)
    ids, kinds, years = zip(*rows, strict=True)
    return Population("kat.csv", ids, {"id": ids, "type": kinds, "year": years}, ())


def test_strata_get_proportional_shares_of_at_least_two():
    drawn, ids, _ = draw(whole(), 100, by=["type"], seed=1)
    sizes = {each.values["type"]: (each.of, each.items) for each in drawn.strata}
    # 80, 15, 4.5, 0.4 and 0.1 are the shares; 2 and 1 are all that the last two must have, so 97
    # are left for the others: 97 * 800 / 995 = 77.99, 14.62 and 4.39.
    assert sizes == {
        "Dissertation": (150, 15),
        "Globus": (1, 1),
        "Handschrift": (4, 2),
        "Karte": (45, 4),
        "Monographie": (800, 78),
    }
    counts = Counter(item.partition("-")[0] for item in ids)
    assert counts == {kind: items for kind, (_, items) in sizes.items()}
    assert drawn.of == 1000
    assert drawn.items == len(ids) == 100


def test_same_seed_draws_the_same_in_any_table_order():
    first = draw(whole(), 50, by=["type"], seed=7)
    assert draw(whole(order=3), 50, by=["type"], seed=7) == first
    assert draw(whole(), 50, by=["type"], seed=8).ids != first.ids


def test_every_item_has_the_same_chance():
    times = Counter()
    for seed in range(400):
        times.update(draw(whole(), 100, seed=seed).ids.keys())
    # 40 of 400 draws are expected of each of 1000 items, with a standard deviation of 6.
    assert len(times) == 1000
    assert min(times.values()) > 15
    assert max(times.values()) < 65


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=40), st.data())
def test_allocations_add_up_and_stay_within_their_strata(sizes, data):
    number = data.draw(st.integers(1, sum(sizes)))
    found = allocated(sizes, number)
    least = [min(2, size) for size in sizes]
    if found is None:
        assert sum(least) > number
        return
    assert sum(found) == number
    for size, count, at_least in zip(sizes, found, least, strict=True):
        assert at_least <= count <= size
