import json
import math

import pytest
from helpers.results import in_detail

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric
from hdbench.scoring.avisblatt_cer import AvisblattCer

# The worked example of the benchmark's description.
VIOLIN = (
    "5. Eine zimblich wohl-conditionirte Violino di Gamba, so im Adresse-Contor kan gesehen werden."
)
READ = VIOLIN.replace("zimblich", "zimlich")

SALE = "Es werden zum Verkauff offerirt"
NEWS = "Allerhand Nachrichten"


def ad(text, section=SALE, date="1731-01-02", **more):
    return {"date": date, "tags_section": section, "text": text} | more


def page(*ads, **more):
    return {"advertisements": list(ads)} | more


def figures(pairs, protocol="documented", **options):
    metric = AvisblattCer(protocol, **options)
    candidates = [
        (Answer(answer, id=str(position)), metric.prepare(truth))
        for position, (answer, truth) in enumerate(pairs)
    ]
    return in_detail(score_items(metric, candidates, details=True))


def scores(answer, truth, protocol="documented", **options):
    """Fuzzy and CER of one page."""
    result = figures([(answer, truth)], protocol, **options)
    return result["fuzzy"], result["cer"]


def counts(answer, truth):
    result = figures([(answer, truth)])
    names = ("true_positives", "false_positives", "false_negatives")
    return tuple(result[name] for name in names)


def test_the_description_s_example():
    # 94 characters, one of them left out: Indel distance 1 of 94 + 93, Levenshtein distance 1.
    fuzzy, cer = scores(page(ad(READ)), page(ad(VIOLIN)))
    assert fuzzy == pytest.approx(1 - 1 / 187)
    assert cer == 1 / 94
    assert (round(fuzzy, 2), round(cer, 2)) == (0.99, 0.01)
    assert scores(page(ad(READ)), page(ad(VIOLIN)), "published") == (0.99, 0.011)
    assert scores(page(ad(VIOLIN)), page(ad(VIOLIN))) == (1.0, 0.0)


# Each case is (answer, truth, documented, published): fuzzy and CER; texts are right or absent, so
# that they say which ads were paired.
@pytest.mark.parametrize(
    ("answer", "truth", "documented", "published"),
    [
        # sections: the same name; 1 - 1 / 63 and 1 - 2 / 64 are similar enough; 1 - 4 / 66 is not
        ([ad("1. a", f" {SALE} ")], [ad("1. a")], 1, 1),
        ([ad("1. a", f"{SALE}:")], [ad("1. a")], 1, 1),
        ([ad("1. a", f"{SALE} :")], [ad("1. a")], 1, 1),
        ([ad("1. a", f"{SALE} etc")], [ad("1. a")], 0, 0),
        # exactly 0.95: 1 - 2 / 40
        ([ad("1. a", "a" * 19 + "b")], [ad("1. a", "a" * 20)], 1, 1),
        ([ad("1. a", "a" * 18 + "b")], [ad("1. a", "a" * 19)], 0, 0),
        # the most similar one; published: the first that is similar enough
        ([ad("1. b", f"{SALE} :"), ad("1. a", f"{SALE}:")], [ad("1. a")], 1, 0.75),
        # a section of the same name whose ads are all dropped counts as absent under published
        ([ad("a"), ad("1. a", f"{SALE}:")], [ad("1. a")], 0, 1),
        # the same name comes before a similar one, whatever their order
        (
            [ad("1. a")],
            [ad("1. b", f"{SALE}:"), ad("1. a")],
            0.5,
            round((0.75 + 1) / 2, 2),  # used twice under published
        ),
        # no section: one that is like no other; dropped under published
        ([ad("1. a", None)], [ad("1. a", "")], 1, 0),
        ([ad("1. a", None)], [ad("1. a")], 0, 0),
        ([ad("1. a", 7)], [ad("1. a", None)], 1, 0),
        # numbers: an integer before the first full stop
        ([ad(" 01. a")], [ad("1. a")], 1 - 2 / 10, 0.8),
        ([ad("2. a")], [ad("1. a")], 0, 0),
        ([ad("1) a")], [ad("1. a")], 0, 0),
        ([ad("1 . a")], [ad("1. a")], 0, 0),
        ([ad("0. a")], [ad("0. a")], 1, 0),
        ([ad("9" * 4301 + ". a")], [ad("9" * 4301 + ". a")], 1, 0),
        # ads without a number pair with each other only; dropped under published
        ([ad("a"), ad("1. b")], [ad("a"), ad("1. b")], 1, 1),
        ([ad("a")], [ad("1. a")], 0, 0),
        ([ad("b"), ad("a")], [ad("a"), ad("b")], 1, 0),
        # ads that share a number: the greatest total; published: the later one on each side
        ([ad("1. b"), ad("1. a")], [ad("1. a"), ad("1. b")], 1, 0.75),
        ([ad("1. a"), ad("1. a")], [ad("1. a"), ad("1. a")], 1, 1),
        ([ad("1. a")], [ad("1. a"), ad("1. a")], 0.5, 1),
        # used once each; 1 + 8 / 11 is more than 12 / 14 + 6 / 11, in the order of the page
        ([ad("1. abcd"), ad("1. x")], [ad("1. abcx"), ad("1. abcd")], (1 + 8 / 11) / 2, 0.55),
    ],
)
def test_each_rule_of_pairing_by_hand(answer, truth, documented, published):
    assert scores(page(*answer), page(*truth))[0] == pytest.approx(documented)
    assert scores(page(*answer), page(*truth), "published")[0] == pytest.approx(published)


