"""Warnings on a run: each on data that shows it, and on data that nearly does."""

import json

import pytest

from hdbench.answers.answer import Answer
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError
from hdbench.evaluation.checks import Checks
from hdbench.evaluation.score import ScoreCollector
from hdbench.scoring import make_metric

SCHEMA = AnswerSchema(
    {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "year": {"type": "integer"},
            "publication": {"type": "object", "properties": {"place": {"type": "string"}}},
        },
    }
)


def card(number):
    return {"title": f"Stellingen {number}", "year": 1800 + number}


def as_answer(number, prediction, **more):
    """An answer to card `number`: a record, a text without one, or None."""
    if isinstance(prediction, Answer):
        return prediction
    status = "clean" if isinstance(prediction, dict) else "unparsable"
    if prediction is None:
        status = "unanswered"
    return Answer(prediction, status, id=f"{number:04}", text=json.dumps(prediction), **more)


def check(answers, truths=None, metric=None, schema=SCHEMA):
    """The warnings on some answers, to cards unless there are other truths."""
    metric = metric or make_metric("zettel_f1")
    truths = truths or [card(number) for number in range(len(answers))]
    checks, tally = Checks(metric, len(answers)), ScoreCollector(metric)
    for number, (prediction, truth) in enumerate(zip(answers, truths, strict=True)):
        answer = as_answer(number, prediction)
        scored = tally.add(answer, metric.prepare(truth))
        if scored is not None:
            checks.add(*scored, schema.violations(answer.prediction), truth)
    checks.check_fields("answers.jsonl")
    return checks.warnings(tally.result())


def only(warnings, kind):
    """The one warning there is."""
    assert [warning.kind for warning in warnings] == [kind]
    return warnings[0]


def right(count, start=0):
    return [card(number) for number in range(start, start + count)]


def with_year(year, wrong, right_ones):
    """Answers of which some have that year."""
    return [{**card(number), "year": year} for number in range(wrong)] + right(right_ones, wrong)


def test_a_good_run_has_no_warnings():
    assert check(right(40)) == []


def test_same_wrong_value_is_named_above_a_tenth_of_answers():
    assert check(with_year(1, 6, 54)) == []  # a tenth
    assert only(check(with_year(1, 7, 53)), "wrong_field").count == 7


def test_the_same_wrong_value_in_four_answers_may_be_chance():
    assert check(with_year(1, 4, 1)) == []
    assert only(check(with_year(1, 5, 0)), "wrong_field").count == 5


def test_different_wrong_values_are_the_models_own():
    assert check([{**card(number), "year": 1000 + number} for number in range(40)]) == []


@pytest.mark.parametrize("gap", [None, "", " "])
def test_a_gap_is_no_wrong_value(gap):
    assert check([{**card(number), "title": gap} for number in range(40)]) == []


def test_a_value_where_the_truth_has_none_is_a_wrong_one():
    answers = [{**card(number), "publication": {"place": "Basel"}} for number in range(40)]
    warning = only(check(answers), "wrong_field")
    assert warning.message.startswith('publication.place is wrongly "Basel" in 40 of 40 answers')


def test_item_counts_once_however_often_its_list_has_a_value():
    answers = [{**card(number), "notes": ["x", "x", "x"]} for number in range(3)] + right(20, 3)
    assert check(answers) == []


def test_wrong_type_is_named_even_if_scored_as_right():
    answers = [{**card(n), "year": str(1800 + n)} for n in range(7)] + right(53, 7)
    warning = only(check(answers), "wrong_field")
    assert warning.message == (
        'year is not of the schema\'s type in 7 of 60 answers, such as "1800", which is scored all '
        "the same: does the prompt ask for it in the form that the schema has? "
        "f1_micro 1.000, without this field 1.000"
    )
    assert check([{**card(n), "year": str(1800 + n)} for n in range(6)] + right(54, 6)) == []


@pytest.mark.parametrize("gap", [None, ""])
def test_a_gap_is_not_of_the_wrong_type(gap):
    assert check([{**card(number), "year": gap} for number in range(40)]) == []


