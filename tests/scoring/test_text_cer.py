"""Text CER, rule by rule: what is expected was derived by hand from the rules."""

import math
from xml.parsers import expat

import pytest

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric
from hdbench.scoring.text_cer import TextCer

PAGES = {"pages[].text": "always"}
FOLIOS = {"f[].folio": "present", "f[].text": "always", "f[].addition1": "until_absent"}


def result_of(pairs, protocol="documented", **options):
    metric = make_metric("text_cer", protocol, **options)
    candidates = ((Answer(a, id=str(n)), metric.prepare(t)) for n, (a, t) in enumerate(pairs))
    return score_items(metric, candidates, details=True)


def figures(*pairs, **options):
    return result_of(pairs, **options).figures


def text_figures(answer, truth, **options):
    return figures(({"text": answer}, {"text": truth}), **options)


def cer(answer, truth, **options):
    return text_figures(answer, truth, **options)["cer"]


def pages(*texts):
    return {"pages": [{"text": text} for text in texts]}


@pytest.mark.parametrize(
    ("answer", "truth", "cer_is", "wer_is"),
    [
        ("Rother Wein", "Rother Wein", 0, 0),
        ("Roter Wein", "Rother Wein", 1 / 11, 1 / 2),
        ("kitten", "sitting", 3 / 7, 1),
        ("Wein Rother", "Rother Wein", None, 1),
        ("Rother  Wein\n", "Rother Wein", 2 / 11, 0),  # words are what stands between white space
        ("", "Rother Wein", 1, 1),
        ("Wein Wein Wein", "Wein", 10 / 4, 2),  # micro is not bounded
    ],
)
def test_one_text(answer, truth, cer_is, wer_is):
    found = text_figures(answer, truth)
    assert cer_is is None or found["cer"] == cer_is
    assert found["wer"] == wer_is
    assert found["cer_macro"] == found["cer_items"] == min(1, found["cer"])
    assert found["wer_macro"] == found["wer_items"] == min(1, wer_is)


def test_micro_counts_characters_macro_texts_and_items_items():
    one = (pages("ax", "abcdefgh"), pages("ab", "abcdefgh"))  # 1 of 2 and 0 of 8
    other = (pages("abcx"), pages("abcd"))  # 1 of 4
    found = figures(one, other, texts=PAGES)
    assert found["cer"] == 2 / 14
    assert found["cer_macro"] == pytest.approx((1 / 2 + 0 + 1 / 4) / 3)
    assert found["cer_items"] == (1 / 4 + 1 / 4) / 2
    assert found["similarity"] == ((1 / 2 + 1) / 2 + 6 / 8) / 2
    assert (found["texts"], found["texts_perfect"], found["items_perfect"]) == (3, 1, 0)


def test_items_with_a_rate_of_one_or_more_are_failures_and_the_others_have_a_rate_of_their_own():
    ordinary = (pages("ax", "abcdefgh"), pages("ab", "abcdefgh"))  # 1 of 10
    longer = (pages("abcd"), pages("abcdef"))  # 2 of 6
    endless = (pages("abcd" * 50, "ab"), pages("abcd", "ab"))  # 196 of 6
    exact = (pages("xyz"), pages("abc"))  # 3 of 3
    missing = (None, pages("abcd"))
    found = figures(ordinary, longer, endless, exact, missing, texts=PAGES)
    assert found["cer"] == (1 + 2 + 196 + 3 + 4) / (10 + 6 + 6 + 3 + 4)
    assert found["failure_share"] == 3 / 5
    assert found["cer_without_failures"] == (1 + 2) / (10 + 6)
    assert figures(missing, texts=PAGES)["cer_without_failures"] is None


def test_an_item_without_text_is_a_failure_only_with_errors():
    empty = ({"text": ""}, {"text": ""})
    found = figures(empty, ({"text": "a"}, {"text": ""}), ({"text": "abcd"}, {"text": "abcd"}))
    assert (found["cer_without_failures"], found["failure_share"]) == (0, 1 / 3)


