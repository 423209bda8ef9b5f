"""An audit as a table for a terminal, and as a work list for a librarian."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hdbench.audit.findings import Audit
from hdbench.common.printing import printable
from hdbench.common.told import told
from hdbench.errors import Message
from hdbench.report.tables import TableRows, csv_bytes, text

MAX_ROWS = 200
"""How many findings a terminal shows."""

_HEAD = ("id", "field", "truth", "proposed value", "agreement", "makers", "error class", "verdict")


def print_audit(console: Console, audit: Audit, language: str = "en") -> None:
    """Print an audit: how many findings there are, who was asked, and each finding.

    Args:
        console: where to print.
        audit: from `hdbench.audit.findings.audit`.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """

    def said(template: str, **values: object) -> str:
        return told(Message(template, **values), language)

    good = [run for run in audit.runs if run.good]
    title = f"{audit.benchmark or audit.metric} {audit.dataset_version or ''}, {audit.protocol}"
    console.print(printable(title, 200), style="bold")
    nothing = sum(finding.error_class == "invented" for finding in audit.findings)
    console.print(
        said(
            "Ground-truth values that more than half of {good} good models contradict: "
            "{same} with the same value, {nothing} by reading nothing there; and {of_form} in form "
            "alone",
            good=len(good),
            same=len(audit.findings) - nothing,
            nothing=nothing,
            of_form=audit.of_form,
        ),
        soft_wrap=True,
    )
    makers = ", ".join(sorted({run.maker for run in good}))
    console.print(Text.assemble(said("Makers: "), printable(makers, 1_000)), soft_wrap=True)
    if not audit.findings:
        return
    table = Table(box=box.SIMPLE_HEAD)
    for column in (said("id"), said("field"), said("ground truth"), said("models read")):
        table.add_column(column, overflow="fold")
    table.add_column(said("agree"), justify="right", no_wrap=True)
    table.add_column(said("class"))
    for finding in audit.findings[:MAX_ROWS]:
        table.add_row(
            printable(finding.id),
            printable(finding.field),
            *(_shown(value, said("(absent)")) for value in (finding.truth, finding.value)),
            f"{finding.agreeing}/{finding.good}",
            said(finding.error_class),
        )
    if len(audit.findings) > MAX_ROWS:
        table.add_row(said("and {count} more", count=len(audit.findings) - MAX_ROWS))
    console.print(table)


def work_list(audit: Audit) -> bytes:
    """The findings as a CSV file, with an empty column `verdict` to fill in.

    As in `hdbench.report.tables`: no spreadsheet takes anything in it for a formula, and
    invisible characters are written as escapes.

    Args:
        audit: from `hdbench.audit.findings.audit`.
    """
    rows = (
        (
            finding.id,
            finding.field,
            text(finding.truth),
            text(finding.value),
            f"{finding.agreeing} of {finding.good}",
            ", ".join(finding.makers),
            finding.error_class,
            None,
        )
        for finding in audit.findings
    )
    return csv_bytes(TableRows(_HEAD, rows))


def _shown(value: object, absent: str) -> Text:
    shown = text(value)
    return Text(absent, style="dim") if shown is None else printable(shown or '""')
