"""Ground truths against the schema and the metric."""

import json


def problems(folder):
    return {(each.kind, each.severity, each.field) for each in folder.check().problems}


def test_other_fields_than_the_schema_s_are_one_error(folder):
    german = {"title": "titel", "year": "jahr", "place": "ort", "persons": "personen"}
    for row in folder.rows:
        row["ground_truth"] = {german[key]: value for key, value in row["ground_truth"].items()}
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("fields_differ", "error")
    assert problem.message == (
        "the ground truths have jahr, ort, personen[], titel; answer.schema.json has persons[], "
        "place, title, year: no field is the same"
    )


def test_truth_value_impossible_in_the_schema_is_an_error(folder):
    folder.schema["properties"]["place"]["enum"] = ["Stuttgart"]
    problem = folder.only()
    assert (problem.kind, problem.severity, problem.field) == ("schema_enum", "error", "place")
    assert problem.count == 8
    assert problem.examples[0] == (1, "card 0", '"Basel"')


def test_a_gap_that_the_schema_does_not_allow_is_a_warning(folder):
    folder.schema["required"] = ["title", "place"]
    folder.truth(1)["title"] = None
    del folder.truth(2)["place"]
    assert problems(folder) == {
        ("schema_blank", "warning", "title"),
        ("schema_required", "warning", "place"),
    }


def test_fields_that_no_ground_truth_has(folder):
    folder.schema["properties"] |= {"publisher": {"type": "string"}, "size": {"type": "string"}}
    folder.write("prompt.txt", "title year place persons publisher size")
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("field_never_filled", "warning")
    assert problem.message.endswith("in any ground truth: publisher, size")


def test_transcriptions_need_the_paths_of_their_texts(folder):
    folder.spec |= {"metric": "text_cer", "headline": "cer", "higher_is_better": False}
    folder.schema = {"type": "object", "properties": {"transcription": {"type": "string"}}}
    for number, row in enumerate(folder.rows):
        row["ground_truth"] = {"transcription": f"The text of card {number}."}
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("nothing_scored", "error")
    assert problem.message == "text_cer scores none of the fields: transcription"
    assert "documented: {texts: {transcription: always}}" in problem.remedy
    folder.spec["protocols"] = {"documented": {"texts": {"transcription": "always"}}}
    assert folder.check().problems == []
    for row in folder.rows:
        row["ground_truth"]["language"] = "de"
    assert problems(folder) == {("field_not_scored", "warning", "language")}


def test_a_ground_truth_that_the_metric_cannot_read(folder):
    folder.spec["metric"] = "letters_f1"
    folder.schema = {}
    for row in folder.rows:
        row["ground_truth"] = {"send_date": ["1926-02-16"]}
    assert folder.check().problems == []
    folder.truth(3)["sender_persons"] = [3]
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("truth_unscorable", "error")
    assert problem.examples[0][:2] == (4, "card 3")
    assert "3 is not a person of a ground truth" in problem.examples[0].value


def test_a_ground_truth_that_is_not_right_by_itself(folder):
    folder.spec |= {"metric": "avisblatt_cer", "headline": "fuzzy"}
    folder.schema = {}
    for row in folder.rows:
        row["ground_truth"] = {"advertisements": [{"date": "1731-01-02", "text": "Rother Wein"}]}
    assert folder.check().errors == 0
    folder.rows[3]["ground_truth"]["advertisements"].append(3)
    assert ("truth_not_perfect", "warning", "") in problems(folder)


def test_single_truth_without_metric_fields_is_named(folder):
    folder.spec |= {"metric": "sciencemeta_accuracy", "headline": "overall_accuracy"}
    folder.schema = {}
    for row in folder.rows:
        row["ground_truth"] = {"title": "Stellingen"}
    assert folder.check().errors == 0
    folder.rows[3]["ground_truth"] = {"titel": "Stellingen"}
    found = {problem.kind: problem for problem in folder.check().problems}
    [example] = found["truth_unscorable"].examples
    assert example[:2] == (4, "card 3")
    assert "none of the fields isbn, title" in example.value


def test_large_records_are_not_compared_with_themselves_for_ever(folder):
    folder.schema = {}
    large = [{"name": f"name {number}", "trade": "baker"} for number in range(3_000)]
    for row in folder.rows:
        row["ground_truth"] = {"entries": large}
    assert len(json.dumps(folder.check().to_dict())) < 10_000
