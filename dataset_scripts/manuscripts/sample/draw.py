"""Draw the pages of the sample into images/, from the transcriptions in metadata.jsonl.

Run it in the repository's root with Python and Pillow:
python -m dataset_scripts.manuscripts.sample.draw
It needs the Debian package fonts-kristi, and the typeface UnifrakturMaguntia (SIL Open Font
License): take UnifrakturMaguntia_400Regular.ttf out of the npm package
@expo-google-fonts/unifrakturmaguntia (the pages are drawn with 0.4.1) and put it among your fonts,
as in ~/.local/share/fonts.

The journey, its places and its people were made up.
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

SIZE = (860, 1160)

BED: Colour = (14, 13, 13)  # the scanner's, seen at the edges
PAPER: Colour = (228, 216, 194)
INK: Colour = (66, 46, 30)
LATER: Colour = (96, 84, 66)

HAND, MARGINS = "UnifrakturMaguntia_400Regular.ttf", "Kristi.ttf"
LEFT, TOP, LEADING = 250, 190, 62
BODY, NOTE = 44, 46


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


def draw_page(item: dict[str, Any], rng: random.Random) -> Image.Image:
    """Return the photograph of a page: text in one hand, and notes in the margin in another."""
    (page,) = item["ground_truth"]["folios"]
    text, later = new_ink(SIZE), new_ink(SIZE)
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
    sheet = inked(inked(paper(SIZE, PAPER, rng), rng, text, INK), rng, later, LATER)
    return scanned(sheet, rng.uniform(-0.6, 0.6), BED)


if __name__ == "__main__":
    draw_sample(Path(__file__).parent, draw_page)
