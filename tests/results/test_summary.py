"""The first sentences of a result, from answers whose corrections are counted by hand."""

import pytest

from hdbench.answers.answer import Answer
from hdbench.evaluation.parts import ScoredDataset
from hdbench.evaluation.score import score_items
from hdbench.evaluation.sentences import lead, reading, work
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import EFFORT

CARDS = {"en": ["card", "cards"], "de": ["Karte", "Karten"]}
TRUTH = {"title": "Stellingen", "year": 1924, "place": "Leiden"}


def result_of(metric, pairs, **dataset):
    candidates = [
        (Answer(answer, id=str(n)), metric.prepare(truth))
        for n, (answer, truth) in enumerate(pairs)
    ]
    return score_items(metric, candidates, dataset=ScoredDataset(**dataset))


def sentences(result, language="en"):
    return " ".join(lead(result, language))


def effort_of(name, answer, truth, **options):
    metric = make_metric(name, **options)
    statistics = metric.score(answer, metric.prepare(truth)).statistics
    return tuple(statistics[each] for each in EFFORT)


def persons(*names):
    return [{"name": name, "alternateName": []} for name in names]


def test_a_substituted_value_is_one_correction():
    answer = {"title": "Stellingen", "year": 1925, "publisher": "Brill"}
    # The year is substituted, the place missing, the publisher invented; the title is right.
    assert effort_of("zettel_f1", answer, TRUTH) == (3, 4)
    assert effort_of("zettel_f1", answer, TRUTH, weights={"year": 0, "place": 5}) == (2, 3)
    assert effort_of("zettel_f1", None, TRUTH) == (3, 3)
    assert effort_of("zettel_f1", TRUTH, TRUTH) == (0, 3)


def test_fields_in_lists_are_counted_one_by_one():
    people = [{"name": "Abegg", "born": 1890}, {"name": "Boreux", "born": 1874}]
    page = {"title": "Liste", "entries": people}
    read = {"title": "Liste", "entries": [{"name": "Boreux", "born": 1875}, {"name": "Frey"}]}
    # Boreux's year is wrong, Abegg is missed with both fields, and Frey is invented with one.
    assert effort_of("record_f1", read, page) == (4, 6)
    assert effort_of("record_f1", read, page, weights={"entries[].born": 0}) == (2, 4)


def test_a_wrong_name_in_the_place_of_another_is_one_correction():
    letter = {"send_date": ["1929-03-12"], "sender_persons": persons("Muster, A.", "Frey, B.")}
    answer = {"send_date": "1929-03-21", "sender_persons": ["Muster, A.", "Muster AG", "Basel AG"]}
    # The date is wrong; of the senders one is right, one is another, and one is too many.
    assert effort_of("letters_f1", answer, letter) == (3, 4)


def test_bibliographic_fields_that_differ_at_all_are_corrections():
    paper = {"kind": "paper", "doi": "", "title": "On Growth", "pub_time": "1917"}
    # Case does not count, empty fields are equal, and the year differs in a digit.
    assert effort_of("sciencemeta_accuracy", {"title": "on growth", "pub_time": "1918"}, paper) == (
        1,
        6,
    )


def test_characters_are_counted_in_transcriptions():
    texts = {"texts": {"title": "always", "text": "always"}}
    truth = {"title": "", "text": "Rother Wein"}
    # A letter is lost; the three of an invented title have to be removed.
    assert effort_of("text_cer", {"title": "Neu", "text": "Roter Wein"}, truth, **texts) == (4, 11)
    ads = [{"text": "1. Rother Wein"}, {"text": "2. Ein Haus"}]
    read = [{"text": "1. Roter Wein"}, {"text": "7. Neu"}]
    # A letter is lost, eleven are missed with the second ad, six invented with another.
    answer = {"advertisements": read}
    for protocol in ("documented", "published"):
        metric = make_metric("avisblatt_cer", protocol)
        score = metric.score(answer, metric.prepare({"advertisements": ads}))
        assert tuple(score.statistics[each] for each in EFFORT) == (18, 25)


@pytest.mark.parametrize("name", METRICS)
def test_each_metric_says_what_it_counts(name):
    assert METRICS[name].statistics[-2:] == EFFORT
    assert METRICS[name].corrected is not None


def test_the_lead_has_its_interval_only_with_enough_items():
    metric = make_metric("zettel_f1")
    wrong = TRUTH | {"year": 1925}
    few = result_of(metric, [(wrong, TRUTH), (TRUTH, TRUTH), (None, TRUTH)], item_name=CARDS)
    assert sentences(few) == (
        "1 of 3 cards needs no correction; on average 1.3 of 3 fields per card are wrong. "
        "1 card without a usable answer counts as a complete failure. F1 (micro) 0.6667."
    )
    assert sentences(few, "de") == (
        "1 von 3 Karten braucht keine Korrektur; im Durchschnitt sind je Karte 1,3 von 3 Feldern "
        "falsch. Bei 1 Karte fehlt eine brauchbare Antwort; das zählt als ganz falsch. "
        "F1 (mikro) 0,6667."
    )
    # All are right, so each draw is 0, and the upper end is that of the unseen item, in which all
    # fields may be wrong: its share is below 1 - 0.025 ** (1 / 20) in 97.5 % of the draws.
    right = result_of(metric, [(TRUTH, TRUTH)] * 20)
    ends = right.effort.interval
    assert ends.low == 0
    assert ends.high == pytest.approx(3 * (1 - 0.025 ** (1 / 20)), abs=0.02)
    assert work(right).startswith(
        "20 of 20 items need no correction; on average 0.00 of 3 fields per item are wrong (0.00 "
    )


def test_no_more_fields_are_wrong_than_there_are():
    records = [{f"field_{number}": "x" for number in range(count)} for count in (10, 10, 11)]
    lost = result_of(make_metric("record_f1"), [(None, record) for record in records])
    assert "on average 10.3 of 10.3 fields per item are wrong" in sentences(lost)


def test_correction_effort_does_not_change_other_intervals():
    wrong = [TRUTH | {"title": "x"}, TRUTH | {"year": 1, "place": "x"}, TRUTH, None]
    pairs = [(answer, TRUTH) for answer in wrong * 8]
    one, other = (result_of(make_metric("zettel_f1"), pairs) for _ in range(2))
    other.statistics.update({name: list(range(32)) for name in EFFORT})  # all rows now differ
    assert other.effort != one.effort
    assert other.intervals.figures == one.intervals.figures


def test_transcriptions_say_what_their_errors_are():
    metric = make_metric("text_cer", watch="ſæ")
    pairs = [
        ({"text": "b c d a"}, {"text": "a b c d"}),  # 2 of 4 words by place, none without order
        ({"text": "das Waſſer iſt"}, {"text": "daſ Waſſer iſt"}),  # 1 of 3 words
        ({"text": "xxxx yyyy"}, {"text": "abcd"}),
    ]
    items = [
        (Answer(answer, id=str(n)), metric.prepare(truth))
        for n, (answer, truth) in enumerate(pairs)
    ]
    said = reading(score_items(metric, items, details=True))
    # WER (2 + 1 + 2) / 8, without order (0 + 1 + 2) / 8.
    assert said == (
        "40% of the word errors are words in another order, 60% wrong words. "
        "1 item failed, with as many errors as characters or more. "
        "Of 4 watched characters, 75% were kept. Of 4 ſ, 25% were written as s."
    )
    assert reading(score_items(metric, items[:1])).startswith("100% of")
    right = [(Answer({"text": "a"}, id="a"), metric.prepare({"text": "a"}))]
    assert reading(score_items(metric, right)) == ""
