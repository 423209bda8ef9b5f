"""Answers spoilt in more than a hundred ways are read exactly, and what is none gives no record."""

from collections import Counter

import pytest
from answers import mutations
from answers.cases import BENCHMARKS, RECORDED, recorded_cases, sample_cases
from answers.mutations import ANSWERS, NO_ANSWERS, NOTHING, OTHER_FORMATS

from hdbench.answers.text import read_text

WITH_A_NULL = {"fuller draft", "record with a null after an example"}


def expected(name, case):
    return mutations.with_null(case.record) if name in WITH_A_NULL else case.record


@pytest.fixture(scope="module")
def samples():
    return [sample_cases(benchmark) for benchmark in BENCHMARKS]


def made(samples, make):
    for cases, form in samples:
        for case in cases:
            if (text := make(case)) is not None:
                yield case, form, text


@pytest.mark.parametrize("name", ANSWERS)
def test_a_spoilt_answer_of_the_samples_is_read_exactly(samples, name):
    texts = list(made(samples, ANSWERS[name]))
    if not texts:
        return  # a class of recorded answers only, as of those with a null
    for case, form, text in texts:
        assert read_text(text, form).prediction == expected(name, case), text


@pytest.mark.parametrize("name", OTHER_FORMATS | NO_ANSWERS)
def test_what_is_no_answer_is_counted_as_what_it_is(samples, name):
    kind, make = (OTHER_FORMATS | NO_ANSWERS)[name]
    for _, form, text in made(samples, make):
        reading = read_text(text, form)
        assert reading.status == "unparsable", text
        assert reading.kind == kind, text


@pytest.mark.parametrize("name", NOTHING)
def test_what_is_no_answer_to_anything_is_counted_as_what_it_is(samples, name):
    kind, text = NOTHING[name]
    for _, form in samples:
        assert read_text(text, form)[1:3] == ("unparsable", kind)


def test_there_are_enough_of_each():
    assert len(ANSWERS) + len(OTHER_FORMATS) >= 200
    assert len(NO_ANSWERS) + len(NOTHING) >= 60


@pytest.mark.nightly
@pytest.mark.parametrize("benchmark", RECORDED)
def test_spoilt_recorded_answers(shared, benchmark):
    """Of two looping pages the halves are alike, so that they cannot be told from two drafts."""
    cases, form = recorded_cases(shared, benchmark, 5)
    outcomes, wrong = Counter(), Counter()
    for name, make in ANSWERS.items():
        for case, _, text in made([(cases, form)], make):
            is_exact = read_text(text, form).prediction == expected(name, case)
            outcomes[is_exact] += 1
            wrong[name] += not is_exact
    assert outcomes[True] >= 0.99 * outcomes.total(), wrong
    assert outcomes.total() > 600
    for name, (kind, make) in (OTHER_FORMATS | NO_ANSWERS).items():
        for _, _, text in made([(cases, form)], make):
            reading = read_text(text, form)
            assert reading.status == "unparsable", (name, text)
            assert reading.kind == kind, (name, text)