@pytest.mark.parametrize(
    ("answer", "truth", "documented", "published"),
    [
        # in the section itself
        ([ad("1. a", NEWS)], [ad("1. a", NEWS)], 1, 1),
        # ads without a section
        ([ad("1. a", None)], [ad("1. a", NEWS)], 1, 1),
        ([ad("1. a", " ")], [ad("1. a", NEWS)], 1, 1),
        # then that number anywhere on the page
        ([ad("1. a", SALE)], [ad("1. a", NEWS)], 1, 1),
        ([ad("1. a", SALE)], [ad("2. a", NEWS)], 0, 0),
        ([ad("1. a", SALE), ad("1. b", None)], [ad("1. a", NEWS)], 0.75, 0.75),
        # of those anywhere the most similar one; published: the first
        ([ad("1. b", SALE), ad("1. a", "x")], [ad("1. a", NEWS)], 1, 0.75),
        # what other sections need is not taken from them; published: they are not scored
        ([ad("1. b", SALE)], [ad("1. a", NEWS), ad("1. b", SALE)], 0.5, 0.75),
        # ads without a number are not paired across sections
        ([ad("a", None)], [ad("a", NEWS)], 0, 0),
        # published puts truth ads without a section there too
        ([ad("1. a", NEWS)], [ad("1. a", None)], 0, 1),
        # the truth does not have that section
        ([ad("1. a", None)], [ad("1. a", SALE)], 0, 0),
        ([ad("1. a", SALE)], [ad("1. a", SALE)], 1, 1),
    ],
)
def test_a_section_that_continues_from_the_page_before(answer, truth, documented, published):
    truth = page(*truth, continued_section=NEWS)
    assert scores(page(*answer), truth)[0] == pytest.approx(documented)
    assert scores(page(*answer), truth, "published")[0] == pytest.approx(published)


