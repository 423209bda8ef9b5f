"""PICA records that a seed makes, with all that the forms have to keep apart."""

import random

from hdbench.ground_truth.pica import PicaField

_VALUES = (
    "",
    " ",
    "$",
    "$$",
    "a$",
    "$a",
    "/01 $a",
    "Die @Stadt",
    "Müller & Söhne <Basel>",
    "]]>",
    "&amp;",
    "Über",
    "U\u0308ber",
    "日本",
    "𝔊",
    "\t",
    "\u2028",
    "\x85",
    "\x98Die\x9c Stadt",
    "ƒa",
    "# 1",
    "  ",
)
_CODES = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS = "@ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def invented_field(chance: random.Random) -> PicaField:
    """A field of any level."""
    level = chance.choice("012")
    tag = f"{level}{chance.randrange(100):02}{chance.choice(_LETTERS)}"
    occurrence = chance.choice(("", f"{chance.randrange(100):02}"))
    if level == "2":
        occurrence = chance.choice((f"{chance.randrange(100):02}", f"{chance.randrange(1000):03}"))
    subfields = tuple(
        (chance.choice(_CODES), "".join(chance.choices(_VALUES, k=chance.randrange(4))))
        for _ in range(chance.randint(1, 4))
    )
    return PicaField(tag, occurrence, subfields)


def invented_records(count: int, seed: int) -> list[list[PicaField]]:
    """Records of one to twelve fields."""
    chance = random.Random(seed)
    return [[invented_field(chance) for _ in range(chance.randint(1, 12))] for _ in range(count)]
