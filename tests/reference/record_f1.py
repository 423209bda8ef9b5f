"""The rules of Record F1 written down as they are read: the tests' reference.

Independent of `hdbench`. It tries every pairing of two lists, so these must be short (six items).

>>> truth = {"entries": [{"name": "Abegg"}, {"name": "Boreux"}, {"name": "Cie."}]}
>>> answer = {"entries": [{"name": "Cie."}, {"name": "Boreux"}]}
>>> aligned = score(answer, truth)
>>> aligned["tp"], aligned["fp"], aligned["fn"], round(aligned["similarity"], 3)
(2, 0, 1, 0.667)
>>> aligned["lists"], aligned["pairs"][0]
({'entries': (2, 1, 0)}, ('entries[1]', 'entries[1]'))
>>> position = score(answer, truth, lists="position")
>>> position["tp"], position["fp"], position["fn"], position["lists"]
(1, 1, 2, {'entries': (2, 1, 0)})

An object where the truth has a value hides nothing; unanswered, empty strings are missed too:

>>> hidden = score({"title": {"z": None}, "name": "Abegg"}, {"title": "Zettel", "name": "Abegg"})
>>> hidden["tp"], hidden["fp"], hidden["fn"]
(1, 0, 1)
>>> score({}, {"a": "", "b": "x"})["fn"], score(None, {"a": "", "b": "x"})["fn"]
(1, 2)
"""

import json
import re
from typing import NamedTuple

from reference.values import add, compared, normalized, rounded
from reference.values import canonical as canonical_form
from reference.zettel_f1 import flatten

DEFAULTS = {
    "lists": "aligned",
    "compare": "similarity",
    "threshold": 0.92,
    "normalize": [],
    "blank": [None],
    "ignore": [],
    "weights": {},
    "root_list": None,
    "leaves": "union",
    "parents": "keep",
    "absent": "skip",
    "dotted_keys": "plain",
    "unanswered": "failure",
    "round": {},
    "sum": "exact",
    "figures": {},
    "unanswered item": False,
}
ABSENT = object()


class Row(NamedTuple):
    """One leaf; its similarity is None where the truth has no field that counts."""

    path: tuple
    tp: int
    fp: int
    fn: int
    similarity: float | None


class Record(NamedTuple):
    """One item of a list, with its place in the truth and in the answer."""

    path: tuple
    truth: str | None
    answer: str | None


def segments(path):
    """
    >>> segments("entries[].pages[][].n")
    ('entries', '[]', 'pages', '[]', '[]', 'n')
    """
    return tuple(re.findall(r"\[\]|[^.\[\]]+", path))


def fits(pattern, path):
    start = path[: len(pattern)]
    return len(start) == len(pattern) and all(
        wanted == segment or (wanted == "*" and segment != "[]")
        for wanted, segment in zip(pattern, start, strict=True)
    )


def chosen(option, path, default):
    """The value of the best pattern: from the left a literal before `*`, then the longer.

    >>> chosen({"*.b": 1, "a": 2, "a.*": 3}, ("a", "b"), 0)
    3
    """
    if not isinstance(option, dict):
        return option
    fitting = [name for name in option if fits(segments(name), path)]
    if not fitting:
        return default
    return option[max(fitting, key=lambda name: [part != "*" for part in segments(name)])]


def is_blank(value, options):
    return value is ABSENT or any(
        type(value) is type(blank) and value == blank for blank in options["blank"]
    )


def leaf(truth, answer, path, options):
    """The rows of one leaf: one, or none."""
    if any(fits(segments(pattern), path) for pattern in options["ignore"]):
        return []
    if truth is ABSENT and (answer is ABSENT or options["leaves"] == "truth"):
        return []
    names = chosen(options["normalize"], path, [])
    t, a = normalized(truth, names), normalized(answer, names)
    no_truth, no_answer = is_blank(truth, options), is_blank(answer, options)
    if no_truth or no_answer:
        both = no_truth and no_answer
        compares = options["absent"] == "compare" and not options["unanswered item"]
        if both and not compares:
            return []
        alike = float(both) if compares and truth is not ABSENT else None
        fp = not no_answer and a != ""
        fn = not no_truth and (t != "" or options["unanswered item"])
        return [Row(path, int(both), int(fp), int(fn), 0.0 if fn else alike)]
    alike = compared(t, a, chosen(options["compare"], path, "similarity"))
    match = alike >= chosen(options["threshold"], path, 0.92)
    return [Row(path, int(match), int(not match), int(not match), alike)]


