"""Record F1, rule by rule: what is expected was derived by hand from the rules."""

import math
import random

import pytest
from helpers.records import shuffled
from helpers.work import growth

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric
from hdbench.scoring.record_f1 import RecordF1

COUNTS = ("true_positives", "false_positives", "false_negatives")
RECORDS = ("records_found", "records_missed", "records_invented")


def scored(answer, truth, **options):
    metric = RecordF1(**options)
    return metric.score(answer, metric.prepare(truth)).statistics


def counts(answer, truth, **options):
    """True positives, false positives, false negatives, and the similarity."""
    found = scored(answer, truth, **options)
    return *(found[name] for name in COUNTS), round(found["similarity"], 4)


def records(answer, truth, **options):
    """Records found, missed and invented."""
    return tuple(scored(answer, truth, **options)[name] for name in RECORDS)


def outcomes(answer, truth, **options):
    metric = RecordF1(**options)
    prepared = metric.prepare(truth)
    matches = metric.explain(metric.score(answer, prepared))
    return {match.field: match.outcome for match in matches}


def figures(pairs, protocol="documented", **options):
    metric = make_metric("record_f1", protocol, **options)
    candidates = ((Answer(a, id=str(n)), metric.prepare(t)) for n, (a, t) in enumerate(pairs))
    return score_items(metric, candidates).figures


COMPANIES = {"entries": [{"name": "Abegg"}, {"name": "Boreux"}, {"name": "Cailler"}]}


@pytest.mark.parametrize(
    ("lists", "expected"),
    [("aligned", (2, 0, 1, 2 / 3)), ("ordered", (2, 0, 1, 2 / 3)), ("position", (0, 2, 3, None))],
)
def test_omitted_entry_shifts_the_others_only_by_position(lists, expected):
    answer = {"entries": COMPANIES["entries"][1:]}
    *found, similarity = counts(answer, COMPANIES, lists=lists)
    assert found == list(expected[:3])
    if expected[3]:
        assert similarity == round(expected[3], 4)


def test_another_order_is_an_error_where_order_counts():
    answer = {"entries": COMPANIES["entries"][::-1]}
    assert counts(answer, COMPANIES) == (3, 0, 0, 1.0)
    assert counts(answer, COMPANIES, lists="ordered")[:3] == (1, 2, 2)
    assert counts(answer, COMPANIES, lists="position")[:3] == (1, 2, 2)  # the one in the middle
    assert counts({"e": ["b", "a"]}, {"e": ["a", "b"]}, lists="ordered")[:3] == (1, 1, 1)


@pytest.mark.parametrize("hidden", [{"z": None}, {"z": ""}, [], {}, [None]])
def test_no_field_of_the_truth_is_left_out_behind_a_container(hidden):
    truth = {"title": "Zettel", "name": "Abegg"}
    assert counts({"title": hidden, "name": "Abegg"}, truth) == (1, 0, 1, 0.5)


def test_content_of_a_container_in_place_of_a_value_is_invented():
    assert counts({"title": {"z": "x"}}, {"title": "Zettel"})[:3] == (0, 1, 1)
    assert counts({"title": "Zettel"}, {"title": {"z": "Zettel"}})[:3] == (0, 1, 1)
    assert counts({"a": {"z": "x", "y": "", "w": None}, "b": "x"}, {"a": "", "b": "x"}) == (
        *(1, 1, 0),
        1.0,
    )
    assert counts({"a": "x"}, {"a": []}) == (0, 1, 0, 1.0)
    assert records({"e": ["a", "b"]}, {"e": "x"}) == (0, 0, 2)


# Fields


