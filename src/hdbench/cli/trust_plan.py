"""Command that draws the sample of a plan."""

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import Runs, names_in, required_benchmark, split_benchmark
from hdbench.collections.trust.learning import check_place
from hdbench.collections.trust.outlook import SECONDS_PER_VALUE, likely_in_words, likely_shares
from hdbench.collections.trust.plan import (
    DEFAULT_LEARN,
    DEFAULT_VERIFY,
    LEARN_WITH_SOURCE,
    MAX_TRIES,
    Plan,
    PlanOptions,
    Right,
    make_plan,
    write_plan,
)
from hdbench.common.display.terminal import localized, print_line, printable
from hdbench.common.texts import time_message
from hdbench.common.value_text import Case
from hdbench.errors import HdbenchError, Message


def command(
    paths: Runs,
    *,
    values: Annotated[str | None, typer.Option(metavar="LEARN+VERIFY")] = None,
    limit: float = 0.05,
    fields: Annotated[str | None, typer.Option(metavar="FIELD,…")] = None,
    right: Right = "letter",
    case: Case = "counts",
    each_field: bool = False,
    learn_from: Annotated[str | None, typer.Option(metavar="BENCHMARK,RUN,…")] = None,
    tries: Annotated[int, typer.Option(min=1, max=MAX_TRIES)] = 1,
    after: Annotated[Path | None, typer.Option(metavar="PLAN")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    out: Annotated[Path, typer.Option("-o", "--out")] = Path("plan.yaml"),
) -> None:
    """Draw the values to check, and write down what will be decided, and how.

    People read single values from the images: first some to learn from which values are wrong, then
    others to verify it. What is decided holds for this plan only.

    Args:
        paths: What one or more models answered to all items; the one that is preferred first.
            Before them, the benchmark with all items, which need no ground truth; run folders name
            it.
        values: How many values are read to learn from, and how many to verify it; by default
            300+600, or 100+600 with --learn-from.
        limit: The largest share of wrong values among those accepted.
        fields: The fields whose values may be accepted, with commas between them; by default all
            that an item has one value of.
        right: When a value counts as right: to the letter (apart from spaces), or by the
            benchmark's own threshold.
        case: Whether capitals count to the letter; they need not where cards print names in
            capitals, and a rule of the mapping sets them right.
        each_field: Promise the limit for each field alone, for those fields where it seems to be in
            reach. It takes more values.
        learn_from: Learn from a benchmark of the same fields, too, whose values are checked
            already, and runs on it, such as last year's sample: fewer values are read.
        tries: How many times the limit may be verified, with one plan each; the risk is shared
            between them.
        after: The plan of the try before.
        seed: The seed of the draw.
        out: The file to write; what is learned is written beside it.
    """
    named, runs = split_benchmark(paths)
    learn, verify = _stages(values, has_source=learn_from is not None)
    options = PlanOptions(
        learn=learn,
        verify=verify,
        limit=limit,
        fields=names_in(fields),
        right=right,
        case=case,
        each_field=each_field,
        seed=seed,
        learn_from=[Path(name) for name in names_in(learn_from)],
        tries=tries,
        after=after,
    )
    benchmark = load_benchmark(required_benchmark(named, runs))
    plan = make_plan(benchmark, runs, options)
    check_place(out)
    write_plan(out, plan, benchmark.folder)
    likely = None if each_field else likely_in_words(likely_shares(plan, benchmark, out))
    print_plan(Console(), plan, out, likely)


def _stages(values: str | None, *, has_source: bool) -> tuple[int, int]:
    """Return how many values are read to learn from and to verify."""
    if values is None:
        return (LEARN_WITH_SOURCE if has_source else DEFAULT_LEARN), DEFAULT_VERIFY
    match = re.fullmatch(r"\s*(\d{1,9})\s*\+\s*(\d{1,9})\s*", values)
    if match is None:
        raise HdbenchError(
            "--values {values}: must be two numbers, such as 300+600: values to learn from, and "
            "values to verify",
            values=values[:100],
        )
    return int(match[1]), int(match[2])


def print_plan(console: Console, plan: Plan, path: Path, likely: Message | None) -> None:
    """Print a plan, what may come of it, and the next step.

    Args:
        console: the terminal.
        plan: the plan.
        path: its file.
        likely: what it is likely to let through.
    """
    title = Message(
        "{learn:,} of {of:,} values drawn to learn from; {verify:,} will be drawn to verify it, "
        "seed {seed}",
        learn=plan.learn,
        verify=plan.verify,
        of=plan.items * len(plan.fields),
        seed=plan.seed,
    )
    print_line(console, title, style="bold")
    print_line(console, Message("runs: {names}", names=", ".join(run.name for run in plan.runs)))
    if plan.source:
        source = Message(
            "learns from {count:,} values of {benchmark} {version}, too, that are checked already",
            count=plan.source.values,
            benchmark=plan.source.benchmark,
            version=plan.source.version,
        )
        print_line(console, source)
    print_line(console, Message("fields: {names}", names=", ".join(plan.fields)))
    promise = Message(
        "at most {limit:g}% of the values of each promised field are wrong, counted {right}, with "
        "{confidence:.0%} confidence for all of them together"
        if plan.each_field
        else "at most {limit:g}% of the accepted values that nobody reads are wrong, counted "
        "{right}, with {confidence:.0%} confidence",
        limit=100 * plan.limit,
        confidence=plan.confidence,
        right=_right(plan),
    )
    print_line(console, promise)
    if likely:
        print_line(console, likely)
    if plan.tries > 1:
        this = Message(
            "try {number} of {tries}, which share the risk",
            number=len(plan.after) + 1,
            tries=plan.tries,
        )
        print_line(console, this)
    if plan.several_values:
        left_out = Message(
            "left out, as an item may have several values of them: {names}",
            names=", ".join(plan.several_values),
        )
        print_line(console, left_out)
    console.print(localized("hash: {hash}", hash=plan.hash()), markup=False, highlight=False)
    console.print(printable(str(path)))
    advice = Message(
        "next: hdbench annotate {benchmark} --only {path}: read {count:,} values, about {time}; "
        "the values to verify come after them",
        benchmark=plan.benchmark,
        path=path,
        count=plan.learn,
        time=time_message(plan.learn * SECONDS_PER_VALUE / 3600),
    )
    print_line(console, advice)


def _right(plan: Plan) -> Message:
    if plan.right == "threshold":
        return Message("by the benchmark's own threshold")
    return Message(
        "to the letter" if plan.case == "counts" else "to the letter, apart from capitals"
    )