def test_watched_characters_are_kept_in_their_place_lost_or_added():
    answer = "Das wax das Jahr æ, iſt"
    truth = "Daſz war daſ Jahr, iſt"
    found = figures(({"text": answer}, {"text": truth}), watch="ſæꝛ-ꝝ")
    assert found["watch_kept"] == 1 / 3
    assert found["watch_added"] == 1000 * 1 / len(truth)
    none = figures(({"text": "ſ"}, {"text": "s"}), watch="ſ")
    assert (none["watch_kept"], none["watch_added"]) == (None, 1000)
    assert "watch_kept" not in figures(({"text": "ſ"}, {"text": "s"})) or none["watch_kept"] is None


@pytest.mark.parametrize("empty", [None, "", " \n", [], {}, ["abcd"]])
def test_what_is_no_text_is_an_empty_one(empty):
    found = figures(({"text": empty}, {"text": "abcd"}), ({"text": "abcd"}, {"text": empty}))
    assert (found["cer"], found["cer_macro"], found["similarity"]) == (8 / 4, 1, 0)
    assert found["characters_invented"] == 4
    both = figures(({"text": empty}, {"text": ""}), ({"text": "a"}, {"text": "a"}))
    assert (both["cer_macro"], both["similarity"], both["texts_perfect"]) == (0, 1, 2)


def test_without_an_answer_every_text_is_missed():
    truth = {"text": "abcd ef"}
    for options in ({}, {"unanswered": "empty_object"}):
        found = figures((None, truth), **options)
        assert (found["cer"], found["wer"], found["similarity"]) == (1, 1, 0)
        assert (found["unanswered"], found["items_perfect"]) == (1, 0)
    # An empty text is missed, too, where it is always scored.
    found = figures((None, {"text": ""}), ({"text": "a"}, {"text": "a"}))
    assert (found["cer"], found["cer_macro"], found["similarity"]) == (0, 1 / 2, 1 / 2)


@pytest.mark.parametrize(
    ("truth", "told"),
    [
        ({}, "a ground truth has no field in text: name"),
        ({"pages": []}, "a ground truth has no field in text: name"),
        ({"text": ""}, "cer: the ground truths have no text to divide by in text: name"),
        ({"text": None}, "cer: the ground truths have no text to divide by in text: name"),
    ],
)
def test_truths_without_any_text_are_refused(truth, told):
    with pytest.raises(HdbenchError, match=told):
        figures(({"text": "abcd"}, truth))


@pytest.mark.parametrize("items", [3, 30])
def test_an_item_without_a_text_does_not_stop_the_intervals(items):
    pairs = [({"text": "x"}, {"text": "" if n else "xy"}) for n in range(items)]
    found = result_of(pairs).intervals.to_dict()
    ends = [end for each in found["figures"].values() for end in each]
    ends += [end for each in found.get("item_ranges", {}).values() for end in each]
    assert ends
    assert all(math.isfinite(end) for end in ends)
    assert found.get("item_ranges", {"cer": [0.5, 1.0]})["cer"] == [0.5, 1.0]


# Which texts are scored


def test_what_is_scored_and_what_is_invented():
    truth = {"f": [{"folio": "", "text": "abcd", "addition1": ""}]}
    answer = {"f": [{"folio": "7", "text": "abcd", "addition1": "xy", "addition2": "uvw"}]}
    found = figures((answer, truth), texts=FOLIOS)
    # The folio and the first addition are there only in the answer, but are scored; the second
    # addition is not in the truth at all.
    assert (found["texts"], found["cer"]) == (3, 3 / 4)
    assert found["cer_macro"] == pytest.approx(2 / 3)
    assert found["characters_invented"] == 1 + 2 + 3


def test_numbered_texts_end_with_the_first_that_the_truth_lacks():
    texts = {"addition1": "until_absent", "text": "always"}
    truth = {
        "text": "abcd",
        "addition1": "ab",
        "addition2": None,
        "addition3": "cd",
        "addition5": "e",
    }
    found = figures(({"text": "abcd"}, truth), texts=texts)
    assert (found["texts"], found["cer"]) == (
        3,
        4 / 8,
    )  # the empty one is none, the fifth is left out
    found = figures((truth | {"addition4": "xyz"}, truth), texts=texts)
    assert found["characters_invented"] == 3 + 1
    ten = {"text": "a"} | {f"addition{n}": "ab" for n in range(1, 11)}
    assert figures((ten, ten), texts=texts)["texts"] == 11