def test_two_values_match_from_the_threshold_on():
    # One of twelve characters is missing on one side: 1 - 1 / 23. Of six: 1 - 1 / 11.
    assert counts({"a": "Abegg & Cie"}, {"a": "Abegg & Cie."}) == (1, 0, 0, round(22 / 23, 4))
    assert counts({"a": "Abbegg"}, {"a": "Abegg"}) == (0, 1, 1, round(10 / 11, 4))
    assert counts({"a": "Abbegg"}, {"a": "Abegg"}, threshold=0.9)[:3] == (1, 0, 0)
    of_one = {"b": 0.9}
    assert counts({"a": "Abbegg", "b": "Abbegg"}, {"a": "Abegg", "b": "Abegg"}, threshold=of_one)[
        :3
    ] == (1, 1, 1)


def test_empty_string_matches_only_an_empty_string():
    assert counts({"a": ""}, {"a": ""}) == (1, 0, 0, 1.0)
    assert counts({}, {"a": "", "b": "x"}) == (0, 0, 1, 0.0)
    assert counts({"a": ""}, {"a": None, "b": "x"}) == (0, 0, 1, 0.0)
    assert counts({"a": "x"}, {"a": ""}) == (0, 1, 1, 0.0)


def test_every_field_that_is_not_blank_is_missed_without_answer():
    truth = {"a": "", "b": "x", "c": None}
    assert counts(None, truth) == (0, 0, 2, 0.0)
    assert counts(None, truth, unanswered="empty_object") == (0, 0, 1, 0.0)
    assert counts(None, truth, blank=[None, ""]) == (0, 0, 1, 0.0)
    assert records(None, {"e": ["a", None, ""]}) == (0, 2, 0)


def test_truth_without_fields_is_matched_by_an_empty_answer_only():
    empty, none = scored({}, {"a": None}), scored(None, {"a": None})
    assert [empty[name] for name in ("similarity", "f1", "perfect")] == [1.0, 0.0, 1]
    assert [none[name] for name in ("similarity", "f1", "perfect")] == [0.0, 0.0, 0]


def test_blank_values_are_absent_before_texts_are_normalized():
    blank = [None, "null"]
    assert counts({"a": "null"}, {"a": None}, blank=blank) == (0, 0, 0, 1.0)
    assert counts({"a": "x"}, {"a": "null"}, blank=blank)[:3] == (0, 1, 0)
    assert counts({"a": "NULL"}, {"a": None}, blank=blank, normalize=["lowercase"])[:3] == (0, 1, 0)
    assert counts({"a": None}, {"a": None}, blank=["null"]) == (1, 0, 0, 1.0)


def test_normalization_is_in_order_and_only_for_texts():
    # "x" and "x", or "x" and "x ".
    assert counts({"a": "x!"}, {"a": "x ."}, normalize=["punctuation", "whitespace"])[0] == 1
    assert counts({"a": "x!"}, {"a": "x ."}, normalize=["whitespace", "punctuation"])[0] == 0
    assert counts({"a": "5"}, {"a": -5}, normalize=["punctuation"], compare="exact")[0] == 0
    # Case folding takes a letter apart, and what is compared is in canonical form again.
    assert counts({"a": "Αΐ"}, {"a": "Οΐ"}, normalize=["casefold"]) == (0, 1, 1, 0.5)


# Comparisons


