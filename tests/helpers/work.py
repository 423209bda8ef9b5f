"""How much is done, which unlike time is the same on every machine."""

import sys


def growth(task, size):
    """How many times as much is done for twice the size: 2 where the work is linear.

    What counts is how many functions are called, those written in C included.
    """
    task(size)  # what is imported and kept in the first call is not counted
    return _calls(task, 2 * size) / _calls(task, size)


def _calls(task, size):
    number = 0

    def count(frame, event, argument):
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        task(size)
    finally:
        sys.setprofile(None)
    return number
