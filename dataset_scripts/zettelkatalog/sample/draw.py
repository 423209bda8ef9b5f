"""Draw the index cards of the sample into images/, from the texts in metadata.jsonl.

Run it in the repository's root with Python and Pillow:
python -m dataset_scripts.zettelkatalog.sample.draw
It needs the Debian packages fonts-courier-prime, fonts-oldstandard, fonts-dancingscript,
fonts-ecolier-court and fonts-breip.

The theses are real. The cards are not: their shelfmarks and subjects were made up.
"""

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from dataset_scripts.scans import (
    SCALE,
    Colour,
    clouded,
    draw_sample,
    new_ink,
    noise,
    stained,
    typeface,
)

SIZE = (960, 590)

Word = list[tuple[str, str]]  # pieces of text, each with its mark

BED: Colour = (62, 58, 54)  # the scanner's, seen at the edges and through the hole
SLIP: Colour = (252, 247, 232)
RULE: Colour = (150, 84, 74)
STAMP: Colour = (92, 54, 132)


@dataclass(frozen=True)
class Hand:
    """A way of writing: its typefaces (regular, bold, italic) and how uneven it is."""

    faces: tuple[str, ...]
    ink: Colour
    jitter: float = 0.0  # how far a word, or on a typewriter a letter, strays from the line
    wear: int = 150  # the least opacity of the ink, 0 to 255
    weight: float = 0.3  # how much ink the strokes gain
    leading: float = 1.22
    typewriter: bool = False
    justified: bool = False


OLD_STANDARD = tuple(f"OldStandard-{face}.ttf" for face in ("Regular", "Bold", "Italic"))
HANDS = {
    "typed": Hand(("Courier Prime.otf",), (30, 28, 32), 0.5, 190, 0.7, typewriter=True),
    "ribbon": Hand(("Courier Prime.otf",), (34, 40, 82), 0.6, 165, 0.5, typewriter=True),
    "print": Hand(OLD_STANDARD, (34, 32, 32), 0.0, 215, 0.4, justified=True),
    "pen": Hand(("DancingScript-Regular.otf",), (30, 38, 78), 1.2, 215),
    "quill": Hand(("Ecolier-court.ttf",), (62, 38, 24), 1.2, 210, 1.3, leading=1.05),
    "red": Hand(("Breip.ttf",), (190, 40, 34), 0.8, 190, 1.2),
    "blue": Hand(("Breip.ttf",), (34, 72, 164), 0.8, 190, 1.2),
}


@dataclass(frozen=True)
class Card:
    """What a card looks like; its text is a list of paragraphs.

    A paragraph is a line: hand, x, y, size, width, indent of the first line and of the others,
    the text, with *bold*, ~italic~ and _underlined_ words and fields of the ground truth in braces.
    """

    text: str
    stock: Colour = (250, 238, 202)
    angle: float = 0.0
    rules: tuple[tuple[int, int], ...] = ()  # red lines: (x, 0) down the card, (0, y) across it
    slip: tuple[int, int, int, int] | None = None  # a printed cutting, pasted on
    stamp: tuple[int, int] | None = None
    hole: tuple[int, int] = (474, 528)


