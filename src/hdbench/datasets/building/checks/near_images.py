"""Images that look nearly the same, by a hash of what they look like."""

from collections import defaultdict
from collections.abc import Mapping

from PIL import Image

MAX_DISTANCE = 3
"""Number of bits in which the hashes of nearly identical images differ at most."""

_SIZE = 8
_BITS = _SIZE * _SIZE
_BLOCK = _BITS // (MAX_DISTANCE + 1)
_FLAT = 12
"""Difference of the lightest and darkest grey below which an image is blank: its hash is noise."""


def difference_hash(image: Image.Image) -> int | None:
    """64 bits: where an image, as 9 by 8 greys, gets lighter from left to right.

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
    """Image → the first earlier one whose hash differs in at most `MAX_DISTANCE` bits.

    Two such hashes are equal in one of four blocks of bits, so that only those are compared.

    Example:
        >>> near_images({"a": 0b1111, "b": 0b1, "c": 1 << 63 | 0b11110000})
        {'b': 'a'}
    """
    found: dict[str, str] = {}
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
            found[name] = min(near)[1]
        if bits not in first:
            first[bits] = (position, name)
            for block in blocks:
                buckets[block].append(bits)
    return found
