"""hdbench forecast: what it prints, writes and draws."""

import io
import json
from xml.etree import ElementTree

import pytest
from helpers.collection import READERS, runs_of, write_collection
from helpers.run_folders import write_run
from PIL import Image

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.texts import LANGUAGES
from hdbench.output.report.forecast_plot import write_forecast_plot
from hdbench.trust.forecasting.forecast import Forecast, ForecastOptions, forecast
from hdbench.trust.forecasting.price_list import Price
from hdbench.trust.forecasting.words import model_sentence, pace_sentence, rule_sentences
from hdbench.trust.plan import PlanOptions, make_plan, write_plan
from hdbench.trust.words import warning_in_words

PRICES = "".join(
    f"{name}: {{input: 100, output: 500, date: 2026-11-01, source: an offer}}\n" for name in READERS
)
RUNS = [f"runs/{name}" for name in READERS]
PACE = ("--keystrokes-per-minute", 60, "--seconds-per-look", 2)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = write_collection(tmp_path_factory.mktemp("collection"))
    (folder / "prices.yaml").write_text(PRICES)
    return folder


@pytest.fixture
def here(collection, monkeypatch):
    monkeypatch.chdir(collection)
    return collection


def texts(svg):
    """The texts of a plot, each of which is named in a comment."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(svg, parser)
    return [e.text.strip() for e in root.iter() if e.tag is ElementTree.Comment]


def test_the_command_says_what_all_costs(run_hdbench, collection):
    options = ("--prices", "prices.yaml", "--wage", 30, "--json", "f.json", "--plot", "f.svg")
    arguments = ("forecast", "hdb/cards", *RUNS, "--total", 1000, *PACE, *options)
    done = run_hdbench(*arguments, cwd=collection)
    assert done.returncode == 0, done.stderr
    flat = " ".join(done.stdout.split())
    # 12 edits in 20 items; 7.8 s for each; 10 × 0.15 and 9 × 0.30 dollars for 19 of them.
    said = "one: of 1,000 items, 500 (302 to 698) need no edit; in the others, 600 "
    assert said in flat
    assert "a person who checks every value needs 2.2 " in flat
    assert "The model costs 221 US dollars by the price list (of 2026-11-01; an offer)." in flat
    assert "promise nothing" in flat
    assert "no wrong by wages, score accepted looks edit hours left threshold US dollars" in flat
    # All agree on 51 of 60 values; 19 s are left for 20 items; 3 wrong values in 20 items.
    assert " 1 85.0% 0.45 95.0% 0.3 150 150 7.9 " in flat
    assert "Assumed, not measured: a person types 60 keys a minute" in flat
    assert "Card, Moran and Newell" in flat
    assert "one: of 20 answers, 19 say their tokens, and 19 how long they took." in flat
    assert done.stdout.splitlines()[-2:] == ["f.json", "f.svg"]
    read = Forecast.model_validate_json((collection / "f.json").read_text())
    assert read.models[0].edits.whole.value == pytest.approx(600)
    assert read.wage == 30
    assert "US dollars for models and people, fewer are better" in texts(
        (collection / "f.svg").read_bytes()
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "error: hdb/cards: does not say what it is a sample of"),
        (("--total", 1000, "--plot", "f.pdf"), "error: f.pdf: a plot is written as .png or .svg"),
        (("--total", 1000, "--prices", "none.yaml"), "error: none.yaml: cannot be read"),
        (("--total", 1000, "--plan", "prices.yaml"), "error: prices.yaml: not a plan of"),
        (("--total", 1000, "--wage", "nan"), "error: --wage nan: must be from 0 to 1,000,000"),
    ],
)
def test_what_cannot_be_is_one_line(run_hdbench, collection, arguments, said):
    before = sorted(collection.iterdir())
    options = ("--json", "new.json")
    done = run_hdbench("forecast", "hdb/cards", *RUNS, *arguments, *options, cwd=collection)
    assert done.returncode == 2
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(collection.iterdir()) == before


def test_a_model_with_a_hostile_name_is_shown_harmless(run_hdbench, tmp_path):
    write_collection(tmp_path)
    name = "\x1b[31m$x_1$ [bold]<b>\u202e\U0001f6ac"
    answers = {f"{n:04}": {"prediction": {"title": "x"}} for n in range(20)}
    write_run(tmp_path / "runs/one", answers, model=name)
    arguments = ("forecast", "hdb/cards", *RUNS, "--total", 1000, "--plot", "f.svg")
    done = run_hdbench(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "[bold]<b>" in done.stdout
    labels = texts((tmp_path / "f.svg").read_bytes())
    shown = next(each for each in labels if "as it is" in each and "$x_1$" in each)
    assert "\x1b" not in shown


def test_every_text_is_there_in_both_languages(here):
    prices = {"one": Price(input=1, output=5, date="2026-11-01", source="an offer")}
    found = forecast(
        load_benchmark("hdb/cards"), runs_of(here), ForecastOptions(700_000, prices=prices)
    )
    said = {
        language: [
            *(model_sentence(found, model, language) for model in found.models),
            *rule_sentences(found, language),
            pace_sentence(found, language),
            *(warning_in_words(notice, language) for notice in found.notices),
        ]
        for language in LANGUAGES
    }
    assert len(said["en"]) == len(said["de"])
    assert all(one != other for one, other in zip(said["en"], said["de"], strict=True))
    assert "of 700,000 items, 350,000 (211,000 to 489,000) need no edit" in said["en"][0]
    assert "Von 700.000 Einträgen brauchen 350.000 (211.000 bis 489.000)" in said["de"][0]


@pytest.mark.parametrize(
    ("limit", "en", "de"),
    [
        (0.2, "are accepted unseen, from a trust score of", "ab einem Vertrauenswert von"),
        (0.05, "nothing can be accepted unseen", "kann nichts ungesehen übernommen werden"),
    ],
)
def test_a_plan_in_words(tmp_path, monkeypatch, limit, en, de):
    monkeypatch.chdir(tmp_path)
    write_collection(tmp_path, items=100)
    plan = make_plan(load_benchmark("hdb/cards"), runs_of(tmp_path), PlanOptions(60, limit=limit))
    write_plan(tmp_path / "plan.yaml", plan)
    options = ForecastOptions(plan=tmp_path / "plan.yaml", wage=30)
    found = forecast(load_benchmark("hdb/cards"), runs_of(tmp_path), options)
    assert rule_sentences(found)[0].endswith(" US dollars.")
    assert rule_sentences(found, "de")[0].endswith(" US-Dollar.")
    assert en in rule_sentences(found)[0]
    assert de in rule_sentences(found, "de")[0]
    if found.promise.wrong:
        letter = found.promise.wrong["letter"]
        assert rule_sentences(found)[0].startswith("This is no promise: By the plan, ")
        said = f"{letter.in_whole} wrong ones remain by the rate in the sample, and at most "
        assert f"{said}{letter.at_most_in_whole} by the bound" in rule_sentences(found)[1]
    write_forecast_plot(tmp_path / "f.svg", found)
    labels = texts((tmp_path / "f.svg").read_bytes())
    assert "the plan's decision" in labels


def test_the_plot_is_the_same_each_time(here, tmp_path):
    found = forecast(load_benchmark("hdb/cards"), runs_of(here), ForecastOptions(1_000))
    for kind in ("png", "svg"):
        one, other = tmp_path / f"one.{kind}", tmp_path / f"other.{kind}"
        write_forecast_plot(one, found)
        write_forecast_plot(other, found)
        assert one.read_bytes() == other.read_bytes()
    with Image.open(io.BytesIO((tmp_path / "one.png").read_bytes())) as picture:
        picture.load()
        assert len(picture.convert("L").getcolors()) > 10  # not blank
    labels = texts((tmp_path / "one.svg").read_bytes())
    assert "1,000 items, forecast from 20 of hdb/cards" in labels
    assert "hours of a person, fewer are better" in labels
    for name in READERS:
        assert f"{name}: as it is, and fully checked" in labels
    assert "accepted from a trust score on: no promise" in labels
    assert {"1", "0.98", "0.92", "0.8", "0.5"} <= set(labels)
    hours = labels[: labels.index("hours of a person, fewer are better")]
    assert len(hours) == len(set(hours))  # no two ticks are called the same
    assert json.loads(found.model_dump_json())["forecast"] == 1
