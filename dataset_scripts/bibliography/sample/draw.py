"""Draw the pages of the sample into images/, from the entries in metadata.jsonl.

Run it with Python and Pillow, no arguments: python draw.py
It needs the Debian package fonts-oldstandard.

The works, their authors and their journals were made up.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps

HERE = Path(__file__).parent
SIZE = (900, 1240)
SCALE = 2  # ink is drawn larger, then made smaller: smoother edges

Colour = tuple[int, int, int]

BED: Colour = (40, 40, 42)  # the scanner's, seen at the edges
PAPER: Colour = (240, 238, 230)
INK: Colour = (38, 36, 36)

LEFT, RIGHT, TOP = 96, 804, 330
NUMBER, HANG = 44, 62  # how far the text of an entry, and its further lines, are set in
BODY, LEADING = 23, 31
FACES = {"": "OldStandard-Regular.ttf", "*": "OldStandard-Italic.ttf"}

Word = tuple[str, str]  # a word, and its mark


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


def names(people: list[dict[str, str]]) -> str:
    """Return the persons of an entry, the first by the family name, as in a list."""
    first, *others = [(each["family"], each["given"]) for each in people]
    rest = [f"{given} {family}" for family, given in others]
    return " and ".join([", ".join(first), *rest])


def printed(entry: dict[str, Any]) -> list[Word]:
    """Return the words of an entry as a bibliography prints them; titles are in italics."""
    article = "container_title" in entry
    parts = [(names(entry["author"]) + ",", "")]
    if article:
        number = f", fasc. {entry['fascicle']}" if "fascicle" in entry else ""
        parts.append((f"\u201c{entry['title']}\u201d,", ""))
        parts.append((entry["container_title"], "*"))
        parts.append((f"{entry['volume']}{number} ({entry['issued']}), {entry['page']}.", ""))
    else:
        parts.append((entry["title"] + ",", "*"))
        if "editor" in entry:
            (editor,) = entry["editor"]
            parts.append((f"ed. by {editor['given']} {editor['family']},", ""))
        if "edition" in entry:
            parts.append((f"{entry['edition']}nd ed.,", ""))
        stop = "" if entry.get("incomplete") else "."
        place = entry["publisher_place"]
        parts.append((f"{place}: {entry['publisher']}, {entry['issued']}{stop}", ""))
    if "note" in entry:
        parts.append((f"[{entry['note']}]", ""))
    return [(word, mark) for text, mark in parts for word in text.split()]


def write(draw: ImageDraw.ImageDraw, rng: random.Random, entry: dict[str, Any], y: int) -> int:
    """Print an entry from a line on, and return where the next one goes."""
    fonts = {mark: typeface(name, BODY) for mark, name in FACES.items()}
    inset = 26 if "relation" in entry else 0  # reviews stand below what they review
    space = fonts[""].getlength(" ")
    draw.text((LEFT * SCALE, y * SCALE), entry["id"], fill=235, font=fonts[""])
    x = (LEFT + NUMBER + inset) * SCALE
    for word, mark in printed(entry):
        length = fonts[mark].getlength(word)
        if x + length > RIGHT * SCALE:
            x, y = (LEFT + HANG + inset) * SCALE, y + LEADING
        draw.text((x, y * SCALE), word, fill=rng.randint(205, 255), font=fonts[mark])
        x += length + space
    return y + LEADING


def draw_page(truth: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the scan of a page."""
    ink = new_ink()
    draw = ImageDraw.Draw(ink)
    about = truth["metadata"]
    middle = (LEFT + RIGHT) * SCALE / 2
    bold = "OldStandard-Bold.ttf"
    for text, size, y in ((about["year"], 34, 170), (about["title"], 26, 268)):
        draw.text((middle, y * SCALE), text, fill=240, font=typeface(bold, size), anchor="ms")
    number = typeface(FACES[""], BODY)
    place = (RIGHT * SCALE, 80 * SCALE)
    draw.text(place, str(about["page_number"]), fill=230, font=number, anchor="rs")
    y, reviewed = TOP, False
    for entry in truth["entries"]:
        if "relation" in entry and not reviewed:
            place = ((LEFT + HANG) * SCALE, y * SCALE)
            draw.text(place, "Review:", fill=235, font=number)
            y += LEADING
        reviewed = "relation" in entry
        y = write(draw, rng, entry, y)
    return scanned(inked(paper(rng), rng, ink, INK), rng.uniform(-0.4, 0.4))


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
