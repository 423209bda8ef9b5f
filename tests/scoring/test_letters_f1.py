import json

import pytest
from helpers.results import in_detail

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import score_items
from hdbench.scoring.letters_f1 import CATEGORIES, LettersF1

COUNTS = ("true_positives", "false_positives", "false_negatives")
PROTOCOLS = ("documented", "published")


def person(name, *others, inferred=None):
    return {"name": name, "alternateName": list(others), "inferred": inferred}


# The table of the benchmark's description.
TRUTH = {
    "send_date": ["1926-02-16"],
    "sender_persons": [
        person("Groschupf-Jaeger, Louis", "Groschupf", "Herr Groschupf"),
        person("Ritter-Dreier, Fritz", "Herr Ritter"),
    ],
    "receiver_persons": [person("Christ-Wackernagel, Paul", "Christ", "Herr Christ")],
    "has_signatures": True,
}
RESPONSE = {
    "send_date": ["1926-02-16"],
    "sender_persons": ["Basler Rheinschiffahrt-Aktiengesellschaft"],
    "receiver_persons": ["Herr Christ", "i/Fa. Paravicini, Christ & Co."],
}


def figures(pairs, protocol="documented", **options):
    metric = LettersF1(protocol, **options)
    candidates = [
        (Answer(answer, id=str(position)), metric.prepare(truth))
        for position, (answer, truth) in enumerate(pairs)
    ]
    return in_detail(score_items(metric, candidates, details=True))


def counts(answer, truth, protocol="documented", **options):
    """The date's, the senders' and the receivers' TP, FP and FN."""
    categories = figures([(answer, truth)], protocol, **options)["categories"]
    return [tuple(categories[name][count] for count in COUNTS) for name in CATEGORIES]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_description_s_table(protocol):
    assert counts(RESPONSE, TRUTH, protocol) == [(1, 0, 0), (0, 1, 2), (1, 1, 0)]
    result = figures([(RESPONSE, TRUTH)], protocol)
    # TP 2, FP 2, FN 2; the categories' F1 are 1, 0 and 2 / 3.
    assert [result[count] for count in COUNTS] == [2, 2, 2]
    assert result["precision_micro"] == result["recall_micro"] == result["f1_micro"] == 0.5
    macro = (1 + 0 + 2 / 3) / 3
    assert result["f1_macro"] == (0.56 if protocol == "published" else pytest.approx(macro))
    assert result["categories"]["receiver_persons"] == {
        "true_positives": 1,
        "false_positives": 1,
        "false_negatives": 0,
        "precision": 0.5,
        "recall": 1.0,
        "f1": pytest.approx(2 / 3),
    }
    assert result["categories"] == result["fields"]
    assert result["false_positives_organisations"] == 2
    assert result["items_perfect"] == 0


