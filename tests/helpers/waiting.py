"""Waiting for what other processes and servers do."""

import time


def until(done, what: str = "it", seconds: float = 300.0):
    """Wait for something to be true, and return it; a busy machine may need much of the time."""
    end = time.monotonic() + seconds
    while not (found := done()):
        assert time.monotonic() < end, f"{what} takes too long"
        time.sleep(0.02)
    return found
