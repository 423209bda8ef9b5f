"""Draw the cards of the sample into images/, from the records in metadata.jsonl.

Run it in the repository's root with Python and Pillow:
python -m dataset_scripts.blacklist.sample.draw
It needs the Debian package fonts-courier-prime.

The companies, the persons and their numbers were made up.
"""

import random
from datetime import date
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from dataset_scripts.scans import (
    SCALE,
    Colour,
    draw_sample,
    inked,
    new_ink,
    paper,
    scanned,
    typeface,
)

SIZE = (1000, 720)

BED: Colour = (24, 24, 26)  # the scanner's, seen at the edges
PAPER: Colour = (196, 216, 178)
INK: Colour = (40, 44, 52)
STAMP: Colour = (58, 82, 150)
RULE: Colour = (60, 70, 60)

TYPED = "Courier Prime.otf"
SIZE_OF_TYPE, LEADING = 25, 31
MONTHS = (
    "Jan.",
    "Feb.",
    "März",
    "Apr.",
    "Mai",
    "Juni",
    "Juli",
    "Aug.",
    "Sep.",
    "Okt.",
    "Nov.",
    "Dez.",
)


def typed(ink: Image.Image, rng: random.Random, at: tuple[int, int], text: str) -> None:
    """Type a line: each letter a little off the line, and a little darker or lighter."""
    draw, font = ImageDraw.Draw(ink), typeface(TYPED, SIZE_OF_TYPE)
    x, y = (float(value * SCALE) for value in at)
    for letter in text:
        shift = y + rng.gauss(0, 0.8)
        draw.text((x, shift), letter, fill=rng.randint(170, 245), font=font, stroke_width=0.6)
        x += font.getlength(letter)


def stamped(day: str, rng: random.Random) -> Image.Image:
    """Return the mask of a stamped date, set on askew."""
    ink = new_ink(SIZE)
    when = date.fromisoformat(day)
    text = f"{when.day}. {MONTHS[when.month - 1]} {when.year}"
    place = (760 * SCALE, 128 * SCALE)
    ImageDraw.Draw(ink).text(place, text, fill=200, font=typeface(TYPED, 27), stroke_width=1)
    return ink.rotate(rng.uniform(-3, 3), Image.Resampling.BICUBIC, center=place)


def draw_card(item: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the scan of a card."""
    truth = item["ground_truth"]
    sheet = paper(SIZE, PAPER, rng)
    rules = ImageDraw.Draw(sheet)
    for line in ((44, 20, 44, 700), (690, 20, 690, 700), (44, 152, 976, 152)):
        rules.line(line, fill=RULE, width=2)
    for y in (74, 112):
        for x in range(48, 974, 7):
            rules.point((x, y), fill=RULE)
    ink = new_ink(SIZE)
    typed(ink, rng, (92, 80), truth["company"]["transcription"])
    location = truth["location"]["transcription"]
    width = typeface(TYPED, SIZE_OF_TYPE).getlength(location) / SCALE
    typed(ink, rng, (round(660 - width), 118), location)
    under = [660 - width, 147, 660, 147]
    ImageDraw.Draw(ink).line([value * SCALE for value in under], fill=200, width=3)
    typed(ink, rng, (704, 80), truth["b_id"]["transcription"])
    y = 190
    for block in truth["information"]:
        for line in block["transcription"].splitlines():
            typed(ink, rng, (100, y), line)
            y += LEADING
        y += LEADING
    sheet = inked(sheet, rng, ink, INK)
    if truth["date"]:
        sheet = inked(sheet, rng, stamped(truth["date"], rng), STAMP)
    return scanned(sheet, rng.uniform(-0.5, 0.5), BED)


if __name__ == "__main__":
    draw_sample(Path(__file__).parent, draw_card)
