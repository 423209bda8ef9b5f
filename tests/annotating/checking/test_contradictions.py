"""What contradicts the models is read again, blind, and by nobody who has read it if possible."""

from annotating.checking.readings import key, reading

from hdbench.collections.truth.readings import ReadingStage, mark_of, offered

TEXT = "Basel"


def stage_of(length, case="counts"):
    values = [key(f"b{number}") for number in range(length)]
    return ReadingStage("verify", values, case, [mark_of(TEXT, case)] * length)


class People:
    """People who read what they are offered, and what they said, in milliseconds."""

    def __init__(self, stage):
        self.stage, self.readings, self.order, self.clock = stage, {}, [], 0

    def read(self, person, slips=(), text="Basle"):
        """Let a person read the next value, with a slip in some; return its position."""
        position = offered(self.stage, self.readings, person)[0]
        value = self.stage.values[position]
        lines = self.readings.setdefault(value, [])
        turn = 1 + sum(line.by == person for line in lines)
        self.clock += 1
        said = text if (position, turn) in slips else TEXT
        made = {"at": f"2026-11-27T10:00:00.{self.clock:06}Z", "turn": turn}
        lines.append(reading(value.item, person, said, stage="verify").model_copy(update=made))
        self.order.append(position)
        return position


def test_somebody_alone_reads_a_contradicted_value_again_20_values_later():
    people = People(stage_of(100))
    first = people.read("anna", slips={(position, 1) for position in range(100)})
    while offered(people.stage, people.readings, "anna"):
        people.read("anna")

    # 20 others stand between; as the second reading differs from the first, there is a third.
    assert [place for place, read in enumerate(people.order) if read == first] == [0, 21, 42]
    assert len(people.order) == 102
    assert not people.stage.to_read(people.readings)


def test_a_value_comes_again_at_the_end_if_fewer_are_left():
    people = People(stage_of(5))
    for _ in range(4):
        people.read("anna")
    last = people.read("anna", slips={(position, 1) for position in range(5)})

    assert people.stage.to_read(people.readings) == [people.stage.values[last]]
    assert people.read("anna") == last
    # The two readings differ, so that a third is needed.
    assert people.read("anna") == last
    assert not people.stage.to_read(people.readings)
    assert offered(people.stage, people.readings, "anna") == []


def test_where_others_read_they_read_it_again():
    people = People(stage_of(30))
    people.read("ben")
    slips = {(position, 1) for position in range(30)}
    contradicted = people.read("anna", slips)
    while offered(people.stage, people.readings, "anna"):
        assert people.read("anna") != contradicted

    assert people.stage.to_read(people.readings) == [people.stage.values[contradicted]]
    assert contradicted in offered(people.stage, people.readings, "ben")


def test_three_different_readings_are_the_end():
    people = People(stage_of(1))
    for text in ("Basle", "Basil", "Bâle"):
        assert people.stage.to_read(people.readings) == people.stage.values or not people.order
        people.read("anna", {(0, turn) for turn in (1, 2, 3)}, text)

    assert not people.stage.to_read(people.readings)
    assert offered(people.stage, people.readings, "ben") == []


def test_capitals_contradict_unless_the_plan_ignores_them():
    said = {key("b0"): (reading("b0", "anna", "BASEL", stage="verify"),)}
    assert stage_of(1).to_read(said) == [key("b0")]
    assert stage_of(1, "ignored").to_read(said) == []
