"""The `evaluate` module of `hdb/avisblatt_cer`; the scoring itself is in `hdbench.scoring`."""

import hdbench.integrations.evaluate_module

_DESCRIPTION = """
Avisblatt CER: how well the classified advertisements on a newspaper page were found and read. Each
advertisement in the ground truth is paired with one in the answer by its section and number; the
texts are compared by their normalised Indel similarity (fuzzy) and by the character error rate
(CER).
"""

_CITATION = """
@misc{avisblatt2025,
  title        = {Fraktur {OCR}: Metadata and Textual Extraction of Classified Ads in the Basler
                  Avisblatt (1729--1844)},
  author       = {Serif, Ina and Hindermann, Maximilian},
  year         = {2025},
  organization = {Research and Infrastructure Support RISE, University of Basel},
  howpublished = {\\url{https://github.com/RISE-UNIBAS/humanities_data_benchmark}}
}
"""

_INPUTS = """
Args:
    predictions (list): for each page the answer: a record (`dict`) with the list `advertisements`,
        None, or the model's raw text (`str`), in which a record is looked for.
    references (list of dict): the ground truths in the same order (`dataset["ground_truth"]`;
        under `published`, `dataset["ground_truth_published"]`).
    normalize (str or list of str): what is done to texts and section headings on both sides first:
        `none`, `NFC`, `NFKC`, `edition` (ſ to s and / to a comma), `case`, `whitespace`. Default
        `none`.
    details (bool): also return `fields` (empty here) and `per_item`. Default False.

Returns:
    fuzzy (float): 0.0 to 1.0, higher is better. The headline.
    cer (float): 0.0 to 1.0, lower is better.
    fuzzy_ads, cer_ads, fuzzy_pages, cer_pages (float): both, as means over ads and over pages.
    fuzzy_text, cer_text (float): both, with ads paired over the whole page by their text alone.
    f1_micro, precision_micro, recall_micro (float): 0.0 to 1.0, higher is better.
    section_accuracy, section_accuracy_loose, date_accuracy (float): 0.0 to 1.0, higher is better.
    ntokens_error (float or None): 0.0 to 1.0, lower is better; None where no ad gives a number.
    true_positives, false_positives, false_negatives (int): ads found, invented and missed.
    items, answered, unanswered, unparsable (int): the coverage. An item that is unanswered or
        unparsable counts as a complete failure.
    items_perfect (int): pages that need no edit.
    protocol (str): `documented`, or `published`, the name of the other configuration:
        `evaluate.load("hdb/avisblatt_cer", "published")`.
    signature (str): metric, protocol, options and versions in one line.
    intervals (dict): `figures`, the 95% interval of each rate, and how it was computed. With fewer
        than 20 items there are none: `item_ranges` has the range of each rate over single items.
    effort (dict): `corrections`, how many of the `values` of a page need one on average.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("hdb/avisblatt_cer")
    >>> result = metric.compute(
    ...     predictions=['{"advertisements": [{"text": "1. Roter Wein"}]}'],
    ...     references=[{"advertisements": [{"text": "1. Rother Wein"}]}],
    ... )
    >>> round(result["fuzzy"], 3), result["cer"] == 1 / 14
    (0.963, True)
"""


class AvisblattCer(hdbench.integrations.evaluate_module.MetricModule):
    """Similarity and character error rate of a page's advertisements."""

    metric = "avisblatt_cer"
    rules = 3
    description = _DESCRIPTION
    inputs = _INPUTS
    citation = _CITATION