def test_text_empty_on_both_sides_is_left_out_only_for_present():
    truth, answer = {"a": "", "b": "", "c": "xy"}, {"a": "", "b": "", "c": "xy"}
    for when, texts in (("present", 1), ("always", 3)):
        options = {"texts": {"a": when, "b": when, "c": "always"}}
        found = figures((answer, truth), **options)
        assert (found["texts"], found["cer_macro"], found["items_perfect"]) == (texts, 0, 1)


@pytest.mark.parametrize("place", ["abcd", None, 7, []])
def test_no_page_at_a_place_is_a_missed_text(place):
    truth = {"f": [{"folio": "", "text": "abcd"}, {"text": ""}]}
    found = figures(({"f": [place]}, truth), texts=FOLIOS)
    assert (found["cer"], found["cer_macro"], found["similarity"]) == (1, 1, 0)


# Pairing


def test_only_aligned_pages_find_their_counterparts():
    truth, answer = pages("ab", "abcdefgh"), pages("abcdefgh")
    assert figures((answer, truth), texts=PAGES)["cer"] == 14 / 10
    assert figures((answer, truth), texts=PAGES, pages="aligned")["cer"] == 2 / 10


def test_aligned_pages_are_as_many_pairs_as_there_can_be():
    found = figures(
        (pages("efgh", "zzzzzzzz"), pages("abcd", "efgh")), texts=PAGES, pages="aligned"
    )
    assert (found["cer"], found["cer_macro"]) == (8 / 8, 1 / 2)
    assert found["characters_invented"] == 0


def test_equally_good_pages_are_paired_as_they_stand():
    same = pages("abcd", "abcd", "abcd")
    result = result_of([(pages("abcd", "abcx", "abcd"), same)], texts=PAGES, pages="aligned")
    wrong = [each["field"] for each in result.per_item[0]["fields"] if each["outcome"] != "correct"]
    assert wrong == ["pages[1].text"]
    assert figures((same, same), texts=PAGES, pages="aligned")["items_perfect"] == 1


# Characters: facts of Unicode, as tests of other OCR tools have them


def test_nfc_and_nfd_are_alike():
    for one, other in (("ä", "a\u0308"), ("a\u0308", "ä")):
        assert cer(one, other) == 0
        assert cer(one, other, normalize=[]) == 0
    # A letter and a sign without a composed form, in any order of two signs.
    assert cer("Sch\u0364ne", "Sch\u0364ne") == 0
    assert cer("s\u0323\u0307", "s\u0307\u0323") == 0  # both are ṩ
    assert cer("\u1e9b\u0323", "\u017f\u0323\u0307") == 0


@pytest.mark.parametrize(
    ("answer", "truth", "points", "clusters"),
    [
        ("Schlyñ", "Schlym\u0303", 2 / 7, 1 / 6),  # m with a tilde has no composed form
        ("Schlym\u0303", "Schlyñ", 2 / 6, 1 / 6),
        ("ub", "u\u0364b", 1 / 3, 1 / 2),
        ("", "\U0001f1e8\U0001f1ed", 1, 1),  # a flag of two letters
        ("x", "\U0001f1e8\U0001f1ed", 1, 1),
        ("\U0001f468\u200d\U0001f469", "\U0001f468", 2, 1),  # one picture of two, joined
        ("a\r\nb", "a\r\nb", 0, 0),
        ("ab", "a\r\nb", 1 / 3, 1 / 3),  # CR and LF are one line break
        ("ﬁn", "fin", 2 / 3, 2 / 3),
    ],
)
def test_grapheme_clusters(answer, truth, points, clusters):
    assert cer(answer, truth) == pytest.approx(points)
    assert cer(answer, truth, unit="grapheme") == pytest.approx(clusters)


# Normalization


