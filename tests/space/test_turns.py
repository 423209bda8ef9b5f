"""Who is next, with a clock of the test's own."""

from contextlib import ExitStack
from random import Random

import pytest

from hdbench.space.jobs.turns import LITTLE, SLICE, SLICE_IN_ALL, Lane, QueueFullError, Turns


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def enter(clock):
    """Begin work of an address; two places, twelve may wait, eight of an address in all."""
    turns = Turns(2, 12, 8, clock)
    with ExitStack() as stack:

        def enter(address):
            leaving = stack.enter_context(ExitStack())
            turn = leaving.enter_context(turns.turn(address))
            turn.leave = leaving.close
            return turn

        enter.turns = turns
        yield enter


def lanes(*turns):
    return [turn.lane for turn in turns]


def test_two_at_a_time_and_then_in_their_order(enter):
    a, b, c, d = map(enter, "abcd")
    assert lanes(a, b, c, d) == [Lane.RUNNING] * 2 + [Lane.WAITING] * 2
    assert (enter.turns.wait(a), enter.turns.wait(c), enter.turns.wait(d)) == (0, 1, 2)
    b.leave()
    assert lanes(c, d) == [Lane.RUNNING, Lane.WAITING]


def test_no_address_begins_a_second_while_another_waits(enter):
    first, b = enter("a"), enter("b")
    second, c = enter("a"), enter("c")
    b.leave()
    assert lanes(first, second, c) == [Lane.RUNNING, Lane.WAITING, Lane.RUNNING]


def test_alone_an_address_has_all_places(enter):
    assert lanes(*(enter("a") for _ in range(3))) == [Lane.RUNNING, Lane.RUNNING, Lane.WAITING]


def test_who_has_used_less_lately_is_next(enter, clock):
    a, b = enter("a"), enter("b")
    clock.now += 1
    a.leave()
    enter("c")
    again, d = enter("a"), enter("d")
    b.leave()
    assert lanes(again, d) == [Lane.WAITING, Lane.RUNNING]


def test_long_work_pauses_while_somebody_waits_and_then_goes_on(enter, clock):
    a, b = enter("a"), enter("b")
    clock.now += SLICE + 1
    assert enter.turns.look(a) == Lane.RUNNING
    c = enter("c")
    assert enter.turns.look(a) == Lane.PAUSED
    assert lanes(b, c) == [Lane.RUNNING] * 2
    c.leave()
    assert lanes(a, b) == [Lane.RUNNING] * 2


def test_paused_work_goes_on_when_the_newcomers_have_used_more(enter, clock):
    """An honest visitor who came before a crowd does not wait until the crowd is done."""
    honest, other = enter("honest"), enter("x")
    clock.now += SLICE + 0.1
    a, b = enter("a"), enter("b")
    assert [enter.turns.look(each) for each in (honest, other)] == [Lane.PAUSED] * 2
    clock.now += 2 * SLICE + 0.3
    assert enter.turns.look(a) == Lane.RUNNING  # two are paused already, and it has used little
    clock.now += LITTLE
    assert enter.turns.look(a) == Lane.STOPPED
    assert lanes(honest, b) == [Lane.RUNNING] * 2


def test_work_of_the_same_length_does_not_take_turns(enter, clock):
    a, b = enter("a"), enter("b")
    clock.now += 1.1 * SLICE
    c = enter("c")
    assert enter.turns.look(a) == Lane.PAUSED
    clock.now += 2 * SLICE
    assert enter.turns.look(c) == Lane.RUNNING  # it has used less than twice as much
    clock.now += 0.3 * SLICE
    assert enter.turns.look(c) == Lane.PAUSED
    assert lanes(a, b) == [Lane.RUNNING] * 2


def test_visitor_who_used_little_never_waits_for_heavier_users(enter, clock):
    """Two long files are paused; of those two, the visitor's takes the place of one."""
    long, other = enter("x"), enter("y")
    clock.now += 10 * SLICE
    honest = enter("honest")
    assert enter.turns.look(long) == Lane.PAUSED
    clock.now += SLICE + 0.1
    first = enter("first")
    assert enter.turns.look(other) == Lane.PAUSED
    second = enter("second")
    assert enter.turns.look(honest) == Lane.PAUSED
    assert sorted(lanes(long, other), key=str) == [Lane.PAUSED, Lane.STOPPED]
    first.leave()
    assert lanes(honest, second) == [Lane.RUNNING] * 2


