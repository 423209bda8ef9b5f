"""What the pages of the documentation show: commands, files, and what is printed."""

import re
from typing import NamedTuple

FILE = re.compile(r"`([\w./-]+)`[^`\n]*:\s*$")


class Block(NamedTuple):
    """A fenced block of a page.

    Attributes:
        language: what is in it: `sh`, `text`, `python`, …
        text: its lines.
        file: the file that the line before says it is: "Save this as `answers.csv`:".
    """

    language: str
    text: str
    file: str | None


def blocks(page):
    """The fenced blocks of a page, in order."""
    found = []
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        before = text[: match.start()].rstrip("\n").rpartition("\n\n")[2]
        says = FILE.search(" ".join(before.split())) if "Save " in before else None
        found.append(Block(match[1], match[2], says and says[1]))
    return found


def commands(page):
    """The lines of shell that a page shows."""
    return [
        line for each in blocks(page) if each.language == "sh" for line in each.text.splitlines()
    ]
