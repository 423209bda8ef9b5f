"""A metric as CONTRIBUTING says how to add one: this file, a line in `scoring/__init__.py`, and the
module for `evaluate`, which is here too."""

from hdbench.integrations.evaluate_module import MetricModule
from hdbench.scoring.metric import PERFECT, FieldMatch, Figure, ItemScore, Metric, ratio, truncated


class ToyMetric(Metric):
    """Share of the items whose title is as long as it should be."""

    name = "toy_length"
    rules = 1
    statistics = ("right",)
    item_figure = "right"
    figures = (*Figure.rates("share_right"), *PERFECT)
    vectorized = True

    def prepare(self, reference):
        return len(reference["title"])

    def score(self, record, prepared):
        title = "" if record is None else str(record.get("title"))
        right = len(title) == prepared
        fields = {"correct" if right else "missing": ["title"]}
        return ItemScore({"right": int(right)}, fields, (prepared, title))

    def explain(self, score):
        right = bool(score.statistics["right"])
        outcome = "correct" if right else "missing"
        return [FieldMatch("title", outcome, *score.compared, float(right))]

    def rates(self, totals):
        return {
            "share_right": ratio(totals["right"], totals["items"]),
            "items_perfect": truncated(totals["right"]),
        }

    def field_rates(self, totals, outcomes):
        return {}

    def rates_without(self, totals, outcomes, field):
        return {}


class ToyLength(MetricModule):
    """The module for `evaluate`."""

    metric = "toy_length"
    rules = 1
    description = inputs = citation = ""
