"""The `evaluate` module of `hdb/zettel_f1`; the scoring itself is in `hdbench.scoring`."""

import hdbench.integrations.evaluate_module

_DESCRIPTION = """
Zettel F1: precision, recall and F1 over the fields of nested records, such as what a model reads
from a library's index card. Every leaf field of the ground truth and of the answer is compared
by the normalised Indel similarity of its texts; from 0.92 on it is a true positive.
"""

_CITATION = """
@misc{zettelkatalog2025,
  title        = {Zettelkatalog Benchmark},
  author       = {M{\\"u}ller, Gabriel and Hindermann, Maximilian},
  year         = {2025},
  organization = {University Library Basel and Research and Infrastructure Support RISE},
  howpublished = {\\url{https://github.com/RISE-UNIBAS/humanities_data_benchmark}}
}
"""

_INPUTS = """
Args:
    predictions (list): for each card the answer: a record (`dict`), None, or the model's raw text
        (`str`), in which a record is looked for.
    references (list of dict): the ground truths in the same order (`dataset["ground_truth"]`;
        under `published`, `dataset["ground_truth_published"]`).
    threshold (float): the similarity from which two values match, 0.0 to 1.0. Default 0.92.
    weights (dict): field or group (`"publication.title"`, `"author"`) to its weight, 0 or more; the
        longest name that fits a field counts. Default: all 1.
    details (bool): also return `fields` and `per_item`. Default False.

Returns:
    f1_micro, f1_macro, precision_micro, recall_micro (float): 0.0 to 1.0, higher is better.
    true_positives, false_positives, false_negatives (int; float with weights): over all fields.
    items, answered, unanswered, unparsable (int): the coverage. An item that is unanswered or
        unparsable counts as a complete failure.
    items_perfect (int): cards that need no edit.
    protocol (str): `documented`, or `published` (`evaluate.load("hdb/zettel_f1", "published")`).
    signature (str): metric, protocol, options and versions in one line.
    intervals (dict): `figures`, the 95% interval of each rate, and how it was computed. With fewer
        than 20 items there are none: `item_ranges` has the range of each rate over single items.
    effort (dict): `corrections`, how many of the `values` of a card need one on average; with 20
        or more also the 95 % `interval` of that.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("hdb/zettel_f1")
    >>> result = metric.compute(
    ...     predictions=['{"title": "Stellingen", "year": 1925}'],
    ...     references=[{"title": "Stellingen", "year": 1924}],
    ... )
    >>> result["f1_micro"], result["true_positives"], result["false_positives"]
    (0.5, 1, 1)
"""


class ZettelF1(hdbench.integrations.evaluate_module.MetricModule):
    """F1 over the fields of nested records."""

    metric = "zettel_f1"
    rules = 4
    description = _DESCRIPTION
    inputs = _INPUTS
    citation = _CITATION