def test_wrong_type_in_a_list_counts_once_per_item():
    schema = AnswerSchema(
        {
            "type": "object",
            "properties": {
                "advertisements": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"date": {"type": "string"}}},
                }
            },
        }
    )
    pages = [
        {"advertisements": [{"text": f"{n}. Wein {page}", "tags_section": "A", "date": "1731"}
                            for n in range(1, 4)]}
        for page in range(6)
    ]  # fmt: skip
    answers = [
        {"advertisements": [{**ad, "date": 1731} for ad in page["advertisements"]]}
        for page in pages
    ]
    warning = only(check(answers, pages, make_metric("avisblatt_cer"), schema), "wrong_field")
    assert (warning.count, warning.of) == (6, 6)
    assert warning.message.startswith("advertisements.date is not of the schema's type in 6 of 6")
    assert warning.message.endswith("fuzzy 1.000, without this field 1.000")


def test_wrong_value_comes_before_a_harmless_wrong_type():
    answers = [{**card(n), "year": str(1800 + n), "title": "x" * (n < 10)} for n in range(40)]
    assert [w.message.split()[0] for w in check(answers)] == ["title", "year"]


@pytest.mark.parametrize("more", [{"x" * 201: 1}, {"x": "x" * 201}])
def test_very_long_names_and_values_are_not_kept(more):
    assert check([{**card(number), **more} for number in range(40)]) == []


def test_the_most_frequent_fields_come_first_and_at_most_ten():
    many = {f"extra{number:02}": "x" for number in range(20)}
    answers = [{**card(number), **many} for number in range(20)]
    answers += [{**card(number), "extra19": "x"} for number in range(20, 40)]
    warnings = check(answers)
    assert [warning.kind for warning in warnings] == ["wrong_field"] * 10
    assert warnings[0].message.startswith('extra19 is wrongly "x" in 40 of 40')


def test_foreign_text_is_cut_and_escaped():
    answers = [{**card(n), "\x1b[31mred": "\u202e\x1b[2J" + "x" * 150} for n in range(20)]
    message = only(check(answers), "wrong_field").message
    assert message.isprintable()
    assert message.startswith("\\x1b[31mred is wrongly ")
    assert "x…" in message
    assert len(message) < 250


def test_a_value_counts_wherever_in_a_list_it_stands():
    lists = [["x"], ["y", "x"], ["y", "z", "x"], ["x", "z"], ["z", "x"]]
    answers = [{**card(number), "notes": notes} for number, notes in enumerate(lists)]
    assert only(check(answers), "wrong_field").message.startswith('notes is wrongly "x" in 5 of 5')


def test_other_schema_violation_is_no_wrong_type():
    schema = AnswerSchema({"type": "object", "properties": {"title": {"minLength": 100}}})
    assert schema.violations(card(1))
    assert check(right(40), schema=schema) == []


def test_of_a_catalogue_a_part_is_looked_at():
    warning = only(check(with_year(1, 3_000, 7_000)), "wrong_field")
    assert "in 1,500 of 5,000 answers looked at" in warning.message  # every second one
    warning = only(check(with_year(1, 3_000, 2_000)), "wrong_field")
    assert "in 3,000 of 5,000 answers" in warning.message


def test_a_letters_wrong_values_are_seen_too():
    letters = [letter(number) for number in range(30)]
    answers = [
        {"send_date": f"1929-03-{number + 1:02}", "sender_persons": ["<UNKNOWN>"]}
        for number in range(30)
    ]
    warning = only(check(answers, letters, make_metric("letters_f1")), "wrong_field")
    assert 'sender_persons is wrongly "<UNKNOWN>" in 30 of 30' in warning.message
    assert "f1_micro 0.500, without this field 1.000" in warning.message


def test_a_bibliographic_records_wrong_values_are_seen_too():
    truths = [{"kind": "paper", "title": f"On Growth {number}"} for number in range(30)]
    answers = [{"title": truth["title"], "keyword": "science"} for truth in truths]
    warning = only(check(answers, truths, make_metric("sciencemeta_accuracy")), "wrong_field")
    assert 'keyword is wrongly "science" in 30 of 30' in warning.message
    assert warning.message.endswith("overall_accuracy 0.833, without this field 1.000")


