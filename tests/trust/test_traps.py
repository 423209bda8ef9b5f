"""What breaks a promise ends in a refusal, or in a warning that names it."""

import datetime
import json

import pytest
import yaml
from helpers.planned_cards import RIGHT, Catalogue, agreeing

from hdbench.errors import HdbenchError
from hdbench.trust.deciding import read_plan
from hdbench.trust.plan import Plan
from hdbench.trust.words import sentences, warning_in_words

pytestmark = pytest.mark.nightly


@pytest.fixture
def planned(tmp_path):
    catalogue = agreeing(tmp_path)
    return catalogue, catalogue.plan()


def forge(catalogue, **changed):
    """Change a plan, and its hash with it, as somebody would who knows how."""
    said = yaml.safe_load(catalogue.plan_file.read_text())
    for key in ("plan", "hash"):
        del said[key]
    plan = Plan.model_validate(said | changed)
    text = yaml.safe_dump({"plan": 1, "hash": plan.hash(), **plan.model_dump(mode="json")})
    catalogue.plan_file.write_text(text)


def warned(decision):
    return {each.key: each for each in decision.warnings}


def test_without_a_trap_there_is_no_warning(planned):
    catalogue, plan = planned
    catalogue.check(plan.sample)

    decision = catalogue.decide()

    assert decision.outcome.share == 1
    # 300 values of 100 items without an error: the exact verdict agrees.
    assert decision.warnings == ()
    assert decision.holds


# The sample


@pytest.mark.parametrize("change", ["one more", "one less", "another"])
def test_another_list_of_items(planned, change):
    catalogue, plan = planned
    catalogue.check(plan.sample)
    row = next(row for row in catalogue.rows if row["id"] not in plan.sample)
    if change == "one more":
        catalogue.rows.append({"id": "2000", "ground_truth": None})
    elif change == "one less":
        catalogue.rows.remove(row)
    else:
        row["id"] = "other"
    catalogue.write()

    with pytest.raises(HdbenchError, match=r"not those that the sample of .* was drawn from"):
        catalogue.decide()


def test_the_order_of_the_list_does_not_matter(planned):
    catalogue, plan = planned
    catalogue.rows.reverse()
    catalogue.check(plan.sample)

    assert catalogue.decide().holds


@pytest.mark.parametrize("change", ["another item", "another order", "the first ones"])
def test_items_that_the_seed_did_not_draw(planned, change):
    catalogue, plan = planned
    sample = list(plan.sample)
    if change == "another item":
        sample[3] = next(item for item in catalogue.ids if item not in sample)
    elif change == "another order":
        sample.reverse()
    else:
        sample = catalogue.ids[:100]
    forge(catalogue, sample=sample)
    catalogue.check(sample)

    with pytest.raises(HdbenchError, match="not what the seed 0 draws from its items"):
        catalogue.decide()


def test_a_sample_that_is_said_to_be_drawn_by_another_seed(planned):
    catalogue, plan = planned
    catalogue.check(plan.sample)
    forge(catalogue, whole=plan.whole.model_dump() | {"seed": 5})

    with pytest.raises(HdbenchError, match="not what the seed 5 draws"):
        catalogue.decide()


def test_items_without_truth_are_not_left_out(planned):
    catalogue, plan = planned
    catalogue.check(plan.sample[:-2])

    with pytest.raises(HdbenchError, match=f"2 of 100 items .* such as {plan.sample[-2]}: check"):
        catalogue.decide()


def test_a_sample_that_is_not_small_beside_the_whole(tmp_path):
    catalogue = agreeing(tmp_path, items=900)
    plan = catalogue.plan()
    catalogue.check(plan.sample)

    decision = catalogue.decide()

    small = warned(decision)["small_whole"]
    assert warning_in_words(small) == (
        "100 of 900 items were checked, more than a tenth: the bound is higher than it needs to be."
    )
    plan = catalogue.plan(verdict="exact")
    catalogue.check(plan.sample)
    assert "is not exact here" in warning_in_words(warned(catalogue.decide())["small_whole_exact"])


# The truth


