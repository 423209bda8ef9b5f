"""The `evaluate` module of `hdb/record_f1`; the scoring itself is in `hdbench.scoring`."""

import hdbench.integrations.evaluate_module

_DESCRIPTION = """
Record F1: precision, recall and F1 over the fields of nested records and of lists of records. The
items of a list are paired by what they hold, in any order; then every field of the ground truth and
of the answer is compared by similarity, as text, as a number, as a date or as a truth value.
"""

_CITATION = """
@misc{hdbench2026,
  title        = {hdbench: Benchmarks of the Digital Humanities},
  author       = {{The hdbench authors}},
  year         = {2026},
  howpublished = {\\url{https://huggingface.co/spaces/hdb/record_f1}}
}
"""

_INPUTS = """
Args:
    predictions (list): for each item the answer: a record (`dict`), None, or the model's raw text
        (`str`), in which a record is looked for. With `root_list` a bare list is a record, too.
    references (list of dict): the ground truths in the same order (`dataset["ground_truth"]`;
        under `published`, `dataset["ground_truth_published"]`).
    lists (str or dict): `aligned` (in any order), `ordered` or `position`; or path to one of these.
        Default `aligned`.
    compare (str or dict): `similarity`, `exact`, `number`, `date`, `boolean` or `cer`; or path to
        one of these. Default `similarity`.
    threshold (float or dict): the similarity from which two values match, 0.0 to 1.0; or path to
        similarity. Default 0.92.
    normalize (list or dict): what is done to texts on both sides: `nfc`, `nfkc`, `lowercase`,
        `casefold`, `whitespace`, `punctuation`, `long_s`; or path to such a list. Default none.
    blank (list): the values that count as absent. Default `[None]`.
    ignore (list of str): paths that are not scored. Default none.
    weights (dict): path to weight, 0 or more. Default: all 1.
    root_list (str): the name under which a bare list is read. Default None.
    leaves, parents, absent, dotted_keys, unanswered, round, sum, figures: for published rules; the
        metric's card describes them.
    details (bool): also return `fields` and `per_item`. Default False.

Returns:
    f1_micro, f1_macro, precision_micro, recall_micro, similarity (float): 0.0 to 1.0, higher is
        better.
    f1_records (float or None): of the items of lists, 0.0 to 1.0, higher is better.
    true_positives, false_positives, false_negatives (int; float with weights): over all fields.
    records_found, records_missed, records_invented (int): items of lists.
    items, answered, unanswered, unparsable (int): the coverage. An item that is unanswered or
        unparsable counts as a complete failure.
    items_perfect (int): records that need no edit.
    protocol (str): `documented`, or `published` (`evaluate.load("hdb/record_f1", "published")`).
    signature (str): metric, protocol, options and versions in one line.
    intervals (dict): `figures`, the 95% interval of each rate, and how it was computed. With fewer
        than 20 items there are none: `item_ranges` has the range of each rate over single items.
    effort (dict): `corrections`, how many of the `values` of an item need one on average; with 20
        or more also the 95 % `interval` of that.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("hdb/record_f1")
    >>> result = metric.compute(
    ...     predictions=['{"entries": [{"name": "Boreux"}]}'],
    ...     references=[{"entries": [{"name": "Abegg"}, {"name": "Boreux"}]}],
    ...     compare={"entries[].name": "exact"},
    ... )
    >>> result["true_positives"], result["false_negatives"], result["records_missed"]
    (1, 1, 1)
"""


class RecordF1(hdbench.integrations.evaluate_module.MetricModule):
    """F1 over the fields of nested records and lists of records."""

    metric = "record_f1"
    rules = 3
    description = _DESCRIPTION
    inputs = _INPUTS
    citation = _CITATION