def simulate(seed, honest, attackers, seconds=120.0, step=0.1):
    """How long each honest visitor waits beyond the work, in units of that: one row a visitor.

    Args:
        honest: seconds of work of a visitor's file; every few seconds somebody comes.
        attackers: seconds of work of each of three files of each of two addresses, which come
            again and again.
    """
    random, clock = Random(seed), Clock()
    turns = Turns(2, 30, 20, clock)
    work, waits, came = {}, [], 0

    def come(address, seconds):
        context = turns.turn(address)
        work[context.__enter__()] = [context, seconds, seconds, clock.now]

    while clock.now < seconds:
        for address in "ab":
            while sum(turn.address == address for turn in work) < 3:
                come(address, attackers)
        if random.random() < step / 4:
            came += 1
            come(f"visitor {came}", honest)
        clock.now += step
        for turn, row in list(work.items()):
            context, left, whole, since = row
            if turn.runs:
                row[1] = left - step
                if row[1] < 0.6 * whole:  # there is a score
                    turn.slice = SLICE_IN_ALL
            if turns.look(turn) == Lane.STOPPED:
                row[1] = whole
            if row[1] <= 0:
                context.__exit__(None, None, None)
                del work[turn]
                if turn.address.startswith("visitor"):
                    waits.append(clock.now - since - whole)
    waiting = [clock.now - row[3] for turn, row in work.items() if turn.address[0] == "v"]
    return waits + waiting


@pytest.mark.parametrize("honest", [0.5, 1.2, 2.5])
@pytest.mark.parametrize("attackers", [1.5, 8.0, 60.0])
def test_honest_visitor_never_waits_long_despite_attackers(honest, attackers):
    waits = [wait for seed in range(10) for wait in simulate(seed, honest, attackers)]
    assert len(waits) > 100
    assert max(waits) < 3 * SLICE + 2 * honest


def test_work_keeps_its_place_for_its_slice_before_heavy_users(enter, clock):
    hog = enter("a")
    clock.now += 3 * SLICE
    hog.leave()
    b, c = enter("b"), enter("c")
    waiting = enter("a")
    clock.now += SLICE / 2
    assert enter.turns.look(b) == Lane.RUNNING
    clock.now += SLICE
    assert [enter.turns.look(each) for each in (b, c)] == [Lane.RUNNING] * 2
    clock.now += 5 * SLICE
    assert enter.turns.look(b) == Lane.PAUSED  # the other has used less than half as much
    assert waiting.lane == Lane.RUNNING


def test_new_work_of_an_address_goes_before_its_long_work(enter, clock):
    long, _ = enter("a"), enter("b")
    clock.now += SLICE + 1
    short = enter("a")
    assert enter.turns.look(long) == Lane.PAUSED
    assert short.lane == Lane.RUNNING
    clock.now += SLICE / 2
    assert enter.turns.look(short) == Lane.RUNNING
    short.leave()
    assert long.lane == Lane.RUNNING


def test_only_one_piece_per_address_pauses_and_the_rest_restarts(enter, clock):
    first, second = enter("a"), enter("a")
    clock.now += SLICE + 1
    b, c = enter("b"), enter("c")
    assert [enter.turns.look(each) for each in (first, second)] == [Lane.PAUSED, Lane.STOPPED]
    assert lanes(b, c) == [Lane.RUNNING] * 2
    assert enter.turns.wait(second) == 2
    first.leave()
    b.leave()
    assert second.lane == Lane.RUNNING
    clock.now += SLICE + 1
    enter("d")
    assert enter.turns.look(second) == Lane.PAUSED  # never begun again twice


def test_new_visitors_never_wait_for_long_work(enter, clock):
    for address in "ab":
        enter(address)
    turns = []
    for hours in range(3):
        clock.now += LITTLE + 1
        new = [enter(f"{address}{hours}") for address in "ab"]
        turns += new
        for turn in list(enter.turns._turns):
            if turn.runs:
                enter.turns.look(turn)
        assert lanes(*new) == [Lane.RUNNING] * 2
    found = lanes(*enter.turns._turns)
    assert (found.count(Lane.PAUSED), found.count(Lane.STOPPED)) == (2, 4)


def test_a_few_addresses_cannot_fill_the_queue(enter):
    def refused(address):
        with pytest.raises(QueueFullError) as error:
            [enter(address) for _ in range(20)]
        return error.value

    enter("x"), enter("y")
    for address in "abc":
        assert refused(address).translated("de").startswith("Von Ihrer Adresse")
        enter(f"newcomer of {address}")


def test_more_than_may_wait_are_refused(enter):
    for number in range(14):
        enter(str(number))
    with pytest.raises(QueueFullError, match="Too many visitors are waiting"):
        enter("another")
