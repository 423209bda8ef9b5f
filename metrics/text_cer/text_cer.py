"""The `evaluate` module of `hdb/text_cer`; the scoring itself is in `hdbench.scoring`."""

import hdbench.integrations.evaluate_module

_DESCRIPTION = """
Text CER: character and word error rate of transcriptions. An item has one text or several, also in
lists of pages; each is compared with its ground truth by the Levenshtein distance, in characters
(code points or grapheme clusters) and in words, after a normalization that is part of the result.
"""

_CITATION = """
@article{levenshtein1966,
  title        = {Binary Codes Capable of Correcting Deletions, Insertions, and Reversals},
  author       = {Levenshtein, Vladimir I.},
  journal      = {Soviet Physics Doklady},
  volume       = {10},
  number       = {8},
  pages        = {707--710},
  year         = {1966},
  howpublished = {\\url{https://huggingface.co/spaces/hdb/text_cer}}
}
"""

_INPUTS = """
Args:
    predictions (list): for each item the answer: a record (`dict`), None, or the model's raw text
        (`str`), in which a record is looked for.
    references (list of dict): the ground truths in the same order (`dataset["ground_truth"]`;
        under `published`, `dataset["ground_truth_published"]`).
    texts (dict): path of a text (`text`, `pages[].text`) to when it is scored: `always`, `present`
        (unless it is empty on both sides) or `until_absent` (numbered texts, up to the first that
        the ground truth lacks). Default `{"text": "always"}`.
    pages (str): how lists of pages are paired: by `position`, or `aligned`. Default `position`.
    normalize (list or dict): what is done to texts on both sides, in order: `nfc`, `nfkc`,
        `lowercase`, `casefold`, `whitespace`, `punctuation`, `long_s`, `line_breaks`,
        `hyphenation`, `diacritics`, `{"remove": "…"}`; or such a list for each of `cer`, `wer` and
        `similarity`. Default `["nfc"]`.
    unit (str): what a character is: `character` (a code point) or `grapheme`. Default `character`.
    watch (str): characters to follow, as `ſꝛæ`, or ranges of them. Default none.
    xml (bool): also return `well_formed`. Default False.
    unanswered, round, sum, figures: for published rules; the metric's card describes them.
    details (bool): also return `fields` and `per_item`. Default False.

Returns:
    cer, wer, cer_macro, wer_macro, cer_items, wer_items (float): lower is better; the first two can
        exceed 1.0.
    cer_without_failures (float or None): the micro CER of items where it is below 1, by which runs
        are compared; None if there are none. Lower is better.
    failure_share (float): 0.0 to 1.0, lower is better: the share of items with a CER of 1 or more.
    bwer, order_gap (float): the WER of the words without their order, and the rest of the WER;
        lower is better.
    watch_kept, watch_added (float or None): with `watch`, the share of these characters kept
        (higher is better), and how many were added per 1,000 (lower is better).
    similarity (float): 0.0 to 1.0, higher is better.
    well_formed (float or None): with `xml`, 0.0 to 1.0, higher is better.
    texts, texts_perfect (int): the texts that are scored, and those without an error.
    characters_invented (int): characters where the ground truth has no text, lower is better.
    items, answered, unanswered, unparsable (int): the coverage. An item that is unanswered or
        unparsable counts as a complete failure.
    items_perfect (int): items that need no edit.
    protocol (str): `documented`, or `published` (`evaluate.load("hdb/text_cer", "published")`).
    signature (str): metric, protocol, options and versions in one line.
    intervals (dict): `figures`, the 95% interval of each rate that has one, and how it was
        computed; `without`, why others have none. With fewer than 20 items there are none:
        `item_ranges` has the range of each rate over single items.
    effort (dict): `corrections`, how many of the `values` of an item need one on average.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("hdb/text_cer")
    >>> result = metric.compute(
    ...     predictions=['{"text": "Roter Wein"}'], references=[{"text": "Rother Wein"}]
    ... )
    >>> result["cer"] == 1 / 11, result["wer"]
    (True, 0.5)
"""


class TextCer(hdbench.integrations.evaluate_module.MetricModule):
    """Character and word error rate of transcriptions."""

    metric = "text_cer"
    rules = 2
    description = _DESCRIPTION
    inputs = _INPUTS
    citation = _CITATION
