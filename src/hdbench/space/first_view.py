"""The first view of a scored file: the score in a few lines, or the reason why there is none."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from hdbench.benchmarks.titles import Titles
from hdbench.common.display.marks import mark
from hdbench.common.templates import html_templates
from hdbench.common.texts import decimal, translated
from hdbench.errors import changed
from hdbench.evaluation import sentences
from hdbench.evaluation.parts import in_language
from hdbench.evaluation.result import Result
from hdbench.report.items import cut
from hdbench.report.page import MAX_MESSAGE
from hdbench.scoring.metric import figure_heading, figure_title
from hdbench.space.texts import text

MADE = "example_made_from_the_truth.jsonl"
"""The name of an example of answers that is made from the ground truth."""


def summary(
    file: Path,
    results: Mapping[str | None, Result],
    run: str | None,
    language: str,
    *,
    done: bool,
    titles: Titles = str,
) -> str:
    """Return the first view of a scored file as HTML: untrusted text is escaped.

    Args:
        file: the upload.
        results: model → result.
        run: the model to show; if there are several, the others are listed.
        language: the interface's language.
        done: whether the report is ready.
        titles: path of a field → its title, for warnings.
    """
    result = results[run]
    return render(
        "summary.html",
        language,
        file=file.name,
        results=results,
        run=run,
        result=result,
        sentences=sentences,
        warnings=sentences.warnings(result, language, titles, gravest=True),
        ends=partial(_ends, language=language),
        made=file.name == MADE,
        done=done,
    )


def problem(message: str, language: str, lead: str = "error") -> str:
    """Return the reason for a refusal as HTML; `lead` is the key of the text before it."""
    return render("problem.html", language, message=cut(message, MAX_MESSAGE), lead=lead)


def four_digits(value: float, language: str) -> str:
    """Return a figure as it is written in a language."""
    return decimal(f"{value:.4f}", language)


def _ends(result: Result, language: str) -> tuple[str, str] | None:
    """Return the ends of the headline's interval or, with too few items, of its range."""
    interval = result.intervals.range_of(result.headline)
    if interval is None:
        return None
    return four_digits(interval.low, language), four_digits(interval.high, language)


def render(template: str, language: str, /, **values: object) -> str:
    """Return HTML from a template of this package; its output is escaped.

    Args:
        template: its file name.
        language: the interface's language.
        values: its values, besides the language and functions that translate others.
    """
    functions = {name: partial(words, language=language) for name, words in _WORDS.items()}
    template_of = html_templates("hdbench.space").get_template
    own = {"language": language, "changed": changed, "cut": cut, "most": MAX_MESSAGE, "mark": mark}
    variables = own | functions | values
    return template_of(template).render(variables)


_WORDS: dict[str, Callable[..., Any]] = {
    "text": text,
    "decimal": decimal,
    "four_digits": four_digits,
    "translated": translated,
    "in_language": in_language,
    "figure_title": figure_title,
    "figure_heading": figure_heading,
}
"""Functions of every template that translate into the language of its page."""
