"""The rules of Zettel F1 written down as they are read: the tests' reference, and the speed's.

Independent of `hdbench`: it shares nothing with what it checks but RapidFuzz.
"""

import math

from reference.values import canonical, similarity


def flatten(value, path=""):
    """Every leaf of a record as (dotted path, value)."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from flatten(child, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from flatten(child, f"{path}[{index}]")
    else:
        yield path, value


def leaves(value, path=()):
    """Every leaf of a record as (path, value): a path is a tuple of keys and places."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, (*path, key))
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield from leaves(child, (*path, place))
    else:
        yield path, value


def look_up(record, path):
    """The leaf that is found by splitting a path at its signs; None where nothing is."""
    for step in path.replace("]", "").replace("[", ".").split("."):
        if isinstance(record, dict) and step in record:
            record = record[step]
        elif isinstance(record, list) and step.isdecimal() and int(step) < len(record):
            record = record[int(step)]
        else:
            return None
    return None if isinstance(record, (dict, list)) else record


def parents(paths):
    """Every path that has one of the paths below it."""
    return {path[:at] for path in paths for at, sign in enumerate(path) if sign in ".["}


def is_left_out(path):
    return (
        path == "examination"
        or path.startswith(("examination.", "examination["))
        or path in ("publication.reprint_note", "library_reference.publication_number")
    )


def counts(answer, truth, protocol="documented", threshold=0.92):
    """TP, FP and FN of one card; an answer of None is unanswered."""
    published = protocol == "published"
    if not published:
        answer, truth = canonical(answer), canonical(truth)
    if not published and answer is not None and set(answer) == {"error"}:
        answer = None
    walk = flatten if published else leaves
    expected = dict(walk(truth))
    found = dict(walk(answer)) if answer is not None else {}
    above = parents([*expected, *found]) if published else ()
    tp = fp = fn = 0
    for path in {**expected, **found}:
        if published and (path in above or is_left_out(path)):
            continue
        a, b = expected.get(path), found.get(path)
        if published:
            a, b = look_up(truth, path), look_up(answer, path)
            a, b = (None if value == "" else value for value in (a, b))
        if a is None and b is None:
            continue
        if a is None or b is None:
            if answer is not None and (a == "" or b == ""):
                continue
            fp += b is not None
            fn += a is not None
        elif similarity(a, b) >= threshold:
            tp += 1
        else:
            fp += 1
            fn += 1
    return tp, fp, fn


def f1(tp, fp, fn):
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def score(cards, protocol="documented"):
    """Micro and macro F1 and the summed counts of (answer, truth) pairs."""
    total = [0, 0, 0]
    card_f1 = []
    for answer, truth in cards:
        card = counts(answer, truth, protocol)
        total = [a + b for a, b in zip(total, card, strict=True)]
        card_f1.append(round(f1(*card), 2) if protocol == "published" else f1(*card))
    return f1(*total), math.fsum(card_f1) / len(card_f1), *total
