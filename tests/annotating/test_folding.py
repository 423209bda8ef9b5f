"""Folding against a plain procedure, on histories that two annotators could write."""

import itertools
from dataclasses import replace
from functools import reduce

from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.annotating.changes import Change, same
from hdbench.annotating.fields import parse_field
from hdbench.annotating.folding import causal_order, fold, tips

VALUES = {
    "": [{"title": "A"}, {"author": {"name": "N"}}, None],
    "title": ["A", "B", 1, True],
    "author": [{"name": "M"}, None],
    "author.name": ["N", "M"],
}


def change(number, field, to, parents, *, by="anna", at=0, how="blind"):
    after, *also = parents or [None]
    stamp = f"2026-11-22T19:40:{at:02}.000Z"
    name = f"{number:032x}"
    return Change(name, "b1", by, stamp, "ground_truth", field, None, to, after, how, tuple(also))


@st.composite
def histories(draw):
    """Changes by two annotators who now and then take in what the other has."""
    seen = {"anna": [], "ben": []}
    made = []
    numbers = draw(st.permutations(range(12)))
    for number in numbers[: draw(st.integers(0, 12))]:
        by = draw(st.sampled_from(sorted(seen)))
        if draw(st.booleans()):
            seen[by] = list({one.id: one for one in itertools.chain(*seen.values())}.values())
        field = draw(st.sampled_from(sorted(VALUES)))
        to = draw(st.sampled_from(VALUES[field]))
        how = draw(st.sampled_from(["blind", "blind", "settled"]))
        parents = tips(causal_order(seen[by]))[::-1]
        one = change(number, field, to, parents, by=by, at=draw(st.integers(0, 3)), how=how)
        seen[by].append(one)
        made.append(one)
    return made


def behind(one, changes):
    """Everything that a change was made on top of."""
    parents = [each for each in changes if each.id in (one.after, *one.also)]
    return {each.id for each in parents}.union(*(behind(each, changes) for each in parents))


def naive_order(changes):
    """Again and again the first of those of which nothing is missing."""
    rest, order = list(changes), []
    while rest:
        done = {each.id for each in order}
        ready = [each for each in rest if behind(each, changes) <= done]
        order.append(min(ready, key=lambda each: (each.at, each.id)))
        rest.remove(order[-1])
    return order


def naive_put(record, one):
    """The record after a change; the fields are at most two deep here."""
    match one.field.split("."):
        case [""]:
            return one.to
        case [key]:
            return {**(record or {}), key: one.to}
        case [outer, key]:
            held = (record or {}).get(outer)
            return {**(record or {}), outer: {**(held or {}), key: one.to}}


def naive_clashes(changes):
    """The pairs that do not know of each other, differ, and that nothing settled."""
    clashes = set()
    for one, other in itertools.combinations(changes, 2):
        if one.id in behind(other, changes) or other.id in behind(one, changes):
            continue
        if is_over(one, changes) or is_over(other, changes) or not share(one.field, other.field):
            continue
        outer, inner = sorted((one, other), key=lambda each: len(each.field))
        value = outer.to
        for key in parse_field(inner.field)[len(parse_field(outer.field)) :]:
            value = value.get(key, "absent") if isinstance(value, dict) else "absent"
        if not same(value, inner.to):
            clashes.add(frozenset((one.id, other.id)))
    return clashes


def is_over(one, changes):
    """Whether a later change replaces the field, or settles a part of it."""
    later = [each for each in changes if one.id in behind(each, changes)]
    return any(
        is_part(one.field, each.field) or (each.how == "settled" and share(one.field, each.field))
        for each in later
    )


def is_part(inner, outer):
    return outer in ("", inner) or inner.startswith(outer + ".")


def share(one, other):
    return is_part(one, other) or is_part(other, one)


def joined(pairs):
    """The pairs that share a change put together."""
    groups = []
    for pair in pairs:
        touching = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair]
        groups.append(pair.union(*touching))
    return set(groups)


@given(histories(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_line_order_is_irrelevant_and_matches_naive_procedure(made, rng):
    state = fold("b1", made, None)
    shuffled = rng.sample(made, len(made))
    assert fold("b1", shuffled, None) == state
    order = naive_order(made)
    assert causal_order(shuffled) == order
    assert state.record == reduce(naive_put, order, None)
    found = {frozenset(each.id for each in one.changes) for one in state.conflicts}
    assert found == joined(naive_clashes(made))


def test_a_clash_and_what_settles_it_by_hand():
    base = change(1, "", {"title": "A", "author": {"name": "N"}}, [])
    mine = change(2, "title", "B", [base.id], at=1)
    theirs = change(3, "title", "C", [base.id], by="ben", at=2)
    state = fold("b1", [theirs, base, mine], None)
    assert state.record["title"] == "C"
    assert state.head["ground_truth"] == f"{mine.id}+{theirs.id}"
    (conflict,) = state.conflicts
    assert (conflict.field, conflict.changes) == ("title", (mine, theirs))
    # A change on top of only one of them settles nothing; one on top of both does.
    again = change(4, "title", "D", [theirs.id], by="ben", at=3)
    assert fold("b1", [theirs, base, mine, again], None).conflicts[0].changes == (mine, again)
    both = change(5, "title", "B", [again.id, mine.id], at=4)
    settled = fold("b1", [theirs, base, mine, again, both], None)
    assert (settled.conflicts, settled.record["title"]) == ((), "B")


def test_wrong_clock_does_not_reorder_dependent_changes():
    first = change(1, "title", "A", [], at=50)
    second = change(2, "title", "B", [first.id], at=10)
    assert fold("b1", [second, first], None).record == {"title": "B"}


def test_circular_and_incomplete_changes_are_tolerated():
    one, other = change(1, "title", "A", ["2".zfill(32)]), change(2, "title", "B", ["1".zfill(32)])
    lost = change(3, "title", "C", ["9" * 32])
    own = change(4, "title", "D", ["4".zfill(32)])
    states = [fold("b1", rows, None) for rows in itertools.permutations([one, other, lost, own])]
    assert all(state == states[0] for state in states)
    assert fold("b1", [one, other], None).head["ground_truth"] is not None


def settled(number):
    """An item in which two people differ in so many fields, all of them settled."""
    made = [
        change(1, "", {f"f{n}": "A" for n in range(number)}, [], by="anna"),
        change(2, "", {f"f{n}": "B" for n in range(number)}, [], by="ben"),
    ]
    status = replace(change(3, "", "done", [], by="anna"), what="status")
    made += [status, replace(status, id="4".zfill(32), by="ben")]
    made.append(change(5, "", {}, [made[0].id, made[1].id], how="settled"))
    for place in range(number):
        made.append(change(6 + place, f"f{place}", "A", [made[-1].id], how="settled"))
    return made
