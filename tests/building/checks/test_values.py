"""What looks wrong in a field over all ground truths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.benchmarks.building.checks.values import near_values


def test_a_value_of_another_type_than_most(folder):
    del folder.schema["properties"]["place"]["type"]
    folder.truth(7)["place"] = 17
    problem = folder.only()
    assert (problem.kind, problem.severity, problem.field) == ("mixed_types", "warning", "place")
    assert problem.message == "is a number, and in most rows a text"
    assert problem.examples == [(8, "card 7", "17")]


@pytest.mark.parametrize(
    "date", ["17.9.1912", "17. 9. 1912", "1912-09-17", "17. September 1912", "17. IX. 1912"]
)
def test_a_date_in_a_years_field(date, folder):
    folder.schema["properties"]["year"] = {"type": "string"}
    for number, row in enumerate(folder.rows):
        row["ground_truth"]["year"] = str(1890 + number)
    assert folder.check().problems == []
    folder.truth(9)["year"] = date
    problem = folder.only()
    assert (problem.kind, problem.severity, problem.field) == ("date_for_year", "warning", "year")
    assert problem.examples == [(10, "card 9", f'"{date}"')]


def test_a_value_that_occurs_once_and_is_nearly_a_frequent_one(folder):
    folder.truth(7)["place"] = "Stuttgrat"
    problem = folder.only()
    assert (problem.kind, problem.severity, problem.field) == ("rare_value", "warning", "place")
    assert problem.examples == [(8, "card 7", '"Stuttgrat" ("Stuttgart" 15 times)')]


@pytest.mark.parametrize(
    ("once", "like"),
    [
        ("Stuttgrat", True),  # swapped
        ("stuttgart ", True),
        ("Stuttgrrat", True),  # two edits in nine characters
        ("Stutgrrat", False),  # three
        ("Stuttgart 2", False),  # a digit more
        ("Köln", False),
    ],
)
def test_what_a_slip_is(once, like):
    assert list(near_values([once], ["Stuttgart"])) == [(once, "Stuttgart")] * like


def osa(a: str, b: str) -> int:
    """The optimal string alignment distance, by its recurrence."""
    table = {(-1, -1): 0}
    for i in range(len(a)):
        table[i, -1] = i + 1
    for j in range(len(b)):
        table[-1, j] = j + 1
    for i in range(len(a)):
        for j in range(len(b)):
            table[i, j] = min(
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (a[i] != b[j]),
            )
            if i and j and a[i] == b[j - 1] and a[i - 1] == b[j]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(a) - 1, len(b) - 1]


def slips(once, frequent):
    """Each value with each other: the nearest that is near enough, the first of equals."""
    for value in once:
        near = []
        for position, other in enumerate(frequent):
            a, b = (" ".join(each.lower().split()) for each in (value, other))
            shorter = min(len(a), len(b))
            allowed = 0 if shorter < 5 else 1 if shorter < 9 else 2
            digits = ["".join(c if c.isdigit() else " " for c in each).split() for each in (a, b)]
            if digits[0] == digits[1] and osa(a, b) <= allowed:
                near.append((osa(a, b), position))
        if near:
            yield value, frequent[min(near)[1]]


VALUES = st.lists(st.text("abB1 ", max_size=11), max_size=6, unique=True)


@given(VALUES, VALUES)
def test_slips_are_those_that_a_naive_search_finds(once, frequent):
    assert list(near_values(once, frequent)) == list(slips(once, frequent))


def test_made_up_fields_are_bounded(folder):
    folder.schema["properties"]["persons"] = {}
    folder.truth(3)["persons"] = {f"person {number}": "x" for number in range(3_000)}
    kinds = {problem.kind for problem in folder.check().problems}
    assert kinds == {"mixed_types", "many_fields"}
