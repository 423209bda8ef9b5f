"""Draw the pages of the sample into images/, from the entries in metadata.jsonl.

Run it in the repository's root with Python and Pillow:
python -m dataset_scripts.companylists.sample.draw
It needs the Debian package fonts-oldstandard.

The companies and their owners were made up.
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

SIZE = (900, 1180)

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


def draw_page(item: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the scan of a page: under headings with locations, or alphabetical with numbers."""
    truth = item["ground_truth"]
    ink = new_ink(SIZE)
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
    return scanned(inked(paper(SIZE, PAPER, rng), rng, ink, INK), rng.uniform(-0.5, 0.5), BED)


if __name__ == "__main__":
    draw_sample(Path(__file__).parent, draw_page)
