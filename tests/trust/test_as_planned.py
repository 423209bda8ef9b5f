"""What a plan rests on is sealed with it: decide, apply, control and verify refuse what changed."""

import json

import pytest
from helpers.planned_cards import RIGHT, SCHEMA, agreeing
from helpers.run_folders import SPEC

from hdbench.common.jsonio import write_json
from hdbench.common.translation import translated
from hdbench.errors import HdbenchError
from hdbench.trust.applying import apply
from hdbench.trust.control import check_control, read_control
from hdbench.trust.deciding import read_plan
from hdbench.trust.verifying import verify_decision

ALMOST = RIGHT | {"title": "Stellinger"}  # like the runs' title by 0.9: below the default 0.92


@pytest.fixture
def planned(tmp_path):
    catalogue = agreeing(tmp_path)
    for row in catalogue.rows:
        row["sha256"] = f"{int(row['id']):064x}"
    catalogue.write()
    plan = catalogue.plan(right="threshold")
    catalogue.check(plan.sample, lambda place: ALMOST if place < 20 else RIGHT)
    return catalogue, plan


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
    first = read_plan(catalogue.plan_file).sample[0]
    next(row for row in catalogue.rows if row["id"] == first)["sha256"] = "f" * 64
    catalogue.write()


EDITS = {
    "option threshold: 0.92 → 0.5": lambda of: edit_options(of, threshold=0.5),
    'option weights: 1 → {"title": 0.1}': lambda of: edit_options(of, weights={"title": 0.1}),
    "version: 1.0.0 → 1.0.1": lambda of: describe(of, version="1.0.1"),
    "name: cards → others": lambda of: describe(of, name="others", report_errors_at=None),
    "metric: zettel_f1 → record_f1": lambda of: describe(of, metric="record_f1"),
    "the schema of answers (answer.schema.json)": edit_schema,
    "the content: what is shown of items of the sample": edit_media,
}


@pytest.mark.parametrize("change", EDITS)
def test_decide_names_what_was_changed(planned, change):
    catalogue, _ = planned
    assert catalogue.decide().counting.left_out.keys() == {"title"}  # 20 of 100 are wrong
    EDITS[change](catalogue)

    with pytest.raises(HdbenchError, match=r"not as it was when .*plan\.yaml was made") as refused:
        catalogue.decide()

    assert f": {change}: " in str(refused.value)
    german = translated(refused.value.message, "de")
    assert "sagt der Plan nichts zu" in german
    assert "nothing" not in german


def test_several_changes_are_all_named(planned):
    catalogue, _ = planned
    edit_options(catalogue, threshold=0.5, weights={"title": 0.1})
    edit_schema(catalogue)

    with pytest.raises(HdbenchError, match=r"threshold.*; option weights.*; the schema"):
        catalogue.decide()


def test_raised_version_is_refused_with_a_way_out(planned):
    catalogue, _ = planned
    describe(catalogue, version="1.0.1")

    with pytest.raises(HdbenchError, match="build the version of the plan into another folder"):
        catalogue.decide()


def test_a_ground_truth_that_the_sample_had_already_is_sealed(tmp_path):
    catalogue = agreeing(tmp_path)
    sample = catalogue.plan().sample
    catalogue.check(sample[:3], RIGHT | {"title": "Else"})
    plan = catalogue.plan()
    catalogue.check(sample[3:])
    assert catalogue.decide().outcome.wrong["letter"].count == 3
    catalogue.check(sample[1:2])

    with pytest.raises(HdbenchError, match=rf"had already \(1, such as {sample[1]}\)"):
        catalogue.decide()
    assert plan.known == 3


def test_later_truths_and_reformatted_rows_keep_the_decision(planned):
    catalogue, plan = planned
    before = catalogue.decide()
    others = [item for item in catalogue.ids if item not in plan.sample][:50]
    catalogue.check(others, RIGHT | {"title": "Else"})
    for row in catalogue.rows:  # as in the collection's folder, before it is built
        del row["sha256"]
        row["ground_truth"] = row["ground_truth"] and json.loads(row["ground_truth"])
    catalogue.write()
    (catalogue.path / "answer.schema.json").write_text(json.dumps(SCHEMA, indent=4))

    after = catalogue.decide()

    assert after.model_copy(update={"decided": before.decided}) == before


def test_apply_control_and_verify_refuse_it_too(tmp_path):
    catalogue = agreeing(tmp_path)
    plan = catalogue.plan()
    catalogue.check(plan.sample)
    path, out = tmp_path / "decision.json", tmp_path / "out"
    write_json(path, catalogue.decide().model_dump(mode="json"))
    apply(plan, catalogue.benchmark, catalogue.plan_file, out, control=20)
    catalogue.check(read_control(out / "control.yaml").sample)
    assert check_control(out, catalogue.benchmark).sealed
    edit_options(catalogue, threshold=0.5)

    said = "option threshold: 0.92 → 0.5"
    with pytest.raises(HdbenchError, match=said):
        apply(plan, catalogue.benchmark, catalogue.plan_file, out, control=20)
    with pytest.raises(HdbenchError, match=said):
        check_control(out, catalogue.benchmark)
    with pytest.raises(HdbenchError, match=said):
        verify_decision(path)


def test_a_folder_without_seals_is_applied_anew(tmp_path):
    catalogue = agreeing(tmp_path)
    plan = catalogue.plan()
    catalogue.check(plan.sample)
    out = tmp_path / "out"
    apply(plan, catalogue.benchmark, catalogue.plan_file, out, control=20)
    control = read_control(out / "control.yaml")
    catalogue.check(control.sample)
    applied = json.loads((out / "applied.json").read_text())
    for key in ("hash", "decision_sha256", "control_sha256"):
        lacking = {name: value for name, value in applied.items() if name != key}
        (out / "applied.json").write_text(json.dumps(lacking))
        with pytest.raises(HdbenchError, match=rf"applied.json: does not say {key}, .* --control"):
            check_control(out, catalogue.benchmark)

    anew = tmp_path / "anew"
    apply(plan, catalogue.benchmark, catalogue.plan_file, anew, control=20)
    assert read_control(anew / "control.yaml") == control