def compare(truth, answer, path, at, options):
    """Rows and records of two values, whose places are `at`."""
    if isinstance(truth, dict) and isinstance(answer, dict):
        return joined(
            compare(
                truth.get(key, ABSENT),
                answer.get(key, ABSENT),
                (*path, key),
                [f"{place}.{key}" for place in at],
                options,
            )
            for key in {**truth, **answer}
        )
    if isinstance(truth, list) and isinstance(answer, list):
        pairs = pair(truth, answer, path, options)
        pairs += [(i, None) for i in range(len(truth)) if i not in [p[0] for p in pairs]]
        pairs += [(None, j) for j in range(len(answer)) if j not in [p[1] for p in pairs]]
        return joined(
            compare_items(
                ABSENT if i is None else truth[i],
                ABSENT if j is None else answer[j],
                path,
                [f"{at[0]}[{i}]", f"{at[1]}[{j}]"],
                options,
            )
            for i, j in pairs
        )
    if not isinstance(truth, (dict, list)) and not isinstance(answer, (dict, list)):
        return leaf(truth, answer, path, options), []
    # Neither has a counterpart: what is below the one is missed, below the other invented.
    alone = [
        (truth, type(truth)() if isinstance(truth, (dict, list)) else ABSENT),
        (type(answer)() if isinstance(answer, (dict, list)) else ABSENT, answer),
    ]
    return joined(compare(t, a, path, at, options) for t, a in alone)


def compare_items(truth, answer, path, at, options):
    """Rows and records of two items of a list, or of one without a counterpart.

    A record is found if both have a value; else it is missed or invented if that costs a field.
    """
    below = (*path, "[]")
    rows, records = compare(truth, answer, below, at, options)
    if ABSENT not in (scored(truth, below, options), scored(answer, below, options)):
        return rows, [Record(path, *at), *records]
    if any(row.fn for row in rows):
        records = [Record(path, at[0], None), *records]
    if any(row.fp for row in rows):
        records = [Record(path, None, at[1]), *records]
    return rows, records


def joined(parts):
    parts = list(parts)
    return [row for rows, _ in parts for row in rows], [r for _, records in parts for r in records]


def scored(value, path, options):
    """What is scored of a value, with aligned lists sorted; ABSENT where nothing is."""
    if isinstance(value, dict):
        kept = {key: scored(child, (*path, key), options) for key, child in value.items()}
        return {key: child for key, child in kept.items() if child is not ABSENT} or ABSENT
    if isinstance(value, list):
        kept = [scored(child, (*path, "[]"), options) for child in value]
        if all(child is ABSENT for child in kept):
            return ABSENT
        if chosen(options["lists"], path, "aligned") == "aligned":
            return sorted((child for child in kept if child is not ABSENT), key=canonical)
        return [None if child is ABSENT else child for child in kept]
    ignored = any(fits(segments(pattern), path) for pattern in options["ignore"])
    return ABSENT if ignored or is_blank(value, options) else value


def canonical(value):
    if value is ABSENT:
        return ""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def pairings(rows, columns, allowed):
    """Every one-to-one pairing of some rows with some columns.

    >>> len(list(pairings([0, 1, 2], [0, 1], {(i, j) for i in range(3) for j in range(2)})))
    13
    """
    if not rows:
        yield ()
        return
    first, *others = rows
    yield from pairings(others, columns, allowed)
    for j in columns:
        if (first, j) in allowed:
            for rest in pairings(others, [k for k in columns if k != j], allowed):
                yield ((first, j), *rest)


def pair(truth, answer, path, options):
    """The pairs of two lists, as indices."""
    how = chosen(options["lists"], path, "aligned")
    if how == "position":
        return [(i, i) for i in range(min(len(truth), len(answer)))]
    below, left, right = (*path, "[]"), list(range(len(truth))), list(range(len(answer)))
    if how == "aligned":
        left.sort(key=lambda i: canonical(scored(truth[i], below, options)))
        right.sort(key=lambda j: canonical(scored(answer[j], below, options)))
    worth = {}
    for x, i in enumerate(left):
        for y, j in enumerate(right):
            rows, _ = compare(truth[i], answer[j], below, ["", ""], options)
            alike = [
                round(1000 * round(row.similarity, 3)) for row in rows if row.similarity is not None
            ]
            matching = sum(row.tp for row in rows)
            if matching or (alike and sum(alike) >= 500 * len(alike)):
                worth[x, y] = (matching, sum(alike))

    def rank(way):
        matching, alike = (sum(worth[p][k] for p in way) for k in (0, 1))
        return -matching, -alike, len(way), way

    ways = pairings(list(range(len(left))), list(range(len(right))), worth)
    if how == "ordered":
        ways = (way for way in ways if [y for _, y in way] == sorted(y for _, y in way))
    return [(left[x], right[y]) for x, y in min(ways, key=rank)]


def look_up(value, path):
    """What is found by splitting a written path at its signs: a value, an object or a list."""
    for step in path.replace("]", "").replace("[", ".").split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value