def test_micro_is_over_all_values_and_macro_over_categories():
    none = {"send_date": ["x"], "sender_persons": None, "receiver_persons": None}
    right = {**RESPONSE, "sender_persons": None, "receiver_persons": ["Christ"]}
    result = figures([(right, TRUTH), (none, TRUTH)])
    # Dates 1/1/1, senders 0/0/4, receivers 1/0/1.
    assert result["f1_micro"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 6))
    assert result["f1_macro"] == pytest.approx((1 / 2 + 0 + 2 / 3) / 3)
    rounded = figures([(right, TRUTH), (none, TRUTH)], "published")
    assert (rounded["f1_micro"], rounded["f1_macro"]) == (0.36, 0.39)
    assert rounded["categories"]["receiver_persons"]["f1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("dates", "truth", "documented", "published"),
    [
        (["1926-02-16"], ["1926-02-16"], (1, 0, 0), (1, 0, 0)),
        ("1926-02-16", ["1926-02-16"], (1, 0, 0), (1, 0, 0)),
        (" 1926-02-16 ", ["1926-02-16"], (1, 0, 0), (1, 0, 0)),
        (["1926-02-17"], ["1926-02-16"], (0, 1, 1), (0, 1, 1)),
        ([], ["1926-02-16"], (0, 0, 1), (0, 0, 1)),
        (None, ["1926-02-16"], (0, 0, 1), (0, 0, 1)),
        (["null"], ["1926-02-16"], (0, 0, 1), (0, 0, 1)),
        ([None], ["1926-02-16"], (0, 0, 1), (0, 0, 1)),
        # values that only one protocol takes for none
        (["None"], ["1926-02-16"], (0, 0, 1), (0, 1, 1)),
        ([""], ["1926-02-16"], (0, 0, 1), (0, 1, 1)),
        (["None"], ["None"], (0, 0, 0), (1, 0, 0)),
        ([""], ["None"], (0, 0, 0), (0, 1, 1)),
        # a truth without a date
        (None, ["None"], (0, 0, 0), (0, 0, 1)),
        (None, [None], (0, 0, 0), (0, 0, 1)),
        ("null", None, (0, 0, 0), (0, 0, 1)),
        ([None], [], (0, 0, 0), (0, 0, 1)),
        (["1926"], [None], (0, 1, 0), (0, 1, 1)),
        # several dates: sets under documented, the first alone under published
        (["a", "b"], ["a", "b"], (2, 0, 0), (1, 0, 0)),
        (["b", "a"], ["a"], (1, 1, 0), (0, 1, 1)),
        ("a | b", ["a", "c"], (1, 1, 1), (1, 0, 0)),
        ([None, "a"], ["a"], (1, 0, 0), (0, 0, 1)),
        (["a", "a", "a"], ["a"], (1, 0, 0), (1, 0, 0)),
        # a `|` separates values in a text only
        (["a|b"], ["a"], (0, 1, 1), (0, 1, 1)),
        # numbers by their text, anything else as a value that is wrong
        (1926, ["1926"], (1, 0, 0), (1, 0, 0)),
        ([float("nan")], ["1926"], (0, 1, 1), (0, 1, 1)),
        ([["1926"]], ["1926"], (0, 1, 1), (0, 1, 1)),
        ({"year": 1926}, ["1926"], (0, 1, 1), (0, 1, 1)),
    ],
)
def test_dates_by_hand(dates, truth, documented, published):
    answer, truth = {"send_date": dates}, {"send_date": truth}
    assert counts(answer, truth)[0] == documented
    assert counts(answer, truth, "published")[0] == published


ANNA = person("Muster-Beispiel, Anna", "Frau Muster", "A. Muster")
OTTO = person("Vorbild, Otto", "Herr Vorbild", "A. Muster")
BLANK = person("Blank, Eva ", "Frau Blank ", " E. Blank")
EMPTY = person("Leer, Hans", "H. Leer", "")


