"""The `evaluate` module of `hdb/letters_f1`; the scoring itself is in `hdbench.scoring`."""

import hdbench.integrations.evaluate_module

_DESCRIPTION = """
Letters F1: precision, recall and F1 over what a model reads from a historical letter: its date, its
senders and its receivers. Each category is a set; a name counts as a person if it is exactly the
person's name or one of the alternate names in an authority file.
"""

_CITATION = """
@misc{rheinschifffahrt2025,
  title        = {Metadata Extraction from Historic Rheinschifffahrt Letters},
  author       = {{Research and Infrastructure Support RISE}},
  year         = {2025},
  organization = {University of Basel},
  howpublished = {\\url{https://github.com/RISE-UNIBAS/humanities_data_benchmark}}
}
"""

_INPUTS = """
Args:
    predictions (list): for each letter the answer: a record (`dict`), None, or the model's raw text
        (`str`), in which a record is looked for. The record is `{"metadata": {...}}` or the inner
        object, with `send_date`, `sender_persons` and `receiver_persons`, each a list or one text
        in which `|` separates the values. A person is a name, or an object with the `name`.
    references (list of dict): the ground truths in the same order (`dataset["ground_truth"]`;
        under `published`, `dataset["ground_truth_published"]`).
    inferred_from_function (bool): also ask for persons inferred from function and date.
    inferred_from_correspondence (bool): also ask for those inferred from the correspondence.
    skip_signatures (bool): leave out letters with signatures.
    skip_non_signatures (bool): leave out letters without. All default to False.
    details (bool): also return `fields` and `per_item`. Default False.

Returns:
    f1_micro, f1_macro, precision_micro, recall_micro (float): 0.0 to 1.0, higher is better.
    f1_surname (float): 0.0 to 1.0, higher is better: `f1_micro` with persons also found by surname.
    true_positives, false_positives, false_negatives (int): over all letters and categories.
    false_positives_organisations (int): those that are organisations or offices, not persons.
    categories (dict): category to its counts, precision, recall and f1.
    items, answered, unanswered, unparsable (int): the coverage. An item that is unanswered or
        unparsable counts as a complete failure.
    items_perfect (int): letters without an error.
    protocol (str): `documented`, or `published` (`evaluate.load("hdb/letters_f1", "published")`).
    signature (str): metric, protocol, options and versions in one line.
    intervals (dict): `figures`, the 95% interval of each rate, and how it was computed. With fewer
        than 20 items there are none: `item_ranges` has the range of each rate over single items.
    effort (dict): `corrections`, how many of the `values` of a letter need one on average; with 20
        or more also the 95 % `interval` of that.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("hdb/letters_f1")
    >>> person = {"name": "Muster, Anna", "alternateName": ["Frau Muster"], "inferred": None}
    >>> result = metric.compute(
    ...     predictions=['{"send_date": ["1929-03-12"], "sender_persons": ["Muster AG"]}'],
    ...     references=[{"send_date": ["1929-03-12"], "sender_persons": [person]}],
    ... )
    >>> result["f1_micro"], result["false_positives_organisations"]
    (0.5, 1)
"""


class LettersF1(hdbench.integrations.evaluate_module.MetricModule):
    """F1 over the date, senders and receivers of letters."""

    metric = "letters_f1"
    rules = 3
    description = _DESCRIPTION
    inputs = _INPUTS
    citation = _CITATION