@pytest.mark.parametrize(
    ("compare", "read", "truth", "similarity"),
    [
        ("exact", "1947", 1947, 1),
        ("exact", 1.0, 1, 0),
        ("exact", 1, True, 0),
        ("exact", "true", True, 1),  # as JSON writes it
        ("exact", "True", True, 0),
        ("exact", "Abbegg", "Abegg", 0),
        ("similarity", 1, True, 1),  # they are equal in Python
        ("cer", "ab", "abcd", 0.5),
        ("cer", "abcd", "ab", 0),
        ("cer", "abXd", "abcd", 0.75),
        ("cer", "", "abcd", 0),
        ("number", "1200", 1200, 1),
        ("number", "1,200", 1200, 1),
        ("number", "1200.0", 1200, 1),
        ("number", "-5", -5, 1),
        ("number", "−5", -5, 1),
        ("number", "1'200", 1200, 0),
        ("number", "12,00", 1200, 0),
        ("number", True, 1, 0),
        ("number", "n. a.", "n. a.", 1),
        ("number", 10**400, 10**400 + 1, 0),
        ("number", "9" * 400, "8" * 400, 0),
        ("number", "0.1", 0.1, 1),
        ({"number": {"locale": "de-CH"}}, "1'200", 1200, 1),
        ({"number": {"locale": "de_CH"}}, "1’200.5", 1200.5, 1),
        ({"number": {"locale": "de-CH"}}, "1'20", 120, 0),
        ({"number": {"locale": "de"}}, "1.200,5", 1200.5, 1),
        ({"number": {"locale": "de"}}, "1,200", 1200, 0),
        ({"number": {"locale": "fr"}}, "1\u202f200,5", 1200.5, 1),
        ("date", "1947-03-02", 1947, 1),
        ("date", "1947-03-02", "1947-03", 1),
        ("date", "1947", "1947-03", 0),
        ("date", "1947-02-30", "1947-02", 0),
        ("date", "spring", "spring", 1),
        ({"date": {"formats": ["%d.%m.%Y", "%m/%Y"]}}, "2.3.1947", "1947-03-02", 1),
        ({"date": {"formats": ["%d.%m.%Y", "%m/%Y"]}}, "03/1947", "1947-03", 1),
        ({"date": {"formats": ["%d.%m.%Y", "%m/%Y"]}}, "1947", "2.3.1947", 0),
        ("boolean", "true", True, 1),
        ("boolean", "False", False, 1),
        ("boolean", 1, True, 0),
        ("boolean", "ja", True, 0),
        ({"boolean": {"true": ["ja"], "false": ["nein"]}}, " Ja ", True, 1),
        ({"boolean": {True: ["ja"], False: ["nein"]}}, "nein", "false", 1),  # as YAML reads it
        ({"boolean": {"true": ["ja"], "false": ["nein"]}}, "nein", True, 0),
    ],
)
def test_ways_to_compare(compare, read, truth, similarity):
    expected = (1, 0, 0) if similarity == 1 else (0, 1, 1)
    assert counts({"a": read}, {"a": truth}, compare=compare) == (*expected, similarity)
    assert counts({"b": read}, {"b": truth}, compare={"b": compare})[3] == similarity
    entries = {"e": [{"b": read}]}, {"e": [{"b": truth}]}
    if similarity >= 0.5:
        assert counts(*entries, compare={"e[].b": compare}) == (*expected, similarity)
    else:  # they are no pair
        assert counts(*entries, compare={"e[].b": compare})[3] == 0


# Patterns


@pytest.mark.parametrize(
    ("patterns", "loose"),
    [
        ({"*": 0.9}, True),
        ({"entries": 0.9}, True),
        ({"entries[]": 0.9}, True),
        ({"entries[].author": 0.9}, True),
        ({"entries[].*.family": 0.9}, True),
        ({"*[].author.family": 0.9}, True),
        ({"*.author": 0.9}, False),  # `*` is a key, not an item
        ({"entries.author": 0.9}, False),
        ({"entries[].auth": 0.9}, False),
        ({"*[].author.family": 1, "entries": 0.9}, True),  # a literal before `*`
        ({"entries[].*.family": 1, "entries[].author": 0.9}, True),
        ({"entries[]": 1, "entries[].author": 0.9}, True),  # the longer one
        ({"entries[].author": 1, "entries[].*.family": 0.9}, False),
        ({"*": 1, "entries[].author.family": 0.9}, True),
    ],
)
def test_the_most_specific_path_counts(patterns, loose):
    answer = {"entries": [{"author": {"family": "Abbegg"}}]}
    truth = {"entries": [{"author": {"family": "Abegg"}}]}
    assert counts(answer, truth, threshold=patterns)[0] == int(loose)


