import json
import math

import pytest
from helpers.results import in_detail

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import score_items
from hdbench.scoring.sciencemeta_accuracy import SciencemetaAccuracy, sequence_ratio

OF_A_FIELD = ("similarity", "both_empty")
PAPER = ["doi", "title", "author", "keyword", "abstract", "pub_time"]
BOOK = ["isbn", "title", "author", "abstract", "category", "pub_time", "publisher"]


def figures(pairs, protocol="documented", **options):
    metric = SciencemetaAccuracy(protocol, **options)
    candidates = [
        (Answer(answer, id=str(position)), metric.prepare(truth))
        for position, (answer, truth) in enumerate(pairs)
    ]
    result = in_detail(score_items(metric, candidates, details=True))
    json.dumps(result, allow_nan=False)
    return result


@pytest.mark.parametrize(
    ("truth", "answer", "similarity"),
    [
        # empty
        ("", "", 1.0),
        (None, "", 1.0),
        (None, None, 1.0),
        ("x", "", 0.0),
        ("x", None, 0.0),
        ("", "x", 0.0),
        (None, 0, 0.0),
        # equal, and equal in lower case
        ("Growth", "Growth", 1.0),
        ("GROWTH", "growth", 1.0),
        ("İ", "i̇", 1.0),
        ("Straße", "STRASSE", 10 / 13),  # in lower case "straße", "strasse": "stra" and "e" match
        # other values by their text
        (2021, "2021", 1.0),
        ("2021", 2021.0, 8 / 10),
        (True, "true", 1.0),
        (["a"], "a", 2 / 6),
        (math.nan, math.nan, 1.0),
        (math.nan, math.inf, 2 / 6),
        ({}, "", 0.0),
        # white space counts
        ("a", "a ", 2 / 3),
        (" ", "", 0.0),
        # difflib's ratio: twice the matching characters, in the order of its longest blocks
        ("abcd", "bcde", 6 / 8),
        ("2020", "2021", 6 / 8),
        ("ab", "cd", 0.0),
        ("海底管道", "海底管线道", 8 / 9),
        # the order of the arguments is part of the rule; both are in difflib's documentation
        ("tide", "diet", 2 * 1 / 8),
        ("diet", "tide", 2 * 2 / 8),
        # a lone surrogate, which JSON can hold, is a character
        ("\ud800a", "\ud801a", 2 / 4),
        ("\ud800", "\ud800", 1.0),
    ],
)
def test_each_rule_by_hand(truth, answer, similarity):
    similarity = round(similarity, 3)
    result = figures([({"title": answer}, {"kind": "paper", "title": truth})])
    assert result["field_accuracy"] == dict.fromkeys(PAPER, 1.0) | {"title": similarity}
    assert result["overall_accuracy"] == pytest.approx((5 + similarity) / 6)
    by_name = {match["field"]: match["similarity"] for match in result["per_item"][0]["fields"]}
    assert by_name["title"] == similarity


def test_frequent_characters_begin_no_match_in_long_answers():
    # All that 200 letters a hold is frequent, and the texts begin differently: nothing matches.
    assert sequence_ratio("b" + "a" * 199, "a" * 200) == 0.0
    assert sequence_ratio("b" + "a" * 199, "a" * 199) == 2 * 199 / 399
    assert sequence_ratio("b" + "a" * 199, "a" * 200, autojunk=False) == 2 * 199 / 400
    # A match that begins elsewhere is lengthened by them: c, and the letters a on both sides.
    assert sequence_ratio("b" + "a" * 99 + "c" + "a" * 99, "a" * 99 + "c" + "a" * 100) == (
        2 * 199 / 400
    )
    # Of equal matches the first in the truth is taken, though another would go on for longer.
    answer = "e" * 150 + "x" + "e" * 49
    assert sequence_ratio(answer + "zx", answer) == 2 * 200 / 402
    assert sequence_ratio("xz" + answer, answer) == 2 * 1 / 402
    # It is the answer whose frequent characters are left out, not the truth.
    assert sequence_ratio("a" * 250, "b" + "a" * 100) == 2 * 100 / 351


def test_character_above_one_in_a_hundred_is_frequent():
    # More than difflib's 1 + length // 100: four of 200 are frequent, four of 300 are not.
    others = "".join(map(chr, range(0x4E00, 0x4E00 + 296)))
    assert sequence_ratio("-xxxx", others[:196] + "xxxx") == 0.0
    assert sequence_ratio("-xxxx", others + "xxxx") == 2 * 4 / 305