def with_tokens(counts):
    answers = right(len(counts))
    return [
        as_answer(number, record, tokens={"input": count, "output": 7})
        for number, (record, count) in enumerate(zip(answers, counts, strict=True))
    ]


def unparsable(number, kind):
    return Answer("…", "unparsable", id=f"{number:04}", text="…", kind=kind)


def test_each_kind_of_answer_without_record_is_named():
    kinds = {3: "repeated", 5: "repeated", 8: "format", 9: "text", 10: "other"}
    answers = [
        unparsable(number, kinds[number]) if number in kinds else card(number)
        for number in range(100)
    ]
    repeated, other_format = check(answers)
    assert (repeated.kind, repeated.count, repeated.of, repeated.ids) == (
        *("no_record", 2, 100),
        ["0003", "0005"],
    )
    assert "2 of 100 answers repeat what was asked" in repeated.message
    assert "1 of 100 answers is XML, HTML, YAML or a table" in other_format.message


def test_constant_input_token_count_asks_whether_image_was_sent():
    warning = only(check(with_tokens([1196] * 12)), "same_input_tokens")
    assert (warning.count, warning.of) == (12, 12)
    assert warning.message.startswith(
        "the input was 1,196 tokens for 12 of 12 items: was the image sent?"
    )
    assert "the same size" in warning.message


def test_same_input_tokens_for_nine_in_ten_items_is_enough():
    assert only(check(with_tokens([1196] * 18 + [1200, 1300])), "same_input_tokens").count == 18
    assert check(with_tokens([1196] * 17 + [1200, 1300, 1400])) == []


def test_one_count_of_input_tokens_for_a_few_items_is_ordinary():
    assert check(with_tokens([1196] * 9)) == []


def repeated(count, others):
    return [{"title": "Müller", "year": 1900}] * count + right(others, count)


def test_one_answer_for_many_items_is_shown():
    warnings = check(repeated(6, 94))
    warning = only(warnings, "repeated_answer")
    assert warning.message.startswith(
        '6 of 100 answers are the same, {"title": "Müller", "year": 1900}, although the ground '
        "truth differs"
    )
    assert warning.ids == ["0000", "0001", "0002", "0003", "0004"]


def test_one_record_with_another_text_each_time_is_one_answer():
    answers = [
        Answer({}, "unwrapped", id=f"{number:04}", text=f"Card {number}: {{}}")
        for number in range(6)
    ]
    assert only(check(answers), "repeated_answer").count == 6


def test_same_text_is_one_answer_despite_ids_in_the_record():
    answers = [
        Answer({"id": number, "year": 7}, "clean", id=f"{number:04}", text="{}")
        for number in range(6)
    ]
    warnings = check(answers)
    assert [w.count for w in warnings if w.kind == "repeated_answer"] == [6]


def test_few_repeated_answers_are_no_pattern():
    assert check(repeated(5, 95)) == []
    assert check(repeated(4, 0)) == []


def test_one_answer_for_items_with_one_truth_may_well_be_right():
    assert check([card(1)] * 40, [card(1)] * 40) == []


def test_one_text_without_a_record_is_a_repeated_answer_too():
    answers = [as_answer(number, "I cannot see an image.") for number in range(10)]
    assert [warning.kind for warning in check(answers + right(30, 10))] == ["repeated_answer"]


def test_most_answers_without_a_record_are_one_warning():
    refusals = [f"I cannot read card {number}." for number in range(21)]
    warning = only(check(refusals + right(19, 21)), "unparsable")
    assert warning.message.startswith("21 of 40 answers hold no record")
    assert check(refusals[:20] + right(20, 20)) == []


def test_an_object_that_is_only_an_error_holds_no_record():
    answers = [{"error": f"timeout {number}"} for number in range(30)]
    assert only(check(answers), "unparsable").count == 30


