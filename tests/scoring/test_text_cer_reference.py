"""Agreement with the naive reference, which tries every pairing of pages."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import text_cer as naive
from reference.values import canonical

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import score_items
from hdbench.scoring.text_cer import TextCer

SIGNS = "aäbzſßAZ .,-¬⸗=\n\r\t\u0308\u0364\u0323ṩ\U0001f1e8\U0001f1ed\u200d"
texts = st.text(SIGNS, max_size=20) | st.sampled_from(["Rother Wein", "Was-\n ser", "ein Wein"])
values = st.one_of(texts, texts, st.none(), st.integers(0, 99), st.booleans(), st.just(["x"]))
numbered = [f"addition{number}" for number in (1, 2, 3, 12)]


@st.composite
def edited(draw, text):
    """A copy of a text with a few characters misread or lost."""
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(["", "x", " ", "a\u0308"])) + text[at + 1 :]
    return text


@st.composite
def items(draw, longest=4):
    """An answer, and a truth that it is an edited copy of, with pages moved or left out."""
    page = st.fixed_dictionaries(
        {"text": values}, optional=dict.fromkeys(["folio", *numbered], values)
    )
    pages = draw(st.lists(page, max_size=longest))
    truth = {"pages": pages, "title": draw(values)}
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([None, {}, {"pages": "abc"}, {"pages": [7, None]}])), truth
    read = [
        {
            key: draw(edited(value)) if isinstance(value, str) else value
            for key, value in each.items()
            if draw(st.integers(0, 5))
        }
        for each in pages
    ]
    kind = draw(st.sampled_from(["as it is", "moved", "more", "fewer", "odd"]))
    if kind == "moved":
        read = draw(st.permutations(read))
    elif kind == "more":
        read += draw(st.lists(page, max_size=2))
    elif kind == "fewer":
        read = read[1:]
    elif kind == "odd":
        read = [*read[:1], draw(st.sampled_from([None, 7, "abc", []])), *read[1:]]
    return {"pages": read, "title": draw(values)}, truth


FIELDS = {
    "title": "always",
    "pages[].folio": "present",
    "pages[].text": "always",
    "pages[].addition1": "until_absent",
}
OPTIONS = {
    "plain": {},
    "aligned": {"pages": "aligned"},
    "graphemes": {"unit": "grapheme", "normalize": []},
    "lines": {"normalize": ["hyphenation", "line_breaks", "whitespace", "long_s"]},
    "each": {
        "normalize": {
            "similarity": [],
            "cer": ["lowercase", "whitespace"],
            "wer": ["casefold", "punctuation", "diacritics", {"remove": "zx"}],
        },
        "pages": "aligned",
    },
    "rounded": {
        "round": {"text": 3, "item": 3, "run": 3},
        "sum": "plain",
        "figures": {"fuzzy": {"of": "similarity", "scale": 100}, "cer": {"of": "cer_items"}},
    },
    "xml": {"xml": True},
}


REFUSED = {"refused": "the ground truths have no text to divide by"}


def figures(pairs, **options):
    """The figures of a run, or that it is refused."""
    metric = TextCer(texts=FIELDS, **options)
    candidates = [(Answer(a, id=str(n)), metric.prepare(t)) for n, (a, t) in enumerate(pairs)]
    try:
        return score_items(metric, candidates).figures
    except HdbenchError as error:
        if REFUSED["refused"] not in str(error):
            raise
        return REFUSED


def reference_figures(pairs, **options):
    """What the reference says of it, in the same form."""
    try:
        expected = naive.score_run(pairs, texts=FIELDS, **options)
    except ValueError:
        return REFUSED
    return {name: figure for name, figure in expected.items() if name != "pairs"}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=20, deadline=None)
@given(pairs=st.lists(items(), min_size=1, max_size=3))
def test_pages_of_every_shape(options, pairs):
    expected, found = reference_figures(pairs, **options), figures(pairs, **options)
    assert {name: found.get(name) for name in expected} == pytest.approx(expected, abs=1e-9)
    for answer, truth in pairs:
        metric = TextCer(texts=FIELDS, **options)
        statistics = metric.score(answer, metric.prepare(truth)).statistics
        effort = naive.score(answer, truth, texts=FIELDS, **options)["effort"]
        assert (statistics["corrections"], statistics["values"]) == effort


@pytest.mark.nightly
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(items(), min_size=1, max_size=4))
def test_many_pages_of_every_shape(options, pairs):
    expected, found = reference_figures(pairs, **options), figures(pairs, **options)
    assert {name: found.get(name) for name in expected} == pytest.approx(expected, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(pages=st.lists(texts, min_size=1, max_size=4, unique=True), data=st.data())
def test_order_of_complete_aligned_pages_does_not_matter(pages, data):
    truth = {"pages": [{"text": text} for text in pages]}
    answer = {"pages": data.draw(st.permutations(truth["pages"]))}
    metric = TextCer(texts={"pages[].text": "always"}, pages="aligned", normalize=[])
    statistics = metric.score(answer, metric.prepare(truth)).statistics
    empty = sum(not canonical(text).strip() for text in pages)
    assert statistics["cer_errors"] == 0
    assert statistics["texts_perfect"] >= len(pages) - empty


def test_words_without_order_in_10_000_random_texts_are_never_worse_than_in_order():
    rng, metric = random.Random(1), TextCer()
    for _ in range(10_000):
        reference = rng.choices("abcde", k=rng.randrange(30))
        answer = rng.choices("abcdx", k=rng.randrange(30))
        truth = metric.prepare({"text": " ".join(reference)})
        statistics = metric.score({"text": " ".join(answer)}, truth).statistics
        assert statistics["bwer_errors"] == naive.bag_errors(reference, answer)
        assert statistics["bwer_errors"] <= statistics["wer_errors"]
