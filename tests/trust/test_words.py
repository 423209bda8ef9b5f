"""Decisions and control samples in sentences, each case by hand."""

import pytest
from helpers.single_values import DECISION, FAILED, NOTHING, STAGE, made

from hdbench.collections.trust.control import Controlled
from hdbench.collections.trust.outlook import work_left
from hdbench.collections.trust.sentences import (
    control_sentences,
    sentences,
    warning_in_words,
    worry,
)


def said(decision, language="en"):
    return sentences(decision, work_left(decision), language)


def test_what_is_accepted_comes_first_and_errors_next():
    # 400 values at 9 s are an hour; a quarter of them are wrong.
    assert said(made()) == [
        "700 of the 2,000 values in 1,000 items (35.0%) can be accepted without anybody looking at "
        "them. With 90% confidence, at most 5% of them are wrong, counted to the letter.",
        "Wrong values that go in unnoticed: about 11, and at most 20. Nobody knows which ones.",
        "To check it, people read 400 values that would have been accepted: 6 were wrong (1.5%). "
        "Counted by the benchmark's own threshold, 1 was wrong (0.2%).",
        "A person looks at 400 values, which takes about 60 minutes at 9 seconds for each "
        "(measured while values were read). About 100 of them are wrong, by what was learned.",
        "People have read 900 values already: what they read goes in.",
    ]


def test_where_nothing_is_accepted_it_says_why_and_what_helps():
    nothing, why, more, once, look, read = said(made(**NOTHING))
    assert nothing.startswith("Nothing can be accepted unseen: even for the surest values, it")
    assert why == (
        "Of the surest values, people read 400, and 16 were wrong (4.0%). Of those that nobody "
        "read, up to 5.6% may be wrong."
    )
    # At 4 % in truth, 1,100 values are too few to show 5 %.
    assert more == "More values to check would hardly help: the collection is too small for that."
    assert once.startswith("This collection cannot be tried again")
    assert look.startswith("A person looks at 1,100 values, which takes about 2.8 hours")
    assert read.startswith("People have read 900 values")


def of_cut(**changes):
    group = {"fields": ["title", "year"], "cuts": [FAILED | changes], "cut": None}
    return made(**NOTHING | {"groups": [group]})


@pytest.mark.parametrize(
    ("decision", "line"),
    [
        # With 3 % in truth, 446 values show 5 % with the chance of .8 (scipy's binomial), and 100
        # of 600 were of this kind: 446 / 100 * 600.
        (
            of_cut(read=100, wrong={"letter": 3, "threshold": 0}, unread=10**6, upper=0.066),
            "More values to check would help: with about 2,680, some values would most likely",
        ),
        (
            of_cut(wrong={"letter": 30, "threshold": 9}, upper=0.0933),
            "More values to check would not help: too many of the surest ones are wrong.",
        ),
        (of_cut(read=0, wrong={"letter": 0, "threshold": 0}, upper=1.0), "None of the surest"),
        (made(**NOTHING, runs=["heron"]), "A second model would help"),
        (
            made(
                **NOTHING,
                expected_by_field=DECISION["expected_by_field"]
                | {"shelfmark": {"values": 1_000, "wrong": 0.6}},
            ),
            "Fewer fields would help: the values of shelfmark are most often wrong.",
        ),
        (made(**NOTHING, tries=3), "If one of the 3 tries is left, the next plan names this one"),
        (made(**NOTHING, each_field=True), "A promise for all fields together needs fewer"),
        (made(**NOTHING, each_field=True), "The field that comes closest is title, year. Of the"),
    ],
)
def test_each_thing_that_would_help_is_named_where_it_would(decision, line):
    assert any(each.startswith(line) for each in said(decision))
    if decision.groups[0].cuts[0].read != 100:
        assert not any("with about" in each for each in said(decision))


WARNINGS = [
    ("twins", {"one": "a", "other": "b", "same": 9, "either": 12}, "In 9 of the 12"),
    ("read_once", {"values": 900}, "Each of the 900 values was read by one person only"),
    ("readers_differ", {"twice": 60, "same": 40}, "The people who read do not agree: of 60"),
    ("not_readable", {"unreadable": 7, "damaged": 1, "values": 600}, "Of the 600 values to"),
    ("unsettled", {"count": 1}, "On 1 value to check"),
    ("unsettled", {"count": 2}, "On 2 values to check"),
    ("fields_may_be_above", {"fields": [{"name": "year", "share": 0.061}]}, "The limit is kept"),
    ("unanswered_items", {"count": 1, "items": 5}, "No model answered 1 of the 5 items"),
]


@pytest.mark.parametrize(("key", "values", "beginning"), WARNINGS)
def test_each_warning_has_words_in_both_languages(key, values, beginning):
    (warned,) = made(warnings=[{"key": key, "values": values}]).warnings
    english, german = warning_in_words(warned), warning_in_words(warned, "de")
    assert english.startswith(beginning)
    assert german != english
    if key == "fields_may_be_above":
        assert "year (6.1%)" in english
        assert "year (6,1\N{NO-BREAK SPACE}%)" in german


def test_in_german_nothing_is_left_in_english():
    for decision in (made(tries=2), made(**NOTHING, runs=["x"]), made(**NOTHING, each_field=True)):
        english, german = said(decision), said(decision, "de")
        assert len(english) == len(german)
        assert set(english) & set(german) == set()
        assert worry(decision) != worry(decision, "de")


def controlled(count, upper, **readings):
    found = {"count": count, "rate": count / 100, "upper": upper}
    return Controlled.model_validate(
        {
            "plan": "a" * 64,
            "of": 700,
            "values": 100,
            "limit": 0.05,
            "confidence": 0.9,
            "right": "letter",
            "case": "counts",
            "wrong": {"letter": found, "threshold": found | {"count": 0, "rate": 0.0}},
            "readings": STAGE | readings,
        }
    )


def test_a_control_sample_of_values_speaks_of_those_left():
    first, holds, also = control_sentences(controlled(1, 0.036))
    # 600 others: 1 % of them are 6, 3.6 % are 21.6.
    assert first == (
        "Of 700 accepted values, 100 were drawn at random and read without seeing what was "
        "accepted: 1 was wrong to the letter (1.0%). With 90% confidence, at most 3.6% of the "
        "others are wrong: about 6, and at most 22."
    )
    assert holds == "This is within the limit of the plan, 5.0%."
    assert also.startswith("Counted by the benchmark's own threshold, 0 of 100 were wrong")
    assert control_sentences(controlled(3, 0.064))[1].startswith(
        "More than the limit of the plan, 5.0%, may be wrong"
    )
    assert control_sentences(controlled(8, 0.13))[1].startswith("More was found wrong than")
    assert control_sentences(controlled(1, 0.036, damaged=1))[-1].startswith("Of the values that")


def test_what_does_not_follow_from_the_cuts_is_no_decision():
    with pytest.raises(ValueError, match="does not follow from the cuts"):
        made(**NOTHING | {"accepted": 5})