@pytest.mark.parametrize(
    ("found", "reference", "documented", "published"),
    [
        ("1. a", "1. b", 1 / 4, 0.25),
        ("1. abcdefghij", "1. a", 1, 1),  # distance 9 of 4
        # case and white space count only under documented
        ("1. A", "1. a", 1 / 4, 0),
        ("1. a  b", "1. a b", 1 / 6, 0),
        ("1. a\nb", "1. a b", 1 / 6, 0),
        ("1. a ", "1. a", 1 / 4, 0.25),  # folded to one, not stripped
        ("1.  B", "1. a", 2 / 4, 0.25),
        # lengths are in code points
        ("1. e\u0301", "1. é", 0.0, 0.5),  # documented: canonically equal
        ("1. 𝔄", "1. 𝔅", 1 / 4, 0.25),
    ],
)
def test_the_cer_of_one_ad_by_hand(found, reference, documented, published):
    assert scores(page(ad(found)), page(ad(reference)))[1] == documented
    assert scores(page(ad(found)), page(ad(reference)), "published")[1] == published


def test_an_empty_truth_text():
    empty = page(ad("", None))
    assert scores(page(ad("", None)), empty) == (1.0, 0.0)
    assert scores(page(ad("a", None)), empty) == (0.0, 1.0)
    assert scores(page(ad("", SALE)), page(ad("a", SALE))) == (0.0, 1.0)


def test_of_equally_similar_ads_the_one_of_lower_cer_is_taken():
    # Both are 1 - 4 / 14 alike; the halves of "cdab" have moved (4 edits), "xy" is replaced (2).
    truth = page(ad("1. abcd"))
    moved, replaced = ad("1. cdab"), ad("1. abxy")
    for answer in (page(moved, replaced), page(replaced, moved)):
        fuzzy, cer = scores(answer, truth)
        assert fuzzy == pytest.approx(1 - 4 / 14)
        assert cer == 2 / 7


def test_of_equal_ads_the_first_on_the_page_is_taken():
    first, second = ad("1. a", date="1731-01-02"), ad("1. a", date="1731-01-09")
    truth = page(ad("1. a"))
    assert figures([(page(first, second), truth)])["date_accuracy"] == 1.0
    assert figures([(page(second, first), truth)])["date_accuracy"] == 0.0
    both = page(ad("1. a"), ad("1. a", date="1731-01-09"))
    assert figures([(page(first, second, first), both)])["date_accuracy"] == 1.0
    unlike = ad("1. b", date="1731-01-09")
    assert figures([(page(first, unlike), both)])["date_accuracy"] == 1.0


# Two pages: three ads read without an error, and one of four letters with one that is wrong.
THREE = page(ad("1. aaa"), ad("2. bbb"), ad("3. ccc"))
ONE = page(ad("1. a"))
WRONG = page(ad("1. b"))


def test_documented_is_the_mean_over_ads_and_not_rounded():
    result = figures([(THREE, THREE), (WRONG, ONE)])
    assert result["fuzzy"] == result["fuzzy_ads"] == (3 + 0.75) / 4
    assert result["cer"] == result["cer_ads"] == 0.25 / 4
    assert result["fuzzy_pages"] == (1 + 0.75) / 2
    assert result["cer_pages"] == 0.25 / 2


def test_published_is_the_mean_over_pages():
    result = figures([(THREE, THREE), (WRONG, ONE), (None, ONE)], "published")
    assert result["fuzzy"] == round((1 + 0.75 + 0) / 3, 3) == 0.583
    assert result["cer"] == round((0 + 0.25 + 1) / 3, 3) == 0.417
    assert result["fuzzy_pages"] == 1.75 / 3
    assert result["fuzzy_ads"] == 3.75 / 5
    assert result["cer_ads"] == 1.25 / 5


def test_published_rounds_each_ad_and_then_each_page():
    # 1 - 2 / 14 = 0.857142…, rounded 0.857; the mean of it and 1.0 is 0.9285, the page's 0.93.
    answer = page(ad("1. aaab"), ad("2. bbb"))
    truth = page(ad("1. aaaa"), ad("2. bbb"))
    item = figures([(answer, truth)], "published")["per_item"][0]
    assert item["fuzzy_sum"] == 1.857
    assert item["fuzzy"] == 0.93
    # 1 / 7 is not rounded, but the page's mean of it and 0.0 is: 0.0714…
    assert item["cer_sum"] == 1 / 7
    assert item["cer"] == 0.071