def test_truth_from_drafts(planned):
    catalogue, plan = planned
    catalogue.check(plan.sample)
    catalogue.check(plan.sample[5:8], how="draft:model-a")

    with pytest.raises(HdbenchError, match=f"3 ground truths .* such as {plan.sample[5]}: people"):
        catalogue.decide()


@pytest.mark.parametrize("how", ["imported", "corrected after audit", None])
def test_truth_that_may_not_be_blind(planned, how):
    catalogue, plan = planned
    catalogue.check(plan.sample)
    catalogue.check(plan.sample[:7], how=how)
    for row in catalogue.rows if how is None else ():
        if row["id"] in plan.sample[:7]:
            del row["provenance"]
    catalogue.write()

    notice = warned(catalogue.decide())["not_blind"]

    assert warning_in_words(notice).startswith("For 7 of the 100 items, it is not known that")
    assert f"(provenance: {how or 'unknown'})" in warning_in_words(notice)


def test_truth_that_was_there_before_the_plan(tmp_path):
    catalogue = agreeing(tmp_path)
    catalogue.check(catalogue.ids[:1000])

    plan = catalogue.plan()
    catalogue.check(plan.sample)
    decision = catalogue.decide()

    known = sum(int(item) < 1000 for item in plan.sample)
    assert plan.known == known > 0
    assert not decision.holds
    assert sentences(decision)[0].startswith("This is no promise: About 6,000")
    assert warning_in_words(warned(decision)["known"]).startswith(
        f"{known} of the 100 items of the sample had a ground truth before the plan was made."
    )


def annotated(catalogue, item, at):
    """The history of somebody who typed in one value of an item."""
    change = {
        "id": "0" * 31 + "1",
        "item": item,
        "by": "anna",
        "at": at,
        "what": "ground_truth",
        "field": "title",
        "old": None,
        "to": "Stellingen",
        "after": None,
        "how": "blind",
    }
    (catalogue.path / "history").mkdir()
    (catalogue.path / "history/anna.jsonl").write_text(json.dumps(change) + "\n")


@pytest.mark.parametrize(("days", "known"), [(-1, 1), (1, 0)])
def test_a_forged_plan_is_younger_than_what_was_typed_in(planned, days, known):
    catalogue, plan = planned
    forge(catalogue, known=0, limit=0.2)
    when = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    annotated(catalogue, plan.sample[4], when.strftime("%Y-%m-%dT%H:%M:%S.000Z"))
    catalogue.check(plan.sample)

    decision = catalogue.decide()

    assert decision.holds == (not known)
    assert [each.values["known"] for each in decision.warnings if each.key == "known"] == (
        [1] if known else []
    )


def test_what_was_typed_in_for_other_items_is_not_known(planned):
    catalogue, plan = planned
    other = next(item for item in catalogue.ids if item not in plan.sample)
    annotated(catalogue, other, "2020-01-01T00:00:00.000Z")
    catalogue.check(plan.sample)

    assert catalogue.decide().holds


# The plan


def test_one_letter_makes_a_plan_void(planned):
    catalogue, _ = planned
    text = catalogue.plan_file.read_text()
    assert "right: letter" in text
    for old, new in (
        ("right: letter", "right: threshold"),
        ("limit: 0.05", "limit: 0.06"),
        ("known: 0", "known: 1"),
        ("- '0", "- '1"),
        ("- place\n", ""),
    ):
        assert old in text
        catalogue.plan_file.write_text(text.replace(old, new, 1))
        with pytest.raises(HdbenchError, match="was changed after it was made"):
            read_plan(catalogue.plan_file)


