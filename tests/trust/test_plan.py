"""What a plan fixes, and what is refused because nothing can be promised."""

import hashlib
import json
from collections import Counter
from itertools import pairwise

import pytest
import yaml
from helpers.planned_cards import FIELDS, RIGHT, SCHEMA, TEXT, Catalogue, agreeing
from reference import acceptance as naive

from hdbench.errors import HdbenchError
from hdbench.statistics.acceptance import GRID
from hdbench.trust.deciding import read_plan
from hdbench.trust.plan import PlanOptions, make_plan, write_plan


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    return agreeing(tmp_path_factory.mktemp("plan"))


def test_what_a_plan_fixes(catalogue):
    plan = catalogue.plan(120, limit=0.1, right="threshold", verdict="exact", seed=7)

    assert plan.fields == FIELDS
    assert (plan.limit, plan.confidence, plan.right, plan.verdict) == (
        0.1,
        0.9,
        "threshold",
        "exact",
    )
    assert (plan.grid, plan.known) == (GRID, 0)
    assert [run.name for run in plan.runs] == ["a", "b", "c"]
    assert (plan.whole.of, plan.whole.items, plan.whole.seed) == (2000, 120, 7)
    assert len(set(plan.sample)) == 120
    assert set(plan.sample) <= set(catalogue.ids)
    list_hash = hashlib.sha256("\n".join(catalogue.ids).encode()).hexdigest()
    assert plan.list_sha256 == list_hash


def test_the_hash_is_that_of_the_json(catalogue):
    plan = catalogue.plan()
    said = yaml.safe_load(catalogue.plan_file.read_text())

    assert said.pop("plan") == 1
    noted = said.pop("hash")
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert noted == plan.hash() == hashlib.sha256(text.encode()).hexdigest()
    assert read_plan(catalogue.plan_file) == plan


def test_same_seed_draws_the_same_sample_and_others_differ(catalogue):
    first, again, other = (catalogue.plan(seed=seed).sample for seed in (1, 1, 2))

    assert first == again
    assert set(first) != set(other)


def test_items_are_drawn_from_everywhere_and_in_random_order(catalogue):
    # Hypergeometric: in 20 samples of 100, each tenth of the list has 200 items, give or take 13.
    drawn = Counter()
    rises = 0
    for seed in range(20):
        sample = [int(item) for item in catalogue.plan(seed=seed).sample]
        drawn.update(number // 200 for number in sample)
        rises += sum(a < b for a, b in pairwise(sample))
    assert all(135 < drawn[tenth] < 265 for tenth in range(10))
    assert 0.45 < rises / (20 * 99) < 0.55


def test_a_plan_is_never_replaced(catalogue):
    plan = catalogue.plan()

    with pytest.raises(HdbenchError, match="exists already: a plan is never replaced"):
        write_plan(catalogue.plan_file, plan)


def test_chosen_fields(catalogue):
    plan = catalogue.plan(150, fields=("year", "place", "year"))

    assert plan.fields == ("year", "place")
    assert plan.several_values == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"confidence": 0.95}, "--confidence 0.95: only 0.9 is possible"),
        ({"confidence": 0.8}, "--confidence 0.8"),
        ({"limit": 0}, "--limit 0: must be above 0 and at most 0.5"),
        ({"limit": 0.6}, "--limit 0.6"),
        ({"number": 44}, "--items 44: too few: at least 45 items"),
        ({"number": 113, "limit": 0.02}, "--items 113: too few: at least 114 items"),
        ({"number": 2001}, "has 2,000 items, and 2001 are to be drawn"),
        ({"fields": ("author",)}, "--fields author: no such field; .* has title, place, year"),
        ({"fields": ("titel",)}, r"--fields titel: no such field; .*; did you mean title\?"),
        ({"by": ("box",)}, "no column 'box'"),
        ({"by": ("box",), "verdict": "exact"}, "--verdict exact: needs a simple random sample"),
    ],
)
def test_what_is_refused(catalogue, options, said):
    with pytest.raises(HdbenchError, match=said):
        make_plan(catalogue.benchmark, catalogue.runs, PlanOptions(**{"number": 100} | options))


@pytest.mark.parametrize(("verdict", "fields"), [("rule", 1), ("rule", 2), ("exact", 1)])
def test_as_few_items_as_are_enough_if_nothing_is_wrong(tmp_path, verdict, fields):
    catalogue = agreeing(tmp_path)  # whose ground truths no other test has: their order varies

    def is_enough(number):
        passing, wrong = [fields] * number, [0] * number
        if verdict == "rule":
            return naive.upper_bound(passing, wrong) <= 0.05
        return naive.capital(passing, wrong, fields, 0.05) >= 10

    least = next(number for number in range(45, 300) if is_enough(number))
    chosen = FIELDS[:fields]
    plan = catalogue.plan(least, fields=chosen, verdict=verdict)
    catalogue.check(plan.sample)
    assert catalogue.decide().outcome.threshold == 0

    with pytest.raises(HdbenchError, match=f"at least {least} items have to be checked"):
        catalogue.plan(least - 1, fields=chosen, verdict=verdict)


