"""The `evaluate` module of `hdb/sciencemeta_accuracy`; the scoring is in `hdbench.scoring`."""

import hdbench.integrations.evaluate_module

_DESCRIPTION = """
ScienceMeta accuracy: the mean similarity of the fields of bibliographic records, such as what a
model reads from the first pages of a paper or book. Each field's text is compared, without regard
to case, by the ratio of Python's `difflib.SequenceMatcher`.
"""

_CITATION = """
@misc{sciencemetabench2025,
  title        = {ScienceMetaBench},
  author       = {{OpenDataLab}},
  year         = {2025},
  howpublished = {\\url{https://huggingface.co/datasets/opendatalab/ScienceMetaBench}}
}
"""

_INPUTS = """
Args:
    predictions (list): for each file the answer: a record (`dict`), None, or the model's raw text
        (`str`), in which a record is looked for. An answer with another `sha256` than its
        reference is refused.
    references (list of dict): the ground truths in the same order (`dataset["ground_truth"]`;
        under `published`, `dataset["ground_truth_published"]`), with
        their `kind`: `paper`, `textbook` or `ebook`. Without a `kind`, one that has `doi` or
        `keyword` is a paper, and any other a book.
    no_autojunk (bool): also report accuracy without difflib's `autojunk`. Default False.
    normalize_text (bool): also report accuracy after NFKC, and with white space normalised. Default
        False.
    canonical_identifiers (bool): also report accuracy with `doi`, `isbn` and `pub_time` compared
        for equality in canonical form. Default False.
    sets (bool): also report precision, recall and F1 of `author` and `keyword` as sets. Default
        False.
    details (bool): also return `fields` and `per_item`. Default False.

Returns:
    overall_accuracy (float): 0.0 to 1.0, higher is better: the mean over the fields of a kind, and
        over the kinds.
    field_accuracy (dict): field to its mean over all records whose kind has it.
    kinds (dict): kind to its overall_accuracy, field_accuracy and items.
    overall_accuracy_without_both_empty, field_accuracy_without_both_empty: the same without pairs
        in which ground truth and answer are both empty, which count as right otherwise.
    both_empty (int), field_both_empty (dict): how many such pairs there are.
    too_long (int): pairs of different texts that are too long to be compared; they score 0.0.
    items, answered, unanswered, unparsable (int): the coverage. An item that is unanswered or
        unparsable counts as a complete failure.
    items_perfect (int): records that need no edit.
    protocol (str): `documented`, or `published`
        (`evaluate.load("hdb/sciencemeta_accuracy", "published")`).
    signature (str): metric, protocol, options and versions in one line.
    intervals (dict): `figures`, the 95% interval of each rate, and how it was computed. With fewer
        than 20 items there are none: `item_ranges` has the range of each rate over single items.
    effort (dict): `corrections`, how many of the `values` of a record need one on average; with 20
        or more also the 95 % `interval` of that.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("hdb/sciencemeta_accuracy")
    >>> result = metric.compute(
    ...     predictions=['{"doi": "", "title": "ON GROWTH AND FORM", "pub_time": 1942}'],
    ...     references=[{"kind": "paper", "title": "On Growth and Form", "pub_time": "1917"}],
    ... )
    >>> result["field_accuracy"]["title"], result["field_accuracy"]["pub_time"]
    (1.0, 0.5)
"""


class SciencemetaAccuracy(hdbench.integrations.evaluate_module.MetricModule):
    """Mean similarity of the fields of bibliographic records."""

    metric = "sciencemeta_accuracy"
    rules = 2
    description = _DESCRIPTION
    inputs = _INPUTS
    citation = _CITATION