@pytest.mark.parametrize(
    ("names", "truth", "documented", "published"),
    [
        # the name or an alternate name, exactly
        (["Muster-Beispiel, Anna"], [ANNA], (1, 0, 0), (1, 0, 0)),
        (["Frau Muster"], [ANNA], (1, 0, 0), (1, 0, 0)),
        ([" Frau Muster\n"], [ANNA], (1, 0, 0), (1, 0, 0)),
        (["frau Muster"], [ANNA], (0, 1, 1), (0, 1, 1)),
        (["Anna Muster-Beispiel"], [ANNA], (0, 1, 1), (0, 1, 1)),
        # sets: two names of one person, one name twice, one name of two persons
        (["Frau Muster", "Muster-Beispiel, Anna"], [ANNA], (1, 0, 0), (1, 0, 0)),
        (["Frau Muster", "Frau Muster"], [ANNA], (1, 0, 0), (1, 0, 0)),
        (["Frau X", "Frau X", "Y"], [ANNA], (0, 2, 1), (0, 2, 1)),
        (["A. Muster"], [ANNA, OTTO], (2, 0, 0), (2, 0, 0)),
        (["Frau Muster"], [ANNA, ANNA], (1, 0, 0), (1, 0, 0)),
        ("Frau Muster | Herr Vorbild|Z", [ANNA, OTTO], (2, 1, 0), (2, 1, 0)),
        # no values
        (None, [ANNA, OTTO], (0, 0, 2), (0, 0, 2)),
        (["null", None, ""], [ANNA], (0, 0, 1), (0, 0, 1)),
        ("null", [ANNA], (0, 0, 1), (0, 0, 1)),
        (["None"], [ANNA], (0, 0, 1), (0, 1, 1)),
        (["None"], [], (0, 0, 0), (0, 1, 0)),
        (["X"], None, (0, 1, 0), (0, 1, 0)),
        ([], [person(None), person("None"), person(""), None], (0, 0, 0), (0, 0, 0)),
        # the authority file's blanks, which its names keep under published
        (["Blank, Eva"], [BLANK], (1, 0, 0), (1, 0, 0)),
        (["Frau Blank"], [BLANK], (1, 0, 0), (0, 1, 1)),
        (["E. Blank"], [BLANK], (1, 0, 0), (0, 1, 1)),
        # an empty alternate name
        ([""], [EMPTY], (0, 0, 1), (1, 0, 0)),
        ([None], [EMPTY], (0, 0, 1), (0, 0, 1)),
        ([""], [ANNA], (0, 0, 1), (0, 0, 1)),
        # the brackets of an inferred person in an answer
        (["<Frau Muster>"], [ANNA], (0, 1, 1), (1, 0, 0)),
        (["<<Frau Muster>>", "Frau Muster"], [ANNA], (1, 1, 0), (1, 0, 0)),
        (["<Frau Muster"], [ANNA], (0, 1, 1), (0, 1, 1)),
        (["<>", "<null>"], [ANNA], (0, 2, 1), (0, 0, 1)),
        # what is neither text nor number
        ([["Frau Muster"]], [ANNA], (0, 1, 1), (0, 1, 1)),
        ([{"n": "Frau Muster"}], [ANNA], (0, 1, 1), (0, 1, 1)),
        ([{"name": ["Frau Muster"]}], [ANNA], (0, 1, 1), (0, 1, 1)),
        # persons as objects
        ([{"name": "Frau Muster"}, {"name": "X"}], [ANNA], (1, 1, 0), (1, 1, 0)),
        ({"name": "Frau Muster"}, [ANNA], (1, 0, 0), (1, 0, 0)),
        ([ANNA], [ANNA], (1, 0, 0), (1, 0, 0)),
        ([BLANK], [BLANK], (1, 0, 0), (1, 0, 0)),
        ([{"name": None}, {"name": ""}], [ANNA], (0, 0, 1), (0, 0, 1)),
        ([person("X", inferred="function")], [ANNA], (0, 0, 1), (0, 0, 1)),
        ([person("Frau Muster", inferred="unknown")], [ANNA], (1, 0, 0), (1, 0, 0)),
        # a ground truth's persons as names, which have no alternate names
        (["Muster, Anna", "Frau Muster"], ["Muster, Anna"], (1, 1, 0), (1, 1, 0)),
        ([person("A")], "A | B", (1, 0, 1), (1, 0, 1)),
        ("A | B", ["A", {"name": "B"}], (2, 0, 0), (2, 0, 0)),
        (["A"], {"name": "A"}, (1, 0, 0), (1, 0, 0)),
        ("A", "null", (0, 1, 0), (0, 1, 0)),
        # inferred persons as the description writes them
        ("A | <B> | <<C>>", "A | <B> | <<C>>", (1, 0, 0), (1, 2, 0)),
        ("A | <<B>> | <C>", "A | <B> | <<C>>", (1, 2, 0), (1, 2, 0)),
        ("<A>", "A | <B>", (0, 1, 1), (1, 0, 0)),
        ("B", "A | <B>", (0, 1, 1), (0, 1, 1)),
        ([7, True, float("nan")], [ANNA], (0, 3, 1), (0, 3, 1)),
        (["\ud800", "X" * 10_000], [ANNA], (0, 2, 1), (0, 2, 1)),
    ],
)
def test_persons_by_hand(names, truth, documented, published):
    for position, category in ((1, "sender_persons"), (2, "receiver_persons")):
        assert counts({category: names}, {category: truth})[position] == documented
        assert counts({category: names}, {category: truth}, "published")[position] == published


GOLD = {
    "send_date": ["1926-02-16", "1926-02-17"],
    "sender_persons": [ANNA, person("B", "b", inferred="function")],
    "receiver_persons": [person("C", inferred="correspondence"), OTTO],
}
IN_THE_DESCRIPTION = {
    "send_date": "1926-02-16",
    "sender_persons": "Muster, Anna | <B>",
    "receiver_persons": "<<C>> | Vorbild, Otto",
}


@pytest.mark.parametrize("truth", [TRUTH, GOLD, IN_THE_DESCRIPTION], ids=range(3))
@pytest.mark.parametrize("inferred", [(), ("function",), ("function", "correspondence")])
def test_a_ground_truth_is_a_perfect_answer_to_itself(truth, inferred):
    options = {f"inferred_from_{source}": True for source in inferred}
    metric = LettersF1(**options)
    for answer in (truth, {"metadata": truth}, metric.right_answer(truth)):
        result = figures([(answer, truth)], **options)
        assert (result["f1_micro"], result["items_perfect"]) == (1.0, 1)
    changed = truth | {"sender_persons": ["X"]}
    assert figures([(changed, truth)], **options)["items_perfect"] == 0


