from itertools import permutations

import pytest
from helpers.audited import card_runs, letter_runs, list_runs, run
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.errors import HdbenchError
from hdbench.report.audit.findings import audit
from hdbench.report.audit.models import ask
from hdbench.scoring.zettel_f1 import ZettelF1


def found(runs):
    return [(each.field, each.truth, each.value) for each in audit(runs).findings]


def test_value_that_three_makers_read_against_truth_is_found():
    right, wrong = {"name": "Somazzi"}, {"name": "Somazzl"}
    [finding] = audit(card_runs(wrong, right, right, right, wrong, wrong)).findings
    assert (finding.id, finding.field) == ("1", "name")
    assert (finding.truth, finding.value) == ("Somazzl", "Somazzi")
    # Two runs agree with the truth, and so are better: but all have answered, and the median of
    # five is that of the third, which is one of the three.
    assert (finding.agreeing, finding.good) == (3, 5)
    assert finding.makers == ["antares", "bellatrix", "capella"]
    assert finding.models == ["Antares-1", "Bellatrix-1", "Capella-1"]
    assert finding.runs == ["Antares", "Bellatrix", "Capella"]
    assert finding.similarity == pytest.approx(12 / 14)  # Indel: 6 of 7 letters on both sides
    assert finding.error_class == "ocr"


def test_half_of_the_good_models_is_not_most():
    right, wrong = {"name": "Somazzi"}, {"name": "Somazzl"}
    runs = card_runs(wrong, right, right, right, wrong, wrong, wrong)
    assert [each.good for each in audit(runs).runs] == [True] * 6
    assert found(runs) == []


def test_several_models_of_one_maker_are_not_several_makers():
    right, wrong = {"name": "Somazzi"}, {"name": "Somazzl"}
    runs = card_runs(wrong, right, right, right, wrong)
    capella = runs["Capella"]
    runs["Capella"] = capella.replaced(run=capella.run.model_copy(update={"provider": "Antares"}))
    assert len({each.maker for each in audit(runs).runs}) == 3
    assert found(runs) == []


def test_a_model_that_ran_thrice_has_one_vote():
    right, wrong = {"name": "Somazzi"}, {"name": "Somazzl"}
    runs = card_runs(wrong, right, right, wrong, wrong)
    [again] = card_runs(wrong, right).values()
    # With three votes Antares would have four of six.
    assert found(runs | {"again": again, "and again": again}) == []


def test_the_makers_must_read_one_same_value():
    answers = [{"name": name} for name in ("Kramer", "Weber", "Zeller")]
    assert found(card_runs({"name": "Somazzl"}, *answers)) == []


@pytest.mark.parametrize("order", sorted(set(permutations(["8°", "in-8", "8°"]))))
def test_equivalent_forms_share_votes_and_majority_is_shown(order):
    answers = [{"publication": {"format": value}} for value in order]
    truth = {"publication": {"format": "4°(2°)"}}
    assert found(card_runs(truth, *answers)) == [("publication.format", "4°(2°)", "8°")]


def test_a_truth_of_another_form_is_counted_and_not_found():
    runs = card_runs({"name": "Seurat"}, *[{"name": "SEURAT"}] * 3)
    assert audit(runs).findings == []
    assert audit(runs).of_form == 1


def test_what_the_scoring_takes_for_right_contradicts_nothing():
    truth, answer = (
        {"title": "Ueber die Ehe im Mittelalter"},
        {"title": "Über die Ehe im Mittelalter"},
    )
    runs = card_runs(truth, answer, answer, answer)
    assert runs["Antares"].per_item[0]["fields"][0]["outcome"] == "correct"
    assert found(runs) == []


def test_a_value_that_the_models_do_not_see_is_found():
    runs = card_runs({"title": "Stellingen", "year": 0}, *[{"title": "Stellingen", "year": ""}] * 3)
    [finding] = audit(runs).findings
    assert (finding.truth, finding.value, finding.error_class) == (0, None, "invented")


@pytest.mark.parametrize("nothing", [{}, {"place": None}, {"place": ""}])
def test_a_value_that_the_truth_lacks_is_found(nothing):
    truth = {"title": "Stellingen"} | nothing
    runs = card_runs(truth, *[{"title": "Stellingen", "place": "Leiden"}] * 3)
    [finding] = audit(runs).findings
    assert (finding.field, finding.truth, finding.value) == ("place", None, "Leiden")
    assert (finding.error_class, finding.similarity) == ("missing", 0.0)


def test_a_value_that_belongs_to_another_field_is_classed_so():
    truth = {"place": "Glaser", "publisher": "Glaser"}
    [finding] = audit(card_runs(truth, *[{"place": "Berlin", "publisher": "Glaser"}] * 3)).findings
    assert (finding.field, finding.error_class) == ("place", "other_field")