def test_five_pages_are_five_clusters(tmp_path):
    catalogue = agreeing(tmp_path, items=5)

    with pytest.raises(HdbenchError, match="5 items are too few: values of one item go wrong"):
        catalogue.plan(100)


def test_one_run_agrees_with_nothing(catalogue):
    with pytest.raises(HdbenchError, match="a: one run has nothing to agree with"):
        make_plan(catalogue.benchmark, catalogue.runs[:1], PlanOptions(100))


def test_the_same_answers_twice(catalogue):
    twice = [catalogue.runs[0], catalogue.runs[1], catalogue.runs[0]]

    with pytest.raises(HdbenchError, match="has the same answers as"):
        make_plan(catalogue.benchmark, twice, PlanOptions(100))


def test_runs_of_one_model_keep_apart(catalogue):
    again = catalogue.folder / "again"
    again.mkdir(exist_ok=True)
    info = json.loads((catalogue.runs[0] / "run.json").read_text())
    (again / "run.json").write_text(json.dumps(info))
    (again / "answers.jsonl").write_text('{"id": "0000", "prediction": {}}\n')

    plan = make_plan(catalogue.benchmark, [catalogue.runs[0], again], PlanOptions(100))

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
        make_plan(catalogue.benchmark, [catalogue.runs[0], both], PlanOptions(100))


def test_answers_to_another_benchmark(catalogue):
    other = catalogue.folder / "other.jsonl"
    other.write_text('{"id": "letter01", "prediction": {}}\n')

    with pytest.raises(HdbenchError, match="has no id 'letter01'"):
        make_plan(catalogue.benchmark, [catalogue.runs[0], other], PlanOptions(100))


PERSONS = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}}


def with_persons(folder):
    properties = SCHEMA["properties"] | {"persons": PERSONS}
    catalogue = Catalogue(folder, schema=SCHEMA | {"properties": properties})
    for name in "ab":
        catalogue.run(name, RIGHT)
    return catalogue


def test_several_values_of_a_field_are_left_out_and_that_is_said(tmp_path):
    catalogue = with_persons(tmp_path)

    plan = catalogue.plan()
    catalogue.check(plan.sample)

    assert plan.fields == FIELDS
    assert plan.several_values == ("persons[].name",)
    (warned,) = catalogue.decide().warnings
    assert (warned.key, warned.values["fields"]) == ("several_values", "persons[].name")


@pytest.mark.parametrize("name", ["persons", "persons[].name", "persons[]"])
def test_several_values_of_a_field_cannot_be_asked_for(tmp_path, name):
    catalogue = with_persons(tmp_path)

    with pytest.raises(HdbenchError, match=r"--fields persons.*: an item may have several"):
        catalogue.plan(fields=(name,))


def test_a_benchmark_of_lists_only(tmp_path):
    catalogue = Catalogue(tmp_path, schema={"type": "object", "properties": {"persons": PERSONS}})

    with pytest.raises(HdbenchError, match=r"several values of every field \(persons\[\].name\)"):
        catalogue.plan()


def test_a_name_with_a_dot(tmp_path):
    catalogue = Catalogue(tmp_path, schema={"type": "object", "properties": {"a.b": TEXT}})

    with pytest.raises(HdbenchError, match=r"a\.b: its name has a dot"):
        catalogue.plan(150)


def test_without_a_schema(tmp_path):
    catalogue = Catalogue(tmp_path)
    (catalogue.path / "answer.schema.json").unlink()

    with pytest.raises(HdbenchError, match=r"has no answer\.schema\.json"):
        catalogue.plan()


# Strata


def test_strata_get_their_shares(tmp_path):
    boxes = ["A"] * 1200 + ["B"] * 600 + ["C"] * 200
    catalogue = agreeing(tmp_path, box=boxes)

    plan = catalogue.plan(100, by=("box",))

    of = dict(zip(catalogue.ids, boxes, strict=True))
    assert Counter(of[item] for item in plan.sample) == {"A": 60, "B": 30, "C": 10}
    order = [of[item] for item in plan.sample]
    assert len(set(order[:20])) > 1  # not one stratum after the other
    catalogue.check(plan.sample)
    assert catalogue.decide().holds


def test_a_stratum_that_would_get_more_than_its_share(tmp_path):
    catalogue = agreeing(tmp_path, box=["A"] * 1990 + ["B"] * 10)

    with pytest.raises(HdbenchError, match=r"--by box: B: 2 of its 10 items .* at least 400 items"):
        catalogue.plan(100, by=("box",))
    assert [each.items for each in catalogue.plan(400, by=("box",)).whole.strata] == [398, 2]


def test_columns_that_changed_after_the_draw(tmp_path):
    boxes = ["A"] * 1000 + ["B"] * 1000
    catalogue = agreeing(tmp_path, box=boxes)
    plan = catalogue.plan(by=("box",))
    for row in catalogue.rows[:100]:
        row["box"] = "B"
    catalogue.check(plan.sample)

    with pytest.raises(HdbenchError, match="draws from its items and the columns box"):
        catalogue.decide()