def test_by_text_alone_sections_and_numbers_do_not_matter():
    truth = page(ad("1. abc"), ad("2. xyz", NEWS))
    answer = page(ad("7. xyz", "Neues"), ad("abc", None), ad("invented", None))
    for protocol in ("documented", "published"):
        result = figures([(answer, truth)], protocol)
        assert (result["fuzzy"], result["cer"]) == (0.0, 1.0)
        # "abc" for "1. abc": 3 of 9 letters, and 3 edits of 6; "7. xyz" for "2. xyz": 1 of 6.
        fuzzy = (6 / 9 + 10 / 12) / 2 if protocol == "documented" else (0.667 + 0.833) / 2
        assert result["fuzzy_text"] == pytest.approx(fuzzy)
        assert result["cer_text"] == pytest.approx((3 / 6 + 1 / 6) / 2)


def test_ads_found_missed_and_invented():
    truth = page(ad("1. a"), ad("2. b"), ad("3. c"))
    answer = page(ad("1. a"), ad("2. x"), ad("9. y"), "no ad", None)
    for protocol in ("documented", "published"):
        result = figures([(answer, truth)], protocol)
        names = ("true_positives", "false_positives", "false_negatives")
        assert [result[name] for name in names] == [2, 3, 1]
        assert result["precision_micro"] == 2 / 5
        assert result["recall_micro"] == 2 / 3
        assert result["f1_micro"] == pytest.approx(4 / 8)


def test_sections_and_dates_are_of_all_truth_ads():
    truth = page(ad("1. a"), ad("2. a"), ad("3. a"), ad("4. a", NEWS))
    answer = page(
        ad("1. a"), ad("2. a", date="1731-01-09"), ad("3. a", date=None), ad("4. a", f"{NEWS} :")
    )
    result = figures([(answer, truth)])
    assert result["section_accuracy"] == 3 / 4
    assert result["section_accuracy_loose"] == 4 / 4
    assert result["date_accuracy"] == 2 / 4
    fewer = figures([(page(ad("1. a")), truth)])
    assert fewer["section_accuracy"] == fewer["date_accuracy"] == 1 / 4


def test_the_model_s_own_count_against_white_space_tokens():
    truth = page(ad("1. a b c"))

    def error(*given):
        ads = [ad("1. a b c", ntokens=count) for count in given]
        return figures([(page(*ads), truth)])["ntokens_error"]

    assert error(4) == 0.0
    assert error(5, 3) == 1 / 4
    assert error(4, 2) == (0 + 2 / 4) / 2
    assert error(400) == error(-1) == error(1e308) == error(10**400) == 1.0  # at most
    # Nothing to compare: no figure, not a perfect one.
    assert error(None) is error("4") is error(True) is error(math.nan) is error(math.inf) is None
    assert error(None, 5) == 1 / 4
    assert figures([(page(ad("", ntokens=0)), truth)])["ntokens_error"] == 0.0
    assert figures([(page(ad("", ntokens=1)), truth)])["ntokens_error"] == 1.0


@pytest.mark.parametrize(
    "change",
    [{"text": "1. b"}, {"text": "1. A"}, {"tags_section": f"{SALE}:"}, {"date": "1731-01-09"}],
)
def test_a_page_is_perfect_only_if_nothing_needs_an_edit(change):
    truth = page(ad("1. a"), ad("b"))
    assert figures([(truth, truth)])["items_perfect"] == 1
    assert figures([(page(ad("b"), ad("1. a", ntokens=9)), truth)])["items_perfect"] == 1
    for answer in (page(ad("1. a") | change, ad("b")), page(ad("b")), page(*[ad("b")] * 3), None):
        assert figures([(answer, truth)])["items_perfect"] == 0


