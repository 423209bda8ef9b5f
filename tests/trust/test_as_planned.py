"""What a plan rests on is sealed with it: all commands refuse what changed."""

import json

import pytest
from helpers.planned_cards import RIGHT, SCHEMA
from helpers.planned_values import PlannedValues
from helpers.run_folders import SPEC

from hdbench.collections.trust.control import check_control
from hdbench.collections.trust.decision import verify_decision
from hdbench.errors import HdbenchError


@pytest.fixture
def planned(tmp_path):
    cards = PlannedValues(tmp_path)
    for row in cards.rows:
        row["sha256"] = f"{int(row['id']):064x}"
    cards.write()
    cards.decided()
    return cards


def describe(catalogue, **changed):
    """Write a benchmark.yaml in which something else stands."""
    (catalogue.path / "benchmark.yaml").write_text(json.dumps(SPEC | {"columns": {}} | changed))


def edit_options(catalogue, **options):
    describe(catalogue, protocols={"documented": options})


def edit_schema(catalogue):
    properties = SCHEMA["properties"] | {"note": {"type": "string"}}
    changed = SCHEMA | {"properties": properties}
    (catalogue.path / "answer.schema.json").write_text(json.dumps(changed))


def edit_media(catalogue):
    catalogue.rows[0]["sha256"] = "f" * 64
    catalogue.write()


EDITS = {
    "option threshold: 0.92 → 0.5": lambda of: edit_options(of, threshold=0.5),
    'option weights: 1 → {"title": 0.1}': lambda of: edit_options(of, weights={"title": 0.1}),
    "version: 1.0.0 → 1.0.1": lambda of: describe(of, version="1.0.1"),
    "name: cards → others": lambda of: describe(of, name="others", report_errors_at=None),
    "metric: zettel_f1 → record_f1": lambda of: describe(of, metric="record_f1"),
    "the schema of answers (answer.schema.json)": edit_schema,
    "the content: what is shown of its items": edit_media,
}


@pytest.mark.parametrize("change", EDITS)
def test_decide_names_what_was_changed(planned, change):
    EDITS[change](planned)

    with pytest.raises(HdbenchError, match=r"not as it was when .*plan\.yaml was made") as refused:
        planned.decide()

    assert f": {change}: " in str(refused.value)


def test_truths_and_reformatted_rows_keep_the_decision(planned):
    before = planned.decide()
    planned.check(planned.ids[:50], RIGHT | {"title": "Else"})
    for row in planned.rows:  # as in the collection's folder, before it is built
        del row["sha256"]
        row["ground_truth"] = row["ground_truth"] and json.loads(row["ground_truth"])
    planned.write()
    (planned.path / "answer.schema.json").write_text(json.dumps(SCHEMA, indent=4))

    after = planned.decide()

    assert after.model_copy(update={"decided": before.decided}) == before


def test_apply_control_and_verify_refuse_it_too(planned):
    planned.apply()
    planned.control()
    edit_options(planned, threshold=0.5)

    said = "option threshold: 0.92 → 0.5"
    for action in (
        planned.apply,
        lambda: check_control(planned.out, planned.benchmark),
        lambda: verify_decision(planned.decision_file),
    ):
        with pytest.raises(HdbenchError, match=said):
            action()
