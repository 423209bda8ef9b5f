"""Draw the pages of the sample into images/, from the entries in metadata.jsonl.

Run it with Python and Pillow, no arguments: python draw.py
It needs the Debian package fonts-oldstandard.

The companies and their owners were made up.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps

HERE = Path(__file__).parent
SIZE = (900, 1180)
SCALE = 2  # ink is drawn larger, then made smaller: smoother edges

Colour = tuple[int, int, int]

BED: Colour = (18, 16, 16)  # the scanner's, seen at the edges
PAPER: Colour = (240, 226, 204)
INK: Colour = (46, 40, 38)

LEFT, RIGHT, TOP = 130, 780, 220
BODY, LEADING = 25, 36
REGULAR, BOLD = "OldStandard-Regular.ttf", "OldStandard-Bold.ttf"

HEADINGS = {  # page → number of an entry → the heading above it
    "sample_14": {
        1: "Lanterns (Signal)",
        3: "Lace",
        6: "Ledgers",
        8: "Lozenges",
    },
}
FOLIOS = {"sample_14": "14", "sample_31": "31"}


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


def dotted(draw: ImageDraw.ImageDraw, y: int, start: float, number: int) -> None:
    """Print the dots that lead from a name to a page's number, and the number."""
    font = typeface(REGULAR, BODY)
    text = str(number)
    end = RIGHT * SCALE - font.getlength(text) - 10
    x = end
    while x > start + 16:
        draw.text((x, y * SCALE), ".", fill=210, font=font, anchor="rs")
        x -= 18
    draw.text((RIGHT * SCALE, y * SCALE), text, fill=225, font=font, anchor="rs")


def draw_page(truth: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the scan of a page: under headings with locations, or alphabetical with numbers."""
    ink = new_ink()
    draw = ImageDraw.Draw(ink)
    page = truth["page_id"]
    headings = HEADINGS.get(page, {})
    regular, bold = typeface(REGULAR, BODY), typeface(BOLD, BODY)
    draw.text((LEFT * SCALE, 140 * SCALE), FOLIOS[page], fill=225, font=regular, anchor="ls")
    y = TOP
    for number, entry in enumerate(truth["entries"], start=1):
        if number in headings:
            y += LEADING // 3
            draw.text((LEFT * SCALE, y * SCALE), headings[number], fill=240, font=bold, anchor="ls")
            y += LEADING
        x = (LEFT + (24 if headings else 0)) * SCALE
        text = entry["company_name"]
        if headings:
            text = f"{text}, {entry['location']}."
        draw.text((x, y * SCALE), text, fill=rng.randint(205, 250), font=regular, anchor="ls")
        if not headings:
            dotted(draw, y, x + regular.getlength(text), rng.randint(40, 190))
        y += LEADING
    return scanned(inked(paper(rng), rng, ink, INK), rng.uniform(-0.5, 0.5))


def main() -> None:
    """Draw every page of metadata.jsonl."""
    for line in (HERE / "metadata.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        scan = draw_page(item["ground_truth"], random.Random(item["id"]))
        path = HERE / item["file_name"]
        path.parent.mkdir(exist_ok=True)
        scan.save(path, quality=72, optimize=True)


if __name__ == "__main__":
    main()