def cut_off(count, others):
    cut = [
        Answer(card(number), "truncated", id=f"{number:04}", text=f"text {number}")
        for number in range(count)
    ]
    return cut + right(others, count)


def test_many_answers_cut_off_ask_for_a_higher_limit():
    warning = only(check(cut_off(3, 47)), "truncated")
    assert (warning.count, warning.of) == (3, 50)
    assert "raise the limit on output tokens" in warning.message


def test_few_answers_cut_off_are_not_many():
    assert check(cut_off(2, 38)) == []
    assert check(cut_off(1, 4)) == []


def test_a_part_of_the_benchmark_is_not_the_whole():
    warning = only(check(right(35) + [None] * 5), "partial")
    assert (warning.count, warning.of) == (5, 40)
    assert warning.message.startswith(
        "35 of 40 items have an answer, and the other 5 count as failures"
    )
    assert warning.ids == ["0035", "0036", "0037", "0038", "0039"]


def test_some_requests_always_fail():
    assert check(right(36) + [None] * 4) == []


def test_no_answer_at_all_is_one_warning():
    assert only(check([None] * 40), "partial").message.startswith("0 of 40 items have an answer")


def test_no_items_have_no_warnings():
    assert check([]) == []


def letter(number):
    return {
        "send_date": [f"1929-03-{number + 1:02}"],
        "sender_persons": [{"name": f"Muster{number}, Anna", "alternateName": []}],
    }


def senders(names):
    """A letter's answer for each sender."""
    return [
        {"send_date": [f"1929-03-{number + 1:02}"], "sender_persons": [name]}
        for number, name in enumerate(names)
    ]


def check_letters(names):
    letters = [letter(number) for number in range(len(names))]
    return check(senders(names), letters, make_metric("letters_f1"))


def test_organisations_among_the_wrong_persons_are_counted():
    persons = [f"Nachbar{number}, Max" for number in range(9)]
    firms = [f"Muster{number} AG" for number in range(5)]
    warning = only(check_letters(persons + firms), "organisations")
    assert warning.message.startswith(
        '5 of 14 wrong persons are organisations or offices, such as "Muster0 AG"'
    )
    assert warning.ids == ["0009", "0010", "0011", "0012", "0013"]
    assert check_letters([*persons, "Nachbar9, Max", *firms]) == []  # a third


def test_four_organisations_may_be_chance():
    assert check_letters([f"Muster{number} AG" for number in range(4)]) == []


def test_repeated_organisation_gives_only_one_warning():
    only(check_letters(["Muster AG"] * 20), "organisations")


def test_organisation_in_few_letters_is_an_ordinary_wrong_value():
    persons = [f"Nachbar{number}, Max" for number in range(13)]
    warning = only(check_letters(persons + ["Muster AG"] * 6), "wrong_field")
    assert warning.message.startswith('sender_persons is wrongly "Muster AG" in 6 of 19')


def test_an_item_that_an_option_leaves_out_is_not_looked_at():
    letters = [{**letter(number), "has_signatures": number < 20} for number in range(30)]
    answers = senders([f"Muster{number}, Anna" for number in range(20)]) + [None] * 10
    metric = make_metric("letters_f1", skip_non_signatures=True)
    assert check(answers, letters, metric) == []
    assert only(check(answers, letters, make_metric("letters_f1")), "partial").count == 10


@pytest.mark.parametrize("is_read", [True, False])
def test_answers_that_share_no_field_are_refused(is_read):
    german = [{"titel": f"Stellingen {number}", "jahr": 1800 + number} for number in range(12)]
    answers = german
    if not is_read:  # as the reader leaves an object that has no field of the schema
        answers = [
            Answer(
                json.dumps(each),
                "unparsable",
                id=f"{number:04}",
                text=json.dumps(each),
                kind="other",
            )
            for number, each in enumerate(german)
        ]
    with pytest.raises(HdbenchError, match="they have titel, jahr, and the ground truth has title"):
        check(answers)


def test_one_shared_field_is_enough():
    answers = [{"titel": "x"} for _ in range(11)] + [{"title": "y"}]
    check(answers)
