"""Command that finds ground truths that most good models contradict."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from hdbench.cli.arguments import Runs, split_benchmark
from hdbench.cli.compare import load_comparable
from hdbench.common.display.terminal import localized, print_table, printable, say
from hdbench.common.texts import current_language
from hdbench.evaluation.score import Settings
from hdbench.report.audit.findings import Audit, check_ending, write_audit
from hdbench.report.audit.findings import audit as audit_runs
from hdbench.report.audit.models import is_witness

MAX_ROWS = 200
"""Maximum number of findings that a terminal shows."""


def command(
    paths: Runs,
    *,
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE")] = None,
) -> None:
    """Find ground truths that most good models contradict.

    It lists the values that most good runs, from several makers, contradict with the same value. A
    finding is a slip in the ground truth, a convention that the models cannot know, or an error
    that they share: look at the picture. It needs runs from at least three makers, on the same
    items. Of three models by three makers, all are asked, and all have to agree.

    Args:
        paths: Runs: run folders, folders of them, or results of hdbench score --json --details;
            behind the name of their benchmark, such as zettelkatalog, also answers in any form.
        out: Also write the findings to this file, as CSV or JSON by its ending. hdbench annotate
            FOLDER --only FILE.csv shows them in your own collection, to be corrected there.
    """
    if out:
        check_ending(out)
    benchmark, runs = split_benchmark(paths)
    loaded = load_comparable(runs, benchmark, Settings("documented", details=True))
    no_witness = [name for name, result in loaded.items() if not is_witness(result)]
    for name in no_witness:
        del loaded[name]
    if no_witness:
        say("note: left out, as no witness: {names}", names=", ".join(no_witness), err=True)
    audit = audit_runs(loaded)
    if out:
        write_audit(out, audit)
    print_audit(Console(), audit)


def print_audit(console: Console, audit: Audit) -> None:
    """Print an audit: the number of findings, the models, and each finding.

    Args:
        console: the terminal.
        audit: the audit.
    """
    good = [run for run in audit.runs if run.good]
    title = f"{audit.benchmark or audit.metric} {audit.dataset_version or ''}, {audit.protocol}"
    console.print(printable(title, 200), style="bold")
    empty = sum(finding.error_class == "invented" for finding in audit.findings)
    line = localized(
        "Ground-truth values that more than half of {good} good models contradict: "
        "{same} with the same value, {nothing} by reading nothing there; and {of_form} in form "
        "alone",
        good=len(good),
        same=len(audit.findings) - empty,
        nothing=empty,
        of_form=audit.of_form,
    )
    console.print(line, soft_wrap=True)
    makers = ", ".join(sorted({run.maker for run in good}))
    console.print(Text.assemble(localized("Makers: "), printable(makers, 1_000)), soft_wrap=True)
    table = audit.table.without(["makers"])
    print_table(console, table, current_language(), most=MAX_ROWS)
