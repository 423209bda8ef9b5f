"""Generated records: nested lists, repeated items, odd keys, containers where values belong.

An answer is an edited copy of its truth: unrelated records would hardly ever agree, and then no
test would see a pairing.
"""

import copy
import random

from hypothesis import strategies as st
from reference.zettel_f1 import flatten

KEYS = ["name", "place", "date", "entries", "authors", "note"]
ODD_KEYS = [
    "a.b",
    "a[0]",
    "[]",
    "*",
    "",
    " ",
    ".",
    "name.first",
    "entries[]",
    "ä",
    "a\u0308",
    "error",
]
LIKE_PATHS = ["a", "b", "a.b", "b.a", "a[0]", "[0]", "[]", "", ".", ".a", "a.", "\\", "a\\", "-"]
"""Keys that, joined with dots and brackets, read like the path of other values."""

TEXTS = [
    "",
    "Abegg",
    "Abegg & Cie.",
    "Abbegg",
    "Boreux",
    "Zürich",
    "Zu\u0308rich",
    "ſtadt",
    "null",
    " ",
]

texts = st.sampled_from(TEXTS) | st.text(max_size=8)
numbers = st.sampled_from([0, 1, 1947, 1.0, -5, 1e300]) | st.integers(-20, 20)
values = st.one_of(st.none(), texts, texts, numbers, st.booleans())
keys = st.sampled_from(KEYS)
odd_keys = keys | st.sampled_from(ODD_KEYS)


def nodes(names=keys, longest=4, leaves=values):
    """Any value: a leaf, a list or an object, nested."""
    return st.recursive(
        leaves,
        lambda inner: lists(inner, longest) | st.dictionaries(names, inner, max_size=3),
        max_leaves=8,
    )


def like_paths():
    """Records with few values and keys that are written like the paths of other values."""
    names, leaves = st.sampled_from(LIKE_PATHS), st.sampled_from(["Basel", "Bern", "", None, 0])
    return st.dictionaries(names, nodes(names, 2, leaves), max_size=3)


@st.composite
def like_path_items(draw):
    """(answer, truth) of one item; the answer also has paths of the truth as keys."""
    truth = draw(like_paths())
    same = {key: draw(edited(value)) for key, value in truth.items() if draw(st.booleans())}
    flat = {path: draw(st.just(value) | values) for path, value in flatten(truth)}
    return draw(like_paths()) | flat | same, truth


def keys_shuffled(value, seed):
    """The same record with the keys of each object in another order."""
    order = random.Random(seed)

    def change(node):
        if isinstance(node, dict):
            return {key: change(node[key]) for key in order.sample(list(node), len(node))}
        return [change(child) for child in node] if isinstance(node, list) else node

    return change(value)


@st.composite
def lists(draw, items, longest=4, shortest=0):
    """Lists; half of them hold an item more than once."""
    drawn = draw(st.lists(items, min_size=shortest, max_size=longest))
    if drawn and draw(st.booleans()):
        repeated = draw(st.lists(st.sampled_from(range(len(drawn))), max_size=longest - len(drawn)))
        drawn = drawn + [copy.deepcopy(drawn[index]) for index in repeated]
    return drawn


def objects(names=keys, longest=4):
    """Objects, such as items are; two of three are little but a list of like records."""
    entry = st.fixed_dictionaries({"name": texts}, optional={"place": texts, "date": values})
    authors = lists(entry | texts, min(longest, 3))
    nested = st.fixed_dictionaries({"name": texts}, optional={"authors": authors, "date": values})
    shortest = min(longest, 2)
    return st.one_of(
        st.dictionaries(names, nodes(names, longest), max_size=4),
        st.fixed_dictionaries(
            {"entries": lists(entry, longest, shortest)}, optional={"name": values, "note": values}
        ),
        st.fixed_dictionaries(
            {"entries": lists(nested, longest, shortest)}, optional={"date": values}
        ),
    )


@st.composite
def edited(draw, value, names=keys):
    """A copy with leaves misread, lost or replaced, and list items moved or left out."""
    change = draw(st.sampled_from(["keep"] * 10 + ["edit"] * 4 + ["replace"]))
    if change == "replace":
        return draw(nodes(names, 2))
    if isinstance(value, dict):
        kept = {key: draw(edited(child, names)) for key, child in value.items()}
        if change == "edit" and kept:
            del kept[draw(st.sampled_from(sorted(kept)))]
        if change == "edit" and draw(st.booleans()):
            kept[draw(names)] = draw(nodes(names, 2))
        return kept
    if isinstance(value, list):
        kept = [draw(edited(child, names)) for child in value]
        if change == "edit" and kept:
            kept.pop(draw(st.integers(0, len(kept) - 1)))
        return draw(st.permutations(kept)) if draw(st.booleans()) else kept
    if change == "edit" and isinstance(value, str) and value:
        at = draw(st.integers(0, len(value) - 1))
        return value[:at] + draw(st.sampled_from(["", "x"])) + value[at + 1 :]
    return None if change == "edit" else value


@st.composite
def items(draw, names=keys, longest=4):
    """(answer, truth) of one item; the answer is None now and then."""
    truth = draw(objects(names, longest))
    answer = draw(edited(truth, names))
    if draw(st.integers(0, 19)) == 0:
        return None, truth
    return (answer if isinstance(answer, dict) else draw(objects(names, longest))), truth


def shuffled(value, seed):
    """The same record with the order of keys and of the items of every list changed."""
    order = random.Random(seed)

    def change(node):
        if isinstance(node, dict):
            keys_of = list(node)
            order.shuffle(keys_of)
            return {key: change(node[key]) for key in keys_of}
        if isinstance(node, list):
            node = [change(child) for child in node]
            order.shuffle(node)
        return node

    return change(value)
