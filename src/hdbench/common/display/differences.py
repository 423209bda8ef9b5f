"""Differences between two texts, character by character as a reader sees them."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any, Literal, NamedTuple

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


MIN_ALIGNED = 0.6
"""The share of the longer text's characters that must be in place in both for lines to be aligned:
with less, their order differs, and letters meet by chance."""

Kind = Literal["same", "wrong", "moved"]


class Piece(NamedTuple):
    """A piece of a line: `same` in both texts, `wrong`, or `moved`, in another order in both."""

    text: str
    kind: Kind


class PageLine(NamedTuple):
    """A line of the reference, and what the answer has for it, with their line ends."""

    reference: list[Piece]
    prediction: list[Piece]

    @property
    def is_same(self) -> bool:
        """Whether both have the same."""
        return all(piece.kind == "same" for piece in (*self.reference, *self.prediction))


def page_lines(reference: str, prediction: str) -> list[PageLine]:
    r"""Return the lines of a reference, each with the part of the answer that is aligned to it.

    Letters are aligned by the edit operations of the Levenshtein distance. Words of which letters
    differ, and which the other text has among such words of its own, are in another order. If too
    few letters are in place, only such words are known; then lines are paired as they come.

    Args:
        reference: the reference text.
        prediction: the answer's text.

    Example:
        >>> [line] = page_lines("Rother Wein", "Wein Roter")
        >>> [(piece.text, piece.kind) for piece in line.prediction]
        [('Wein', 'moved'), (' ', 'same'), ('Roter', 'wrong')]
        >>> len(page_lines("Rother\nWein", "Rother\nWeyn"))
        2
    """
    truth, answer = characters(reference), characters(prediction)
    edits = Levenshtein.opcodes(truth, answer)
    same = [edit for edit in edits if edit.tag == "equal"]
    shared = sum(edit.src_end - edit.src_start for edit in same)
    is_aligned = shared >= MIN_ALIGNED * max(len(truth), len(answer))
    kinds: tuple[list[Kind], list[Kind]] = ["wrong"] * len(truth), ["wrong"] * len(answer)
    places = [0] * (len(truth) + 1)  # of each of the reference's letters in the answer
    for edit in edits if is_aligned else ():
        for at in range(edit.src_start, edit.src_end):
            places[at] = min(edit.dest_start + at - edit.src_start, edit.dest_end)
        if edit.tag == "equal":
            kinds[0][edit.src_start : edit.src_end] = ["same"] * (edit.src_end - edit.src_start)
            kinds[1][edit.dest_start : edit.dest_end] = ["same"] * (edit.dest_end - edit.dest_start)
    _mark_moved((truth, answer), kinds)
    if not is_aligned:
        for text, of in zip((truth, answer), kinds, strict=True):
            of[:] = [
                "same" if sign.isspace() else kind for sign, kind in zip(text, of, strict=True)
            ]
        sides = [
            _lines(text, of, _ends(text)) for text, of in zip((truth, answer), kinds, strict=True)
        ]
        most = max(map(len, sides))
        filled = ([*side, *[[]] * (most - len(side))] for side in sides)
        return [PageLine(*line) for line in zip(*filled, strict=True)]
    ends = _ends(truth)
    in_answer = [0, *(places[end] for end in ends[1:-1]), len(answer)]
    return [
        PageLine(*line)
        for line in zip(
            _lines(truth, kinds[0], ends), _lines(answer, kinds[1], in_answer), strict=True
        )
    ]


def _ends(text: Sequence[str]) -> list[int]:
    """Return where lines begin, and where the last one ends."""
    begins = [at + 1 for at, sign in enumerate(text[:-1]) if sign == "\n"]
    return [0, *begins, len(text)]


def _lines(text: Sequence[str], kinds: Sequence[Kind], ends: Sequence[int]) -> list[list[Piece]]:
    """Return the lines of a text in pieces."""
    lines = []
    for first, last in pairwise(ends):
        pairs = zip(text[first:last], kinds[first:last], strict=True)
        groups = groupby(pairs, key=lambda pair: pair[1])
        lines.append([Piece("".join(sign for sign, _ in group), kind) for kind, group in groups])
    return lines


def _mark_moved(texts: tuple[list[str], list[str]], kinds: tuple[list[Kind], list[Kind]]) -> None:
    """Mark the words that both texts have, in another order, and what is between two of them."""
    words = [_words(text, of) for text, of in zip(texts, kinds, strict=True)]
    common = Counter(word for word, *_ in words[0]) & Counter(word for word, *_ in words[1])
    for of, found in zip(kinds, words, strict=True):
        left, end = common.copy(), -2
        for word, first, last in found:
            if not left[word]:
                end = -2
                continue
            left[word] -= 1
            start = end if end == first - 1 else first
            of[start:last] = ["moved"] * (last - start)
            end = last


def _words(text: Sequence[str], kinds: Sequence[Kind]) -> list[tuple[str, int, int]]:
    """Return the words with a wrong letter, and where each begins and ends."""
    found, at = [], 0
    for is_space, group in groupby(text, key=str.isspace):
        word = "".join(group)
        last = at + len(characters(word))
        if not is_space and "wrong" in kinds[at:last]:
            found.append((word, at, last))
        at = last
    return found
