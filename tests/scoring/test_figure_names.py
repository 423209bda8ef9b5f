"""Figures are called alike in all metrics, and are still known by the names that they had."""

import re

import pytest

from hdbench.errors import HdbenchError
from hdbench.scoring import METRICS, check_headline, current_figure, make_metric
from hdbench.scoring.metric import COUNTS, figure_names, with_former_names

FORMER = {
    "avisblatt_cer": {
        "ad_f1": "f1_micro",
        "ad_precision": "precision_micro",
        "ad_recall": "recall_micro",
    },
    "record_f1": {"records_f1": "f1_records"},
    "sciencemeta_accuracy": {
        f"{field}_{rate}": f"{rate}_{field}"
        for field in ("author", "keyword")
        for rate in ("precision", "recall", "f1")
    },
}


@pytest.mark.parametrize("name", METRICS)
def test_the_rate_comes_first_and_then_what_it_is_of(name):
    names = [figure.name for figure in METRICS[name].figures]
    assert len(set(names)) == len(names)
    assert [each for each in names if re.search(r"_(f1|precision|recall|cer|wer)$", each)] == []
    if "true_positives" in names:
        assert {*COUNTS, "f1_micro", "precision_micro", "recall_micro"} <= set(names)


@pytest.mark.parametrize("name", METRICS)
def test_what_was_renamed_is_known_and_nothing_has_the_old_name(name):
    names = figure_names(METRICS[name])
    figures = {figure.name for figure in METRICS[name].figures}
    former = {old: new for old, new in names.items() if old != new}
    assert former == FORMER.get(name, {})
    assert not former.keys() & figures
    assert set(names.values()) == figures
    for old, new in former.items():
        assert current_figure(name, old) == current_figure(name, new) == new


def test_a_headline_may_have_its_former_name():
    check_headline("avisblatt_cer", "ad_f1", True)
    with pytest.raises(HdbenchError, match="must be true for ad_f1"):
        check_headline("avisblatt_cer", "ad_f1", False)
    with pytest.raises(HdbenchError, match="'author_f1' is not a rate of sciencemeta_accuracy"):
        check_headline("sciencemeta_accuracy", "author_f1")  # not always there, under any name


def test_an_option_may_repeat_a_figure_by_its_former_name():
    figures = {"lists": {"of": "records_f1", "scale": 100}}
    metric = make_metric("record_f1", figures=figures)
    totals = dict.fromkeys((*metric.statistics, "items"), 1)
    assert metric.rates(totals)["lists"] == 100 * metric.rates(totals)["f1_records"] > 0


def test_both_names_are_given_of_the_figures_that_there_are():
    metric = make_metric("avisblatt_cer")
    assert with_former_names(metric, {"fuzzy": 0.5, "f1_micro": 0.25}) == {
        "fuzzy": 0.5,
        "f1_micro": 0.25,
        "ad_f1": 0.25,
    }
