"""The value to take from several runs, and how far it can be trusted."""

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from hdbench.statistics.acceptance import ROUNDING


class Chosen(NamedTuple):
    """The value to take.

    Attributes:
        run: the position of its run; None if no run has an answer.
        score: its trust score, 0.0 to 1.0: its mean similarity to the values of the other runs.
            Higher is better.
    """

    run: int | None
    score: float


def similarity(first: str | None, second: str | None) -> float:
    """Return the similarity of two values, 0.0 to 1.0, higher is better.

    Args:
        first: a text, empty if there is no such value; None if there is no answer at all.
        second: another text, or None as well.

    Returns:
        1.0 for equal texts, including two empty ones; 0.0 if only one is empty, or one is None;
        otherwise the normalized indel similarity, which is case-sensitive.

    Example:
        >>> similarity("Diss. 1961", "Diss. 1962"), similarity("", "Basel"), similarity("", "")
        (0.9, 0.0, 1.0)
    """
    if first is None or second is None:
        return 0.0
    if first == second:
        return 1.0
    if not first or not second:
        return 0.0
    return ratio(first, second) / 100


def choose(texts: Sequence[str | None]) -> Chosen:
    """Return the medoid of the runs' values: the value that is most similar to the others.

    Args:
        texts: the value in each run, in order of preference, which decides between equals; None for
            a run without an answer, whose value is never chosen.

    Example:
        >>> choose(["Basel", "Bassel", "Basel"])
        Chosen(run=0, score=0.9545454545454546)
        >>> choose([None, "", ""]), choose(["Basel"]), choose([None, None])
        (Chosen(run=1, score=0.5), Chosen(run=0, score=0.0), Chosen(run=None, score=0.0))
    """
    first = texts[0]
    others = len(texts) - 1
    if others and first is not None and texts.count(first) == len(texts):
        return Chosen(0, 1.0)
    totals = [0.0] * len(texts)
    for run, text in enumerate(texts):
        for other in range(run):
            alike = similarity(text, texts[other])
            totals[run] += alike
            totals[other] += alike
    best = Chosen(None, 0.0)
    highest = -1.0
    for run, total in enumerate(totals):
        if texts[run] is not None and total > highest + ROUNDING:
            best, highest = Chosen(run, total / others if others else 0.0), total
    return best
