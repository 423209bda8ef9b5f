"""Scans of pages that nobody wrote: what the draw.py of the samples have in common.

Each sheet has the size of its image. Ink is drawn on masks that are SCALE times as large, then made
smaller: smoother edges.
"""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps

SCALE = 2

Size = tuple[int, int]
Colour = tuple[int, int, int]
Layers = tuple[tuple[int, int], ...]  # of clouds: how wide they are, and the lowest grey value


def draw_sample(folder: Path, draw: Callable[[dict[str, Any], random.Random], Image.Image]) -> None:
    """Draw every item of a sample's metadata.jsonl, the same each time.

    Args:
        folder: the sample.
        draw: returns the scan of an item; it is given its line and its own random numbers.
    """
    for line in (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        rng = random.Random(item["id"])  # noqa: S311  no secret
        save(draw(item, rng), folder / item["file_name"])


def save(scan: Image.Image, path: Path) -> None:
    """Write a scan as JPEG."""
    path.parent.mkdir(exist_ok=True)
    scan.save(path, quality=72, optimize=True)


def typeface(name: str, size: int) -> ImageFont.FreeTypeFont:
    """Open a typeface for a mask by its file's name, or end with one line."""
    try:
        return ImageFont.truetype(name, size * SCALE)
    except OSError:
        sys.exit(f"The font {name!r} is missing: draw.py says on top where to get it.")


def noise(size: Size, rng: random.Random, cell: int, low: int) -> Image.Image:
    """Return clouds, each some cell pixels wide, of grey values from low to 255."""
    width, height = size[0] // cell + 2, size[1] // cell + 2
    grey = Image.frombytes("L", (width, height), rng.randbytes(width * height))
    grey = ImageOps.autocontrast(grey.filter(ImageFilter.GaussianBlur(0.7)))
    return grey.resize(size, Image.Resampling.BICUBIC).point(lambda v: low + v * (255 - low) // 255)


def clouded(sheet: Image.Image, rng: random.Random, layers: Layers) -> Image.Image:
    """Return a sheet with grain and clouds."""
    for cell, low in layers:
        sheet = ImageChops.multiply(sheet, noise(sheet.size, rng, cell, low).convert("RGB"))
    return sheet


def paper(size: Size, colour: Colour, rng: random.Random) -> Image.Image:
    """Return a sheet of paper with its grain and clouds."""
    return clouded(Image.new("RGB", size, colour), rng, ((2, 242), (90, 238), (380, 234)))


def new_ink(size: Size) -> Image.Image:
    """Return a mask without ink, for a sheet of a size."""
    return Image.new("L", (size[0] * SCALE, size[1] * SCALE))


def inked(
    sheet: Image.Image, rng: random.Random, ink: Image.Image, colour: Colour, low: int = 200
) -> Image.Image:
    """Return a sheet with ink on it, given as a mask; it covers unevenly, at least by low/255."""
    mask = ink.resize(sheet.size, Image.Resampling.LANCZOS)
    mask = ImageChops.multiply(mask, noise(sheet.size, rng, 3, low))
    return Image.composite(Image.new("RGB", sheet.size, colour), sheet, mask)


def stained(sheet: Image.Image, mask: Image.Image, colour: Colour) -> Image.Image:
    """Return a sheet with ink laid on through a mask, under which the paper still shows."""
    flat = Image.new("RGB", sheet.size, colour)
    wet = Image.blend(ImageChops.multiply(sheet, flat), flat, 0.6)
    return Image.composite(wet, sheet, mask.resize(sheet.size, Image.Resampling.LANCZOS))


def scanned(sheet: Image.Image, angle: float, bed: Colour) -> Image.Image:
    """Return the scan of a sheet, laid on a little askew; the scanner's bed shows at the edges."""
    width, height = sheet.size
    shape = Image.new("L", sheet.size)
    ImageDraw.Draw(shape).rectangle((14, 14, width - 15, height - 15), fill=255)
    scan = Image.composite(sheet, Image.new("RGB", sheet.size, bed), shape)
    return scan.rotate(angle, Image.Resampling.BICUBIC, fillcolor=bed)
