"""What a visitor sees first: the score in a few lines, or why there is none."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

import jinja2

from hdbench.report.items import cut
from hdbench.report.page import MAX_MESSAGE
from hdbench.report.rendering import shown
from hdbench.results.result import Result
from hdbench.results.warning_texts import in_language
from hdbench.space.texts import text
from hdbench.space.views.example import MADE


def summary(
    file: Path, results: Mapping[str | None, Result], run: str | None, language: str, *, done: bool
) -> str:
    """The first view of a scored file as HTML: untrusted text is escaped.

    Args:
        file: the upload.
        results: model → result.
        run: whose result is shown; of several models the others are listed.
        language: the interface's.
        done: whether the report is there already.
    """
    result = results[run]
    return render(
        "summary.html",
        language,
        file=file.name,
        results=results,
        run=run,
        result=result,
        figures=result.figures(),
        value=_value,
        ends=_ends,
        number="{:.4f}".format,
        warnings=[in_language(warning, language) for warning in result.reading["warnings"]],
        cut=cut,
        most=MAX_MESSAGE,
        language=language,
        made=file.name == MADE,
        done=done,
    )


def problem(message: str, language: str, lead: str = "error") -> str:
    """Why something cannot be done, as HTML; `lead` is the key of the words before the reason."""
    return render("problem.html", language, message=cut(message, MAX_MESSAGE), lead=lead)


def frame(address: str, language: str) -> str:
    """A report within the page: it may run its own script, and reach nothing around it.

    Its links to the Hub open in a tab of their own, as on any page: the Hub cannot be framed. No
    script but the report's own can open one, as its policy forbids all others.
    """
    return render("frame.html", language, address=address)


def _value(result: Result) -> str:
    return f"{result.figures()[result.headline]:.4f}"


def _ends(result: Result) -> tuple[str, str] | None:
    """The ends of the headline's interval or, of too few items, its range over single items."""
    found = result.intervals.range_of(result.headline)
    return None if found is None else (f"{found.low:.4f}", f"{found.high:.4f}")


def render(template: str, language: str, /, **values: object) -> str:
    """HTML from a template of this package: what it puts out is escaped.

    Args:
        template: its file name.
        language: the interface's.
        values: what it is given, beside `text`.
    """
    told = partial(text, language=language)
    return _environment().get_template(template).render(text=told, **values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hdbench.space.views"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = shown
    return environment
