"""Agreement with the naive reference, which tries every pairing, on records of every shape."""

import pytest
from helpers.records import (
    edited,
    items,
    keys_shuffled,
    like_path_items,
    lists,
    nodes,
    objects,
    odd_keys,
    shuffled,
    texts,
    values,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import record_f1 as naive

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.record_f1 import RecordF1

pytestmark = pytest.mark.nightly

NAMES = {"tp": "true_positives", "fp": "false_positives", "fn": "false_negatives"}

BY_FIELD = {
    "compare": {
        "entries[].name": "exact",
        "entries[].date": "number",
        "date": "date",
        "note": "boolean",
        "name": "cer",
        "entries[].*[].name": "cer",
    },
    "threshold": {"entries": 0.8, "*": 0.5},
    "normalize": {"entries": ["long_s", "casefold", "whitespace"], "note": ["punctuation"]},
}
OPTIONS = {
    "aligned": {},
    "ordered": {"lists": "ordered"},
    "position": {"lists": "position"},
    "mixed": {"lists": {"entries": "ordered", "entries[].authors": "aligned"}},
    "fields": BY_FIELD,
    "blank": {"blank": [None, "null", "", 0], "normalize": ["nfc", "lowercase"]},
    "ignored": {"ignore": ["entries[].place", "note"], "weights": {"entries": 0.5, "date": 3}},
    "truth": {
        "lists": "position",
        "leaves": "truth",
        "absent": "compare",
        "dotted_keys": "split",
        "unanswered": "empty_object",
        "blank": [None, "null", ""],
    },
    "parents": {
        "lists": "position",
        "parents": "drop",
        "dotted_keys": "split",
        "unanswered": "empty_object",
        "blank": [None, "null", ""],
    },
}
ALIGNED = [name for name in OPTIONS if name not in ("ordered", "position", "mixed")][:-2]


def ours(answer, truth, **options):
    """What the reference gives of one item, as the metric gives it."""
    metric = RecordF1(**options)
    answer = metric.as_record(answer)
    statistics = metric.score(answer, metric.prepare(truth)).statistics
    return {
        **{short: statistics[name] for short, name in NAMES.items()},
        "f1": pytest.approx(statistics["f1"], abs=1e-12),
        "similarity": pytest.approx(statistics["similarity"], abs=1e-12),
        "perfect": bool(statistics["perfect"]),
        "effort": (statistics["corrections"], statistics["values"]),
        "records": tuple(
            statistics[name] for name in ("records_found", "records_missed", "records_invented")
        ),
    }


def theirs(answer, truth, **options):
    """The reference's own; items of lists by position are no records of the metric."""
    found = naive.score(answer, truth, **options)
    kept = [
        counts
        for path, counts in found.pop("lists").items()
        if naive.chosen(options.get("lists", "aligned"), naive.segments(path), "aligned")
        != "position"
    ]
    found.pop("pairs")
    return found | {"records": tuple(map(sum, zip(*kept, strict=True))) if kept else (0, 0, 0)}


def is_scored(answer):
    """Whether the metric would be asked: an error object is sorted out before."""
    return not (isinstance(answer, dict) and set(answer) == {"error"})


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=15, deadline=None)
@given(item=items())
def test_records_of_every_shape(options, item):
    assert ours(*item, **options) == theirs(*item, **options)


@pytest.mark.nightly
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=120, deadline=None)
@given(item=items())
def test_many_records_of_every_shape(options, item):
    assert ours(*item, **options) == theirs(*item, **options)


@pytest.mark.parametrize("name", ["aligned", "ordered", "blank", "truth", "parents"])
@settings(max_examples=12, deadline=None)
@given(item=items(odd_keys))
@example(item=(None, {"": {"name": "Frey"}, "name": None}))
def test_keys_that_look_like_paths(name, item):
    if is_scored(item[0]):
        assert ours(*item, **OPTIONS[name]) == theirs(*item, **OPTIONS[name])


@pytest.mark.parametrize("lists", ["aligned", "ordered", "position"])
@settings(max_examples=100, deadline=None)
@given(item=like_path_items(), seed=st.integers(0, 99))
@example(item=({"a.b": "Basel", "a": {"b": "zzz"}}, {"a": {"b": "Basel"}}), seed=0)
@example(item=({"a": [{"": "Basel"}]}, {"a": ["Basel"]}), seed=0)
@example(item=({"a": "Basel", "a.": "Basel"}, {"a": {"": "Basel"}}), seed=0)
def test_no_two_fields_are_one_whatever_their_keys_are(lists, item, seed):
    answer, truth = item
    found = ours(answer, truth, lists=lists)
    assert found == theirs(answer, truth, lists=lists)
    moved = keys_shuffled(answer, seed), keys_shuffled(truth, seed + 1)
    assert found == ours(*moved, lists=lists)


