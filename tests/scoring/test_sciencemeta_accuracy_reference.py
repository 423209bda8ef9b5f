"""Agreement with difflib and the naive reference, on texts and records of every sort."""

import difflib
import subprocess
import sys

import pytest
from helpers.results import in_detail
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import sciencemeta_accuracy as naive

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.sciencemeta_accuracy import SciencemetaAccuracy, sequence_ratio

ALPHABETS = {
    "two letters": "ab",
    "Latin": "abcdefghijklmnopqrstuvwxyz    eeeaaatttiiinnn.,",
    "frequent and rare letters": "etaoin shr" * 8 + "dlcumwfgypbvkjxqzETAOIN.,;0123456789",
    "Greek": "αβγδεζηθικλμνξοπρστυφχψω   άέή",
    "Chinese": "的，" * 20 + "".join(map(chr, range(0x4E00, 0x4E00 + 400))),
    "emoji and marks": "😀😁👩\u200d🔬é\u0301 x",
    "lone surrogates": "\ud800\ud801\udc00 ab",
}


@st.composite
def pairs_of_texts(draw, alphabet):
    """A text of up to 500 characters, and one that is partly it, or another."""
    signs = st.text(st.sampled_from(alphabet), max_size=6)
    rng = draw(st.randoms(use_true_random=False))
    a = "".join(rng.choices(alphabet, k=draw(st.integers(0, 500))))
    pieces, at = [], 0
    while at < len(a):
        size = rng.randint(1, 80)
        if rng.random() < 0.8:
            pieces.append(a[at : at + size])
        at += size
    rng.random() < 0.2 and rng.shuffle(pieces)
    b = draw(signs).join(pieces) + "".join(rng.choices(alphabet, k=draw(st.integers(0, 150))))
    return (a, b) if draw(st.booleans()) else (b, a)


@pytest.mark.nightly
@pytest.mark.parametrize("autojunk", [True, False])
@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_ratio_is_difflib_s(alphabet, autojunk, data):
    a, b = data.draw(pairs_of_texts(alphabet))
    expected = difflib.SequenceMatcher(None, a, b, autojunk).ratio()
    assert sequence_ratio(a, b, autojunk=autojunk) == expected


@settings(max_examples=30, deadline=None)
@given(a=st.text(max_size=300), b=st.text(max_size=300), common=st.text(max_size=250))
def test_the_ratio_of_any_text_is_difflib_s(a, b, common):
    for first, second in ((a, b), (a + common + b, b + common), (common + a, common + b)):
        expected = difflib.SequenceMatcher(None, first, second).ratio()
        assert sequence_ratio(first, second) == expected


def test_without_a_wheel_of_cydifflib_difflib_is_taken():
    code = (
        "import sys; sys.modules['cydifflib'] = None\n"
        "from hdbench.scoring import sciencemeta_accuracy as module\n"
        "print(module.SequenceMatcher.__module__, module.sequence_ratio('abcd', 'bcde'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "difflib 0.75\n"


values = (
    st.none()
    | st.sampled_from(["", "Growth", "GROWTH ", "growth and form", "2021", "北京", "北京大学"])
    | st.text(max_size=20)
    | st.integers(1900, 2030)
    | st.booleans()
    | st.floats()
    | st.lists(st.text(max_size=5), max_size=2)
)


@st.composite
def pairs(draw):
    """An answer, partly its truth, and the truth."""
    kind = draw(st.sampled_from(["paper", "textbook", "ebook", "book", None]))
    names = st.sampled_from([*naive.PAPER, *naive.BOOK])
    truth = {"title": None} | draw(st.dictionaries(names, values, max_size=9))
    answer = draw(st.none() | st.dictionaries(names | st.just("note"), values, max_size=9))
    if answer is not None:
        answer |= {field: truth[field] for field in truth if draw(st.booleans())}
    return answer, truth | ({"kind": kind} if kind else {})


@settings(max_examples=30, deadline=None)
@given(pairs=st.lists(pairs(), min_size=1, max_size=12))
def test_figures_of_many_records(pairs):
    metric = SciencemetaAccuracy(
        no_autojunk=True, normalize_text=True, canonical_identifiers=True, sets=True
    )
    candidates = [(Answer(answer), metric.prepare(truth)) for answer, truth in pairs]
    result = in_detail(score_items(metric, candidates, details=True))
    overall, kinds = naive.score(pairs)
    assert result["overall_accuracy"] == pytest.approx(overall, abs=1e-12)
    assert result["kinds"] == {
        kind: {
            "overall_accuracy": pytest.approx(naive.mean(accuracy.values()), abs=1e-12),
            "field_accuracy": pytest.approx(accuracy, abs=1e-12),
            "items": items,
        }
        for kind, (accuracy, items) in kinds.items()
    }
    # These texts are short, so that autojunk leaves nothing out.
    assert result["overall_accuracy_no_autojunk"] == result["overall_accuracy"]
    for (answer, truth), item in zip(pairs, result["per_item"], strict=True):
        explained = {match["field"]: match["similarity"] for match in item["fields"]}
        assert explained == naive.similarities(answer, truth)
        wrong = {m["field"] for m in item["fields"] if m["outcome"] != "correct"}
        assert wrong == {field for field, alike in explained.items() if alike < 1}
        assert (item["corrections"], item["values"]) == (len(wrong), len(explained))
