"""`hdbench`'s command line in a process that ends with the one that started it.

A Space runs its models in it: such a process can be ended at any moment, even in the middle of a
token, frees all its memory, and takes nothing with it when a model or an image brings it down.
"""

import os
import sys
import threading

from hdbench.cli.app import main
from hdbench.models import run_progress

_NICENESS = 10


def _end_with_parent() -> None:
    # Its other side is closed when whoever holds it ends. Not by sys.stdin: Python could not end
    # while a thread reads from it.
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(_NICENESS)  # so that other visitors' pages stay fast
    run_progress.EVERY_SECONDS = 1.0  # the Space shows the last line
    main()