@pytest.mark.parametrize(
    ("steps", "answer", "truth"),
    [
        (["nfkc"], "fin", "ﬁn"),
        (["lowercase"], "WEIN", "wein"),
        (["casefold"], "STRASSE", "straße"),
        (["whitespace"], " Rother \n Wein", "Rother Wein"),
        (["punctuation"], "Wein", "»Wein!«"),
        (["long_s"], "Wasser", "Waſſer"),
        (["line_breaks"], "Rother Wein", "Rother\r\nWein"),
        (["hyphenation"], "Wasser", "Waſ-\nser".replace("ſ", "s")),
        (["hyphenation"], "Wasser", "Was¬\r\n  ser"),
        (["hyphenation", "line_breaks"], "Wasser ist", "Was⸗\nser\nist"),
        (["diacritics"], "Zuricher", "Zu\u0308r\u0364icher"),
        (["diacritics"], "Zuricher", "Züricher"),
        ([{"remove": " \n\r"}], "RotherWein", "Rother\r\n Wein"),
    ],
)
def test_steps_of_normalizing(steps, answer, truth):
    assert cer(answer, truth, normalize=[]) > 0
    found = text_figures(answer, truth, normalize=steps)
    assert (found["cer"], found["similarity"], found["texts_perfect"]) == (0, 1, 1)


# XML


@pytest.mark.parametrize(
    ("text", "well_formed"),
    [
        ("<a>x</a>", 1),
        ("<a b='1'><b/>&amp;&#252;</a>", 1),
        ("<a>", 0),
        ("<a>&uuml;</a>", 0),  # not one of the five that XML has
        ("plain", 0),
        ("<a/><b/>", 0),
        ("<a>\x00</a>", 0),
        ("<a>\ud800</a>", 0),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 0),
        ("<!DOCTYPE a><a/>", 0),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 0),
        ("<a>" + "x" * 2**20 + "</a>", 0),
        ("<a>" * 10_000 + "</a>" * 10_000, 1),
    ],
    ids=range(13),
)
def test_well_formed_xml(text, well_formed):
    metric = TextCer(xml=True)
    statistics = metric.score({"text": text}, metric.prepare({"text": "<a/>"})).statistics
    assert statistics["well_formed"] == well_formed


def test_entities_are_never_expanded(monkeypatch):
    seen = []

    def watched(make=expat.ParserCreate):
        parser = make()
        parser.EntityDeclHandler = lambda *given: seen.append(given)
        parser.CharacterDataHandler = seen.append
        return parser

    monkeypatch.setattr(expat, "ParserCreate", watched)
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY l0 "lol">{lol}]><a>&l11;</a>'
    assert figures(({"text": bomb}, {"text": "<a/>"}), xml=True)["well_formed"] == 0
    assert seen == []
    assert figures(({"text": "<a>x</a>"}, {"text": "<a/>"}), xml=True)["well_formed"] == 1
    assert seen == ["x"]


def test_share_of_well_formed_texts_is_over_all_scored_texts():
    right, wrong = {"text": "<a/>"}, {"text": "<a>"}
    assert figures((right, right), (wrong, right), (None, right), xml=True)["well_formed"] == 1 / 3
    assert figures((right, right))["well_formed"] is None


# Figures


def test_rounding_and_other_names():
    truth = pages("abc", "abc", "abc")
    answer = pages("abx", "abc", "abc")  # 1/3, 0, 0
    options = {
        "texts": PAGES,
        "round": {"text": 2, "item": 1, "run": 3},
        "figures": {"fuzzy": {"of": "similarity", "scale": 100}, "cer": {"of": "cer_items"}},
    }
    found = figures((answer, truth), **options)
    assert found["cer_macro"] == 0.11  # 0.33 / 3
    assert found["cer_items"] == found["cer"] == 0.1
    assert found["fuzzy"] == 90.0  # (0.67 + 1 + 1) / 3, to one decimal
    assert result_of([(answer, truth)] * 20, **options).intervals.figures["cer_items"].low <= 0.1


def test_what_became_of_each_text():
    truth = {"f": [{"folio": "1", "text": "abcd", "addition1": ""}, {"text": "efgh"}]}
    answer = {"f": [{"folio": "1", "text": "abxd", "addition1": "x", "addition2": "y"}]}
    [item] = result_of([(answer, truth)], texts=FOLIOS).per_item
    assert [(each["field"], each["outcome"]) for each in item["fields"]] == [
        ("f[0].addition2", "spurious"),
        ("f[0].addition1", "spurious"),
        ("f[1].text", "missing"),
        ("f[0].text", "substituted"),
        ("f[0].folio", "correct"),
    ]