def compare_by_path(truth, answer, options):
    """Rows of two records by position, for the published rules of `parents` and `dotted_keys`."""
    expected, found = dict(flatten(truth)), dict(flatten(answer))
    paths = list(expected if options["leaves"] == "truth" else {**expected, **found})
    if options["parents"] == "drop":
        above = {
            path[:at] for path in {**expected, **found} for at, s in enumerate(path) if s == "."
        }
        paths = [path for path in paths if path not in above]
    rows = []
    for path in paths:
        t, a = expected.get(path, ABSENT), found.get(path, ABSENT)
        if options["dotted_keys"] == "split":
            t, a = look_up(truth, path), look_up(answer, path)
        if t is ABSENT and path in expected:
            t = None
        rows += leaf(t, a, segments(re.sub(r"\[\d+\]", "[]", path)), options)
    return rows


def f1(tp, fp, fn):
    precision, recall = ratio(tp, tp + fp), ratio(tp, tp + fn)
    return ratio(2 * precision * recall, precision + recall)


def ratio(part, whole):
    return part / whole if whole else 0.0


def read(value, options):
    """The record that is scored; None for an answer that is none."""
    if isinstance(value, list) and options["root_list"]:
        value = {options["root_list"]: value}
    if options["unanswered"] == "empty_object":
        return value if isinstance(value, dict) else {}
    return value if isinstance(value, dict) and set(value) != {"error"} else None


def score(answer, truth, **given):
    """Counts, similarity, records and pairs of one item; an answer of None is unanswered."""
    options = DEFAULTS | given
    answer = read(answer, options)
    options["unanswered item"] = answer is None
    truth = {options["root_list"]: truth} if isinstance(truth, list) else truth
    answer, truth = canonical_form(answer), canonical_form(truth)
    rows, records = compare(truth, answer or {}, (), ["", ""], options)
    if options["parents"] == "drop" or options["dotted_keys"] == "split":
        rows = compare_by_path(truth, answer or {}, options)
    weights = [chosen(options["weights"], row.path, 1) for row in rows]
    tp, fp, fn = (add(w * row[k] for w, row in zip(weights, rows, strict=True)) for k in (1, 2, 3))
    counted = [row for w, row in zip(weights, rows, strict=True) if w]
    alike = [row.similarity for row in rows if row.similarity is not None]
    mean = add(alike, options["sum"]) / len(alike) if alike else float(answer is not None)
    lists = {}
    for path, *sides in records:
        counts = lists.setdefault(".".join(path).replace(".[]", "[]"), [0, 0, 0])
        counts[0 if all(sides) else 1 if sides[0] else 2] += 1
    digits = options["round"].get("item")
    return {
        "tp": int(tp) if tp.is_integer() else tp,
        "fp": int(fp) if fp.is_integer() else fp,
        "fn": int(fn) if fn.is_integer() else fn,
        "f1": rounded(f1(tp, fp, fn), digits),
        "similarity": rounded(mean, digits),
        "perfect": answer is not None
        and all(row.fp == row.fn == 0 and row.similarity in (None, 1.0) for row in rows),
        "effort": (
            sum(bool(row.fp or row.fn) for row in counted),
            sum(bool(row.tp or row.fp or row.fn) for row in counted),
        ),
        "lists": {name: tuple(counts) for name, counts in lists.items()},
        "pairs": [tuple(place and place[1:] for place in sides) for _, *sides in records],
    }


def score_run(pairs, **given):
    """Figures of (answer, truth) pairs; of a list found, missed, invented and F1.

    >>> run = score_run([({"a": "x", "b": 1}, {"a": "x", "b": 2}), (None, {"a": ["x"]})])
    >>> run["f1_micro"], run["f1_macro"], run["similarity"], run["lists"]
    (0.4, 0.25, 0.25, {'a': (0, 1, 0, 0.0)})
    """
    options = DEFAULTS | given
    scores = [score(answer, truth, **given) for answer, truth in pairs]
    tp, fp, fn = (add(one[name] for one in scores) for name in ("tp", "fp", "fn"))
    rates = {
        "f1_micro": f1(tp, fp, fn),
        "precision_micro": ratio(tp, tp + fp),
        "recall_micro": ratio(tp, tp + fn),
        "f1_macro": ratio(add([one["f1"] for one in scores], options["sum"]), len(scores)),
        "similarity": ratio(
            add([one["similarity"] for one in scores], options["sum"]), len(scores)
        ),
    }
    figures = {name: rounded(rate, options["round"].get("run")) for name, rate in rates.items()}
    figures |= {"true_positives": tp, "false_positives": fp, "false_negatives": fn}
    figures |= {"items": len(scores), "items_perfect": sum(one["perfect"] for one in scores)}
    for name, wanted in options["figures"].items():
        figures[name] = figures[wanted["of"]] * wanted.get("scale", 1)
    lists = {}
    for one in scores:
        for name, counts in one["lists"].items():
            before = lists.get(name, (0, 0, 0))
            lists[name] = tuple(a + b for a, b in zip(before, counts, strict=True))
    return figures | {"lists": {name: (*c, f1(c[0], c[2], c[1])) for name, c in lists.items()}}
