"""Folders within folders, deeper than Python's own functions go."""

import os
from contextlib import chdir, contextmanager

DEPTH = 1500


@contextmanager
def nested_in(folder):
    """The working folder with a folder `a`, which has nothing but a folder `a`, and so on."""
    with chdir(folder):
        for _ in range(DEPTH):
            os.mkdir("a")
            os.chdir("a")
        os.chdir(folder)
        try:
            yield
        finally:
            for _ in range(DEPTH):
                os.chdir("a")
            for _ in range(DEPTH):  # neither pytest's nor shutil's functions could remove them
                os.chdir("..")
                os.rmdir("a")
