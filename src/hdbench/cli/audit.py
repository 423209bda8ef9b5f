"""Command that finds ground truths that most good models contradict."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from hdbench.annotating.reviewing.review_list import write_review_list
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import JsonOut, Runs, split_benchmark
from hdbench.cli.compare import load_comparable
from hdbench.cli.terminal import localized, localized_table, say
from hdbench.common.jsonio import write_json, write_whole
from hdbench.common.printing import printable
from hdbench.common.translation import current_language
from hdbench.evaluation.score import Settings
from hdbench.output.audit.findings import Audit
from hdbench.output.audit.findings import audit as audit_runs
from hdbench.output.audit.lists import AGREEING, review_list, work_list
from hdbench.output.audit.models import is_witness
from hdbench.output.audit.page import audit_page
from hdbench.output.report.tables import text

MAX_ROWS = 200
"""Maximum number of findings that a terminal shows."""


def command(
    paths: Runs,
    *,
    protocol: str = "documented",
    json_out: JsonOut = None,
    csv_out: Annotated[Path | None, typer.Option("--csv", metavar="OUT")] = None,
    html_out: Annotated[Path | None, typer.Option("--html", metavar="OUT")] = None,
    list_out: Annotated[Path | None, typer.Option("--list", metavar="OUT")] = None,
    agreeing: Annotated[float, typer.Option(min=0, max=1)] = AGREEING,
    seed: int = 1,
) -> None:
    """Find ground truths that most good models contradict.

    It lists the values that most good runs, from several makers, contradict with the same value. A
    finding is a slip in the ground truth, a convention that the models cannot know, or an error
    that they share: look at the picture. It needs runs from at least three makers, on the same
    items. Of three models by three makers, all are asked, and all have to agree.

    Args:
        paths: Runs: run folders, folders of them, or results of hdbench score --json --details;
            behind the name of their benchmark, such as zettelkatalog, also answers in any form.
        json_out: Write the findings to this file.
        csv_out: Write a work list to this file, with a column for verdicts.
        html_out: Write a page to this file, with the picture of each item.
        list_out: Write a list to this file, for second looks with hdbench review.
        agreeing: For --list: the share of the values on which ground truth and models agree that is
            to be looked at too.
        seed: For --list: the seed of that draw, and of the order.
    """
    benchmark, runs = split_benchmark(paths)
    loaded = load_comparable(runs, benchmark, Settings(protocol, details=True))
    no_witness = [name for name, result in loaded.items() if not is_witness(result)]
    for name in no_witness:
        del loaded[name]
    if no_witness:
        say("note: left out, as no witness: {names}", names=", ".join(no_witness), err=True)
    audit = audit_runs(loaded)
    if json_out:
        write_json(json_out, asdict(audit))
    if csv_out:
        write_whole(csv_out, work_list(audit))
    if html_out:
        loaded_benchmark = load_benchmark(benchmark or audit.benchmark or "", media=True)
        language = current_language()
        title = loaded_benchmark.spec.title_in(language)
        titles = loaded_benchmark.field_titles(language)
        page = audit_page(audit, title, loaded_benchmark.media(), language, titles)
        write_whole(html_out, page.encode(errors="backslashreplace"))
    if list_out:
        write_review_list(list_out, review_list(audit, loaded, agreeing=agreeing, seed=seed))
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
    if not audit.findings:
        return
    table = localized_table(None, "id", "field", "ground truth", "models read", right=["agree"])
    table.add_column(localized("class"))
    for finding in audit.findings[:MAX_ROWS]:
        table.add_row(
            printable(finding.id),
            printable(finding.field),
            *map(_shown, (finding.truth, finding.value)),
            f"{finding.agreeing}/{finding.good}",
            localized(finding.error_class),
        )
    if len(audit.findings) > MAX_ROWS:
        table.add_row(localized("and {count} more", count=len(audit.findings) - MAX_ROWS))
    console.print(table)


def _shown(value: object) -> Text:
    words = text(value)
    return Text(localized("(absent)"), style="dim") if words is None else printable(words or '""')
