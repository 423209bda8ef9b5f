"""The rules of ScienceMeta accuracy written down as they are read, for tests and speed.

Independent of `hdbench`: it shares nothing with what it checks.
"""

import difflib
import math

from reference.values import canonical

PAPER = ["doi", "title", "author", "keyword", "abstract", "pub_time"]
BOOK = ["isbn", "title", "author", "abstract", "category", "pub_time", "publisher"]


def kind_of(truth):
    if truth.get("kind") is not None:
        return truth["kind"]
    return "paper" if "doi" in truth or "keyword" in truth else "book"


def fields_of(truth):
    return PAPER if kind_of(truth) == "paper" else BOOK


def text(value):
    return "" if value is None else str(value)


def similarity(reference, prediction, autojunk=True):
    a, b = text(reference), text(prediction)
    if (a == "") != (b == ""):
        return 0.0
    if a == b or a.lower() == b.lower():
        return 1.0
    return round(difflib.SequenceMatcher(None, a.lower(), b.lower(), autojunk).ratio(), 3)


def similarities(answer, truth):
    """Field → similarity; an answer of None is unanswered."""
    if answer is None:
        return dict.fromkeys(fields_of(truth), 0.0)
    answer, truth = canonical(answer), canonical(truth)
    return {field: similarity(truth.get(field), answer.get(field)) for field in fields_of(truth)}


def score(pairs):
    """Overall accuracy, and kind → (field accuracy, records), of (answer, truth) pairs."""
    rows = {}
    for answer, truth in pairs:
        rows.setdefault(kind_of(truth), []).append(similarities(answer, truth))
    kinds = {
        kind: ({field: mean(row[field] for row in of) for field in of[0]}, len(of))
        for kind, of in rows.items()
    }
    return mean(mean(accuracy.values()) for accuracy, _ in kinds.values()), kinds


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)
