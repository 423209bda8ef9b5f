"""Parts that the pages of both kinds of decisions share."""

from collections.abc import Sequence
from datetime import date, datetime
from functools import partial
from typing import Protocol

from markupsafe import Markup, escape

from hdbench.common.templates import shown
from hdbench.output.report.items import cut
from hdbench.output.report.rendering import TEXTS

MAX_TEXT = 1_000
"""Maximum characters of a sentence, a warning or a name."""

_NO_BREAK = "\N{NO-BREAK SPACE}"


class Computed(Protocol):
    """A decision: when it was computed, and by which version.

    Attributes:
        hdbench: see `Decision`, as for all others.
        created: when the plan was made.
        decided: when the decision was computed; None in files of earlier versions.
    """

    @property
    def hdbench(self) -> str:
        """See the class."""

    @property
    def created(self) -> str:
        """See the class."""

    @property
    def decided(self) -> str | None:
        """See the class."""


def said(text: str) -> Markup:
    """Return a sentence as HTML; names in it are untrusted, its no-break spaces are not."""
    pieces = cut(text, MAX_TEXT).split(_NO_BREAK)
    return Markup("<bdi>{}</bdi>").format(escape(_NO_BREAK).join(shown(piece) for piece in pieces))


def computed(decision: Computed, language: str, source: str | None) -> Markup:
    """Return when the figures were computed, and that showing them computes nothing."""
    tell = partial(TEXTS.text, language=language, version=decision.hdbench)
    if decision.decided:
        when = tell("computed", when=_day(decision.decided))
    else:
        when = tell("computed_later", plan=_day(decision.created))
    shows = tell("shows_file", file=source) if source else tell("shows_figures")
    return said(f"{when} {shows}")


def _day(moment: str) -> date | str:
    try:
        return datetime.fromisoformat(moment).date()
    except ValueError:
        return moment  # of a file that somebody has changed


def listed(names: Sequence[str]) -> str:
    """Return names with commas between them, long ones shortened."""
    return ", ".join(cut(name, MAX_TEXT // 10) for name in names)