def test_a_list_s_path_is_the_list_and_its_items_are_another():
    truth = {"e": [["a", "b"], ["c", "d"]]}
    answer = {"e": [["d", "c"], ["b", "a"]]}
    found = [
        counts(answer, truth, lists=lists)[0]
        for lists in (
            "aligned",
            {"e[]": "position"},
            {"e": "position"},
            {"e": "position", "e[]": "aligned"},
        )
    ]
    assert found == [4, 0, 0, 0]
    swapped = {"e": [["c", "d"], ["a", "b"]]}
    assert counts(swapped, truth, lists={"e[]": "position"})[0] == 4


def test_what_is_ignored_neither_counts_nor_pairs():
    truth = {"entries": [{"id": "1", "name": "Abegg"}, {"id": "2", "name": "Boreux"}], "page": 7}
    answer = {"entries": [{"id": "2", "name": "Abegg"}, {"id": "1", "name": "Boreux"}]}
    assert counts(answer, truth)[0] == 2
    options = {"ignore": ["entries[].id", "page"]}
    assert counts(answer, truth, **options) == (2, 0, 0, 1.0)
    assert counts({**answer, "page": {"x": 1}}, truth, **options) == (2, 0, 0, 1.0)


def test_weights_multiply_counts_and_nothing_else():
    answer, truth = {"a": "x", "b": "y"}, {"a": "x", "b": "z"}
    assert counts(answer, truth, weights={"a": 3, "b": 0.5}) == (3, 0.5, 0.5, 0.5)
    assert not scored({"a": "x"}, {"a": "y"}, weights={"a": 0})["perfect"]
    page, read = {"e": [{"a": "x", "b": "y"}]}, {"e": [{"a": "-", "b": "y"}, {"a": "x", "b": "-"}]}
    paired = outcomes(read, page)
    assert outcomes(read, page, weights={"e[].a": 100, "e[].b": 0}) == paired
    assert records(read, page, weights={"e": 5}) == (1, 0, 1)


DOTTED = {"name.first": "Anna", "a[0]": {"n": "x"}, "e": [{"b.c": "y"}]}


@pytest.mark.parametrize(
    ("options", "path", "key"),
    [
        ({"compare": {"name.first": "exact"}}, "compare: name.first", "'name.first'"),
        ({"threshold": {"a[]": 0.5}}, "threshold: a[]", "'a[0]'"),
        ({"normalize": {"a[].n": ["nfc"]}}, "normalize: a[].n", "'n' in 'a[0]'"),
        ({"lists": {"e[].*.c": "ordered"}}, "lists: e[].*.c", "'b.c' in '[]' in 'e'"),
        ({"ignore": ["e[].b.c"]}, "ignore: e[].b.c", "'b.c' in '[]' in 'e'"),
        ({"weights": {"name": 0.5}}, "weights: name", "'name.first'"),
        ({"weights": {"*.n": 2}}, "weights: *.n", "'n' in 'a[0]'"),
    ],
)
def test_a_path_that_cannot_name_a_key_of_a_truth_is_told(options, path, key):
    with pytest.raises(HdbenchError) as error:
        RecordF1(**options).prepare(DOTTED)
    assert str(error.value) == (
        f"{path}: a ground truth has the key {key}, and a path is read at every dot and bracket, "
        "so it cannot name a key that has one: rename the key"
    )


def test_no_answer_changes_how_others_are_compared():
    metric = RecordF1(compare={"author.name": "exact"})
    truth, near = {"author": {"name": "Abegg & Cie."}}, {"author": {"name": "Abegg & Cie"}}
    same = {"substituted": ["author.name"]}
    apart = {"missing": ["author.name"], "spurious": ["author.name"]}  # another field, with a dot
    dotted = {"author.name": "Abegg & Cie"}
    for answer, outcomes in ((near, same), (dotted, apart), (near, same)):
        found = metric.score(answer, metric.prepare(truth)).fields
        assert {outcome: paths for outcome, paths in found.items() if paths} == outcomes


