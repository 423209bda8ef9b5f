"""Draw the newspaper pages of the sample into images/, from the advertisements in metadata.jsonl.

Run it in the repository's root with Python and Pillow:
python -m dataset_scripts.avisblatt.sample.draw
It needs the typeface UnifrakturMaguntia (SIL Open Font License): take
UnifrakturMaguntia_400Regular.ttf out of the npm package @expo-google-fonts/unifrakturmaguntia
(the pages are drawn with 0.4.1) and put it among your fonts, as in ~/.local/share/fonts.

The newspaper, its town and its people were made up.
"""

import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFont

from dataset_scripts.scans import (
    SCALE,
    Colour,
    clouded,
    draw_sample,
    inked,
    new_ink,
    scanned,
    typeface,
)

TYPEFACE = "UnifrakturMaguntia_400Regular.ttf"
SIZE = (1060, 1330)


BED: Colour = (48, 42, 40)  # the scanner's, seen at the edges
PAPER: Colour = (240, 232, 212)
INK: Colour = (42, 36, 32)

# Where the columns stand, and the sizes of their type.
LEFT, RIGHT = 96, 964
COLUMN = 416
BODY, HEADING = 33, 39
LEADING = 1.15
HANG = 20  # how far the lines of an advertisement are set in after its first
FOOT = 1230


@dataclass(frozen=True)
class Page:
    """What stands above and below the advertisements.

    A piece of the head is its side (l, m or r), its size, its height on the page and its text.
    """

    head: tuple[tuple[str, int, int, str], ...]
    rules: tuple[int, ...]  # lines across the head
    top: int  # where the columns begin
    catchword: str = ""  # the first words of the next page
    imprint: str = ""
    angle: float = 0.0


PAGES = {
    "sample-1": Page(
        head=(
            ("m", 28, 74, "Num. 42."),
            ("m", 72, 152, "Rosenfurther Wochen-Blättlein"),
            ("m", 30, 204, "worinnen allerhand nützliche Nachrichten enthalten."),
            ("m", 38, 266, "Den 15. October 1743."),
        ),
        rules=(222, 284),
        top=286,
        catchword="8. Ein",
        angle=0.3,
    ),
    "sample-2": Page(
        head=(("l", 30, 84, "84"), ("r", 30, 84, "Den 15. October 1743.")),
        rules=(100,),
        top=106,
        imprint="Gedruckt bey Johann Tobias Federkiel, auf dem kleinen Korn-Platz.",
        angle=-0.35,
    ),
}


@dataclass(frozen=True)
class Line:
    """One line of a column."""

    words: list[str]
    indent: int = 0
    heading: bool = False
    closes: bool = False  # the last of its advertisement, so its words are not spread

    @property
    def height(self) -> float:
        """From the line above to this one."""
        return HEADING * 1.75 if self.heading else BODY * LEADING


def fraktur(size: int) -> ImageFont.FreeTypeFont:
    """Open the Fraktur in a size."""
    return typeface(TYPEFACE, size)


def printed(text: str) -> str:
    """Return a text as it was printed then: ſ for every s but a word's last, / for the comma."""
    return re.sub(r"s(?=[a-zäöüß])", "ſ", text).replace(",", "/")


def cuts(word: str) -> list[tuple[str, str]]:
    """Return the ways to part a word at the end of a line, the longest first part first.

    A word is parted after its own hyphen, or before the last consonant that leads a vowel; ſt,
    ſch and their like count as one consonant.
    """
    found = [(word[: match.end()], word[match.end() :]) for match in re.finditer(r"-", word)]
    consonant = r"(?:ſch|ch|ck|ſt|th|[bdfgkpt]r|[bfgkp]l|[b-df-hj-np-tv-xzſß])(?=[aeiouyäöü])"
    for match in re.finditer(consonant, word):
        first, rest = word[: match.start()], word[match.start() :]
        syllable = re.search(r"\w*[aeiouyäöü]\w*$", first, re.IGNORECASE)
        if syllable and len(syllable[0]) > 1 and re.match(r"\w{3}", rest):
            found.append((first + "-", rest))
    return sorted(found, key=lambda way: -len(way[0]))


def set_lines(text: str) -> list[Line]:
    """Break an advertisement into the lines of a column."""
    font = fraktur(BODY)
    lines: list[Line] = []
    taken: list[str] = []
    rest = printed(text).split()
    while rest:
        indent = HANG if lines else 0
        room = (COLUMN - indent) * SCALE
        ways = [(rest[0], ""), *cuts(rest[0])]
        fitting = [way for way in ways if font.getlength(" ".join([*taken, way[0]])) <= room]
        first, left = fitting[0] if fitting else ("", rest[0])
        if first:
            taken.append(first)
        rest[:1] = [left] if left else []
        if left or not rest:
            lines.append(Line(taken, indent, closes=not rest))
            taken = []
    return lines