CARDS = {
    "sample-01": Card(
        r"""
        typed 62 62 27 850 0 0 {spaced}, {first_name}. {title}. Hab.-Schr. Univ. Zürich. \
        -- {place}: {publisher} {year}. -- {format} {pages} S.
        typed 62 262 27 850 0 0 _Standort_: {shelfmark}""",
        angle=0.35,
    ),
    "sample-02": Card(
        r"""
        print 70 150 33 800 0 44 *{last_name},* {first_name}: {title}. \
        ~{place} {year}: {publisher}.~ ({pages} S.) {format}
        print 114 246 26 800 0 0 Zürich, Phil. Diss. v. 1905
        red 660 296 44 300 0 0 {shelfmark}""",
        stock=(250, 241, 214),
        angle=-0.4,
        rules=((0, 122),),
        stamp=(190, 428),
    ),
    "sample-03": Card(
        r"""
        print 300 208 26 452 34 0 *{upper}* ({first_name}). — {title}. — \
        ~{place}, {publisher}~, {year}, in-{format} [{pages} p.].
        print 380 330 23 446 0 0 Paris. Th. sc. phys. 1903.""",
        stock=(248, 231, 190),
        angle=0.5,
        rules=((0, 166), (228, 0)),
        slip=(272, 190, 776, 374),
    ),
    "sample-04": Card(
        r"""
        pen 160 40 58 780 0 0 {last_name}, {first_name}
        pen 66 156 42 100 0 0 {format}
        pen 160 152 46 780 0 0 {title}.
        pen 250 226 42 700 0 0 {place}: {publisher}
        pen 560 298 42 400 0 0 {year}.   {pages} S.
        blue 70 410 46 500 0 0 {shelfmark}""",
        stock=(246, 230, 188),
        angle=-0.6,
        rules=((0, 128), (132, 0)),
    ),
    "sample-05": Card(
        r"""
        print 66 96 30 794 0 44 *{last_name},* {first_name}: {title}. {place}: {publisher} {year}. \
        S. {pages}. (Aus: Journal für d. reine u. angew. Mathematik. Bd 134.)
        print 88 256 25 800 0 0 Erlangen, Phil. Diss. v. 13. Dez. 1907
        print 730 300 26 200 0 0 [{shelfmark}""",
        stock=(251, 243, 220),
        angle=0.3,
    ),
    "sample-06": Card(
        r"""
        quill 60 36 76 850 0 0 {last_name}, {first_name}
        quill 64 156 58 90 0 0 {format}
        quill 150 152 64 760 0 40 {title}.
        quill 520 296 62 400 0 0 {place} {year}.
        quill 150 394 60 700 0 0 {shelfmark}.""",
        stock=(244, 226, 180),
        angle=0.7,
        rules=((0, 138),),
        hole=(482, 536),
    ),
    "sample-07": Card(
        r"""
        ribbon 54 58 27 850 0 0 {spaced}, {first_name}. {title}. Diss. Harvard Univ. \
        -- {place}: {publisher} {year}. -- {format} {pages} S.
        ribbon 54 214 27 850 0 0 = Harvard Historical Studies. Vol. 1.
        ribbon 54 268 27 850 0 0 _Standort_: {shelfmark}
        ribbon 54 430 27 850 0 0 {subjects}""",
        stock=(252, 244, 222),
        angle=-0.3,
    ),
    "sample-08": Card(
        r"""
        typed 92 74 27 800 0 0 {title}
        typed 410 124 27 800 0 0 s.
        typed 92 174 27 800 0 0 {spaced}""",
        angle=-0.5,
        stamp=(770, 410),
        hole=(468, 524),
    ),
}


def paper(rng: random.Random, colour: Colour) -> Image.Image:
    """Return card stock: fibres, grain and clouds."""
    sheet = Image.new("RGB", SIZE, colour)
    draw = ImageDraw.Draw(sheet)
    for _ in range(260):
        x, y, shade = rng.randrange(SIZE[0]), rng.randrange(SIZE[1]), rng.choice((-18, -12, 8))
        fibre = (x, y, x + rng.randint(-11, 11), y + rng.randint(-5, 5))
        draw.line(fibre, fill=tuple(min(255, value + shade) for value in colour))
    return clouded(sheet, rng, ((1, 238), (4, 247), (120, 240), (420, 243)))


def words(text: str) -> list[Word]:
    """Split a text into words, and each word into pieces with their mark: *, ~, _ or none."""
    found: list[Word] = [[]]
    mark = ""
    for part in re.split(r"([*~_ ])", text):
        if part == " ":
            found.append([])
        elif part in {"*", "~", "_"}:
            mark = "" if mark == part else part
        elif part:
            found[-1].append((part, mark))
    return found


def fields_of(truth: dict[str, dict[str, str | int | None]]) -> dict[str, str]:
    """Return the ground truth's values by field, and the last name as catalogues set it apart."""
    fields = {name: str(value) for part in truth.values() for name, value in part.items()}
    last_name = fields["last_name"]
    # No-break spaces: a name that is spaced out stays on one line.
    fields["spaced"] = "\u00a0".join(last_name.replace(" ", "\u00a0"))
    fields["upper"] = last_name.upper()
    return fields