@pytest.mark.parametrize("options", [OPTIONS[name] for name in ALIGNED], ids=ALIGNED)
@settings(max_examples=15, deadline=None)
@given(item=items(longest=5), seeds=st.tuples(st.integers(0, 99), st.integers(0, 99)))
def test_the_order_of_items_and_of_keys_changes_no_figure(options, item, seeds):
    answer, truth = item
    moved = shuffled(answer, seeds[0]), shuffled(truth, seeds[1])
    assert ours(*moved, **options) == ours(answer, truth, **options)


@pytest.mark.parametrize("options", [{"lists": "ordered"}, {"lists": "position"}], ids=str)
@settings(max_examples=20, deadline=None)
@given(item=items(), data=st.data())
def test_the_order_of_keys_changes_no_figure(options, item, data):
    def turned(value):
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return list(map(turned, value)) if isinstance(value, list) else value

    assert ours(turned(item[0]), turned(item[1]), **options) == ours(*item, **options)


# What libraries that align lists get wrong, each on generated records


ENTRIES = st.fixed_dictionaries({"name": texts}, optional={"place": texts, "note": st.just("")})


@st.composite
def defects(draw):
    """A kind of list that other libraries stumble over, and an edited copy."""
    plain = draw(lists(ENTRIES, 3))
    kind = draw(st.sampled_from(["repeated", "unequal", "nested", "empty", "values", "ties"]))
    if kind == "repeated":
        truth = {"entries": plain + plain[:2]}
    elif kind == "unequal":
        return {"entries": plain[:1]}, {"entries": plain + draw(lists(ENTRIES, 2))}
    elif kind == "nested":
        truth = {"entries": [{"authors": plain, "name": name} for name in ("Abegg", "Boreux")]}
    elif kind == "empty":
        nothing = [{}, {"entries": []}, {"entries": None}, {"entries": [{}]}, {"entries": plain}]
        return draw(st.sampled_from(nothing)), draw(st.sampled_from(nothing))
    elif kind == "values":
        truth = {"entries": draw(lists(values, 5))}
    else:
        notes = [None, "", "null", "x", " "]
        truth = {"entries": [{"name": "Abegg", "note": note} for note in notes[:4]]}
        chosen = st.lists(st.sampled_from(notes), max_size=4)
        return {"entries": [{"name": "Abegg", "note": note} for note in draw(chosen)]}, truth
    answer = draw(edited(truth))
    return (answer if isinstance(answer, dict) else {}), truth


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lists": "ordered"},
        {"blank": [None, "null"]},
        {"weights": {"entries[].note": 3, "entries[].name": 0}},
    ],
    ids=str,
)
@settings(max_examples=20, deadline=None)
@given(item=defects(), seed=st.integers(0, 99))
def test_lists_that_others_stumble_over(options, item, seed):
    assert ours(*item, **options) == theirs(*item, **options)
    if "lists" not in options:
        moved = [shuffled(side, seed) for side in item]
        assert ours(*moved, **options) == ours(*item, **options)


@settings(max_examples=12, deadline=None)
@given(bare=lists(nodes(longest=2)), truth=lists(ENTRIES, 3))
def test_bare_lists(bare, truth):
    options = {"root_list": "entries"}
    assert ours(bare, {"entries": truth}, **options) == theirs(bare, {"entries": truth}, **options)


@settings(max_examples=12, deadline=None)
@given(
    pairs=st.lists(items(), min_size=1, max_size=6),
    options=st.sampled_from(
        [{}, {"round": {"item": 2, "run": 3}, "sum": "plain"}, {"weights": {"entries": 0.5}}]
    ),
)
def test_figures_of_a_run(pairs, options):
    pairs = [pair for pair in pairs if is_scored(pair[0])]
    if not pairs:
        return
    names = {"figures": {"fuzzy": {"of": "similarity", "scale": 100}}}
    metric = RecordF1(**options, **names)
    candidates = [(Answer(a, id=str(n)), metric.prepare(t)) for n, (a, t) in enumerate(pairs)]
    found, expected = (
        score_items(metric, candidates).figures,
        naive.score_run(pairs, **options, **names),
    )
    expected.pop("lists")
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)


@settings(max_examples=12, deadline=None)
@given(item=st.tuples(objects(), objects()))
def test_unrelated_records(item):
    assert ours(*item) == theirs(*item)