@pytest.mark.parametrize(
    ("name", "found", "reference"),
    [
        ("NFC", "1. e\u0301", "1. é"),
        ("NFKC", "1. ﬁ", "1. fi"),
        ("edition", "1. Haus, schön/ groſs", "1. Haus, schön, gross"),
        ("case", "1. WEIN", "1. wein"),
        ("whitespace", " 1. ein\n  Wein ", "1. ein Wein"),
    ],
)
def test_normalizing_texts_and_headings(name, found, reference):
    for protocol in ("documented", "published"):
        for answer, truth in ((found, reference), (reference, found)):
            pair = page(ad(answer, answer)), page(ad(truth, truth))
            is_equal = (name, protocol) == ("NFC", "documented")  # canonically
            assert figures([pair], protocol)["items_perfect"] == is_equal
            assert figures([pair], protocol, normalize="none")["items_perfect"] == is_equal
            assert figures([pair], protocol, normalize=name)["items_perfect"] == 1
    assert AvisblattCer(normalize=name).options == {"normalize": name}


WEIRD = [
    None, 5, "1. a", [], {}, {"text": None}, {"text": ["1. a"]}, {"text": 12.5}, {"text": math.nan},
    ad("\ud800"), ad("1. \udfff", "\ud800"), ad("1. a", ["x"], {"y": 1}), ad("1. a", date=1731),
    ad("1. a", date=math.nan, ntokens=math.nan), ad("9" * 5000 + "."), ad("٣. a"), ad("\0"),
]  # fmt: skip


@pytest.mark.parametrize("protocol", ["documented", "published"])
@pytest.mark.parametrize("normalize", ["none", ["NFKC", "edition", "case", "whitespace"]])
def test_weird_values_have_a_score(protocol, normalize):
    pages = [
        page(*WEIRD),
        page(*WEIRD, continued_section=5),
        page(ad("1. a")),
        page(),
        page() | {"advertisements": None},
    ]
    answers = [*pages, None, {"advertisements": None}, {"advertisements": "x"}, {"error": "x"}]
    answers += [page(entry) for entry in WEIRD]
    for truth in pages:
        for answer in answers:
            result = figures([(answer, truth)], protocol, normalize=normalize)
            json.dumps(result, allow_nan=False)
            for name, value in result.items():
                if isinstance(value, float):
                    assert 0 <= value <= 1, name


@pytest.mark.parametrize(
    ("truth", "told"),
    [
        ({"foo": 1}, "none of the fields advertisements"),
        ({}, "none of the fields advertisements"),
        ({"foo": []}, "none of the fields advertisements"),
        ({"image_1": [ad("1. a")], "image_2": [ad("1. a")]}, "none of the fields advertisements"),
        ({"image_1": [ad("1. a"), "x"]}, "none of the fields advertisements"),
        ({"advertisements": ad("1. a")}, "advertisements is not a list"),
        ({"advertisements": [{"foo": 1}]}, "none of the fields text in advertisements"),
        ({"advertisements": ["1. a"]}, "none of the fields text in advertisements"),
    ],
)
@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_a_truth_without_advertisements_is_refused(truth, told, protocol):
    with pytest.raises(HdbenchError) as error:
        make_metric("avisblatt_cer", protocol).prepare(truth)
    assert str(error.value) == f"not a ground truth for avisblatt_cer: {told}"


