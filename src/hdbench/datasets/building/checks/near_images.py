"""Images that look nearly the same, by a hash of their appearance."""

from collections import defaultdict
from collections.abc import Mapping

from PIL import Image

MAX_DISTANCE = 3
"""Number of bits in which the hashes of nearly identical images differ at most."""

_SIZE = 8
_BITS = _SIZE * _SIZE
_BLOCK = _BITS // (MAX_DISTANCE + 1)
_FLAT = 12
"""Minimum contrast of gray levels: below it, an image is blank, and its hash is noise."""


def difference_hash(image: Image.Image) -> int | None:
    """Return 64 bits: where an image, as 9 by 8 grays, gets lighter from left to right.

    Returns:
        None for an image that is blank.
    """
    grey = image.convert("L").resize((_SIZE + 1, _SIZE), Image.Resampling.BOX)
    pixels, bits = grey.tobytes(), 0
    if max(pixels) - min(pixels) < _FLAT:
        return None
    for row in range(_SIZE):
        at = row * (_SIZE + 1)
        for column in range(_SIZE):
            bits = bits << 1 | (pixels[at + column] < pixels[at + column + 1])
    return bits


def near_images(hashes: Mapping[str, int]) -> dict[str, str]:
    """Return image → the first earlier one whose hash differs in at most `MAX_DISTANCE` bits.

    Two such hashes agree in one of four blocks of bits, so only hashes that do are compared.

    Example:
        >>> near_images({"a": 0b1111, "b": 0b1, "c": 1 << 63 | 0b11110000})
        {'b': 'a'}
    """
    earlier_by_image: dict[str, str] = {}
    first: dict[int, tuple[int, str]] = {}  # hash → the position and name of the first with it
    buckets: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, (name, bits) in enumerate(hashes.items()):
        blocks = [(at, bits >> at & (1 << _BLOCK) - 1) for at in range(0, _BITS, _BLOCK)]
        near = [
            first[other]
            for block in blocks
            for other in buckets[block]
            if (other ^ bits).bit_count() <= MAX_DISTANCE
        ]
        if near:
            earlier_by_image[name] = min(near)[1]
        if bits not in first:
            first[bits] = (position, name)
            for block in blocks:
                buckets[block].append(bits)
    return earlier_by_image
