"""Command that draws the sample of a plan."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import (
    Runs,
    names_in,
    required_benchmark,
    split_benchmark,
)
from hdbench.cli.terminal import localized, print_line, print_marked
from hdbench.common.printing import printable
from hdbench.errors import Message
from hdbench.trust.plan import Plan, PlanOptions, Right, VerdictName, make_plan, write_plan


def command(
    paths: Runs,
    *,
    number: Annotated[int, typer.Option("-n", "--number", min=1)] = 150,
    limit: float = 0.05,
    confidence: float = 0.9,
    fields: Annotated[str | None, typer.Option(metavar="FIELD,…")] = None,
    right: Right = "letter",
    verdict: VerdictName = "rule",
    by: Annotated[str | None, typer.Option(metavar="COLUMN,…")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    scores: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    out: Annotated[Path, typer.Option("-o", "--out")] = Path("plan.yaml"),
) -> None:
    """Draw the sample, and write down what will be decided, and how.

    Do it before anybody looks at the ground truth: what is decided holds for this plan only.

    Args:
        paths: What two or more models answered to all items, or the same model several times; the
            one that is preferred first. Before them, the benchmark with all items, of which those
            of the sample need no ground truth yet; run folders name it.
        number: How many items are to be checked.
        limit: The largest share of wrong values among those taken over.
        confidence: What the verdict is calibrated for; no other is possible.
        fields: The fields whose values may be taken over, with commas between them; by default all
            that an item has one value of.
        right: When a value counts as right: to the letter (apart from case and spaces), or by the
            benchmark's own threshold.
        verdict: What decides: a rule that lets more through, or a test that assumes nothing about
            how errors cluster. The other one is shown beside it.
        by: Columns of the benchmark: each combination of their values gets its share of the sample.
        seed: The seed of the draw.
        scores: Trust scores of your own instead of the agreement of runs, in CSV, XLSX or JSONL: a
            column id, and a column of numbers from 0 to 1 for each field, or one called score for
            all of them. One run is then enough.
        out: The file to write.
    """
    wish = PlanOptions(
        number=number,
        limit=limit,
        confidence=confidence,
        fields=names_in(fields),
        right=right,
        verdict=verdict,
        by=names_in(by),
        seed=seed,
        scores=scores,
    )
    named, runs = split_benchmark(paths)
    benchmark = required_benchmark(named, runs)
    plan = make_plan(load_benchmark(benchmark), runs, wish)
    write_plan(out, plan)
    print_plan(Console(), plan, out)


def print_plan(console: Console, plan: Plan, path: Path) -> None:
    """Print the plan, and the next step.

    Args:
        console: the terminal.
        plan: the plan.
        path: its file.
    """
    title = localized(
        "{count:,} of {of:,} items drawn, seed {seed}",
        count=len(plan.sample),
        of=plan.whole.of,
        seed=plan.whole.seed,
    )
    console.print(Text(title), style="bold")
    lines = [Message("runs: {names}", names=", ".join(run.name for run in plan.runs))]
    if plan.scores:
        lines.append(Message("trust scores: {path}", path=plan.scores.path))
    lines.append(Message("fields: {names}", names=", ".join(plan.fields)))
    promise = Message(
        "at most {limit:g}% wrong, counted {right}, decided by the rule (calibrated for "
        "{confidence:.0%} confidence)"
        if plan.verdict == "rule"
        else "at most {limit:g}% wrong with {confidence:.0%} confidence, counted {right}, decided "
        "by the exact verdict",
        limit=100 * plan.limit,
        confidence=plan.confidence,
        right=_right(plan),
    )
    lines.append(promise)
    if plan.several_values:
        line = Message(
            "left out, as an item may have several values of them: {names}",
            names=", ".join(plan.several_values),
        )
        lines.append(line)
    for line in lines:
        print_line(console, line)
    if plan.known:
        line = Message(
            "{count:,} items of the sample have a ground truth already: what is decided by this "
            "plan will be no promise",
            count=plan.known,
        )
        print_marked(console, "warning: ", line)
    console.print(localized("hash: {hash}", hash=plan.hash()), markup=False, highlight=False)
    console.print(printable(str(path)))
    advice = Message(
        "next: hdbench annotate FOLDER --only {path}, without drafts; then hdbench trust decide "
        "{path}",
        path=path,
    )
    print_line(console, advice)


def _right(plan: Plan) -> Message:
    return Message(
        "to the letter" if plan.right == "letter" else "by the benchmark's own threshold"
    )