def test_accuracy_averages_records_then_fields_then_kinds():
    pairs = [
        ({"title": "ab"}, {"kind": "paper", "title": "ab"}),
        ({"title": "ab", "doi": "1"}, {"kind": "paper", "title": "cd"}),
        ({"title": "2020"}, {"kind": "textbook", "title": "2021"}),
    ]
    result = figures(pairs)
    paper = dict.fromkeys(PAPER, 1.0) | {"title": 0.5, "doi": 0.5}
    textbook = dict.fromkeys(BOOK, 1.0) | {"title": 0.75}
    assert result["kinds"] == {
        "paper": {
            "overall_accuracy": pytest.approx(5 / 6),
            "field_accuracy": paper,
            "items": 2,
        },
        "textbook": {
            "overall_accuracy": pytest.approx(6.75 / 7),
            "field_accuracy": textbook,
            "items": 1,
        },
    }
    # The mean of the kinds, though one has twice as many records as the other.
    assert result["overall_accuracy"] == pytest.approx((5 / 6 + 6.75 / 7) / 2)
    # A field's mean is over all records whose kind has it.
    assert result["field_accuracy"] == {**textbook, **paper, "title": pytest.approx(1.75 / 3)}
    assert result["fields"]["title"] == {
        "accuracy": pytest.approx(1.75 / 3),
        "both_empty": 0,
        "items": 3,
    }
    assert result["fields"]["isbn"] == {"accuracy": 1.0, "both_empty": 1, "items": 1}
    assert [item["accuracy"] for item in result["per_item"]] == [
        1.0,
        pytest.approx(4 / 6),
        pytest.approx(6.75 / 7),
    ]


@pytest.mark.parametrize(
    ("truth", "kind"),
    [
        ({"kind": "paper", "keyword": None}, "paper"),
        ({"kind": "textbook", "doi": "x", "isbn": ""}, "textbook"),
        ({"kind": "ebook", "title": None}, "ebook"),
        ({"kind": "book", "publisher": None}, "book"),
        ({"doi": ""}, "paper"),
        ({"keyword": None, "isbn": "x"}, "paper"),
        ({"kind": None, "doi": "x"}, "paper"),
        ({"isbn": "x"}, "book"),
        ({"title": None}, "book"),
    ],
)
def test_the_kind_says_which_fields_there_are(truth, kind):
    result = figures([({}, truth)])
    assert list(result["kinds"]) == [kind]
    assert list(result["field_accuracy"]) == (PAPER if kind == "paper" else BOOK)


@pytest.mark.parametrize(
    ("truth", "fields"),
    [
        ({"foo": 1}, BOOK),
        ({}, BOOK),
        ({"kind": "paper", "sha256": "aa"}, PAPER),
        ({"kind": "ebook", "doi": "x"}, BOOK),
    ],
)
def test_a_truth_without_the_fields_of_its_kind_is_refused(truth, fields):
    with pytest.raises(HdbenchError) as error:
        figures([({"title": "x"}, {"title": "x"}), ({}, truth)])
    assert str(error.value) == (
        f"not a ground truth for sciencemeta_accuracy: none of the fields {', '.join(fields)}"
    )


def test_pairs_that_are_both_empty_are_counted_apart():
    pairs = [
        ({"title": "2020", "doi": None}, {"kind": "paper", "title": "2021", "doi": ""}),
        ({"title": "", "doi": "x"}, {"kind": "paper", "title": "", "doi": "x"}),
        ({"isbn": "1"}, {"kind": "ebook", "isbn": None}),
    ]
    result = figures(pairs)
    assert result["both_empty"] == 5 + 5 + 6
    assert result["field_both_empty"] == dict.fromkeys({*PAPER, *BOOK}, 2) | {
        **dict.fromkeys(["author", "abstract", "pub_time"], 3),
        **dict.fromkeys(["category", "publisher"], 1),
        "doi": 1,
        "isbn": 0,
    }
    # Fields of which nothing is left have no accuracy; the papers' overall is of title and doi.
    assert result["field_accuracy_without_both_empty"] == {"doi": 1.0, "title": 0.75, "isbn": 0.0}
    assert result["overall_accuracy_without_both_empty"] == ((1.0 + 0.75) / 2 + 0.0) / 2


def test_coverage_counts_every_record_and_lost_ones_are_wrong():
    truth = {"kind": "paper", "title": "x"}
    answers = [{"title": "x"}, None, "prose", ["x"], {"error": "timeout"}]
    result = figures([(answer, truth) for answer in answers])
    coverage = [result[name] for name in ("items", "answered", "unanswered", "unparsable")]
    assert coverage == [5, 1, 1, 3]
    assert result["field_accuracy"] == dict.fromkeys(PAPER, 1 / 5)
    assert result["both_empty"] == 5  # those of the answered record
    assert result["items_perfect"] == 1
    lost = result["per_item"][1]["fields"]
    assert {(match["outcome"], match["similarity"]) for match in lost} == {("missing", 0.0)}


