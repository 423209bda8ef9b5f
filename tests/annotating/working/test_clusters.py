"""Clusters of values, beside a plain account of the same rules."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.annotating.working import clusters
from hdbench.annotating.working.clusters import FieldClusters, clusters_of, fingerprint, plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Reclam,  Leipzig ", "leipzig reclam"),
        ("Leipzig: RECLAM", "leipzig reclam"),
        ("Müller, Müller", "muller"),
        ("Straße", "strasse"),
        ("Vandenhoeck&Ruprecht", "vandenhoeckruprecht"),
        ("ﬁne\u0000 Art", "art fine"),
        ("Łódź 2", "2 łodz"),
        ("—", "—"),
    ],
)
def test_fingerprints_by_hand(text, expected):
    assert fingerprint(text) == expected


def found(**counts):
    return sorted(map(sorted, FieldClusters(counts).groups))


def test_slips_join_the_most_frequent_neighbor():
    counts = {"Stuttgart": 9, "Stuttgrat": 1, "Stutgart": 2, "Bern": 5, "Bonn": 5, "Berm": 1}
    assert found(**counts) == [
        ["Berm"],
        ["Bern"],
        ["Bonn"],
        ["Stutgart", "Stuttgart", "Stuttgrat"],
    ]
    assert FieldClusters({"Band 1": 3, "Band 2": 2}).groups == [["Band 1"], ["Band 2"]]


def test_neighbors_of_neighbors_do_not_form_a_chain():
    # Each is one edit from the next, and two from the one after it.
    texts = ["aaaaaa", "aaaaab", "aaaabb", "aaabbb"]
    assert FieldClusters(dict(zip(texts, (9, 5, 4, 1), strict=True))).groups == [
        ["aaaaaa", "aaaaab"],
        ["aaaabb", "aaabbb"],
    ]


def test_without_time_only_fingerprints_count(monkeypatch):
    monkeypatch.setattr(clusters, "MAX_COMPARED", 0)
    assert found(Stuttgart=2, stuttgart=1, Stuttgrat=1) == [
        ["Stuttgart", "stuttgart"],
        ["Stuttgrat"],
    ]


def test_clusters_have_the_items_of_each_spelling():
    told = ["Reclam", None, "reclam.", "Insel", "Reclam", 1957, 1957, "null", ["Diss.", "Bern"]]
    values = [(item, "publisher", value) for item, value in enumerate(told)]
    values.append((9, "place", "Reclam"))
    largest, second = clusters_of(values)
    assert (largest.field, largest.size) == ("publisher", 3)
    assert [(each.value, list(each.items)) for each in largest.variants] == [
        ("Reclam", [0, 4]),
        ("reclam.", [2]),
    ]
    assert [(each.value, list(each.items)) for each in second.variants] == [(1957, [5, 6])]


def distance(one, other):
    """Edits from one text to another: neighbors may be swapped, each once."""
    rows = [[max(i, j) for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            change = one[i - 1] != other[j - 1]
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + change)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


def stripped(text):
    letters = [
        char
        for char in unicodedata.normalize("NFKD", text.casefold())
        if unicodedata.category(char)[0] in "LN" or char.isspace()
    ]
    return " ".join("".join(letters).split())


def allowed(one, other):
    shorter = min(len(one), len(other))
    return 2 if shorter >= 9 else 1 if shorter >= 5 else 0


def by_the_rules(counts):
    groups = {}
    for text in counts:
        key = " ".join(sorted(set(stripped(text).split()))) or text
        groups.setdefault(key, []).append(text)
    ordered = sorted(
        (sorted(texts, key=lambda text: (-counts[text], text)) for texts in groups.values()),
        key=lambda texts: (-sum(counts[text] for text in texts), texts[0]),
    )
    centers = []  # form and texts
    for texts in ordered:
        form = stripped(texts[0])
        near = [
            (distance(form, center), place)
            for place, (center, _) in enumerate(centers)
            if re.findall(r"\d+", form) == re.findall(r"\d+", center)
            and 0 < distance(form, center) <= allowed(form, center)
        ]
        if near:
            centers[min(near)[1]][1].extend(texts)
        else:
            centers.append((form, list(texts)))
    return [texts for _, texts in centers]


WORDS = st.sampled_from(
    ["Basel", "basel", "Basle", "Bâsel", "Verlag", "Verlga", "12", "1-2", "&", "x"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join) | st.text("abÄ1 .", max_size=12)


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(TEXTS, st.integers(1, 5), max_size=12))
def test_clusters_are_what_the_rules_say(counts):
    assert FieldClusters(counts).groups == by_the_rules(counts)
    assert all(plain(text) == stripped(text) for text in counts)
