"""Who reads which value, beside a plain account of the rules."""

import pytest
from annotating.checking.readings import key, reading
from hypothesis import given
from hypothesis import strategies as st

from hdbench.collections.truth.readings import ReadingStage, offered, waits_for_others

PEOPLE = ("anna", "ben", "carl", "dora")


def stage_of(length):
    return ReadingStage("learn", [key(f"b{number}") for number in range(length)], "counts")


def as_readings(told):
    """Readings by value, from the position of each value → a text by person."""
    return {
        key(f"b{position}"): tuple(
            reading(f"b{position}", person, text) for person, text in by_person.items()
        )
        for position, by_person in told.items()
    }


def is_wanted(position, texts):
    """Whether a value needs one more reading, as the rules say it."""
    if not texts:
        return True
    if len(texts) == 1:
        return position in range(0, 10_000, 10)
    one, other, *further = texts
    return one != other and one not in further and other not in further


TOLD = st.dictionaries(
    st.integers(0, 24),
    st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from("ab c"), min_size=1),
)


@given(TOLD, st.sampled_from(PEOPLE))
def test_offered_is_what_the_rules_say(told, person):
    stage, readings = stage_of(25), as_readings(told)
    found = offered(stage, readings, person)
    wanted = {
        position
        for position in range(25)
        if is_wanted(position, list(told.get(position, {}).values()))
    }
    assert sorted(found) == sorted(
        position for position in wanted if person not in told.get(position, {})
    )
    # First readings, then second ones, then what is disputed.
    sizes = [min(len(told.get(position, {})), 2) for position in found]
    assert sizes == sorted(sizes)
    # Each of them in the order in which this person goes through the whole list.
    order = offered(stage, {}, person)
    for size in set(sizes):
        places = [position for position, own in zip(found, sizes, strict=True) if own == size]
        assert places == sorted(places, key=order.index)
    assert len(stage.to_read(readings)) == 25 - len(told)
    took_part = {name for by_person in told.values() for name in by_person}
    assert waits_for_others(stage, readings) == sum(
        bool(took_part - set(told[position])) for position in wanted & set(told)
    )


@given(st.integers(1, 35), st.integers(1, 4), st.randoms(use_true_random=False))
def test_people_who_read_all_they_are_offered_come_to_an_end(length, people, rng):
    stage, told = stage_of(length), {}
    names = list(PEOPLE[:people])
    while names:
        person = rng.choice(names)
        found = offered(stage, as_readings(told), person)
        if found:
            assert person not in told.get(found[0], {})
            told.setdefault(found[0], {})[person] = rng.choice("aab")
        elif all(not offered(stage, as_readings(told), name) for name in names):
            break
    readings = as_readings(told)
    assert not stage.to_read(readings)
    assert waits_for_others(stage, readings) == 0
    for position in range(length):
        texts = list(told[position].values())
        least = 2 if position % 10 == 0 and people > 1 else 1
        assert len(texts) >= least
        assert len(texts) == people or not is_wanted(position, texts)
        # Nobody reads what is settled.
        assert len(texts) == least or is_wanted(position, texts[:-1])


def test_one_person_alone_reads_everything_once():
    stage, told = stage_of(30), {}
    for _ in range(30):
        told[offered(stage, as_readings(told), "anna")[0]] = {"anna": "a"}
    assert sorted(told) == list(range(30))
    assert offered(stage, as_readings(told), "anna") == []
    assert not stage.to_read(as_readings(told))
    assert waits_for_others(stage, as_readings(told)) == 0


def test_people_who_read_in_turns_hardly_ever_read_the_same():
    # Each sees what was saved before a value came on screen, not what others have before them.
    stage, readings = stage_of(300), {}
    on_screen = {person: offered(stage, readings, person)[0] for person in ("anna", "ben")}
    while on_screen:
        for person in list(on_screen):
            key = stage.values[on_screen.pop(person)]
            lines = readings.setdefault(key, [])
            lines.append(reading(key.item, person, "value"))
            if left := offered(stage, readings, person):
                on_screen[person] = left[0]
    twice = sum(len(lines) > 1 for lines in readings.values())
    assert all(readings.get(key) for key in stage.values)
    assert 30 <= twice <= 40  # a tenth has to be


def test_who_took_part_in_another_stage_can_still_read():
    stage = ReadingStage("verify", [key("b0")], "counts")
    readings = as_readings({0: {"anna": "a"}})
    assert waits_for_others(stage, readings) == 0
    assert waits_for_others(stage, readings | {key("c1"): (reading("c1", "ben", "x"),)}) == 1


@pytest.mark.parametrize("person", PEOPLE)
def test_a_stage_without_values_is_complete(person):
    stage = ReadingStage("verify", [], "counts")
    assert offered(stage, {}, person) == []
    assert not stage.to_read({})
    assert waits_for_others(stage, {}) == 0
