"""What metrics declare of their figures, held against what they give."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from hdbench import scoring
from hdbench.errors import HdbenchError
from hdbench.scoring import METRICS, check_headline, make_metric
from hdbench.scoring.metric import OUTCOMES, figure_of

SAMPLES = Path(__file__).parents[2] / "dataset_scripts"
TEXTS = {"fixed_xml": "present", "folios[].text": "always", "folios[].addition1": "until_absent"}
OPTIONS = {
    "zettel_f1": [{}, {"weights": {"publication": 0.5}}],
    "avisblatt_cer": [{}],
    "letters_f1": [{}],
    "sciencemeta_accuracy": [
        {},
        dict.fromkeys(("no_autojunk", "normalize_text", "canonical_identifiers", "sets"), True),
    ],
    "record_f1": [
        {},
        {"weights": {"entries": 0.5}, "lists": "ordered", "compare": "cer", "round": {"item": 2}},
        {"lists": "position", "leaves": "truth", "absent": "compare", "dotted_keys": "split"},
    ],
    "text_cer": [
        {"texts": TEXTS},
        {"texts": TEXTS, "xml": True, "pages": "aligned", "unit": "grapheme", "round": {"run": 2}},
    ],
}
CASES = [
    (name, protocol, options)
    for name, several in OPTIONS.items()
    for protocol in ("documented", "published")
    for options in several
]


def truths(metric):
    return [
        json.loads(row)["ground_truth"]
        for path in sorted(SAMPLES.glob("*/benchmark.yaml"))
        if f"metric: {metric}\n" in path.read_text(encoding="utf-8")
        for row in (path.parent / "sample/metadata.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def scored(metric, answer):
    """Totals and outcomes over the sample's items, each with an answer to its truth."""
    scores = [metric.score(answer(truth), metric.prepare(truth)) for truth in truths(metric.name)]
    totals = {
        name: metric.total([score.statistics.get(name, 0) for score in scores])
        for name in metric.statistics
    }
    outcomes = {
        outcome: Counter(field for score in scores for field in score.fields.get(outcome, ()))
        for outcome in OUTCOMES
    }
    return totals | {"items": len(scores)}, outcomes


@pytest.mark.parametrize(("name", "protocol", "options"), CASES)
def test_figures_are_those_that_are_declared(name, protocol, options):
    metric = make_metric(name, protocol, **options)
    totals, outcomes = scored(metric, metric.right_answer)
    rates = metric.rates(totals)
    assert list(rates) == [figure.name for figure in metric.figures if figure.name in rates]
    assert next(iter(rates)) == metric.headline
    given = {figure.name for figure in metric.figures if figure.always}
    assert given <= rates.keys()
    for figure in metric.figures:
        if figure.name in rates:
            assert isinstance(rates[figure.name], dict) == figure.table
    of_fields = metric.field_rates(totals, outcomes)
    for rates_of_field in of_fields.values():
        assert rates_of_field.keys() == {figure.name for figure in metric.field_figures}


@pytest.mark.parametrize(("name", "protocol", "options"), CASES)
def test_the_right_answer_is_better_than_none_in_every_direction(name, protocol, options):
    metric = make_metric(name, protocol, **options)
    right, none = (
        metric.rates(scored(metric, answer)[0]) for answer in (metric.right_answer, lambda _: None)
    )
    better = 0
    for figure in metric.figures:
        if figure.table or figure.name not in right or right[figure.name] is None:
            continue
        one, other = right[figure.name], none[figure.name]
        if figure.is_rate:
            assert 0 <= one <= 1
        if figure.higher_is_better and other is not None:
            assert one >= other
            better += one > other
        elif figure.higher_is_better is False and other is not None:
            assert one <= other
            better += one < other
    assert better >= 3
    headline = figure_of(metric, metric.headline)
    assert right[metric.headline] == float(headline.higher_is_better)


def test_a_figure_in_a_table_is_found_by_its_last_known_name():
    science, letters = METRICS["sciencemeta_accuracy"], METRICS["letters_f1"]
    assert figure_of(science, "field_accuracy.title").kind == "rate"
    assert figure_of(science, "kinds.paper.items").higher_is_better is None
    assert figure_of(letters, "categories.send_date.false_negatives").higher_is_better is False
    assert figure_of(letters, "options.threshold") is None


@pytest.mark.parametrize(
    ("headline", "higher", "told"),
    [
        ("cer", True, "higher_is_better: must be false for cer"),
        ("fuzzy", False, "higher_is_better: must be true for fuzzy"),
        ("ntokens_error", False, "is not a rate of avisblatt_cer"),
        ("true_positives", True, "is not a rate of avisblatt_cer"),
    ],
)
def test_a_headline_is_a_rate_with_its_own_direction(headline, higher, told):
    check_headline("avisblatt_cer", "cer", higher_is_better=False)
    with pytest.raises(HdbenchError, match=told):
        check_headline("avisblatt_cer", headline, higher)


PLUGIN = """
from hdbench.scoring.zettel_f1 import ZettelF1

class Mine(ZettelF1):
    name = "mine"

class Taken(ZettelF1):
    pass

class Bare(ZettelF1):
    name = "mine"
    figures = ZettelF1.figures[:1]
"""


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("mine = theirs:Mine", "mine"),
        ("other = theirs:Mine", "metric 'other' of theirs: its class is called 'mine': give"),
        ("zettel_f1 = theirs:Taken", "metric 'zettel_f1' of theirs: another metric has this name"),
        ("mine = theirs:Bare", "has no items_perfect among its figures: add *PERFECT"),
        ("mine = theirs:PATH", "metric 'mine' of theirs: cannot be loaded: "),
        ("mine = os:path", "must be a class derived from hdbench.scoring.metric.Metric"),
    ],
)
def test_another_package_brings_a_metric(tmp_path, monkeypatch, entry, told):
    (tmp_path / "theirs.py").write_text(PLUGIN)
    about = tmp_path / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[hdbench.metrics]\n{entry}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    scoring._all.cache_clear()
    try:
        assert make_metric("zettel_f1").name == "zettel_f1"  # whatever another package has wrong
        said = make_metric("mine").name
    except HdbenchError as error:
        said = str(error)
    finally:
        scoring._all.cache_clear()
        sys.modules.pop("theirs", None)
    assert told in said