def test_a_key_with_a_dot_is_not_the_nested_one_in_either_order():
    truth = {"a": {"b": "Basel"}}
    for answer in ({"a": {"b": "zzz"}, "a.b": "Basel"}, {"a.b": "Basel", "a": {"b": "zzz"}}):
        assert counts(answer, truth) == (0, 2, 1, 0.0)
    assert counts({"e": [{"": "Basel"}]}, {"e": ["Basel"]})[:3] == (0, 1, 1)
    assert counts({"": "Basel"}, {"": "Basel"}) == (1, 0, 0, 1.0)


def test_a_field_is_shown_by_its_keys_as_they_are():
    truth, answer = {"Nr.": "1", "e": [{"b.c": "Abegg", "n": "x"}]}, {"e": [{"b.c": "", "n": "x"}]}
    metric = RecordF1()
    prepared = metric.prepare(truth)
    score = metric.score(answer, prepared)
    assert score.fields["missing"] == ["Nr."]
    assert score.fields["substituted"] == ["e[0].b.c"]
    shown = {match.field: match.reference for match in metric.explain(score)}
    assert shown == {"Nr.": "1", "e[0].b.c": "Abegg", "e[0].n": "x"}


# Pairing


def test_a_match_goes_before_any_similarity():
    truth = {"e": [{"a": "x", "b": "abcdefghij"}]}
    answer = {"e": [{"a": "y", "b": "abcdefghxy"}, {"a": "x", "b": "-"}]}
    assert counts(answer, truth)[0] == 1
    assert outcomes(answer, truth)["e[0].a"] == "correct"


def test_pair_needs_half_a_similarity_per_field_or_a_match():
    assert records({"e": ["abxy"]}, {"e": ["abcd"]}) == (1, 0, 0)  # 4 of 8 characters
    assert counts({"e": ["abxy"]}, {"e": ["abcd"]}) == (0, 1, 1, 0.5)
    assert records({"e": ["axyz"]}, {"e": ["abcd"]}) == (0, 1, 1)
    assert counts({"e": ["axyz"]}, {"e": ["abcd"]}) == (0, 1, 1, 0.0)
    assert records({"e": [{"a": "abxy"}]}, {"e": [{"a": "abcd", "b": "x"}]}) == (0, 1, 1)
    assert records({"e": [{"a": "abxy"}]}, {"e": [{"a": "abcd", "b": ""}]}) == (1, 0, 0)


def test_of_equal_sums_the_one_with_fewer_pairs_is_taken():
    # 0.8 + 0.8 in one pair, or 0.5 + 0.5 and 0.6 in two.
    truth = {"e": [{"a": "abcde", "b": "abcde"}, {"a": "qqcdx"}]}
    answer = {"e": [{"a": "abcdx", "b": "abcdx"}, {"a": "abz", "b": "abz"}]}
    assert records(answer, truth) == (1, 1, 1)
    assert counts(answer, truth) == (0, 4, 3, round(1.6 / 3, 4))


def test_ties_do_not_depend_on_the_order_of_the_items():
    truth = {"e": [{"name": "A", "note": ""}]}
    one, other = {"name": "A", "note": "x"}, {"name": "A"}
    assert counts({"e": [one, other]}, truth) == counts({"e": [other, one]}, truth)
    # Only what is not scored tells these apart.
    page = {"e": [{"n": "A", "id": "1"}, {"n": "A", "id": "2"}]}
    for weights in ({}, {"e[].n": 3}):
        for answer in (page["e"], page["e"][::-1]):
            found = counts({"e": answer}, page, ignore=["e[].id"], weights=weights or 1)
            assert found == (2 * (3 if weights else 1), 0, 0, 1.0)


# Figures


