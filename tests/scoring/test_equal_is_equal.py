"""What is canonically equal is equal in all metrics under `documented`, and only there."""

import random
import unicodedata

import pytest
from reference.values import canonical

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import ScoreCollector, score_items
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.text_equality import canonical_text

CARD = {"Größe": "8°", "autor": {"nachname": "Vène", "schlagwörter": ["Zähle", "Maß"]}, "n": 7}
PAGE = {
    "advertisements": [
        {"tags_section": "Verkäufe", "text": "1. Ein Käſe.\nZwey Öfen", "date": "1731-01-02"},
        {"tags_section": "Verkäufe", "text": "2. Grüner Thee", "date": "1731-01-02"},
    ]
}
LETTER = {
    "send_date": ["März 1926"],
    "sender_persons": [{"name": "Müller, Zoë", "alternateName": ["Frau Müller"]}],
    "receiver_persons": [{"name": "Änderung AG", "alternateName": []}],
}
PAPER = {
    "doi": "10.1/ä",
    "title": "Über Öl",
    "author": "Noël",
    "keyword": "Fluß",
    "pub_time": "1917",
}
TEXT = {"text": "Zähle die Öfen,\nund ſchreib es auf Französisch: où, çà"}

GOLDEN = {
    "zettel_f1": (CARD, {"f1_micro": 1.0}),
    "record_f1": (CARD, {"f1_micro": 1.0, "similarity": 1.0}),
    "avisblatt_cer": (PAGE, {"fuzzy": 1.0, "cer": 0.0, "section_accuracy": 1.0}),
    "letters_f1": (LETTER, {"f1_micro": 1.0}),
    "sciencemeta_accuracy": (PAPER, {"overall_accuracy": 1.0}),
    "text_cer": (TEXT, {"cer": 0.0, "wer": 0.0, "similarity": 1.0}),
}


def in_form(value, write):
    """A JSON value with each of its texts and keys written in another way."""
    if isinstance(value, dict):
        return {write(key): in_form(inner, write) for key, inner in value.items()}
    if isinstance(value, list):
        return [in_form(inner, write) for inner in value]
    return write(value) if isinstance(value, str) else value


def nfd(text):
    return unicodedata.normalize("NFD", text)


def unseen(text):
    """The same text with line ends, spaces and signs that nobody sees."""
    return "\ufeff\u200d" + text.replace("\n", "\r\n").replace(" ", "\u00a0\u200b") + "\u200e\u2060"


def result_of(metric, answer, truth):
    return score_items(metric, [(Answer(answer, id="1"), metric.prepare(truth))], details=True)


def rewritten(metric, answer, truth):
    """How many items are not written in canonical form."""
    collector = ScoreCollector(metric)
    collector.add(Answer(answer, id="1"), metric.prepare(truth))
    return collector.rewritten


@pytest.mark.parametrize("write", [nfd, unseen])
@pytest.mark.parametrize("name", METRICS)
def test_a_perfect_answer_is_perfect_however_it_is_written(name, write):
    truth, figures = GOLDEN[name]
    metric = make_metric(name)
    right = metric.right_answer(truth)
    for answer, reference in ((in_form(right, write), truth), (right, in_form(truth, write))):
        result = result_of(metric, answer, reference)
        assert {figure: result.rates[figure] for figure in figures} == figures
        assert result.rates["items_perfect"] == 1
        assert rewritten(metric, answer, reference) == 1
        # Reports show these, and nobody sees a difference in them.
        for match in result.per_item[0]["fields"]:
            assert (match["outcome"], match["similarity"]) == ("correct", 1.0)
            assert match["reference"] == match["prediction"] or name == "letters_f1"
            assert canonical(match) == match
    assert rewritten(metric, right, truth) == 0