@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_each_similarity_is_rounded_before_any_mean(protocol):
    # 2 · 2 / 6 = 0.667 twice and 2 · 1 / 3 = 0.667 once.
    pairs = [({"title": "abd"}, {"kind": "paper", "title": "abc"})] * 2
    pairs.append(({"title": "a"}, {"kind": "paper", "title": "a "}))
    published = figures(pairs, protocol, no_autojunk=True, normalize_text=True)
    assert published["field_accuracy"]["title"] == pytest.approx(0.667, abs=1e-12)
    assert published["overall_accuracy"] == pytest.approx(5.667 / 6, abs=1e-12)
    assert published["field_accuracy_no_autojunk"]["title"] == pytest.approx(0.667, abs=1e-12)
    assert published["field_accuracy_normalized"]["title"] == pytest.approx(2.334 / 3, abs=1e-12)
    assert published["per_item"][0]["fields"][1]["similarity"] == 0.667


def test_published_takes_an_error_for_a_record():
    # Only an error: no answer, or a record without fields.
    error = ({"error": "timeout"}, {"kind": "paper", "title": "x"})
    assert figures([error])["overall_accuracy"] == 0.0
    assert figures([error], "published")["overall_accuracy"] == pytest.approx(5 / 6)


def test_a_record_is_perfect_only_if_no_letter_needs_an_edit():
    truth = {"kind": "paper", "title": "Growth", "pub_time": "1917", "doi": None}
    as_asked = {"title": "Growth", "pub_time": 1917, "doi": "", "note": "x"}
    for answer, perfect in (
        (as_asked, 1),
        ({**as_asked, "title": "GROWTH"}, 0),
        ({**as_asked, "title": "Growth "}, 0),
        ({**as_asked, "doi": "x"}, 0),
        ({}, 0),
        (None, 0),
    ):
        assert figures([(answer, truth)])["items_perfect"] == perfect
    assert figures([(None, {"kind": "paper", "title": None})])["items_perfect"] == 0


def test_an_answer_for_another_file_is_refused():
    truth = {"kind": "paper", "sha256": "aa", "title": "x"}
    for sha256 in ("aa", "", None):
        assert figures([({"sha256": sha256, "title": "x"}, truth)])["items_perfect"] == 1
    assert figures([({"sha256": "bb"}, {"kind": "paper", "title": None})])["items_perfect"] == 1
    with pytest.raises(HdbenchError, match="the answer is for sha256 'bb', the reference for 'aa'"):
        figures([({"sha256": "bb", "title": "x"}, truth)])


def test_per_item_says_what_was_right_and_wrong():
    truth = {"kind": "textbook", "isbn": "1", "title": "2021", "author": None, "publisher": "A"}
    answer = {"isbn": "", "title": "2020", "author": "N.", "publisher": "a"}
    item = figures([(answer, truth)])["per_item"][0]
    assert [
        (match["field"], match["outcome"], match["reference"], match["prediction"])
        for match in item["fields"]
    ] == [
        ("isbn", "missing", "1", ""),
        ("title", "substituted", "2021", "2020"),
        ("author", "spurious", None, "N."),
        ("abstract", "correct", None, None),
        ("category", "correct", None, None),
        ("pub_time", "correct", None, None),
        ("publisher", "correct", "A", "a"),
    ]
    assert item["accuracy"] == pytest.approx(4.75 / 7)
    assert item["textbook.title.similarity"] == 0.75
    # Its statistics are those of its kind alone.
    figures_of_fields = {f"textbook.{field}.{name}" for field in BOOK for name in OF_A_FIELD}
    assert {name for name in item if "." in name} == figures_of_fields | {"textbook.items"}
    assert figures_of_fields < set(SciencemetaAccuracy.statistics)


