"""What a plan fixes, and what is refused because nothing can be promised."""

import hashlib
import json

import pytest
import yaml
from helpers.planned_cards import FIELDS, RIGHT, SCHEMA, TEXT, Catalogue, agreeing

from hdbench.collections.trust.plan import PlanOptions, make_plan, read_plan, write_plan
from hdbench.errors import HdbenchError


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    return agreeing(tmp_path_factory.mktemp("plan"))


def plan_of(catalogue, runs=None, learn=300, verify=600, **options):
    options = PlanOptions(learn, verify, **options)
    return make_plan(catalogue.benchmark, runs or catalogue.runs, options)


def test_what_a_plan_fixes(catalogue):
    plan = plan_of(catalogue, limit=0.1, right="threshold", seed=7)

    assert plan.fields == FIELDS
    assert (plan.limit, plan.confidence, plan.right, plan.seed) == (0.1, 0.9, "threshold", 7)
    assert (plan.items, plan.learn, plan.verify) == (2000, 300, 600)
    assert [run.name for run in plan.runs] == ["a", "b", "c"]
    assert len(set(plan.sample)) == 300
    assert {item for item, _ in plan.sample} <= set(catalogue.ids)
    list_hash = hashlib.sha256("\n".join(catalogue.ids).encode()).hexdigest()
    assert plan.list_sha256 == list_hash


def test_the_hash_is_that_of_the_json_and_a_plan_is_never_replaced(catalogue, tmp_path):
    plan, path = plan_of(catalogue), tmp_path / "plan.yaml"
    write_plan(path, plan, catalogue.path)
    said = yaml.safe_load(path.read_text())

    assert said.pop("plan") == 1
    noted = said.pop("hash")
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert noted == plan.hash() == hashlib.sha256(text.encode()).hexdigest()
    assert read_plan(path) == plan
    with pytest.raises(HdbenchError, match="exists already: a plan is never replaced"):
        write_plan(path, plan, catalogue.path)


def test_chosen_fields(catalogue):
    plan = plan_of(catalogue, fields=("year", "place", "year"))

    assert plan.fields == ("year", "place")
    assert plan.several_values == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limit": 0}, "--limit 0: must be above 0 and at most 0.5"),
        ({"limit": 0.6}, "--limit 0.6"),
        ({"verify": 44}, "44 values to verify are too few: at least 45"),
        ({"verify": 113, "limit": 0.02}, "113 values to verify are too few: at least 114"),
        (
            {"learn": 5955, "verify": 45},
            "with 2,000 items nothing can be accepted: of 6,000 values, 5,955 are",
        ),
        ({"learn": 0}, "--values: 0 values to learn from"),
        ({"tries": 6}, "--tries: must be from 1 to 5"),
        ({"fields": ("author",)}, "--fields author: no such field; .* has title, place, year"),
        ({"fields": ("titel",)}, r"--fields titel: no such field; .*; did you mean title\?"),
    ],
)
def test_what_is_refused(catalogue, options, said):
    with pytest.raises(HdbenchError, match=said):
        plan_of(catalogue, **options)


def test_the_same_answers_twice(catalogue):
    twice = [catalogue.runs[0], catalogue.runs[1], catalogue.runs[0]]

    with pytest.raises(HdbenchError, match="has the same answers as"):
        plan_of(catalogue, twice)


def test_runs_of_one_model_keep_apart(catalogue):
    again = catalogue.folder / "again"
    again.mkdir(exist_ok=True)
    info = json.loads((catalogue.runs[0] / "run.json").read_text())
    (again / "run.json").write_text(json.dumps(info))
    (again / "answers.jsonl").write_text('{"id": "0000", "prediction": {}}\n')

    plan = plan_of(catalogue, [catalogue.runs[0], again])

    assert [run.name for run in plan.runs] == ["a (a)", "a (again)"]


def test_a_file_of_several_models(catalogue):
    both = catalogue.folder / "both.jsonl"
    both.write_text(
        "".join(
            json.dumps({"id": "0000", "model": model, "prediction": RIGHT}) + "\n"
            for model in ("x", "y")
        )
    )

    with pytest.raises(HdbenchError, match="has answers of 2 models: give one file for each"):
        plan_of(catalogue, [catalogue.runs[0], both])


def test_answers_to_another_benchmark(catalogue):
    other = catalogue.folder / "other.jsonl"
    other.write_text('{"id": "letter01", "prediction": {}}\n')

    with pytest.raises(HdbenchError, match="has no id 'letter01'"):
        plan_of(catalogue, [catalogue.runs[0], other])


PERSONS = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}}


def with_persons(folder):
    properties = SCHEMA["properties"] | {"persons": PERSONS}
    catalogue = Catalogue(folder, schema=SCHEMA | {"properties": properties})
    for name in "ab":
        catalogue.run(name, RIGHT)
    return catalogue


def test_several_values_of_a_field_are_left_out_and_that_is_said(tmp_path):
    plan = plan_of(with_persons(tmp_path))

    assert plan.fields == FIELDS
    assert plan.several_values == ("persons[].name",)


@pytest.mark.parametrize("name", ["persons", "persons[].name", "persons[]"])
def test_several_values_of_a_field_cannot_be_asked_for(tmp_path, name):
    with pytest.raises(HdbenchError, match=r"--fields persons.*: an item may have several"):
        plan_of(with_persons(tmp_path), fields=(name,))


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"persons": PERSONS}, r"several values of every field \(persons\[\].name\)"),
        ({"a.b": TEXT}, r"a\.b: its name has a dot"),
    ],
)
def test_a_schema_of_which_nothing_can_be_promised(tmp_path, properties, said):
    catalogue = Catalogue(tmp_path, schema={"type": "object", "properties": properties})
    catalogue.run("a", {})

    with pytest.raises(HdbenchError, match=said):
        plan_of(catalogue)


def test_without_a_schema(tmp_path):
    catalogue = Catalogue(tmp_path)
    (catalogue.path / "answer.schema.json").unlink()

    with pytest.raises(HdbenchError, match=r"has no answer\.schema\.json"):
        plan_of(catalogue, [tmp_path / "a"])
