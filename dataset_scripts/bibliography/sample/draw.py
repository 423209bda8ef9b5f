"""Draw the pages of the sample into images/, from the entries in metadata.jsonl.

Run it in the repository's root with Python and Pillow:
python -m dataset_scripts.bibliography.sample.draw
It needs the Debian package fonts-oldstandard.

The works, their authors and their journals were made up.
"""

import random
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

SIZE = (900, 1240)

BED: Colour = (40, 40, 42)  # the scanner's, seen at the edges
PAPER: Colour = (240, 238, 230)
INK: Colour = (38, 36, 36)

LEFT, RIGHT, TOP = 96, 804, 330
NUMBER, HANG = 44, 62  # how far the text of an entry, and its further lines, are set in
BODY, LEADING = 23, 31
FACES = {"": "OldStandard-Regular.ttf", "*": "OldStandard-Italic.ttf"}

Word = tuple[str, str]  # a word, and its mark


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


def draw_page(item: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the scan of a page."""
    truth = item["ground_truth"]
    ink = new_ink(SIZE)
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
    return scanned(inked(paper(SIZE, PAPER, rng), rng, ink, INK), rng.uniform(-0.4, 0.4), BED)


if __name__ == "__main__":
    draw_sample(Path(__file__).parent, draw_page)
