"""The process that draws the plots of a report for another one; see `drawing`.

Run as `python -m hdbench.output.report.plots_process`, it reads a result and its errors from
standard input, and writes the plots to standard output.
"""

import pickle
import signal
import sys
from contextlib import suppress

from hdbench.output.report.plots import plots

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the other process
    with suppress(EOFError, BrokenPipeError):  # it has ended
        # From the process that started this one, and no other.
        result, errors = pickle.load(sys.stdin.buffer)  # noqa: S301
        pickle.dump(plots(result, errors), sys.stdout.buffer)
        sys.stdout.flush()