@pytest.mark.parametrize(
    ("field", "truth", "answer", "same"),
    [
        ("doi", "10.1000/ABC", "https://doi.org/10.1000/abc", True),
        ("doi", "10.1000/abc", "doi: 10.1000/abc.", True),
        ("doi", "DOI 10.1000/abc", "http://dx.doi.org/10.1000 /abc", True),
        ("doi", "10.1000/abc", "10.1000/abd", False),
        ("doi", "10.1000/abc", "", False),
        ("doi", "none", "", False),
        ("doi", "", None, True),
        ("isbn", "978-3-16-148410-0", "9783161484100", True),
        # ISBN-13 of 3-16-148410-X: 978316148410 and the check digit 0
        ("isbn", "ISBN 3-16-148410-X", "ISBN-13: 978-3-16-148410-0", True),
        ("isbn", "3-16-148410-1", "9783161484100", False),  # its check digit is wrong
        ("isbn", "9783031099540,9783031099557", "978-3031099557; 978-3031099540", True),
        ("isbn", "9783031099540,9783031099557", "9783031099540", False),
        ("isbn", "无", "none", False),
        ("isbn", "978", "", False),
        ("pub_time", "2021", "2021-05-01", True),
        ("pub_time", "２０２１年5月", 2021, True),
        ("pub_time", "May 2021", "2020", False),
        ("pub_time", "20210501", "2021", False),
        ("pub_time", "o. J.", "O.  J.", True),
    ],
)
def test_canonical_identifiers_are_right_or_wrong(field, truth, answer, same):
    kind = "ebook" if field == "isbn" else "paper"
    result = figures(
        [({field: answer, "title": "2020"}, {"kind": kind, field: truth, "title": "2021"})],
        canonical_identifiers=True,
    )
    size = len(PAPER if kind == "paper" else BOOK)
    assert result["field_accuracy_canonical"][field] == same
    assert result["field_accuracy_canonical"]["title"] == 0.75
    assert result["overall_accuracy_canonical"] == pytest.approx((size - 1.25 + same) / size)


def test_authors_and_keywords_as_sets():
    pairs = [
        (
            {"author": "wang wei;Li  Na", "keyword": ["flow", "dam"]},
            {"kind": "paper", "author": "Li Na, Wang Wei\n", "keyword": "dam、pipe、sand"},
        ),
        ({"author": "Li Na, X"}, {"kind": "ebook", "author": "Li Na|Y|Z"}),
        (None, {"kind": "ebook", "author": "A,B"}),
        ({"author": ""}, {"kind": "ebook", "author": ", "}),
    ]
    result = figures(pairs, sets=True)
    # author: 2 right; 1 right, 1 invented, 2 missed; 2 missed.
    assert result["precision_author"] == 3 / 4
    assert result["recall_author"] == 3 / 7
    assert result["f1_author"] == 6 / 11
    # A list is taken by its text, "['flow', 'dam']": neither of its two names is a keyword.
    assert result["precision_keyword"] == result["recall_keyword"] == result["f1_keyword"] == 0.0
    assert "f1_keyword" not in figures(pairs[1:], sets=True)
    assert (result["per_item"][0]["keyword.false_negatives"]) == 3


def test_options_add_figures_and_never_change_the_others():
    pairs = [({"title": "Ａ b", "doi": "doi:1"}, {"kind": "paper", "title": "a b", "doi": "1"})]
    names = ("no_autojunk", "normalize_text", "canonical_identifiers", "sets")
    plain = figures(pairs)
    for name in names:
        result = figures(pairs, **{name: True})
        assert f"|{name}:true|" in result["signature"]
        assert f"|{name}:false|" in plain["signature"]
        changed = {key for key in plain if result[key] != plain[key]}
        assert changed <= {"signature", "per_item"}
        assert len(result) > len(plain)


def test_texts_too_long_to_compare_are_counted_and_score_nothing(monkeypatch):
    monkeypatch.setattr("hdbench.scoring.sciencemeta_accuracy.MAX_CHARACTER_PAIRS", 10**6)

    def of(truth, answer):
        result = figures([({"title": answer}, {"kind": "paper", "title": truth})])
        return result["field_accuracy"]["title"], result["too_long"]

    # 1,000 by 1,000 characters are compared: 999 letters in front agree.
    assert of("a" * 999 + "b", "a" * 1_000) == (0.999, 0)
    assert of("a" * 1_000 + "b", "a" * 1_000) == (0.0, 1)
    assert of("A" * 2**17, "a" * 2**17) == (1.0, 0)
    assert of("a" * 2**17, "b" * 2**17) == (0.0, 1)
    assert of("abc", "a" * 2**17) == (0.0, 0)  # 2 / (3 + 2**17)
    assert of("ab", "cd") == (0.0, 0)
    assert of("a" * 2**22, "") == (0.0, 0)


def test_a_value_that_is_nested_too_deep_is_refused():
    nested = []
    for _ in range(200):
        nested = [nested]
    with pytest.raises(HdbenchError, match="nested more than 100 deep"):
        figures([({"title": nested}, {"kind": "paper", "title": None})])