WRONG = {
    "texts": [{}, "text", {"a[].b[].c": "always"}, {"a": "sometimes"}, {"a": ["always"]}],
    "pages": ["paired"],
    "normalize": ["nfc", ["umlauts"], [{"remove": 3}], {"fuzzy": []}],
    "unit": ["word"],
    "watch": [7, ["ſ"], "z-a"],
    "xml": ["yes"],
    "unanswered": ["zero"],
    "round": [{"page": 1}],
    "sum": ["fast"],
    "figures": [{"a": {"of": "fuzzy"}}],
}


@pytest.mark.parametrize("option", WRONG)
def test_a_value_that_an_option_does_not_take_is_told_in_a_line(option):
    for value in WRONG[option]:
        with pytest.raises(HdbenchError, match=rf"^{option}\b[^\n]*$"):
            make_metric("text_cer", **{option: value})


ODD = [
    *("text", None, 7, math.nan, math.inf, True, "", [], {}, [[]], {"text": math.nan}, "\ud800"),
    *({"text": ["x"]}, {"text": {}}, {"addition\u0661": "x"}, {"addition99999": "x"}),
]


@pytest.mark.parametrize("pairing", ["position", "aligned"])
@pytest.mark.parametrize("odd", [*ODD, ODD], ids=str)
def test_pages_of_any_kind_give_finite_figures(odd, pairing):
    truth = {"f": [{"text": "abcd", "addition1": "x"}, {"text": "efgh"}]}
    for options in ({}, {"unit": "grapheme", "xml": True}):
        for answer in (
            {"f": odd},
            {"f": [odd, odd, odd]},
            {"f": [{"text": odd}]},
            {"f": odd, "x": odd},
        ):
            found = figures((answer, truth), texts=FOLIOS, pages=pairing, **options)
            for figure in TextCer.figures:
                value = found[figure.name]
                assert value is None or math.isfinite(value)


def test_pages_beyond_the_comparison_limit_count_as_invented(monkeypatch):
    monkeypatch.setattr("hdbench.scoring.text_cer.MAX_PAGE_PAIRS", 6)
    metric = TextCer(texts={"pages[].text": "always"}, pages="aligned")
    truth = metric.prepare({"pages": [{"text": "a"}, {"text": "b"}]})
    answer = {"pages": [{"text": text} for text in ("x", "b", "y", "a", "z")]}
    score = metric.score(answer, truth)
    assert score.not_compared == {"pages": 2}
    # "a" stands beyond the third page: "x" is compared instead of it.
    assert score.statistics["texts_perfect"] == 1
    assert score.statistics["characters_invented"] == 3
    assert metric.score({"pages": answer["pages"][:3]}, truth).not_compared == {}


LEFT, RIGHT = (
    "the left column of a page of a register of letters from the year 1750",
    "and the right one with sums of money that were paid to messengers on horseback",
)


def test_words_in_another_order_are_told_from_invented_ones():
    """Two columns swapped, every word right; and another page altogether.

    The edits were counted with a table of distances of a few lines: 114 characters and 28 of 30
    words are edited in the first, 167 characters and all words in the second.
    """
    truth = f"{LEFT}\n{RIGHT}"
    swapped = text_figures(f"{RIGHT}\n{LEFT}", truth)
    assert (swapped["bwer"], swapped["order_gap"]) == (0.0, swapped["wer"])
    assert (swapped["cer"], swapped["wer"]) == (114 / 148, 28 / 30)
    invented = text_figures(" ".join(f"wrong{number}" for number in range(28)), truth)
    assert (invented["bwer"], invented["order_gap"]) == (1.0, 0.0)
    assert (invented["cer"], invented["wer"]) == (167 / 148, 1.0)


@pytest.mark.parametrize(
    ("answer", "truth", "bwer"),
    [
        ("a b c", "c b a", 0),
        ("a a x", "a b", 2 / 2),  # 3 words, of which one is right
        ("a", "a b c d", 3 / 4),
        ("", "a b", 1),
        ("a b a b", "a b", 2 / 2),
    ],
)
def test_words_without_their_order(answer, truth, bwer):
    found = text_figures(answer, truth)
    assert (found["bwer"], found["order_gap"]) == (bwer, found["wer"] - bwer)
