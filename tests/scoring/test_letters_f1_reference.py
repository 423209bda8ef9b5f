"""Agreement with the naive reference, on letters and answers of every shape."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import letters_f1 as naive

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.letters_f1 import LettersF1

COUNTS = ("true_positives", "false_positives", "false_negatives")
PROTOCOLS = ("documented", "published")
INFERRED = ("function", "correspondence")

# Few names, some with blanks around them, so that answers and truths often meet.
names = st.sampled_from(["Muster, A.", "Muster, B. ", " Vorbild, C.", "D", "E "])
others = st.sampled_from(["Muster", "Herr Muster", "Vorbild ", " D", "E", "", "None", "null", "x"])
dates = st.sampled_from(["1926-02-16", "1926-02-17", "1926", "None", "null", "", None])


@st.composite
def authorities(draw):
    """Authority files; persons of one file differ in more than blanks."""
    chosen = draw(st.lists(names, unique=True, max_size=5))
    return [{"name": n, "alternateName": draw(st.lists(others, max_size=4))} for n in chosen]


inscribed = st.builds(
    lambda name, form: form.format(name.strip()),
    names,
    st.sampled_from(["{}", "{}", "<{}>", "<<{}>>"]),
)
letters = st.fixed_dictionaries(
    {
        "send_date": st.lists(dates, min_size=1, max_size=3),
        "sender_persons": st.lists(inscribed | st.just("None"), max_size=4),
        "receiver_persons": st.lists(inscribed | st.just("None"), max_size=4),
        "has_signatures": st.sampled_from(["TRUE", "FALSE"]),
    }
)

texts = inscribed | names | others | dates | st.sampled_from(["<Muster", "<>", "< D >"]) | st.text()
objects = st.fixed_dictionaries(
    {"name": names | others | st.none()},
    optional={"inferred": st.sampled_from([None, *INFERRED]), "alternateName": st.just(["x"])},
)
items = texts | st.integers(1900, 1930) | st.booleans() | st.just(["D"]) | st.just({"n": "D"})
values = (
    st.lists(items, max_size=5)
    | st.lists(texts.map(str), max_size=3).map("|".join)
    | st.none()
    | items
)
persons = values | objects | st.lists(items | objects, max_size=5)
inner = st.fixed_dictionaries(
    {},
    optional={"send_date": values, "sender_persons": persons, "receiver_persons": persons}
    | {"letter_title": values},
)
answers = (
    inner
    | inner.map(lambda record: {"metadata": record})
    | inner.map(lambda record: {"metadata": json.dumps(record)})
    | inner.map(lambda record: {"metadata": repr(record)})
    | st.sampled_from([None, {"error": "timeout"}, {"metadata": "none"}, {"metadata": None}])
)


def options_of(inferred, skip=None):
    skipped = {"TRUE": {"skip_signatures": True}, "FALSE": {"skip_non_signatures": True}}
    return {f"inferred_from_{source}": True for source in inferred} | skipped.get(skip, {})


def result_of(metric, pairs, authority):
    candidates = []
    for answer, letter in pairs:
        truth = naive.ground_truth(letter, authority, metric.protocol)
        candidates.append((Answer(answer), metric.prepare(truth)))
    return score_items(metric, candidates, details=True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=30, deadline=None)
@given(answer=answers, letter=letters, authority=authorities())
def test_letters_of_every_shape(protocol, answer, letter, authority):
    result = result_of(LettersF1(protocol), [(answer, letter)], authority)
    expected = naive.counts(answer, letter, authority, protocol)
    for category, counted in expected.items():
        assert tuple(result.totals[f"{category}.{count}"] for count in COUNTS) == counted
    # Counting and explaining agree.
    matches = result.per_item[0]["fields"]
    for category, counted in expected.items():
        outcomes = [match["outcome"] for match in matches if match["field"] == category]
        assert tuple(map(outcomes.count, ("correct", "spurious", "missing"))) == counted
    # A wrong value in the place of a missing one is one value to be corrected.
    wrong = [max(spurious, missing) for _, spurious, missing in expected.values()]
    assert result.totals["corrections"] == sum(wrong)
    assert result.totals["values"] == sum(wrong) + sum(right for right, _, _ in expected.values())


@pytest.mark.parametrize("inferred", [INFERRED[:1], INFERRED[1:], INFERRED])
@settings(max_examples=30, deadline=None)
@given(answer=answers, letter=letters, authority=authorities())
def test_inferred_persons(inferred, answer, letter, authority):
    result = result_of(LettersF1(**options_of(inferred)), [(answer, letter)], authority)
    for category, counted in naive.counts(answer, letter, authority, inferred=inferred).items():
        assert tuple(result.totals[f"{category}.{count}"] for count in COUNTS) == counted


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("skip", [None, "TRUE", "FALSE"])
@settings(max_examples=30, deadline=None)
@given(pairs=st.lists(st.tuples(answers, letters), max_size=8), authority=authorities())
def test_figures_of_many_letters(protocol, skip, pairs, authority):
    result = result_of(LettersF1(protocol, **options_of((), skip)), pairs, authority).figures
    micro, macro, totals = naive.score(pairs, authority, protocol, skip=skip)
    assert result["items"] == sum(letter["has_signatures"] != skip for _, letter in pairs)
    assert result["f1_micro"] == micro
    assert result["f1_macro"] == pytest.approx(macro, abs=1e-12)
    for category, rates in result["categories"].items():
        assert [rates[count] for count in COUNTS] == totals[category]
    # Found by surname is never worse than found exactly.
    assert result["f1_surname"] >= micro - 0.005
    assert result["false_positives_organisations"] <= result["false_positives"]
