"""What can be done to texts before they are compared, as a named, ordered list."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hdbench.errors import HdbenchError

Normalizer = Callable[[str], str]

_HYPHENATION = re.compile(r"[-‐¬⸗=][^\S\n]*\n[^\S\n]*")


def _without_punctuation(text: str) -> str:
    return "".join(sign for sign in text if not unicodedata.category(sign).startswith("P"))


def _without_diacritics(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    base = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return unicodedata.normalize("NFC", base)


def _without_long_s(text: str) -> str:
    return text.replace("ſ", "s")


def _fold_space(text: str) -> str:
    return " ".join(text.split())


def _in_one_line(text: str) -> str:
    return " ".join(text.splitlines())


OF_VALUES: dict[str, Normalizer] = {
    "nfc": partial(unicodedata.normalize, "NFC"),
    "nfkc": partial(unicodedata.normalize, "NFKC"),
    "lowercase": str.lower,
    "casefold": str.casefold,
    "whitespace": _fold_space,
    "punctuation": _without_punctuation,
    "long_s": _without_long_s,
}
"""Steps for any text by name: `whitespace` folds runs of it to one space and strips the ends,
`punctuation` removes the characters of the Unicode categories P, `long_s` makes ſ an s."""

OF_TRANSCRIPTIONS: dict[str, Normalizer] = {
    **OF_VALUES,
    "line_breaks": _in_one_line,
    "hyphenation": partial(_HYPHENATION.sub, ""),
    "diacritics": _without_diacritics,
}
"""Steps for texts with lines: `line_breaks` makes each a space; `hyphenation` removes a hyphen
(`-`, `‐`, `¬`, `⸗` or `=`) at a line's end together with the line break; `diacritics` removes
combining characters, also from composed ones."""


def normalizer(
    name: str, steps: Any, steps_by_name: dict[str, Normalizer], *, can_remove: bool = True
) -> tuple[Normalizer, ...]:
    """The steps with these names, in order; `{"remove": "…"}` removes each of its characters.

    Args:
        name: what is normalized, for messages.
        steps: a list of names.
        steps_by_name: the steps that there are.
        can_remove: whether `{"remove": "…"}` is one as well.

    Raises:
        HdbenchError: it is not a list, or has an unknown name.

    Example:
        >>> lower, fold = normalizer("normalize", ["lowercase", "whitespace"], OF_VALUES)
        >>> fold(lower("Die  Ehe "))
        'die ehe'
    """
    if isinstance(steps, str) or not isinstance(steps, Sequence):
        raise HdbenchError(
            "{name}: {steps} is not a list of {names}",
            name=name,
            steps=repr(steps),
            names=", ".join(steps_by_name),
        )
    return tuple(_step(name, step, steps_by_name, can_remove) for step in steps)


def _step(
    name: str, step: Any, steps_by_name: dict[str, Normalizer], can_remove: bool
) -> Normalizer:
    if isinstance(step, str) and step in steps_by_name:
        return steps_by_name[step]
    is_remove = isinstance(step, dict) and step.keys() == {"remove"}
    if can_remove and is_remove and isinstance(step["remove"], str):
        return partial(_remove, str.maketrans("", "", step["remove"]))
    choices = [*steps_by_name, '{"remove": "CHARACTERS"}'] if can_remove else steps_by_name
    raise HdbenchError(
        "{name}: {step} is none of {choices}",
        name=name,
        step=repr(step),
        choices=", ".join(choices),
    )


def _remove(characters: dict[int, Any], text: str) -> str:
    return text.translate(characters)