def test_a_page_may_have_the_form_of_the_description():
    ads = [ad("1. a"), ad("2. b")]
    whole, by_key = page(*ads, continued_section="x"), {"[key_id]": ads, "continued_section": "x"}
    for truth in (whole, by_key):
        result = figures([(by_key, truth), ({"image_1": ads[:1]}, truth)])
        assert (result["fuzzy"], result["items_perfect"]) == (0.75, 1)
        # The published results were computed without the ads of such an answer.
        result = figures([(whole, truth), (by_key, truth)], "published")
        assert (result["fuzzy"], result["true_positives"]) == (0.5, 2)
    metric = make_metric("avisblatt_cer")
    assert metric.right_answer(by_key) == page(*ads)
    assert metric.right_answer(whole) == whole
    for other in ({"a": ads, "b": ads}, {"a": ["1. a"]}, {"a": ads[0]}, {"a": [*ads, None]}):
        assert figures([(other, whole)])["fuzzy"] == 0.0


NOTHING = [
    None, {}, "prose", {"advertisements": None}, {"advertisements": {"1": ad("1. a")}}, page(),
    page("1. a"), page(None), page(1), page(ad(["1. a"])),
]  # fmt: skip


@pytest.mark.parametrize("protocol", ["documented", "published"])
@pytest.mark.parametrize("answer", NOTHING)
def test_an_answer_without_an_ad_is_a_complete_failure(answer, protocol):
    result = figures([(answer, page(ad("1. a"), ad("2. b")))], protocol)
    for name, value in result.items():
        if name.startswith(("fuzzy", "ad_")) or name.endswith("accuracy"):
            assert value == 0.0
        if name.startswith("cer"):
            assert value == 1.0
    assert result["false_negatives"] == 2


def test_a_page_whose_truth_has_no_ads():
    for answer in (None, page(), page(ad("1. a"))):
        assert scores(answer, page(), "published") == (0.0, 1.0)
        assert scores(answer, page()) == (0.0, 1.0)  # no ads, no means
    items = figures([(page(), page()), (page(ad("1. a")), page()), (None, page())])["per_item"]
    assert [(item["fuzzy"], item["cer"]) for item in items] == [(1, 0), (0, 1), (0, 1)]
    assert [item["perfect"] for item in items] == [1, 0, 0]
    # It counts as a page, and adds no ads.
    result = figures([(page(), page()), (WRONG, ONE)])
    assert (result["fuzzy"], result["fuzzy_pages"]) == (0.75, (1 + 0.75) / 2)


@pytest.mark.nightly
def test_ten_thousand_ads_on_a_page():
    many = page(*(ad(f"{number}. ein Stück Wein") for number in range(10_000)))
    unlike = page(*(ad(f"ein Stück Wein {number}") for number in range(10_000)))
    result = figures([(many, many)])
    assert (result["fuzzy"], result["fuzzy_text"], result["items_perfect"]) == (1.0, 1.0, 1)
    few = page(ad("5. ein Stück Wein"), ad("7. ein Stück Brot"))
    result = figures([(many, few)])
    assert result["fuzzy"] == pytest.approx((1 + (1 - 8 / 34)) / 2)
    assert (result["true_positives"], result["false_positives"]) == (2, 9_998)
    assert figures([(many, unlike)])["true_positives"] == 0
    assert figures([(unlike, page(*unlike["advertisements"][::-1]))])["fuzzy"] == 1.0
    others = page(*(ad(f"zwei Fass Bier {number}") for number in range(10_000)))
    assert figures([(others, unlike)])["true_positives"] == 10_000


def test_explaining_says_what_became_of_each_ad():
    truth = page(ad("1. a"), ad("2. b"), ad("3. c"))
    answer = page(5, ad("2. x"), ad("1. a"), ad("9. y"))
    rows = figures([(answer, truth)])["per_item"][0]["fields"]
    assert [tuple(row.values()) for row in rows] == [
        ("advertisements[0]", "spurious", None, 5, 0.0),
        ("advertisements[3]", "spurious", None, "9. y", 0.0),
        ("advertisements[2]", "missing", "3. c", None, 0.0),
        ("advertisements[1]", "substituted", "2. b", "2. x", 0.75),
        ("advertisements[0]", "correct", "1. a", "1. a", 1.0),
    ]
