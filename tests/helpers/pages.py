"""What the pages of the documentation show: commands, files, and what is printed."""

import re
from itertools import takewhile
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


def parts(page):
    """The text of each section of a page, by its heading of the second level; `""` begins it."""
    first, *rest = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)
    return {"": first} | {part.partition("\n")[0]: part for part in rest}


def tutorial(page):
    """The sections of a page that a reader follows: those before "In detail"."""
    return tuple(takewhile(lambda heading: heading != "In detail", parts(page)))


def blocks(page, *sections):
    """The fenced blocks of a page, or of some of its sections, in order."""
    found = []
    chosen = parts(page)
    text = "\n".join(chosen[name] for name in sections or chosen)
    for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        before = text[: match.start()].rstrip("\n").rpartition("\n\n")[2]
        says = FILE.search(" ".join(before.split())) if "Save " in before else None
        found.append(Block(match[1], match[2], says and says[1]))
    return found


def commands(page, *sections):
    """The lines of shell that a page, or some of its sections, shows."""
    shown = blocks(page, *sections)
    typed = [line for each in shown if each.language == "sh" for line in each.text.splitlines()]
    console = "\n".join(each.text for each in shown if each.language == "console")
    return typed + re.findall(r"^\$ ((?:.*\\\n)*.*)", console, re.M)