def test_comments_and_line_breaks_of_a_plan_do_not_matter(planned):
    catalogue, plan = planned
    text = catalogue.plan_file.read_text()
    catalogue.plan_file.write_text(f"# sent to B. on Monday\r\n{text}".replace("\n", "\r\n"))

    assert read_plan(catalogue.plan_file) == plan


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"grid": [0.9, 0.95]}, "strict to loose"),
        ({"grid": []}, "grid"),
        ({"confidence": 0.8}, "confidence"),
        ({"confidence": 0.95}, "confidence"),
        ({"limit": 0.6}, "limit"),
        ({"limit": 0}, "limit"),
        ({"created": "yesterday"}, "created"),
        ({"created": "2026-01-01T00:00:00"}, "created"),
        ({"fields": []}, "fields"),
        ({"known": -1}, "known"),
        ({"peeked": True}, "peeked"),
    ],
)
def test_no_plan_can_say_what_makes_no_sense(planned, changed, named):
    catalogue, _ = planned
    said = yaml.safe_load(catalogue.plan_file.read_text()) | changed
    catalogue.plan_file.write_text(yaml.safe_dump(said))

    with pytest.raises(HdbenchError, match=named):
        read_plan(catalogue.plan_file)


def test_one_run_cannot_be_left_of_a_plan(planned):
    catalogue, _ = planned
    said = yaml.safe_load(catalogue.plan_file.read_text())
    catalogue.plan_file.write_text(yaml.safe_dump(said | {"runs": said["runs"][:1]}))

    with pytest.raises(HdbenchError, match="one run, and no scores"):
        read_plan(catalogue.plan_file)


def test_no_plan_decides_exactly_from_strata(tmp_path):
    catalogue = agreeing(tmp_path, box=["A", "B"] * 1000)
    catalogue.plan(by=("box",))
    said = yaml.safe_load(catalogue.plan_file.read_text())
    catalogue.plan_file.write_text(yaml.safe_dump(said | {"verdict": "exact"}))

    with pytest.raises(HdbenchError, match="exact, but the sample is stratified"):
        read_plan(catalogue.plan_file)


def test_what_is_not_a_plan(tmp_path):
    for text in ("plan: 3\n", "- a\n", "", "sample: [a]\n", "{{"):
        (tmp_path / "plan.yaml").write_text(text)
        with pytest.raises(HdbenchError, match=r"plan\.yaml: no"):
            read_plan(tmp_path / "plan.yaml")
    with pytest.raises(HdbenchError, match="cannot be read"):
        read_plan(tmp_path / "none.yaml")


# The runs


def test_another_run_of_the_same_model(planned):
    catalogue, plan = planned
    catalogue.check(plan.sample)
    answers = catalogue.runs[1] / "answers.jsonl"
    answers.write_text(answers.read_text().replace("Basel", "basel", 1))

    with pytest.raises(HdbenchError, match=r"b: not the answers that .*plan\.yaml was made for"):
        catalogue.decide()


def test_a_run_that_is_not_there(planned):
    catalogue, plan = planned
    catalogue.check(plan.sample)
    catalogue.runs[1].rename(catalogue.folder / "elsewhere")

    with pytest.raises(HdbenchError, match=r"b: not here, but .* was made for it: put it back"):
        catalogue.decide()


def test_twins(tmp_path):
    catalogue = Catalogue(tmp_path)
    for name in "ab":  # wrong together in every 20th item
        catalogue.run(
            name,
            lambda number: RIGHT | ({} if number % 20 else {"year": 1942}),
        )
    catalogue.run("c", lambda number: RIGHT | ({} if number % 20 else {"year": 1900}))
    plan = catalogue.plan(200)
    catalogue.check(plan.sample)

    decision = catalogue.decide()

    wrong = sum(int(item) % 20 == 0 for item in plan.sample)
    (twins,) = [each for each in decision.warnings if each.key == "twins"]
    assert warning_in_words(twins).startswith(
        f"In {wrong} of the {wrong} values where a or b is wrong, both have the same wrong value."
    )


def test_runs_that_are_wrong_in_different_ways_are_no_twins(tmp_path):
    catalogue = Catalogue(tmp_path)
    for year, name in enumerate("ab"):
        catalogue.run(
            name, lambda number, year=year: RIGHT | ({} if number % 20 else {"year": 1900 + year})
        )
    plan = catalogue.plan()
    catalogue.check(plan.sample)

    assert "twins" not in warned(catalogue.decide())