def test_published_accepts_truth_objects_by_their_first_date():
    for answer in (GOLD, LettersF1("published").right_answer(GOLD)):
        result = figures([(answer, GOLD)], "published")
        assert (result["f1_micro"], result["items_perfect"]) == (1.0, 1)


LETTER = {
    "send_date": ["1926"],
    "sender_persons": [person("A"), person("B", "Herr B", inferred="function")],
    "receiver_persons": [person("C", inferred="correspondence")],
    "has_signatures": True,
}


@pytest.mark.parametrize(
    ("options", "senders", "receivers"),
    [
        ((), (1, 1, 0), (0, 1, 0)),
        (("inferred_from_function",), (2, 0, 0), (0, 1, 0)),
        (("inferred_from_correspondence",), (1, 1, 0), (1, 0, 0)),
        (("inferred_from_function", "inferred_from_correspondence"), (2, 0, 0), (1, 0, 0)),
    ],
)
def test_inferred_persons_count_only_with_their_option(options, senders, receivers):
    answer = {"send_date": "1926", "sender_persons": ["A", "Herr B"], "receiver_persons": ["C"]}
    options = dict.fromkeys(options, True)
    assert counts(answer, LETTER, **options) == [(1, 0, 0), senders, receivers]
    missed = counts(None, LETTER, **options)
    assert [fn for *_, fn in missed] == [1, senders[0], receivers[0]]
    perfect = figures([(answer, LETTER)], **options)["items_perfect"]
    assert perfect == (len(options) == 2)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("option", "kept"), [("skip_signatures", ["no"]), ("skip_non_signatures", ["yes"])]
)
def test_skipped_letters_are_not_among_the_items(protocol, option, kept):
    letters = {"yes": {"send_date": ["yes"], "has_signatures": True}}
    letters["no"] = {"send_date": ["no"], "has_signatures": False}
    pairs = [({"send_date": name}, truth) for name, truth in letters.items()]
    result = figures(pairs, protocol, **{option: True})
    assert result["items"] == result["answered"] == result["true_positives"] == 1
    assert [row["reference"] for row in result["per_item"][0]["fields"]] == kept
    assert f"|{option}:true|" in result["signature"]
    unanswered = figures([(None, truth) for truth in letters.values()], protocol, **{option: True})
    assert (unanswered["unanswered"], unanswered["false_negatives"]) == (1, 1)
    assert figures(pairs, protocol)["items"] == 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("answer", "documented"),
    [
        ({"metadata": RESPONSE}, True),
        ({"document_number": "1", "metadata": {**RESPONSE, "letter_title": None}}, True),
        ({"metadata": json.dumps(RESPONSE)}, True),
        ({"metadata": repr(RESPONSE)}, True),
        ({"metadata": repr(RESPONSE)[:-1] + r", 'x': '\d'}"}, True),
        ({"metadata": "no record"}, False),
        ({"metadata": json.dumps(json.dumps(RESPONSE))}, False),
        ({"metadata": [RESPONSE]}, False),
        ({"metadata": None}, False),
        ({}, False),
        ({"metadata": repr({**RESPONSE, "x": "." * 10_000})}, False),
    ],
)
def test_where_an_answer_s_values_are_found(answer, documented):
    found = [(1, 0, 0), (0, 1, 2), (1, 1, 0)] if documented else [(0, 0, 1), (0, 0, 2), (0, 0, 1)]
    for protocol in PROTOCOLS:
        assert counts(answer, TRUTH, protocol) == found


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"send_date":' * 100_000 + "1" + "}" * 100_000,
        "not " * 2_000 + "1",
        "1" + "+1" * 4_900,
        "a" + ".a" * 4_900,
        "9" * 9_000,
        "{[]: 1}",
        "{'a': __import__('os')}",
        "'\x00'",
        "\ud800",
        "x" * 10_000_000,
    ],
    ids=range(11),
)
def test_a_hostile_text_for_an_object_is_no_values(text):
    assert counts({"metadata": text}, TRUTH) == [(0, 0, 1), (0, 0, 2), (0, 0, 1)]