def test_other_field_class_uses_values_that_models_read():
    truth, answer = {"place": "Berlin", "publisher": None}, {"place": None, "publisher": "Berlin"}
    place, publisher = audit(card_runs(truth, answer, answer, answer)).findings
    assert (place.field, place.value, place.error_class) == ("place", None, "other_field")
    assert (publisher.field, publisher.value, publisher.error_class) == (
        "publisher",
        "Berlin",
        "missing",
    )


def test_truth_of_contradicted_field_is_not_another_field():
    truth = {"place": "Glaser", "publisher": "Glaser"}
    place, publisher = audit(
        card_runs(truth, *[{"place": "Berlin", "publisher": "Weidmann"}] * 3)
    ).findings
    assert (place.error_class, publisher.error_class) == ("different", "different")


def test_findings_are_in_the_order_of_items_and_fields():
    truth, answer = {"a": "Zeller", "b": None, "c": "Bern"}, {"a": "Weber", "b": "Rom", "c": None}
    runs = card_runs(truth, answer, answer, answer)
    assert [field for field, _, _ in found(runs)] == ["a", "b", "c"]


def test_lost_answers_say_nothing():
    assert found(card_runs({"name": "Somazzl"}, None, None, None)) == []


def test_lost_answers_count_among_the_good_models():
    right = {"name": "Somazzi"}
    runs = card_runs({"name": "Somazzl"}, right, right, right, None, None)
    assert [each.agreeing for each in audit(runs).findings] == [3]
    runs = card_runs({"name": "Somazzl"}, right, right, right, None, None, None)
    assert [each.good for each in audit(runs).runs] == [True] * 6
    assert found(runs) == []


def test_list_value_that_models_leave_out_is_not_found():
    answer = {"title": "Stellingen", "subjects": ["Ehe"]}
    runs = card_runs({"title": "Stellingen", "subjects": ["Ehe", "Recht"]}, answer, answer, answer)
    assert found(runs) == []


def test_a_person_whom_the_models_leave_out_is_not_found():
    truth = {"send_date": ["1930-02-03"], "sender_persons": [{"name": "Muster, Anna"}]}
    answer = {"send_date": "1930-02-03", "sender_persons": []}
    assert found(letter_runs(truth, answer, answer, answer)) == []


def test_omitted_entry_is_not_found_but_its_omitted_value_is():
    entries = [{"name": "Abegg", "city": "Basel"}, {"name": "Diethelm Widow", "city": "Bern"}]
    first = entries[0]
    assert found(list_runs(entries, [first], [first], [first])) == []
    answer = [first, {"name": "Diethelm Widow"}]
    assert found(list_runs(entries, answer, answer, answer)) == [("entries[1].city", "Bern", None)]


def test_an_entry_that_the_truth_lacks_is_found():
    first, second = {"name": "Abegg", "city": "Basel"}, {"name": "Diethelm Widow", "city": "Bern"}
    answer = [second, first]
    assert found(list_runs([first], answer, answer, answer)) == [
        ("entries.city", None, "Bern"),
        ("entries.name", None, "Diethelm Widow"),
    ]


ABEGG, DIETHELM = {"name": "Abegg"}, {"name": "Diethelm Widow"}


def test_a_value_that_an_entry_lacks_is_found_at_that_entry():
    answer = [{"name": "Boreux"}, DIETHELM | {"city": "Basel"}, ABEGG]  # in an order of its own
    assert ("entries[1].city", None, "Basel") in found(
        list_runs([ABEGG, DIETHELM], answer, answer, answer)
    )


@pytest.mark.parametrize("nothing", [{}, {"city": None}, {"city": ""}])
def test_one_value_at_two_entries_is_no_agreement(nothing):
    truth = [ABEGG | nothing, DIETHELM | nothing]
    first, second = [ABEGG | {"city": "Basel"}, DIETHELM], [ABEGG, DIETHELM | {"city": "Basel"}]
    assert found(list_runs(truth, first, second, second)) == []
    runs = list_runs(truth, first, second, first, first)
    [finding] = audit(runs).findings
    assert (finding.field, finding.agreeing, finding.good) == ("entries[0].city", 3, 4)


def test_values_missing_from_an_inner_list_match_in_any_order():
    first, second = (
        [ABEGG, DIETHELM | {"trades": trades}]
        for trades in (["Seide", "Tee", "Zucker"], ["Zucker", "Seide", "Tee"])
    )
    truth = [ABEGG, DIETHELM | {"trades": ["Seide"]}]
    assert ("entries[1].trades", None, "Zucker") in found(list_runs(truth, first, second, second))


