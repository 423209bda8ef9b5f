"""The page of an audit: every finding with the item's picture, for a person to judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from hdbench.answers.titles import Titles
from hdbench.common.thumbnails import ItemPicture, pictures
from hdbench.common.translation import translated
from hdbench.display.differences import TextPart, differences
from hdbench.output.audit.findings import Audit, Finding
from hdbench.output.audit.models import MAKERS
from hdbench.output.report.items import Value, cut
from hdbench.output.report.rendering import render
from hdbench.scoring.analysis.forms import text_of

MAX_ITEMS = 1_000
"""Maximum number of items shown, from the first."""

MAX_VALUE = 2_000
"""Maximum characters of a value that are shown."""


@dataclass(frozen=True)
class FindingView:
    """A finding as it is shown.

    Attributes:
        finding: the finding.
        truth: the ground-truth value in parts.
        value: the models' value in parts.
    """

    finding: Finding
    truth: Value
    value: Value


def audit_page(
    audit: Audit,
    title: str,
    media: Mapping[str, Sequence[Path]],
    language: str = "en",
    titles: Titles = str,
) -> str:
    """Return the page of an audit, self-contained, without a script.

    Args:
        audit: from `hdbench.output.audit.findings.audit`.
        title: the benchmark's title.
        media: id → the files that the models were shown; see `Benchmark.media`.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`; English instead of
            a partial one.
        titles: path of a field → its title.

    Returns:
        HTML that can be written as UTF-8; everything untrusted is escaped.
    """
    groups = [
        (item, list(group)) for item, group in groupby(audit.findings, lambda finding: finding.id)
    ]
    shown = groups[:MAX_ITEMS]
    files = [list(media.get(item, ())) for item, _ in shown]
    thumbnails = iter(pictures([file for item_files in files for file in item_files]))
    items: list[tuple[str, list[ItemPicture], list[FindingView]]] = [
        (item, list(islice(thumbnails, len(item_files))), [_view(finding) for finding in findings])
        for (item, findings), item_files in zip(shown, files, strict=True)
    ]
    good = [run for run in audit.runs if run.good]
    return render(
        "audit.html",
        language,
        title=title,
        titles=titles,
        audit=audit,
        good=good,
        makers=sorted({run.maker for run in good}),
        least=MAKERS,
        items=items,
        more_items=len(groups) - len(shown),
        translated=translated,
        cut=cut,
    )


def _view(finding: Finding) -> FindingView:
    truth, value = text_of(finding.truth), text_of(finding.value)
    truth_parts, value_parts = _whole(truth[:MAX_VALUE]), _whole(value[:MAX_VALUE])
    if truth and value:
        truth_parts, value_parts = differences(truth[:MAX_VALUE], value[:MAX_VALUE])
    return FindingView(
        finding,
        Value(truth_parts, finding.truth is None, max(0, len(truth) - MAX_VALUE)),
        Value(value_parts, finding.value is None, max(0, len(value) - MAX_VALUE)),
    )


def _whole(text: str) -> list[TextPart]:
    return [TextPart(text, differs=False)] if text else []