@pytest.mark.parametrize("name", METRICS)
def test_published_compares_texts_as_they_are(name):
    truth, _ = GOLDEN[name]
    metric = make_metric(name, "published")
    if name == "avisblatt_cer":  # headings are alike enough, and the rounded means are not 1.0
        assert result_of(metric, in_form(PAGE, nfd), PAGE).rates["fuzzy"] < 1
    else:
        options = {"normalize": []} if name == "text_cer" else {}
        metric = make_metric(name, "published", **options)
        answer = in_form(metric.right_answer(truth), nfd)
        result = result_of(metric, answer, truth)
        assert result.rates["items_perfect"] == 0
        assert rewritten(metric, answer, truth) == 0


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Za\u0308hle", "Zähle"),
        ("a\r\nb\rc\u2028d\u2029e\n", "a\nb\nc\nd\ne\n"),
        ("S.\u00a012\u202f–\u200713", "S. 12 – 13"),
        ("\ufeffA\u200bb\u200e\u202ac\u2066", "Abc"),
        ("\u200c\u2060a\u200db\u200d", "a\u200db"),
        ("So\u00adfa, Waſſer, fi\tﬁ", "So\u00adfa, Waſſer, fi\tﬁ"),  # for `normalize` to say
        ("a\u200b\u0308", "ä"),
        ("\ud800", "\ud800"),
    ],
)
def test_a_text_in_canonical_form(written, read):
    assert canonical_text(written) == read


def test_the_form_is_that_of_a_naive_reading():
    rng = random.Random(5)
    signs = "aAo äſ.\n\r\t\u0308\u0301\u0316\u0323\u0f73\u0344\u0338=\u1100\u1161\u00ad\u2126"
    signs += "\u00a0\u202f\u2007\u2028\u2029\u200b\u200c\u200d\u200e\u202e\u2060\u2069\ufeff\u061c"
    for _ in range(3_000):
        text = "".join(rng.choices(signs, k=rng.choice((1, 3, 12, 60))))
        assert canonical_text(text) == canonical(text)
        assert canonical_text(canonical_text(text)) == canonical_text(text)
    marks = "a" + "".join(rng.choices("\u0308\u0301\u0316\u0323\u0f73\u0344", k=500)) + "o\u0308"
    assert canonical_text(marks) == canonical(marks)


def test_hostile_marks_take_no_longer_than_others():
    """200,000 marks that Python alone would sort in minutes."""
    text = "a" + "\u0301\u0316" * 100_000
    assert canonical_text(text) == "á" + "\u0316" * 100_000 + "\u0301" * 99_999


def written_otherwise(rng, value):
    """A JSON value, each of its texts in another of its forms, or as it is."""

    def write(text):
        text = rng.choice((text, unicodedata.normalize("NFD", text)))
        text = text.replace(" ", rng.choice(" \u00a0\u202f\u2007"))
        text = text.replace("\n", rng.choice(("\n", "\r\n", "\r", "\u2028")))
        sign = rng.choice(("", "", "\u200b", "\ufeff", "\u200f"))
        at = rng.randint(0, len(text))
        return rng.choice(("", "\u200d")) + text[:at] + sign + text[at:]

    return in_form(value, write)


def misread(rng, value):
    """A JSON value with a part of its texts misread or lost."""

    def read(text):
        if not text or rng.random() < 0.6:
            return text
        at = rng.randrange(len(text))
        return text[:at] + rng.choice(("", "x", "ö", " ")) + text[at + 1 :]

    if isinstance(value, dict):
        return {key: misread(rng, inner) for key, inner in value.items() if rng.random() < 0.95}
    if isinstance(value, list):
        return [misread(rng, inner) for inner in rng.sample(value, k=len(value))]
    return read(value) if isinstance(value, str) else value


@pytest.mark.parametrize("name", METRICS)
def test_figures_are_those_of_both_sides_in_one_form(name):
    """Equal to what the metric says of texts that the naive reading brought into one form."""
    metric, rng = make_metric(name), random.Random(7)
    truth, _ = GOLDEN[name]
    seen = set()
    for _ in range(150):
        answer = misread(rng, metric.right_answer(truth))
        pair = [written_otherwise(rng, side) for side in (answer, truth)]
        found = result_of(metric, *pair)
        expected = result_of(metric, *map(canonical, pair))
        assert found.figures == expected.figures
        assert found.per_item == expected.per_item
        seen.add(found.rates[metric.headline])
    assert len(seen) > 3, "the answers were of one kind only"