def test_figures_of_several_items():
    pairs = [({"a": "x", "b": 1}, {"a": "x", "b": 2}), (None, {"a": ["x"]})]
    found = figures(pairs)
    assert [found[name] for name in COUNTS] == [1, 1, 2]
    assert found["f1_micro"] == 2 / 5
    assert found["f1_macro"] == (1 / 2 + 0) / 2
    assert found["precision_micro"] == 1 / 2
    assert found["recall_micro"] == 1 / 3
    assert found["similarity"] == (1 / 2 + 0) / 2
    assert (found["f1_records"], found["records_missed"]) == (0.0, 1)
    assert (found["items"], found["unanswered"], found["items_perfect"]) == (2, 1, 0)
    assert figures(pairs[:1])["f1_records"] is None


def test_a_perfect_item_has_every_value_exactly_right():
    long = "Die hüftnahen Femurosteotomien"
    near = scored({"a": long + "."}, {"a": long})
    assert (near["true_positives"], near["perfect"]) == (1, 0)
    assert scored({"a": "X"}, {"a": "x"}, normalize=["lowercase"])["perfect"] == 1


def test_rounding_and_other_names():
    pair = ({"a": "x"}, {"a": "x", "b": "z", "c": "u"})
    names = {"total": {"of": "true_positives"}, "percent": {"of": "recall_micro", "scale": 100}}
    found = figures([pair] * 3, round={"item": 1, "run": 2}, figures=names)
    assert (found["f1_macro"], found["similarity"]) == (0.5, 0.3)
    assert (found["recall_micro"], found["percent"], found["total"]) == (0.33, 33.0, 3)
    assert figures([pair], figures={"lists": {"of": "f1_records", "scale": 2}})["lists"] is None
    tenth = ({"a": "x"}, dict.fromkeys("abcdefghij", "x"))
    assert figures([tenth] * 10)["similarity"] == 0.1
    plain = figures([tenth] * 10, sum="plain")["similarity"]
    assert plain == (0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1) / 10 != 0.1


def test_answer_that_is_only_an_error_is_none_under_documented():
    pair = ({"error": "timeout"}, {"a": "x"})
    assert figures([pair])["unparsable"] == 1
    published = figures([pair], protocol="published")
    assert [published[name] for name in ("answered", *COUNTS)] == [1, 0, 1, 1]


def test_a_bare_list_is_the_list_that_an_option_names():
    pair = ([{"x": "A"}], {"entries": [{"x": "A"}]})
    assert figures([pair])["unparsable"] == 1
    found = figures([pair], root_list="entries")
    assert (found["f1_micro"], found["answered"]) == (1.0, 1)
    assert figures([pair], root_list="other")["f1_micro"] == 0.0


# Options for published rules

BY_PATH = {"lists": "position", "leaves": "truth", "absent": "compare", "blank": [None, ""]}


def test_only_the_truth_s_fields_and_two_absent_ones_are_alike():
    assert counts({"b": "y"}, {"a": None, "b": "x"}, **BY_PATH) == (1, 1, 1, 0.5)
    assert counts({"z": "y"}, {"a": ""}, **BY_PATH) == (1, 0, 0, 1.0)
    assert counts({}, {"a": "x"}, **BY_PATH) == (0, 0, 1, 0.0)
    assert counts({"a": "x"}, {"a": None}, **BY_PATH) == (0, 1, 0, 0.0)


# Errors