def test_half_of_the_errors_shared_are_not_yet_twins(tmp_path):
    catalogue = Catalogue(tmp_path)
    catalogue.run("a", RIGHT | {"year": 1942, "place": "Bern"})
    catalogue.run("b", RIGHT | {"year": 1942, "place": "Genf"})
    plan = catalogue.plan()
    catalogue.check(plan.sample)

    assert "twins" not in warned(catalogue.decide())


def test_answers_that_are_missing(tmp_path):
    catalogue = Catalogue(tmp_path)
    catalogue.run("a", RIGHT)
    catalogue.run("b", lambda number: None if number % 2 else RIGHT)
    plan = catalogue.plan()
    catalogue.check(plan.sample)

    odd = sum(int(item) % 2 for item in plan.sample)
    said = warning_in_words(warned(catalogue.decide())["unanswered"])
    assert said.endswith(f"of the 100 checked items, which lowers trust scores: b ({odd}).")


# What the promise hides


def test_fields_that_are_worse_than_all_together(planned):
    catalogue, plan = planned
    catalogue.check(
        plan.sample,
        lambda place: RIGHT | ({"year": 1900} if place < 3 else {}),
    )

    said = warning_in_words(warned(catalogue.decide())["fields_above"])

    assert said.endswith("these may be above the limit (upper bounds): year (6.6%).")


def test_that_the_exact_verdict_disagrees_is_said(tmp_path):
    names = [f"field{number}" for number in range(12)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    right = dict.fromkeys(names, "Basel")
    catalogue = Catalogue(tmp_path, schema=schema)
    for run in "ab":
        catalogue.run(run, right)
    plan = catalogue.plan()
    # 38 of 1,200 values, one in each of 38 items: the rule's bound is 4.6 %, and betting wins only
    # 6.7 times its stake.
    catalogue.check(
        plan.sample, lambda place: right | ({names[place % 12]: "Bern"} if place < 38 else {})
    )

    decision = catalogue.decide()

    assert decision.outcome.wrong["letter"].upper == pytest.approx(0.0462, abs=1e-4)
    said = warning_in_words(warned(decision)["exact_accepts_none"])
    assert "does not accept the threshold 0, nor any other" in said


def test_right_by_threshold_is_said(tmp_path):
    catalogue = agreeing(tmp_path)
    plan = catalogue.plan(right="threshold")
    catalogue.check(plan.sample)

    assert "see the figure to the letter" in warning_in_words(
        warned(catalogue.decide())["by_threshold"]
    )


def test_a_field_that_nobody_filled_in_is_named(tmp_path):
    without = {name: value for name, value in RIGHT.items() if name != "place"}
    catalogue = agreeing(tmp_path)
    sample = catalogue.plan().sample
    catalogue.check(sample, without)
    wrong = catalogue.decide()
    catalogue.runs.clear()
    for name in "abc":
        catalogue.run(name, without)
    catalogue.check(catalogue.plan().sample, without)
    empty = catalogue.decide()

    # Where models have a value, each is wrong; where they have none, each is right, and empty.
    assert [*wrong.counting.left_out] == ["place"]
    assert empty.outcome.by_field["place"].empty == 100
    for decision in (wrong, empty):
        said = warning_in_words(warned(decision)["without_truth"])
        assert said.startswith(
            "None of the 100 checked items has a ground truth for these fields: place."
        )


def test_every_warning_is_said_in_both_languages(tmp_path):
    catalogue = Catalogue(tmp_path, items=300)
    catalogue.run("a", RIGHT | {"title": "Else"})
    catalogue.run("b", lambda number: RIGHT | {"title": "Else"} if number else None)
    catalogue.check(catalogue.ids, how=None)
    sample = catalogue.plan(250).sample
    catalogue.check(sample, lambda place: RIGHT if place else RIGHT | {"place": "Bern"}, None)
    catalogue.plan(250)  # of what is known now: a plan seals that

    decision = catalogue.decide()

    assert {"known", "not_blind", "twins", "small_whole", "fields_left_out"} <= set(
        warned(decision)
    )
    for each in decision.warnings:
        english, german = (warning_in_words(each, language) for language in ("en", "de"))
        assert english != german
        assert "{" not in english + german