def write(ink: Image.Image, rng: random.Random, hand: Hand, measures: list[int], text: str) -> None:
    """Write one paragraph onto the mask of its ink."""
    x, y, size, width, first, others = (value * SCALE for value in measures)
    faces = [typeface(name, measures[2]) for name in hand.faces]
    font = dict(zip(("", "*", "~"), faces, strict=False))
    font["_"] = font[""]
    space = font[""].getlength(" ")

    def length(word: Word) -> float:
        return sum(font[mark].getlength(piece) for piece, mark in word)

    lines: list[list[Word]] = [[]]
    for word in words(text):
        taken = sum(length(other) + space for other in lines[-1])
        indent = others if len(lines) > 1 else first
        if lines[-1] and indent + taken + length(word) > width:
            lines.append([])
        lines[-1].append(word)

    draw = ImageDraw.Draw(ink)
    for number, line in enumerate(lines):
        indent = others if number else first
        gap = space
        if hand.justified and number < len(lines) - 1 and len(line) > 1:
            gap = (width - indent - sum(map(length, line))) / (len(line) - 1)
        left, top = float(x + indent), y + number * size * hand.leading
        for word in line:
            start, lift = left, rng.gauss(0, hand.jitter)
            for piece, mark in word:
                for glyphs in piece if hand.typewriter else [piece]:
                    if hand.typewriter:
                        lift = rng.gauss(0, hand.jitter)
                    draw.text(
                        (left, top + lift * SCALE),
                        glyphs,
                        fill=rng.randint(hand.wear, 255),
                        font=font[mark],
                        stroke_width=hand.weight,
                    )
                    left += font[mark].getlength(glyphs)
                if mark == "_":
                    draw.line((start, top + size, left, top + size), fill=hand.wear, width=2)
            left += gap


def stamp(rng: random.Random, centre: tuple[int, int]) -> Image.Image:
    """Return the mask of an oval stamp, set on askew and unevenly inked."""
    mask = new_ink(SIZE)
    draw = ImageDraw.Draw(mask)
    x, y = (value * SCALE for value in centre)
    for half_width, half_height in ((104, 48), (96, 41)):
        rx, ry = half_width * SCALE, half_height * SCALE
        draw.ellipse((x - rx, y - ry, x + rx, y + ry), outline=200, width=3)
    for number, line in enumerate(("MUSTER-", "BIBLIOTHEK")):
        at = (x, y + (number * 24 - 12) * SCALE)
        draw.text(at, line, fill=190, font=typeface("OldStandard-Bold.ttf", 20), anchor="mm")
    mask = mask.rotate(rng.uniform(4, 9), Image.Resampling.BICUBIC, center=(x, y))
    return ImageChops.multiply(mask, noise(SIZE, rng, 5, 120).resize(mask.size))


def draw_card(card: Card, rng: random.Random, fields: dict[str, str]) -> Image.Image:
    """Return the scan of a card."""
    sheet = paper(rng, card.stock)
    if card.slip:
        x0, y0, x1, y1 = card.slip
        shadow = Image.new("L", SIZE)
        ImageDraw.Draw(shadow).rectangle((x0, y0 + 2, x1 + 3, y1 + 3), fill=110)
        sheet = stained(sheet, shadow.filter(ImageFilter.GaussianBlur(2)), BED)
        sheet.paste(paper(rng, SLIP).crop(card.slip), card.slip)
    draw = ImageDraw.Draw(sheet)
    for x, y in card.rules:
        draw.line((x, 0, x, SIZE[1]) if x else (0, y, SIZE[0], y), fill=RULE)
    for line in re.sub(r"\\\n +", "", card.text).strip().splitlines():
        name, *measures, text = line.split(maxsplit=7)
        ink = new_ink(SIZE)
        write(ink, rng, HANDS[name], [int(value) for value in measures], text.format(**fields))
        sheet = stained(sheet, ink, HANDS[name].ink)
    if card.stamp:
        sheet = stained(sheet, stamp(rng, card.stamp), STAMP)

    shape = Image.new("L", SIZE)
    draw = ImageDraw.Draw(shape)
    draw.rounded_rectangle((6, 6, SIZE[0] - 7, SIZE[1] - 7), radius=6, fill=255)
    x, y = card.hole
    draw.ellipse((x - 28, y - 28, x + 28, y + 28), fill=0)
    scan = Image.composite(sheet, Image.new("RGB", SIZE, BED), shape)
    return scan.rotate(card.angle, Image.Resampling.BICUBIC, fillcolor=BED)


def draw_item(item: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the scan of an item's card."""
    return draw_card(CARDS[item["id"]], rng, fields_of(item["ground_truth"]))


if __name__ == "__main__":
    draw_sample(Path(__file__).parent, draw_item)
