"""Draw the pages of the sample into images/, from the transcriptions in metadata.jsonl.

Run it with Python and Pillow, no arguments: python draw.py
It needs the Debian package fonts-kristi, and the typeface UnifrakturMaguntia (SIL Open Font
License): take UnifrakturMaguntia_400Regular.ttf out of the npm package
@expo-google-fonts/unifrakturmaguntia (the pages are drawn with 0.4.1) and put it among your fonts,
as in ~/.local/share/fonts.

The journey, its places and its people were made up.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps

HERE = Path(__file__).parent
SIZE = (860, 1160)
SCALE = 2  # ink is drawn larger, then made smaller: smoother edges

Colour = tuple[int, int, int]

BED: Colour = (14, 13, 13)  # the scanner's, seen at the edges
PAPER: Colour = (228, 216, 194)
INK: Colour = (66, 46, 30)
LATER: Colour = (96, 84, 66)

HAND, MARGINS = "UnifrakturMaguntia_400Regular.ttf", "Kristi.ttf"
LEFT, TOP, LEADING = 250, 190, 62
BODY, NOTE = 44, 46


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


def written(  # noqa: PLR0917  a place, a hand and what it writes
    ink: Image.Image, rng: random.Random, x: float, y: float, face: str, size: int, text: str
) -> None:
    """Write a line word by word, each a little off the line, larger or smaller, and paler."""
    draw = ImageDraw.Draw(ink)
    for word in text.split():
        font = typeface(face, size + rng.choice((-1, 0, 0, 1)))
        place = (x * SCALE, (y + rng.gauss(0, 1.3)) * SCALE)
        draw.text(place, word, fill=rng.randint(150, 245), font=font, anchor="ls")
        x += font.getlength(word + " ") / SCALE + rng.uniform(-1, 4)


def draw_page(truth: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the photograph of a page: text in one hand, and notes in the margin in another."""
    (page,) = truth["folios"]
    text, later = new_ink(), new_ink()
    for number, line in enumerate(page["text"].splitlines()):
        slope = number * rng.uniform(-0.4, 0.4)
        x, y = LEFT + rng.uniform(-5, 5), TOP + number * LEADING + slope
        written(text, rng, x, y, HAND, BODY, line)
    if page["folio"]:
        written(later, rng, 760, 90, MARGINS, NOTE, page["folio"])
    y = TOP + 3 * LEADING
    for name in sorted(name for name in page if name.startswith("addition")):
        for line in page[name].splitlines():
            written(later, rng, 60 + rng.uniform(-4, 4), y, MARGINS, NOTE, line)
            y += 44
        y += LEADING
    sheet = inked(inked(paper(rng), rng, text, INK), rng, later, LATER)
    return scanned(sheet, rng.uniform(-0.6, 0.6))


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
