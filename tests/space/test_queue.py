"""The queue of work that pages watch."""

from threading import Event

import pytest
from helpers.waiting import until

from hdbench.errors import HdbenchError
from hdbench.space.queue import Queue
from hdbench.space.work import Progress


def waits_for(event, *messages):
    def steps():
        yield from messages
        assert event.wait(20)
        yield "done"

    return steps


def test_pieces_are_done_in_their_order_and_say_how_many_come_before():
    queue, first, others = Queue(1, most=2, keep=60), Event(), Event()
    one = queue.piece("one", waits_for(first, Progress("read", 3, 8), "half"))
    two, three = (queue.piece(name, waits_for(others)) for name in ("two", "three"))
    until(lambda: one.shown == "half", "its beginning")
    assert (one.progress, one.has_begun, one.is_done) == (("read", 3, 8), True, False)
    assert (two.has_begun, queue.ahead(two), queue.ahead(three)) == (False, 1, 2)
    assert queue.piece("two", waits_for(others)) is two  # a reload finds it again
    with pytest.raises(HdbenchError, match="too many"):
        queue.piece("four", waits_for(others))
    first.set()
    one.wait(20)
    assert (one.is_done, one.shown) == (True, "done")
    until(lambda: two.has_begun, "the next")
    others.set()
    three.wait(20)
    assert three.shown == "done"


def test_a_failure_is_the_reason_of_its_piece_alone():
    def refuses():
        yield "half"
        raise HdbenchError("no")

    queue = Queue(1, most=9, keep=60)
    failed, other = queue.piece(1, refuses), queue.piece(2, waits_for(set_event()))
    other.wait(20)
    assert (str(failed.problem), failed.shown, failed.is_done) == ("no", "half", True)
    assert (other.problem, other.shown) == (None, "done")


def test_what_nobody_asks_about_any_more_ends_and_what_is_old_goes():
    ended = []

    def goes_on():
        try:
            while True:
                yield "more"
        finally:
            ended.append(True)

    queue = Queue(1, most=9, keep=0, patience=0.05)
    left = queue.piece("left", goes_on)
    until(lambda: left.is_done, "its end")
    assert ended
    assert "nobody" in str(left.problem)
    again = queue.piece("left", waits_for(set_event()))
    assert again is not left


def set_event():
    event = Event()
    event.set()
    return event