WRONG = {
    "lists": ["set", {"a": "set"}, {"a..b": "aligned"}, {1: "aligned"}],
    "compare": [
        *("same", {"a": 3}, {"number": {"locale": "xx"}}, {"a": {"date": {"formats": "%Y"}}}),
        *({"date": {"formats": ["%Q"]}}, {"date": {"formats": ["%d.%m."]}}),
        *({"boolean": {"true": "ja"}}, {"a": {"boolean": {"yes": []}}}),
    ],
    "threshold": [2, {"a": -1}, True, math.nan],
    "normalize": ["nfc", {"a": ["hyphenation"]}, [{"remove": "-"}]],
    "blank": ["null", [{}]],
    "ignore": ["a", [{}], ["a[0]"], ["a", "a"]],
    "weights": [{"a": -1}, {"a": 10**400}, 1e9],
    "root_list": [["a"]],
    "leaves": ["all", "truth"],  # the second needs lists: position
    "dotted_keys": [None],
    "unanswered": ["zero"],
    "round": [{"text": 2}, {"item": True}],
    "sum": ["fast"],
    "figures": [["f1"], {"a": {"scale": 1}}, {"a": {"of": "f"}}, {"a": {"of": "f1", "scale": -1}}],
}


@pytest.mark.parametrize("option", WRONG)
def test_a_value_that_an_option_does_not_take_is_told_in_a_line(option):
    for value in WRONG[option]:
        with pytest.raises(HdbenchError, match=rf"^{option}\b[^\n]*$"):
            make_metric("record_f1", **{option: value})


# Hostile input


def nested(depth, leaf, wrap=lambda value: [value]):
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


TWENTY = {"e": [{"n": f"Abegg {n}", "p": "Basel"} for n in range(20)]}


def with_invented(number):
    return {"e": [{"n": f"Boreux {n}", "p": "Genf"} for n in range(number)] + TWENTY["e"]}


@pytest.mark.nightly
def test_ten_thousand_invented_entries():
    truth, answer = TWENTY, with_invented(10_000)
    assert counts(answer, truth) == (40, 20_000, 0, 1.0)
    assert records(answer, truth, lists="ordered") == (20, 0, 10_000)


@pytest.mark.nightly
@pytest.mark.parametrize("lists", ["aligned", "ordered"])
def test_twice_as_many_invented_entries_are_twice_the_work(lists):
    assert growth(lambda number: scored(with_invented(number), TWENTY, lists=lists), 5_000) < 2.2


def test_lists_nested_fifty_deep():
    assert counts({"e": nested(50, "x")}, {"e": nested(50, "x")}) == (1, 0, 0, 1.0)
    assert counts({"e": nested(49, "x")}, {"e": nested(50, "x")})[:3] == (0, 1, 1)
    deep = nested(50, {"n": "x"}, lambda value: {"e": [value, {"n": "y"}]})
    assert counts(deep, shuffled(deep, 1)) == (51, 0, 0, 1.0)


ODD = [
    "text",
    None,
    7,
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    True,
    "",
    [],
    {},
    [[]],
    ["x"],
    {"": {"": ""}},
    {"n": math.nan},
    {"n": ["x", None]},
    "\ud800",
    {"a.b[0]": {"[]": "*"}},
]


@pytest.mark.parametrize(
    "options",
    [
        *({"lists": lists} for lists in ("aligned", "ordered", "position")),
        *({"compare": compare} for compare in ("exact", "number", "date", "boolean", "cer")),
        {**BY_PATH, "parents": "drop", "dotted_keys": "split"},
    ],
    ids=str,
)
def test_entries_of_any_kind_give_finite_figures(options):
    order = random.Random(0)
    metric = RecordF1(**options)
    for _ in range(6):
        truth = {"e": order.sample(ODD, 5), "f": order.choice(ODD), "n": math.nan}
        answer = {"e": order.choice([*ODD, order.sample(ODD, 6)]), "f": order.choice(ODD)}
        for one, other in ((answer, truth), (truth, truth), (truth, {}), (None, truth)):
            found = figures([(one, other)], **options)
            for rate in metric.figures:
                value = found[rate.name]
                assert value is None or math.isfinite(value)
                assert not rate.is_rate or value is None or 0 <= value <= 1
        if options.get("leaves") != "truth":
            right = counts(truth, truth, **options)
            assert right[1:3] == (0, 0)
