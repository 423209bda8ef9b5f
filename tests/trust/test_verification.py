"""Values of the second stage, and which cuts pass, against a plain procedure."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.value_collections import Terms
from hypothesis import given
from hypothesis import strategies as st
from reference import learned as naive
from scipy import stats

from hdbench.collections.trust.cuts import BILLION, UNANSWERED, choose_cuts, walk_cuts
from hdbench.collections.trust.sample import draw_first, draw_second

TENTH = Fraction(1, 10)


@st.composite
def collections(draw):
    """Probabilities by item and field, some of them of no answer, and what is unread."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    size = draw(st.integers(2, 80)), draw(st.integers(1, 5))
    probabilities = (rng.beta(0.4, 6, size) * BILLION).astype(np.int32)
    probabilities[1:][rng.random(size[0] - 1) < 0.2] = UNANSWERED
    return probabilities, rng.random(size) > draw(st.sampled_from([0, 0.3]))


TERMS = st.builds(
    Terms,
    verify=st.integers(1, 200),
    seed=st.integers(0, 5),
    each_field=st.booleans(),
    limit=st.sampled_from([0.05, 0.3]),
)


@given(collections(), TERMS)
def test_only_unread_values_that_may_be_accepted_are_drawn(collection, terms):
    probabilities, is_unread = collection
    fields = probabilities.shape[1]

    groups = draw_second(terms, *collection, choose_cuts(terms, probabilities))

    for group in groups:
        positions = group.drawn.tolist()
        assert len(set(positions)) == len(positions)
        for item, field in (divmod(position, fields) for position in positions):
            assert field in group.fields
            assert is_unread[item, field]
            assert UNANSWERED < probabilities[item, field] <= group.cuts[-1].probability
        assert len(positions) <= min(group.cuts[-1].unread, -(-terms.verify // len(groups)))
    drawn = sum(len(group.drawn) for group in groups)
    enough = all(group.cuts[-1].unread >= terms.verify for group in groups)
    assert not groups or not enough or drawn == terms.verify


@given(collections(), TERMS)
def test_cuts_count_values_and_those_that_are_unread(collection, terms):
    probabilities, is_unread = collection
    chosen = choose_cuts(terms, probabilities)

    for group in draw_second(terms, *collection, chosen):
        of_group = probabilities[:, group.fields]
        answered = of_group[of_group != UNANSWERED]
        assert [cut.probability for cut in group.cuts] == naive.cuts(
            answered.tolist(), terms.limit, each_field=terms.each_field
        )
        for cut in group.cuts:
            passes = (of_group != UNANSWERED) & (of_group <= cut.probability)
            assert cut.values == np.count_nonzero(passes)
            assert cut.unread == np.count_nonzero(passes & is_unread[:, group.fields])


@given(collections(), TERMS.filter(lambda terms: not terms.each_field))
def test_all_fields_are_promised_together(collection, terms):
    ((fields, _),) = choose_cuts(terms, collection[0])

    assert fields == list(range(collection[0].shape[1]))


@st.composite
def readings(draw):
    """Cuts with their unread values, and what was read of some of these."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    population = np.sort(rng.integers(0, 1_000, draw(st.integers(1, 800)))).astype(np.int32)
    cuts = sorted({int(cut) for cut in rng.choice(population, 5)})
    unread = [(cut, int((population <= cut).sum())) for cut in cuts]
    candidates = population[population <= cuts[-1]]
    read = rng.permutation(candidates)[: draw(st.integers(0, len(candidates)))]
    return unread, read, rng.random(len(read)) < draw(st.sampled_from([0, 0.02, 0.2]))


@given(readings(), st.sampled_from([0.05, 0.2]), st.sampled_from([TENTH, Fraction(1, 20)]))
def test_it_stops_at_the_first_cut_that_fails(read, limit, risk):
    cuts, probabilities, wrong = read
    expected = []
    for cut, unread in cuts:
        flags = [
            flag
            for flag, probability in zip(wrong, probabilities, strict=True)
            if probability <= cut
        ]
        accepted = naive.passes(unread, len(flags), sum(map(int, flags)), limit, risk)
        expected.append((len(flags), sum(flags), accepted))
        if not accepted:
            break

    assert list(walk_cuts(cuts, probabilities, wrong, limit, risk)) == expected


def test_a_walk_by_hand():
    # 0 of 45, then 1 of 77, then 2 of 105 are the fewest that show 5 % in a very large collection;
    # the third cut, with 3 of 105, ends it, though the fourth would pass.
    probabilities = np.repeat(np.array([1, 2, 3, 4], np.int32), [45, 32, 28, 500])
    wrong = np.zeros(605, bool)
    wrong[[50, 80, 90]] = True
    cuts = [(cut, 10**8) for cut in (1, 2, 3, 4)]

    steps = list(walk_cuts(cuts, probabilities, wrong, 0.05, TENTH))

    assert steps == [(45, 0, True), (77, 1, True), (105, 3, False)]


class _AllAnswered:
    """Runs of which one answered each item but those named."""

    def __init__(self, unanswered):
        self._unanswered = unanswered

    def records(self, item):
        return [None, None if item in self._unanswered else {}]


def test_the_first_stage_is_drawn_uniformly_from_answered():
    ids, fields = [str(number) for number in range(8)], ["a", "b"]

    drawn = [
        draw_first(_AllAnswered({"3"}), ids, fields, 5, seed, without={("1", "b")})
        for seed in range(2_000)
    ]

    pairs = [(item, field) for item in ids for field in fields if item != "3"]
    pairs.remove(("1", "b"))
    times = {pair: sum(pair in some for some in drawn) for pair in pairs}
    assert all(len(set(some)) == 5 and set(some) <= set(pairs) for some in drawn)
    # Without replacement, 5 of 13 each time.
    statistic = stats.chisquare(list(times.values())).statistic * (13 - 1) / (13 - 5)
    assert stats.chi2.sf(statistic, 12) > 0.001
    firsts = [sum(some[0] == pair for some in drawn) for pair in pairs]
    assert stats.chisquare(firsts).pvalue > 0.001


def test_a_draw_is_the_same_unless_the_seed_is_another():
    rng = np.random.default_rng(1)
    probabilities = (rng.beta(0.4, 6, (200, 3)) * BILLION).astype(np.int32)
    chosen = choose_cuts(Terms(), probabilities)
    unread = np.ones(probabilities.shape, bool)

    one, again, other = (
        draw_second(Terms(verify=30, seed=seed), probabilities, unread, chosen)[0].drawn.tolist()
        for seed in (1, 1, 2)
    )

    assert one == again
    assert one != other


@pytest.mark.parametrize("population", [40, 10**6])
def test_nothing_read_shows_nothing(population):
    (step,) = walk_cuts([(5, population)], np.array([], np.int32), np.array([], bool), 0.05, TENTH)

    assert step == (0, 0, False)