def test_an_answer_that_is_lost_costs_every_value_of_the_truth():
    for protocol in PROTOCOLS:
        for answer in (None, "prose", ["1926-02-16"], {"error": "timeout"}):
            assert counts(answer, TRUTH, protocol) == [(0, 0, 1), (0, 0, 2), (0, 0, 1)]
    answers = [RESPONSE, None, "prose", {"error": "timeout"}]
    result = figures([(answer, TRUTH) for answer in answers])
    coverage = [result[name] for name in ("items", "answered", "unanswered", "unparsable")]
    assert coverage == [4, 1, 1, 2]
    assert figures([(answer, TRUTH) for answer in answers], "published")["answered"] == 2


def test_a_letter_without_values_scores_nothing_but_is_perfect():
    empty = {"send_date": None}
    result = figures([({"send_date": ["null"]}, empty)])
    assert (result["f1_micro"], result["f1_macro"], result["items_perfect"]) == (0.0, 0.0, 1)
    assert result["per_item"][0]["f1"] == 0.0
    assert figures([(None, empty)])["items_perfect"] == 0
    assert figures([({}, empty)], "published")["false_negatives"] == 1  # the date
    assert figures([])["f1_micro"] == 0.0


def test_per_item_says_what_was_right_and_wrong():
    item = figures([({"metadata": RESPONSE}, TRUTH)])["per_item"][0]
    assert item["f1"] == 0.5
    rows = [(m["field"], m["outcome"], m["reference"], m["prediction"]) for m in item["fields"]]
    assert rows == [
        ("sender_persons", "spurious", None, "Basler Rheinschiffahrt-Aktiengesellschaft"),
        ("receiver_persons", "spurious", None, "i/Fa. Paravicini, Christ & Co."),
        ("sender_persons", "missing", "Groschupf-Jaeger, Louis", None),
        ("sender_persons", "missing", "Ritter-Dreier, Fritz", None),
        ("send_date", "correct", "1926-02-16", "1926-02-16"),
        ("receiver_persons", "correct", "Christ-Wackernagel, Paul", "Herr Christ"),
    ]
    assert [match["similarity"] for match in item["fields"]] == [0.0] * 4 + [1.0] * 2


def test_f1_by_surname_stands_beside():
    answer = {
        "send_date": ["1926-02-16"],
        "sender_persons": ["L. GROSCHUPF", "Herr Direktor Ritter", "Ritter & Co.", "Dr. Killer"],
        "receiver_persons": ["Paul Wackernagel"],
    }
    result = figures([(answer, TRUTH)])
    # Exactly: only the date, 1/5/3. By surname also both senders: 3/3/1.
    assert result["f1_micro"] == pytest.approx(2 / (2 + 5 + 3))
    assert result["f1_surname"] == pytest.approx(6 / (6 + 3 + 1))
    assert result["false_positives_organisations"] == 1
    # A name that is already found does not make an error of another one of the same surname.
    twice = {**answer, "sender_persons": ["Herr Ritter", "F. Ritter", "Groschupf"]}
    assert figures([(twice, TRUTH)])["f1_surname"] == pytest.approx(6 / (6 + 1 + 1))


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ({"sender_persons": [7]}, "sender_persons: 7 is not a person"),
        ({"receiver_persons": [["X"]]}, "receiver_persons: ['X'] is not a person"),
        ({"foo": 1}, "none of the fields send_date, sender_persons, receiver_persons"),
        ({}, "none of the fields send_date, sender_persons, receiver_persons"),
        ({"sender_persons": [person("A", inferred="guess")]}, "is not a person"),
        ({"sender_persons": [{"name": 7}]}, "must have a name and a list of names"),
        ({"sender_persons": [{"name": "A", "alternateName": "B"}]}, "must have a name and a list"),
    ],
)
def test_a_truth_that_is_none_is_refused(truth, message):
    for protocol in PROTOCOLS:
        with pytest.raises(HdbenchError) as error:
            LettersF1(protocol).prepare(truth)
        assert message in str(error.value)


def test_a_name_in_brackets_is_that_of_all_who_have_it():
    muster = {"name": "Muster, B.", "alternateName": ["D"], "inferred": "function"}
    truth = {"send_date": [], "sender_persons": [muster, "D"], "receiver_persons": []}
    metric = LettersF1(inferred_from_function=True)
    for answered in ("D", "<D>"):
        counts = metric.score({"sender_persons": [answered]}, metric.prepare(truth)).statistics
        assert [counts[f"sender_persons.{name}"] for name in COUNTS] == [2, 0, 0]
