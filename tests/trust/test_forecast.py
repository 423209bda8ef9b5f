"""The forecast for a small collection, derived by hand; see `helpers/collection.py`."""

import json
from dataclasses import replace

import pytest
from helpers.collection import READERS, TRUTH, read, runs_of, write_collection, write_rows
from helpers.run_folders import write_run
from helpers.strata import sample_of
from scipy import stats

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.trust.decision import decide
from hdbench.trust.forecasting.forecast import ForecastOptions, forecast
from hdbench.trust.forecasting.price_list import Price
from hdbench.trust.forecasting.work import Pace
from hdbench.trust.plan import PlanOptions, make_plan, write_plan

PACE = Pace(keystrokes_per_minute=60, seconds_per_look=2)
OPTIONS = ForecastOptions(total=1_000, pace=PACE)
RATES = {"date": "2026-11-01", "source": "price list"}


@pytest.fixture
def collection(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_collection(tmp_path)


def made(folder, options=OPTIONS, runs=None):
    return forecast(load_benchmark("hdb/cards"), runs or runs_of(folder), options)


def at(found, threshold):
    return next(step for step in found.rule if step.threshold == threshold)


def keys(found):
    return [notice.key for notice in found.notices]


def test_the_work_that_a_model_leaves(collection):
    found = made(collection)
    one, two, three = found.models
    assert [each.model for each in found.models] == list(READERS)
    assert one.answered == 19
    # 5 places, 3 years, an item without an answer (3 values), 1 title.
    assert one.edits.per_item.value == 12 / 20
    assert one.edits.whole.value == pytest.approx(600)
    # 5 × 1, 3 × 2, 15 + 4 + 5 letters to type, 1.
    assert one.keystrokes.per_item.value == 36 / 20
    # 3 looks of 2 s and 1.8 keys of 1 s for each item.
    assert one.hours.per_item.value == pytest.approx((6 + 1.8) / 3600)
    assert one.hours.whole.value == pytest.approx(7_800 / 3600)
    exact = stats.binomtest(10, 20).proportion_ci(0.9, "exact")
    assert one.untouched.per_item.value == 0.5
    assert one.untouched.whole.value == 500
    assert one.untouched.whole.low == pytest.approx(1_000 * exact.low)
    assert one.untouched.whole.high == pytest.approx(1_000 * exact.high)
    assert (two.edits.per_item.value, two.untouched.per_item.value) == (4 / 20, 16 / 20)
    assert (three.edits.per_item.value, three.keystrokes.per_item.value) == (3 / 20, 6 / 20)


def test_what_the_rule_leaves(collection):
    found = made(collection)
    # All agree on 30 + 2 × 5 + 9 + 0 + 2 values.
    step = at(found, 1.0)
    assert step.taken_over == pytest.approx(51 / 60)
    assert step.looks.per_item.value == 9 / 20
    assert step.unseen.per_item.value == 13 / 20
    assert {right: each.per_item.value for right, each in step.remaining.items()} == {
        "letter": 3 / 20,
        "threshold": 3 / 20,
    }
    # `744` is looked at, and right by the threshold.
    assert step.no_edit["letter"].per_item.value == 19 / 20
    assert step.no_edit["threshold"].per_item.value == 1.0
    assert step.keystrokes.per_item.value == 1 / 20
    assert step.hours.whole.value == pytest.approx(1_000 * (2 * 9 + 1) / 20 / 3600)


def test_each_threshold_takes_over_more(collection):
    found = made(collection)
    # `744` has (1 + 28/30) / 2, about .967; `Basel` beside `Bassel` (1 + 10/11) / 2, about .955.
    assert at(found, 0.98).looks.per_item.value == 9 / 20
    step = at(found, 0.96)
    assert step.looks.per_item.value == 8 / 20
    assert step.remaining["letter"].per_item.value == 4 / 20
    assert step.remaining["letter"].whole.value == pytest.approx(200)
    assert step.remaining["threshold"].per_item.value == 3 / 20
    assert at(found, 0.94).looks.per_item.value == 3 / 20
    assert at(found, 0.6).looks.per_item.value == 3 / 20
    assert at(found, 0.5).looks.per_item.value == 0
    assert at(found, 0.5).unseen.per_item.value == 1.0


def test_with_all_values_looked_at_nothing_remains(collection):
    step = at(made(collection), None)
    assert step.taken_over == 0
    assert step.looks.per_item.value == 3
    assert step.remaining["letter"].whole.value == 0
    # Of the values that are taken from three runs, 3 years and 1 title have to be corrected.
    assert step.no_edit["letter"].per_item.value == 16 / 20
    assert step.keystrokes.per_item.value == 7 / 20


def test_one_run_alone_has_no_rule(collection):
    found = made(collection, runs=runs_of(collection)[:1])
    assert found.rule == ()
    assert found.models[0].edits.per_item.value == 12 / 20


def test_money_by_tokens(collection):
    prices = {name: Price(input=1, output=5, **RATES) for name in READERS}
    found = made(collection, replace(OPTIONS, prices=prices, wage=30))
    one, two, _ = found.models
    # 1,000 and 100 tokens for ten items: 0.0015 dollars; twice as much for the others.
    assert two.usd.items == 20
    assert two.usd.amount.whole.value == pytest.approx(1_000 * (10 * 0.0015 + 10 * 0.003) / 20)
    assert two.usd.amount.whole.low < 2.25 < two.usd.amount.whole.high
    assert two.input_tokens.amount.whole.value == pytest.approx(1_500_000)
    assert two.output_tokens.amount.whole.value == pytest.approx(150_000)
    assert two.seconds.amount.whole.value == pytest.approx(3_600)
    assert two.price.source == "price list"
    # The item without an answer is taken to be like the others: 19 are too few for an interval.
    assert one.usd.items == 19
    assert one.usd.amount.whole.value == pytest.approx(1_000 * (10 * 0.0015 + 9 * 0.003) / 19)
    assert one.usd.amount.whole.low is None
    assert one.wages.whole.value == pytest.approx(30 * 7_800 / 3600)
    assert found.rule_usd == pytest.approx(2 * 2.25 + 42 / 19)
    assert keys(found).count("forecast_usage") == 1


def test_runs_of_one_model_have_its_price_and_names_of_their_own(collection):
    files = [collection / "first.jsonl", collection / "second.jsonl"]
    for file, reader in zip(files, ("one", "two"), strict=True):
        found = [
            {"id": f"{n:04}", "prediction": read(n, reader), "model": "gpt", "seconds": 3600}
            for n in range(5, 15)
        ]
        file.write_text("".join(json.dumps(each) + "\n" for each in found))
    prices = {"gpt": Price(per_hour=2, **RATES)}
    found = made(collection, replace(OPTIONS, prices=prices), runs=files)
    assert [each.model for each in found.models] == ["gpt (first)", "gpt (second)"]
    # An hour for each of ten items.
    assert [each.usd.amount.whole.value for each in found.models] == [2_000, 2_000]
    assert "forecast_no_price" not in keys(found)


def test_money_by_the_hour(collection):
    prices = {"two": Price(per_hour=2.5, **RATES)}
    found = made(collection, replace(OPTIONS, prices=prices))
    # 3.6 s for each of 1,000 items are an hour.
    assert found.models[1].usd.amount.whole.value == pytest.approx(2.5)
    assert found.models[0].usd is None
    assert found.rule_usd is None
    assert keys(found).count("forecast_no_price") == 2


def test_missing_tokens_are_not_guessed(collection):
    answers = {f"{n:04}": {"prediction": read(n, "two")} for n in range(20)}
    write_run(collection / "runs/two", answers, model="two")
    prices = {name: Price(input=1, output=5, **RATES) for name in READERS}
    found = made(collection, replace(OPTIONS, prices=prices))
    two = found.models[1]
    assert (two.usd, two.usd_from, two.price) == (None, None, None)
    assert two.input_tokens.items == 0
    assert two.input_tokens.amount is None
    assert found.rule_usd is None
    notice = next(each for each in found.notices if each.values.get("model") == "two")
    assert notice.key == "forecast_usage"
    assert notice.values == {"model": "two", "tokens": 0, "seconds": 0, "items": 20}


def test_half_of_the_tokens_are_no_price(collection):
    answers = {
        f"{n:04}": {"prediction": TRUTH, "tokens": {"input": 1000}, "seconds": 1} for n in range(20)
    }
    write_run(collection / "runs/two", answers, model="two")
    found = made(collection, replace(OPTIONS, prices={"two": Price(input=1, output=5, **RATES)}))
    assert found.models[1].usd is None
    assert found.models[1].input_tokens.items == 20


def test_what_a_run_says_that_it_cost(collection):
    answers = {f"{n:04}": {"prediction": TRUTH} for n in range(20)}
    write_run(collection / "runs/two", answers, model="two", cost_usd=0.5)
    two = made(collection).models[1]
    assert two.usd_from == "run"
    assert two.usd.amount.whole.value == pytest.approx(25.0)
    assert two.usd.amount.whole.low is None
    some = [f"{n:04}" for n in range(10)]
    few = {item: answers[item] for item in some}
    write_run(collection / "runs/two", few, model="two", cost_usd=0.5, items=some)
    found = made(collection)
    assert found.models[1].usd.amount.whole.value == pytest.approx(50.0)
    assert found.items == 10
    assert keys(found)[:3] == ["forecast_not_drawn", "forecast_few_items", "forecast_not_asked"]


def test_what_the_sittings_of_a_run_cost_is_added_up(collection):
    # Ten of the twenty items are answered so far, for half a dollar.
    answers = {f"{n:04}": {"prediction": TRUTH} for n in range(10)}
    sittings = [{"cost_usd": 0.2}, {"cost_usd": 0.3}]
    write_run(collection / "runs/two", answers, model="two", sittings=sittings, hdbench="0.3.0")
    two = made(collection).models[1]
    assert two.usd.amount.whole.value == pytest.approx(50.0)
    for unknown in (
        {},
        {"cost_usd": None},
        {"cost_usd": "1"},
        {"cost_usd": -1},
        {"cost_usd": 10**400},
    ):
        write_run(
            collection / "runs/two",
            answers,
            model="two",
            sittings=[*sittings, unknown],
            hdbench="0.3.0",
        )
        assert made(collection).models[1].usd is None


def test_a_stratified_sample_stands_for_its_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # The first ten items, which are all right, stand for 900, and the other ten for 100.
    sample = sample_of((900, 100), {0: 10, 1: 10})
    columns = {"stratum": "int32", "type": "string"}
    write_collection(tmp_path, columns=columns, sample=sample)
    truth = json.dumps(TRUTH)
    rows = [
        {"id": f"{n:04}", "ground_truth": truth, "stratum": int(n > 9), "type": "ab"[n > 9]}
        for n in range(20)
    ]
    write_rows(tmp_path, rows)
    found = made(tmp_path, ForecastOptions())
    assert found.total == 1_000
    assert found.models[0].edits.per_item.value == pytest.approx(0.1 * 12 / 10)
    assert found.models[0].untouched.per_item.value == pytest.approx(0.9)
    assert at(found, 1.0).looks.per_item.value == pytest.approx(0.1 * 9 / 10)
    assert at(found, 1.0).taken_over == pytest.approx(1 - 0.09 / 3)
    # Item 18 has no answer: the nine others of its stratum, of 2,000 tokens each, stand for it.
    assert found.models[0].input_tokens.items == 19
    assert found.models[0].input_tokens.amount.whole.value == pytest.approx(900_000 + 200_000)
    assert found.method.endswith("within strata")
    assert "forecast_not_drawn" not in keys(found)
    assert keys(found)[0] != "forecast_other_whole"
    assert keys(made(tmp_path, ForecastOptions(total=5_000)))[0] == "forecast_other_whole"


def test_values_in_lists_are_always_looked_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    persons = {"type": "array", "items": {"properties": {"name": {"type": "string"}}}}
    schema = {"properties": {"place": {"type": "string"}, "persons": persons}}
    write_collection(tmp_path, metric="record_f1")
    (tmp_path / "hdb/cards/answer.schema.json").write_text(json.dumps(schema))
    truth = {"place": "Basel", "persons": [{"name": "Meier"}, {"name": "Huber"}]}
    rows = [{"id": f"{n:04}", "ground_truth": json.dumps(truth)} for n in range(20)]
    write_rows(tmp_path, rows)
    # The first run has one name wrong in a letter, and the others lack it; the order is another.
    one = {"place": "Basel", "persons": [{"name": "Hubers"}, {"name": "Meier"}]}
    two = {"place": "Basel", "persons": [{"name": "Meier"}]}
    for reader, record in zip(READERS, (one, two, two), strict=True):
        answers = {f"{n:04}": {"prediction": record} for n in range(20)}
        write_run(tmp_path / "runs" / reader, answers, model=reader)
    found = made(tmp_path)
    assert "forecast_in_lists" in keys(found)
    assert found.models[0].edits.per_item.value == 1
    assert found.models[0].keystrokes.per_item.value == 1
    assert found.models[1].keystrokes.per_item.value == 5
    step = at(found, 1.0)
    # The place is accepted; the two names are looked at.
    assert step.looks.per_item.value == 2
    assert step.taken_over == pytest.approx(1 / 3)
    assert step.keystrokes.per_item.value == 1
    assert step.no_edit["letter"].per_item.value == 0
    assert step.remaining["letter"].per_item.value == 0


def test_a_field_without_any_truth_is_left_out(collection):
    truth = {"title": TRUTH["title"], "year": TRUTH["year"]}
    write_rows(
        collection, [{"id": f"{n:04}", "ground_truth": json.dumps(truth)} for n in range(20)]
    )
    found = made(collection)
    assert found.fields == ("title", "year")
    assert next(each for each in found.notices if each.key == "forecast_without_truth").values == {
        "fields": "place"
    }
    # The wrong places do not count: 3 years, an item without an answer (2 values), 1 title.
    assert found.models[0].edits.per_item.value == 6 / 20


def test_drafted_truths_are_named(collection):
    rows = [{"id": f"{n:04}", "ground_truth": json.dumps(TRUTH)} for n in range(20)]
    rows[3] |= {"provenance": "draft:2026-01-24/T1"}
    write_rows(collection, rows)
    found = made(collection)
    drafted = [each for each in found.notices if each.key == "forecast_drafted"]
    assert [each.values for each in drafted] == [{"number": 1, "items": 20}]


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """A plan for 60 of 100 items, all of which have a truth."""
    monkeypatch.chdir(tmp_path)
    write_collection(tmp_path, items=100)

    def planned(**options):
        plan = make_plan(load_benchmark("hdb/cards"), runs_of(tmp_path), PlanOptions(60, **options))
        write_plan(tmp_path / "plan.yaml", plan)
        return tmp_path, plan

    return planned


def test_a_plan_says_what_is_left(planned):
    folder, plan = planned(limit=0.2)
    options = ForecastOptions(pace=PACE, plan=folder / "plan.yaml")
    found = made(folder, options, list(reversed(runs_of(folder))))
    decision = decide(plan, load_benchmark("hdb/cards"), folder / "plan.yaml")
    outcome = decision.outcome
    assert (found.total, found.items) == (100, 60)
    assert [each.model for each in found.models] == list(READERS)  # in the plan's order
    (step,) = found.rule
    assert step.threshold == outcome.threshold
    assert step.taken_over == pytest.approx(outcome.share)
    assert step.looks.per_item.value == pytest.approx(3 - outcome.passing / 60)
    counted = {right: each.per_item.value * 60 for right, each in step.remaining.items()}
    assert counted == pytest.approx({right: each.count for right, each in outcome.wrong.items()})
    assert found.promise.wrong == outcome.wrong
    assert found.promise.plan == plan.hash()
    assert not found.promise.holds
    assert keys(found)[0] == "known"


def test_a_plan_that_lets_nothing_through_leaves_everything(planned):
    folder, _ = planned(limit=0.05)
    found = made(folder, ForecastOptions(pace=PACE, plan=folder / "plan.yaml"))
    (step,) = found.rule
    assert step.threshold is None
    assert step.looks.per_item.value == 3
    assert found.promise.fields == ()


def test_fields_that_are_not_in_the_plan_are_looked_at(planned):
    folder, _ = planned(limit=0.2, fields=["title", "place"])
    (step,) = made(folder, ForecastOptions(pace=PACE, plan=folder / "plan.yaml")).rule
    assert step.threshold is not None
    assert step.looks.per_item.value >= 1
    # No year is accepted, and `744` is the only wrong value of the others.
    assert step.unseen.per_item.value == 0


@pytest.mark.parametrize(
    ("options", "runs", "said"),
    [
        (ForecastOptions(), READERS, "hdb/cards: does not say what it is a sample of"),
        (ForecastOptions(total=19), READERS, "--total 19: 20 items were checked already"),
        (ForecastOptions(total=100, wage=-1), READERS, "--wage -1: must be from 0"),
        (ForecastOptions(total=100, wage=float("nan")), READERS, "--wage nan: must be from 0"),
        (
            ForecastOptions(total=100, pace=Pace(0, 1)),
            READERS,
            "--keystrokes-per-minute 0: must be from 1",
        ),
        (
            ForecastOptions(total=100, pace=Pace(1, float("inf"))),
            READERS,
            "--seconds-per-look inf: must be",
        ),
        (ForecastOptions(total=100), ["none"], "none: "),
    ],
)
def test_what_cannot_be_is_refused(collection, options, runs, said):
    with pytest.raises(HdbenchError, match="^.*" + said):
        made(collection, options, [collection / "runs" / name for name in runs])


def test_a_plan_of_other_runs_or_another_whole_is_refused(planned):
    folder, _ = planned(limit=0.2)
    options = ForecastOptions(plan=folder / "plan.yaml")
    with pytest.raises(HdbenchError, match="are not among the runs"):
        made(folder, options, runs_of(folder)[:2])
    with pytest.raises(HdbenchError, match="was drawn from 100 items: leave out --total"):
        made(folder, replace(options, total=700_000))
    with pytest.raises(HdbenchError, match="plans are decided by documented"):
        made(folder, replace(options, protocol="published"))
    write_run(folder / "runs/four", {"0001": {"prediction": TRUTH}}, model="four")
    with pytest.raises(HdbenchError, match="was made for 3 of these 4 runs"):
        made(folder, options, [*runs_of(folder), folder / "runs/four"])


def test_the_same_answers_twice_are_refused(collection):
    with pytest.raises(HdbenchError, match="one: give each run once"):
        made(collection, runs=[*runs_of(collection), collection / "runs/one"])


def test_nothing_is_forecast_without_a_truth_or_a_schema(collection):
    write_rows(collection, [{"id": f"{n:04}", "ground_truth": None} for n in range(20)])
    with pytest.raises(HdbenchError, match="no item has a ground truth"):
        made(collection)
    write_rows(
        collection, [{"id": f"{n:04}", "ground_truth": json.dumps(TRUTH)} for n in range(20)]
    )
    (collection / "hdb/cards/answer.schema.json").unlink()
    with pytest.raises(HdbenchError, match=r"has no answer\.schema\.json"):
        made(collection)
