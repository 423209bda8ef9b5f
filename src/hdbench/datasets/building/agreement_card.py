"""What a dataset's card says about how well people agree."""

from hdbench.benchmarks.agreement import AGREEMENT, Agreement, IntervalEstimate
from hdbench.common.markdown import as_code

_ALPHA = """\
Alpha is Krippendorff's: 1 if all agree, 0 if they agree as often as by chance; nominal, every \
difference counts alike, and by similarity, a slip in a long text counts little. In brackets are \
95 % intervals over items. A dash stands where alpha is not defined, mostly because all values are \
equal. `{file}` has the figures.
"""


def agreement_section(agreement: Agreement) -> str:
    """A section in Markdown: the ceiling, and a table of the fields."""
    items = "1 item" if agreement.items == 1 else f"{agreement.items:,} items"
    said = (
        f"{agreement.annotators} people annotated the same {items}, without seeing each other's "
        "entries."
    )
    if agreement.ceiling is not None:
        reached = estimate_in_words(
            IntervalEstimate(value=agreement.ceiling.value, interval=agreement.ceiling.interval)
        )
        said += (
            f" Scored against each other as models are, they reach {agreement.ceiling.headline} "
            f"{reached}, the mean over all ordered pairs of people. That is a guide to what can "
            "be reached, not a bound: models are scored on other items, too."
        )
    if agreement.without_truth:
        said += (
            f" Of {agreement.without_truth:,} of them at least one person entered nothing, or "
            "said that nobody can know the ground truth."
        )
    rows = [
        "| field | values | same to the letter | alpha, nominal | alpha, by similarity |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, each in agreement.fields.items():
        figures = map(estimate_in_words, (each.share, each.alpha, each.alpha_similarity))
        field = as_code(name, in_table=True)  # the schema's, untrusted
        rows.append(f"| {field} | {each.units:,} | {' | '.join(figures)} |")
    return "\n".join(
        ["## How well people agree", "", said, "", *rows, "", _ALPHA.format(file=AGREEMENT)]
    )


def estimate_in_words(estimate: IntervalEstimate) -> str:
    """A figure with its interval.

    Example:
        >>> estimate_in_words(IntervalEstimate(value=0.95, interval=(0.8, 0.99)))
        '0.950 (0.800 to 0.990)'
        >>> estimate_in_words(IntervalEstimate(value=None))
        '–'
    """
    if estimate.value is None:
        return "–"
    value = f"{estimate.value:.3f}"
    if estimate.interval is None:
        return value
    low, high = estimate.interval
    return f"{value} ({low:.3f} to {high:.3f})"
