"""Draw the cards of the sample into images/, from the records in metadata.jsonl.

Run it with Python and Pillow, no arguments: python draw.py
It needs the Debian package fonts-courier-prime.

The companies, the persons and their numbers were made up.
"""

import json
import random
import sys
from datetime import date
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps

HERE = Path(__file__).parent
SIZE = (1000, 720)
SCALE = 2  # ink is drawn larger, then made smaller: smoother edges

Colour = tuple[int, int, int]

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


def typeface(name: str, size: int) -> ImageFont.FreeTypeFont:
    """Open a typeface, or end with one line."""
    try:
        return ImageFont.truetype(name, size * SCALE)
    except OSError:
        sys.exit(f"The font {name!r} is missing: draw.py says on top where to get it.")


def noise(rng: random.Random, cell: int, low: int) -> Image.Image:
    """Return clouds, each some cell pixels wide, of grey values from low to 255."""
    width, height = SIZE[0] // cell + 2, SIZE[1] // cell + 2
    grey = Image.frombytes("L", (width, height), rng.randbytes(width * height))
    grey = ImageOps.autocontrast(grey.filter(ImageFilter.GaussianBlur(0.7)))
    return grey.resize(SIZE, Image.Resampling.BICUBIC).point(lambda v: low + v * (255 - low) // 255)


def paper(rng: random.Random) -> Image.Image:
    """Return a sheet with its grain and clouds."""
    sheet = Image.new("RGB", SIZE, PAPER)
    for cell, low in ((2, 242), (90, 238), (380, 234)):
        sheet = ImageChops.multiply(sheet, noise(rng, cell, low).convert("RGB"))
    return sheet


def inked(sheet: Image.Image, rng: random.Random, ink: Image.Image, colour: Colour) -> Image.Image:
    """Return a sheet with ink on it, given as a mask."""
    mask = ImageChops.multiply(ink.resize(SIZE, Image.Resampling.LANCZOS), noise(rng, 3, 200))
    return Image.composite(Image.new("RGB", SIZE, colour), sheet, mask)


def scanned(sheet: Image.Image, angle: float) -> Image.Image:
    """Return the scan of a sheet, laid on a little askew."""
    shape = Image.new("L", SIZE)
    ImageDraw.Draw(shape).rectangle((14, 14, SIZE[0] - 15, SIZE[1] - 15), fill=255)
    scan = Image.composite(sheet, Image.new("RGB", SIZE, BED), shape)
    return scan.rotate(angle, Image.Resampling.BICUBIC, fillcolor=BED)


def new_ink() -> Image.Image:
    """Return a mask without ink."""
    return Image.new("L", (SIZE[0] * SCALE, SIZE[1] * SCALE))


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
    ink = new_ink()
    when = date.fromisoformat(day)
    text = f"{when.day}. {MONTHS[when.month - 1]} {when.year}"
    place = (760 * SCALE, 128 * SCALE)
    ImageDraw.Draw(ink).text(place, text, fill=200, font=typeface(TYPED, 27), stroke_width=1)
    return ink.rotate(rng.uniform(-3, 3), Image.Resampling.BICUBIC, center=place)


def draw_card(truth: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the scan of a card."""
    sheet = paper(rng)
    rules = ImageDraw.Draw(sheet)
    for line in ((44, 20, 44, 700), (690, 20, 690, 700), (44, 152, 976, 152)):
        rules.line(line, fill=RULE, width=2)
    for y in (74, 112):
        for x in range(48, 974, 7):
            rules.point((x, y), fill=RULE)
    ink = new_ink()
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
    return scanned(sheet, rng.uniform(-0.5, 0.5))


def main() -> None:
    """Draw every card of metadata.jsonl."""
    for line in (HERE / "metadata.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        scan = draw_card(item["ground_truth"], random.Random(item["id"]))
        path = HERE / item["file_name"]
        path.parent.mkdir(exist_ok=True)
        scan.save(path, quality=72, optimize=True)


if __name__ == "__main__":
    main()