def test_value_of_another_entry_in_same_field_is_no_other_field():
    other = {"name": "Abegg", "city": "Lausanne"}
    truth = [other, {"name": "Diethelm Widow", "city": "Lausanne"}]
    answer = [other, {"name": "Diethelm Widow", "city": "11, St. Pierre, Lausanne"}]
    [finding] = audit(list_runs(truth, answer, answer, answer)).findings
    assert (finding.field, finding.error_class) == ("entries[1].city", "truncated")


def test_a_date_and_a_person_whom_the_models_read_are_found():
    truth = {"send_date": ["1930-02-03"], "sender_persons": [{"name": "Muster, Anna"}]}
    answer = {"send_date": "1930-02-08", "sender_persons": ["Muster, Anna", "Frei, Jean"]}
    assert found(letter_runs(truth, answer, answer, answer)) == [
        ("send_date", "1930-02-03", "1930-02-08"),
        ("sender_persons", None, "Frei, Jean"),
    ]


def test_a_name_is_set_beside_the_person_it_is_like():
    truth = {"sender_persons": [{"name": "Speich, Rudolf"}]}
    answer = {"sender_persons": ["Rudolf Speich"]}
    assert found(letter_runs(truth, answer, answer, answer)) == [
        ("sender_persons", "Speich, Rudolf", "Rudolf Speich")
    ]


def test_fewer_than_three_makers_are_refused():
    with pytest.raises(
        HdbenchError,
        match=r"\(antares, bellatrix\) are too few: add runs from at least 3 makers",
    ):
        audit(card_runs({"name": "Somazzl"}, {}, {}))
    with pytest.raises(HdbenchError, match="no runs"):
        audit({})


def test_three_models_that_are_not_equally_good_are_enough():
    right, wrong = {"name": "Somazzi"}, {"name": "Somazzl"}
    runs = card_runs(wrong, right, right, right | {"title": "Ueber die Ehe"})
    assert len({each.figure for each in audit(runs).runs}) == 2
    assert found(runs) == [("name", "Somazzl", "Somazzi")]
    [each] = card_runs(wrong, wrong).values()
    runs["Bellatrix"] = each.replaced(run=each.run.model_copy(update={"provider": "Bellatrix"}))
    assert found(runs) == []


def test_why_a_third_maker_is_not_asked_is_said():
    runs = card_runs({"name": "Somazzl"}, {}, {})
    lazy = {"1": {"name": "Somazzl"}} | {f"right-{each}": {"title": "T"} for each in range(19)}
    runs["Capella"] = run(ZettelF1(), lazy, {"1": {"name": "Somazzl"}}, "Capella", "c")
    with pytest.raises(HdbenchError, match=r"two may share an error \(not asked: Capella: answer"):
        audit(runs)


def test_runs_without_details_are_refused():
    runs = card_runs({"name": "Somazzl"}, {}, {}, {})
    runs["Bellatrix"] = runs["Bellatrix"].replaced(per_item=[])
    with pytest.raises(HdbenchError, match="Bellatrix: has no details"):
        audit(runs)


def test_runs_of_other_items_are_refused():
    runs = card_runs({"name": "Somazzl"}, {}, {}, {})
    runs["Deneb"] = run(ZettelF1(), {"2": {"name": "Zeller"}}, {}, "Deneb", "d")
    with pytest.raises(HdbenchError, match="do not have the same items"):
        audit(runs)


VALUES = st.sampled_from(["Somazzl", "Somazzi", "SOMAZZI", "Weber", "", None])


@settings(deadline=None, max_examples=50)
@given(truth=VALUES, read=st.lists(VALUES, min_size=5, max_size=5))
def test_a_finding_has_most_models_and_is_never_the_truth(truth, read):
    """Beside a plain recount; the makers are all different, so that three models are of three."""
    right = {"title": "Stellingen"}
    runs = card_runs(right | {"name": truth}, *(right | {"name": value} for value in read))
    try:
        result = audit(runs)
    except HdbenchError:
        assert len([each for each in ask(runs) if each.good]) < 3
        return
    good = {each.name for each in result.runs if each.good}
    values = dict(zip(runs, read, strict=True))
    folded = [_folded(values[name]) for name in good]
    most = {value for value in folded if folded.count(value) >= max(3, len(good) // 2 + 1)}
    assert {_folded(each.value) for each in result.findings} == most - {_folded(truth)}
    assert all(each.agreeing == folded.count(_folded(each.value)) for each in result.findings)


def _folded(value):
    return (value or "").casefold()
