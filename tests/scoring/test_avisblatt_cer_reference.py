"""Agreement with the naive reference, on small pages of every shape."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import avisblatt_cer as naive
from reference.values import distance

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.avisblatt_cer import AvisblattCer
from hdbench.scoring.metric import OUTCOMES

PROTOCOLS = ("documented", "published")

# Short texts of few letters, so that ties are many and different totals lie far apart.
texts = st.builds(
    "{}{}".format,
    st.sampled_from(["", "", "1. ", "1. ", "2. ", "3.", " 1.", "0. ", "01. ", "x1. "]),
    st.text("abA \n", max_size=5),
)
VERKAUFF = "Es werden zum Verkauff"
# All but the last are from 0.955 to 1.0 alike, save the second and the fourth (0.933).
headings = st.sampled_from(
    (VERKAUFF, VERKAUFF[:-1], VERKAUFF + ":", VERKAUFF + " :", f" {VERKAUFF} ", "Nachrichten")
)
sections = headings | st.sampled_from(("", None))
dates = st.sampled_from(["1731-01-02", "1731-01-09", None])


@st.composite
def ads(draw):
    ad = {"date": draw(dates), "tags_section": draw(sections), "text": draw(texts)}
    if draw(st.booleans()):
        ad["ntokens"] = draw(st.none() | st.integers(0, 4))
    return ad


@st.composite
def pages(draw):
    """A truth, and an answer that is partly it: unrelated ads would hardly ever agree."""
    truth = {"advertisements": draw(st.lists(ads(), max_size=4))}
    if draw(st.booleans()):
        truth["continued_section"] = draw(headings).strip()
    found = draw(st.lists(ads(), max_size=3))
    for ad in truth["advertisements"]:
        if len(found) < 5 and draw(st.booleans()):
            found.insert(draw(st.integers(0, len(found))), ad | {"date": draw(dates)})
    answer = draw(st.sampled_from([{"advertisements": found}] * 8 + [{}, None]))
    return answer, truth


def scored(pairs, protocol):
    metric = AvisblattCer(protocol)
    candidates = [(Answer(answer), metric.prepare(truth)) for answer, truth in pairs]
    return score_items(metric, candidates, details=True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=20)
@given(page=pages())
def test_pages_of_every_shape(protocol, page):
    result = scored([page], protocol).figures
    expected = naive.figures([page], protocol)
    assert {name: result[name] for name in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=20)
@given(pairs=st.lists(pages(), max_size=4))
def test_figures_of_many_pages(protocol, pairs):
    result = scored(pairs, protocol).figures
    expected = naive.figures(pairs, protocol)
    assert {name: result[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    if protocol == "published":
        assert (result["fuzzy"], result["cer"]) == (expected["fuzzy"], expected["cer"])


@settings(max_examples=20)
@given(page=pages())
def test_counting_and_explaining_agree(page):
    for protocol in PROTOCOLS:
        item = scored([page], protocol).per_item[0]
        outcomes = [match["outcome"] for match in item["fields"]]
        correct, substituted, missing, spurious = (outcomes.count(name) for name in OUTCOMES)
        assert correct + substituted == item["true_positives"]
        assert (missing, spurious) == (item["false_negatives"], item["false_positives"])
        texts = [(m["reference"] or "", m["prediction"] or "") for m in item["fields"]]
        assert item["corrections"] == sum(distance(*both) for both in texts)
        assert item["values"] == sum(len(reference) for reference, _ in texts)


@settings(max_examples=20)
@given(page=pages())
def test_the_page_s_statistics_are_those_that_are_declared(page):
    metric = AvisblattCer()
    statistics = metric.score(page[0], metric.prepare(page[1])).statistics
    assert tuple(statistics) == AvisblattCer.statistics
