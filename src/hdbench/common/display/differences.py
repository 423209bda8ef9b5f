"""Differences between two texts, character by character as a reader sees them."""

import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

MIN_SHARED = 0.4
"""The share of the longer text's characters that two texts must have in common for their
differences to be marked one by one; otherwise chance matches would be shown as equal."""

MAX_MARKED = 5_000
"""Maximum number of characters of a value whose letters are compared with another's."""

MAX_VALUES = 20
"""Maximum number of values whose letters are compared, as a page asks for them again and again."""

_ZERO_WIDTH_JOINER = "\u200d"


class TextPart(NamedTuple):
    """A piece of a text.

    Attributes:
        text: the piece.
        differs: whether the other text lacks it or has something else there.
        moved: whether both have it, in another order.
    """

    text: str
    differs: bool
    moved: bool = False


def differences(reference: str, prediction: str) -> tuple[list[TextPart], list[TextPart]]:
    """Return the pieces of a reference and of an answer, alternately shared and not.

    They come from the edit operations of the Levenshtein distance of their characters, as split by
    `characters`. Neighboring pieces differ in `differs`, and joined they give the texts.

    Args:
        reference: the reference text.
        prediction: the answer's text.

    Returns:
        The parts of the reference, and the parts of the answer; none for an empty text.

    Example:
        >>> truth, answer = differences("Ludvig", "Ludwig")
        >>> [part.text for part in truth], [part.text for part in answer]
        (['Lud', 'v', 'ig'], ['Lud', 'w', 'ig'])
    """
    truth, answer = characters(reference), characters(prediction)
    edits = Levenshtein.opcodes(truth, answer)
    shared = sum(edit.src_end - edit.src_start for edit in edits if edit.tag == "equal")
    if shared < MIN_SHARED * max(len(truth), len(answer)):
        return _parts([(reference, True)]), _parts([(prediction, True)])
    return (
        _parts([("".join(truth[e.src_start : e.src_end]), e.tag != "equal") for e in edits]),
        _parts([("".join(answer[e.dest_start : e.dest_end]), e.tag != "equal") for e in edits]),
    )


def marked(texts: Sequence[str]) -> list[list[TextPart]]:
    """Return the parts of texts, those that differ from the first one marked.

    In the first one, those parts are marked that differ from any other.

    Example:
        >>> [[part.text for part in parts] for parts in marked(["Basel", "Bosel", "Bsel"])]
        [['B', 'a', 'sel'], ['B', 'o', 'sel'], ['Bsel']]
    """
    if not texts:
        return []
    first = characters(texts[0])
    differs = [False] * len(first)
    others = []
    for text in texts[1:]:
        of_first, of_other = differences(texts[0], text)
        others.append(of_other)
        place = 0
        for part in of_first:
            length = len(characters(part.text))
            if part.differs:
                differs[place : place + length] = [True] * length
            place += length
    parts: list[TextPart] = []
    for character, is_other in zip(first, differs, strict=True):
        if parts and parts[-1].differs == is_other:
            parts[-1] = TextPart(parts[-1].text + character, is_other)
        else:
            parts.append(TextPart(character, is_other))
    return [parts, *others]


def marked_values(values: Sequence[Any]) -> list[list[TextPart]] | None:
    """Return the parts of texts and whole numbers, those that differ marked as in `marked`.

    Of values of another kind, of too many, or if one is too long, it is None. A missing one has no
    parts.

    Example:
        >>> [[part.text for part in parts] for parts in marked_values([1957, 1951])]
        [['195', '7'], ['195', '1']]
    """
    is_text = all(value is None or type(value) in (str, int) for value in values)
    if len(values) > MAX_VALUES or not is_text:
        return None
    texts = ["" if value is None else str(value) for value in values]
    return None if any(len(text) > MAX_MARKED for text in texts) else marked(texts)


def characters(text: str) -> list[str]:
    r"""Return a text's characters as a reader sees them: each with its combining marks.

    A simple form of the grapheme clusters of Unicode Standard Annex 29: marks (categories Mn, Mc
    and Me) and zero width joiners belong to what precedes them, and what follows such a joiner
    belongs to it.

    Example:
        >>> characters("u\u0308b") == ["u\u0308", "b"]
        True
    """
    if text.isascii():
        return list(text)
    clusters: list[str] = []
    for character in text:
        joins = character == _ZERO_WIDTH_JOINER or unicodedata.category(character).startswith("M")
        if clusters and (joins or clusters[-1][-1] == _ZERO_WIDTH_JOINER):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _parts(pieces: list[tuple[str, bool]]) -> list[TextPart]:
    """Return the parts that are not empty, with neighbors of the same kind joined."""
    parts: list[TextPart] = []
    for text, differs in pieces:
        if text and parts and parts[-1].differs == differs:
            parts[-1] = TextPart(parts[-1].text + text, differs)
        elif text:
            parts.append(TextPart(text, differs))
    return parts