def set_page(truth: dict[str, Any]) -> list[Line]:
    """Return the lines of a page; a heading stands where its section begins."""
    section = truth.get("continued_section")
    lines: list[Line] = []
    for advertisement in truth["advertisements"]:
        if advertisement["tags_section"] != section:
            section = advertisement["tags_section"]
            lines.append(Line([printed(section)], heading=True))
        lines += set_lines(advertisement["text"])
    return lines


def height(lines: list[Line]) -> float:
    """Return how much of a column the lines fill."""
    return sum(line.height for line in lines)


def columns(lines: list[Line], room: float) -> tuple[list[Line], list[Line]]:
    """Pour lines into two columns of about one height, or end with one line if they do not fit."""
    count = 1
    while height(lines[:count]) < height(lines) / 2:
        count += 1
    while lines[count - 1].heading:
        count -= 1
    left, right = lines[:count], lines[count:]
    if max(height(left), height(right)) > room:
        sys.exit("The advertisements do not fit on the page.")
    return left, right


def paper(rng: random.Random) -> Image.Image:
    """Return a sheet: grain, clouds and spots, darker at the left, where it was bound."""
    sheet = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(sheet)
    for _ in range(110):
        x, y, r = rng.randrange(SIZE[0]), rng.randrange(SIZE[1]), rng.choice((1, 1, 2))
        draw.ellipse((x, y, x + r, y + r), fill=tuple(value - 30 for value in PAPER))
    sheet = clouded(sheet, rng, ((2, 244), (90, 238), (380, 236)))
    shade = Image.linear_gradient("L").rotate(90).resize((80, SIZE[1]))
    bound = Image.new("L", SIZE, 255)
    bound.paste(shade.point(lambda v: 190 + v * 65 // 255), (0, 0))
    return ImageChops.multiply(sheet, bound.convert("RGB"))


class Press:
    """The mask of a page's ink, and ways to print on it; all measures are those of the page."""

    def __init__(self, rng: random.Random) -> None:
        """Begin with no ink."""
        self.rng = rng
        self.mask = new_ink(SIZE)
        self.draw = ImageDraw.Draw(self.mask)

    def text(self, x: float, y: float, size: int, text: str, side: str = "l") -> None:
        """Print a text with its baseline at y, a little darker or lighter each time."""
        self.draw.text(
            (x * SCALE, (y + self.rng.gauss(0, 0.25)) * SCALE),
            text,
            fill=self.rng.randint(205, 255),
            font=fraktur(size),
            anchor=side + "s",
            stroke_width=0.4,
        )

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Print a straight line."""
        self.draw.line([value * SCALE for value in (x0, y0, x1, y1)], fill=215, width=4)

    def ornament(self, x: float, y: float) -> None:
        """Print three lozenges in a row, the largest in the middle."""
        for shift, size in ((-36, 7), (0, 12), (36, 7)):
            corners = ((-size, 0), (0, -size), (size, 0), (0, size))
            points = [((x + shift + dx) * SCALE, (y + dy) * SCALE) for dx, dy in corners]
            self.draw.polygon(points, fill=225)

    def line(self, x: float, y: float, line: Line) -> None:
        """Print a line of a column: a heading in the middle, any other spread to the full width."""
        if line.heading:
            self.text(x + COLUMN / 2, y, HEADING, line.words[0], "m")
            return
        font = fraktur(BODY)
        lengths = [font.getlength(word) / SCALE for word in line.words]
        gap = font.getlength(" ") / SCALE
        if not line.closes and len(lengths) > 1:
            gap = (COLUMN - line.indent - sum(lengths)) / (len(lengths) - 1)
        x += line.indent
        for word, length in zip(line.words, lengths, strict=True):
            self.text(x, y, BODY, word)
            x += length + gap


def draw_page(page: Page, rng: random.Random, lines: list[Line]) -> Image.Image:
    """Return the scan of a page."""
    press = Press(rng)
    middle = (LEFT + RIGHT) / 2
    for side, size, y, text in page.head:
        press.text({"l": LEFT, "m": middle, "r": RIGHT}[side], y, size, printed(text), side)
    for y in page.rules:
        press.rule(LEFT, y, RIGHT, y)

    both = columns(lines, FOOT - 60 - page.top)
    bottom = page.top + max(map(height, both))
    for x, column in zip((LEFT, RIGHT - COLUMN), both, strict=True):
        for number, line in enumerate(column, start=1):
            press.line(x, page.top + height(column[:number]), line)
    press.rule(middle, page.top + 10, middle, bottom)
    press.text(RIGHT, bottom + BODY * 1.4, BODY, page.catchword, "r")
    press.ornament(middle, bottom + 40)
    if page.imprint:
        press.rule(LEFT, FOOT, RIGHT, FOOT)
        press.text(middle, FOOT + 36, 27, printed(page.imprint), "m")

    return scanned(inked(paper(rng), rng, press.mask, INK, 205), page.angle, BED)


def draw_item(item: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the scan of an item's page."""
    return draw_page(PAGES[item["id"]], rng, set_page(item["ground_truth"]))


if __name__ == "__main__":
    draw_sample(Path(__file__).parent, draw_item)
