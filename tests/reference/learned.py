"""Learned trust as it is written down, value by value, in plain Python.

The columns of each value, the cuts that follow from probabilities, and which of them pass.
"""

import math
from collections import Counter
from fractions import Fraction
from statistics import fmean, pstdev


def alike(one, other):
    """Similarity of two texts, None for no answer: normalized indel, by the longest common part."""
    if one is None or other is None:
        return 0.0
    if one == other:
        return 1.0
    lengths = [0] * (len(other) + 1)
    for sign in one:
        before = lengths[:]
        for place, other_sign in enumerate(other, 1):
            together = before[place - 1] + 1
            longest = max(before[place], lengths[place - 1])
            lengths[place] = together if sign == other_sign else longest
    return 2 * lengths[-1] / (len(one) + len(other))


def chosen(texts):
    """The run whose text is most similar to the others, the first of equals; None without any."""
    totals = {
        run: sum(alike(text, other) for place, other in enumerate(texts) if place != run)
        for run, text in enumerate(texts)
        if text is not None
    }
    if not totals:
        return None
    most = max(totals.values())
    return next(run for run, total in totals.items() if total > most - 1e-9)


def shape(text):
    """A for upper case, a for other letters, 9 for digits."""
    return "".join(map(_stands_for, text))


def _stands_for(sign):
    if sign.isalpha():
        return "A" if sign.isupper() else "a"
    return "9" if sign.isdigit() else sign


def columns(runs, fields):
    """A dictionary of columns for each value of the items that a run answered, item by item.

    Args:
        runs: for each run, for each item, its text of each field; None for no answer.
        fields: the fields' names.
    """
    answered = [i for i in range(len(runs[0])) if any(run[i] is not None for run in runs)]
    others = len(runs) - 1
    rows = []
    for item in answered:
        of_item = []
        for column, field in enumerate(fields):
            texts = [None if run[item] is None else run[item][column] for run in runs]
            run = chosen(texts)
            text = texts[run]
            rest = [other for place, other in enumerate(texts) if place != run]
            of_item.append((field, text, [alike(text, other) for other in rest], rest))
        shares = [
            sum(other == text for other in rest) / max(1, others) for _, text, _, rest in of_item
        ]
        for (field, text, similar, _), share in zip(of_item, shares, strict=True):
            row = {f"field={name}": float(name == field) for name in fields}
            if others:
                mean = fmean(similar)
                row |= {"mean": mean, "least": min(similar), "greatest": max(similar)}
                row |= {"same": share, "same_in_item": fmean(shares)}
                row |= {"almost_all": mean >= 0.98 - 1e-9, "most": mean >= 0.9 - 1e-9}
                row |= {f"same×field={name}": share * (name == field) for name in fields}
            row |= {"empty": not text, "text": (field, text), "shape": (field, shape(text))}
            rows.append(row)
    for kind in ("text", "shape"):
        counts = Counter(row[kind] for row in rows)
        for row in rows:
            field, _ = row[kind]
            row[f"{kind}_count"] = math.log(counts[row.pop(kind)])
            if kind == "shape":
                for name in fields:
                    row[f"shape_count×field={name}"] = row["shape_count"] * (name == field)
    return rows


def standardized(rows):
    """The columns that are not constant, with mean 0 and standard deviation 1."""
    found = [{} for _ in rows]
    for name in rows[0]:
        values = [float(row[name]) for row in rows]
        if min(values) == max(values):
            continue
        mean, deviation = fmean(values), pstdev(values)
        for row, value in zip(found, values, strict=True):
            row[name] = (value - mean) / deviation
    return found


def share_within(probabilities, limit):
    """The greatest share of the values, sorted, whose mean probability is at most the limit."""
    ascending, total, share = sorted(probabilities), 0, Fraction(0)
    for number, probability in enumerate(ascending, 1):
        total += probability
        if Fraction(total, number) <= Fraction(str(limit)) * 10**9:
            share = Fraction(number, len(ascending))
    return share


def cuts(probabilities, limit, *, each_field=False):
    """The cuts in billionths, from strict to loose."""
    ascending = sorted(probabilities)
    exactly = Fraction(str(limit))
    strict = share_within(probabilities, exactly * Fraction("0.15"))
    if each_field:
        loose = share_within(probabilities, exactly * Fraction("0.8"))
        strict, number = max(strict, loose * Fraction("0.7")), 5
    else:
        loose = max(share_within(probabilities, exactly), Fraction("0.15"))
        strict, number = max(strict, Fraction("0.15"), loose / 2), 8
    strict = min(strict, loose)
    found = set()
    for step in range(number):
        rank = math.ceil((strict + (loose - strict) * step / (number - 1)) * len(ascending))
        if rank:
            found.add(ascending[rank - 1])
    return sorted(found)


def passes(population, drawn, found, limit, risk):
    """Whether a cut passes: by the hypergeometric distribution, in fractions."""
    wrong = found + math.floor(Fraction(str(limit)) * (population - drawn)) + 1
    if wrong > population:
        return True
    ways = sum(
        math.comb(wrong, count) * math.comb(population - wrong, drawn - count)
        for count in range(found + 1)
    )
    return Fraction(ways, math.comb(population, drawn)) <= risk
