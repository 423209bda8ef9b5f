"""Work that does not end by itself, or ends badly; in a module, as processes load it by name."""

import os
import re
import tempfile
from pathlib import Path

from hdbench.errors import HdbenchError
from hdbench.space.texts import TextError
from hdbench.space.work import send


def says(word):
    send(word)
    return word.upper()


def computes_in_c():
    send("begun")
    re.match("(a+)+$", "a" * 60 + "b")


def sleeps():
    send("begun")
    os.read(os.pipe()[0], 1)


def takes_memory():
    send("begun")
    return len([bytearray(2**24) for _ in range(2**10)])


def takes_all_memory():
    """Takes memory in small pieces, until there is none for anything."""
    send("begun")
    kept = []
    while True:
        kept.append([kept])


def crashes():
    send("begun")
    os.abort()


def fails():
    send("begun")
    return {}["missing"]


def writes():
    path = Path(tempfile.mkdtemp()) / "large"
    send(str(path))
    with path.open("wb") as file:
        for _ in range(64):
            file.write(bytes(2**20))


def refuses():
    raise HdbenchError("no")


def refuses_in_words():
    raise TextError("compare_more", most=5)
