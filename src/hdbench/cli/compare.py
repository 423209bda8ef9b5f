"""Command that compares runs on the same items."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from hdbench.cli.arguments import (
    By,
    JsonOut,
    Names,
    Runs,
    answers_at,
    split_benchmark,
)
from hdbench.cli.score import MAX_FIELDS, print_groups
from hdbench.common.display.terminal import localized, print_line, print_table, printable, say
from hdbench.common.jsonio import write_json
from hdbench.common.texts import current_language
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.by_column import differences_by_column
from hdbench.evaluation.result import Result
from hdbench.evaluation.runs import load_runs, with_same_items
from hdbench.evaluation.score import Settings
from hdbench.report.leaderboard import formats
from hdbench.report.leaderboard.boards import leaderboards
from hdbench.statistics.comparison import Comparison, compare_runs, pair_table


def command(
    paths: Runs,
    *,
    name: Names = None,
    protocol: str = "documented",
    errata: str = "accepted",
    by: By = None,
    json_out: JsonOut = None,
) -> None:
    """Compare runs on the same items: can they be told apart?

    Two are shown side by side with their fields, and the items in which they differ most. Of three
    or more, the first lines say which is best and whether that is sure; they are ranked as in
    hdbench leaderboard, with the difference between any two.

    Differences have 95% intervals from a paired bootstrap over items; the primary metric, or the
    figure that it is compared by, is tested with a paired permutation test, corrected for the
    number of pairs. Below 20 items there are no intervals, and nothing is called separable.

    A run that is - is a file of answers on standard input, behind the name of its benchmark.

    Args:
        json_out: Write the comparisons to this file.
    """
    benchmark, runs = split_benchmark(paths)
    settings = Settings(protocol, errata=errata)
    loaded = load_comparable(runs, benchmark, settings, names=name or ())
    first = next(iter(loaded.values()))
    comparisons = compare_runs(
        loaded, headline=first.headline, higher_is_better=first.higher_is_better
    )
    records = [asdict(pair) for pair in comparisons]
    groups = []
    if by is not None:
        loaded_benchmark = first.load_benchmark(benchmark)
        groups = [
            differences_by_column(loaded[pair.a], loaded[pair.b], loaded_benchmark, by)
            for pair in comparisons
        ]
        for record, group in zip(records, groups, strict=True):
            record["by"] = group.to_dict()
    if json_out:
        write_json(json_out, {"comparisons": records})
    console = Console()
    if len(comparisons) == 1:
        print_comparison(console, comparisons[0])
    else:
        boards = leaderboards(loaded)
        formats.print_verdicts(console, boards, current_language())
        formats.print_boards(console, boards, current_language())
        print_pairs(console, comparisons)
    for comparison, group in zip(comparisons, groups, strict=False):
        if len(comparisons) > 1:
            console.print()
            print_names(console, comparison)
        print_groups(console, group)


def load_comparable(
    runs: list[Path], benchmark: str | None, settings: Settings, names: Sequence[str] = ()
) -> dict[str, Result]:
    """Return results of runs on the same items; one line names runs in folders that had others."""
    if runs.count(Path("-")) > 1:
        raise HdbenchError("-: standard input can be read only once: name files for the others")
    with ExitStack() as stack:
        opened = [stack.enter_context(answers_at(run)) for run in runs]
        paths = [path for path, _ in opened]
        called = {path: name for path, name in opened if name is not None}
        loaded, left_out = with_same_items(
            load_runs(paths, benchmark=benchmark, settings=settings, names=names, called=called),
            paths,
        )
    if left_out:
        say(
            "note: left out 1 run that was not asked the same {items} items as most: {names}"
            if len(left_out) == 1
            else "note: left out {count} runs that were not asked the same {items} items as most: "
            "{names}",
            count=len(left_out),
            items=len(next(iter(loaded.values())).ids),
            names=", ".join(left_out),
            err=True,
        )
    return loaded


def print_names(console: Console, comparison: Comparison) -> None:
    """Print which run is A, and which is B."""
    a, b = printable(comparison.a), printable(comparison.b)
    console.print(Text.assemble("A ", (a.plain, "bold"), ", B ", (b.plain, "bold")))


def print_pairs(console: Console, comparisons: Sequence[Comparison]) -> None:
    """Print the difference of each two runs in the figure that they are compared by, in a line.

    Args:
        console: the terminal.
        comparisons: from `hdbench.statistics.comparison`.
    """
    print_table(console, pair_table(comparisons), current_language())
    say("p is corrected for the number of pairs; name two runs alone to see where they differ")


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print two runs side by side: their figures, fields, and the items where they differ most.

    Args:
        console: the terminal.
        comparison: from `hdbench.statistics.comparison`.
    """
    print_names(console, comparison)
    if comparison.estimated:
        print_line(console, comparison.estimated)
    print_table(console, comparison.table, current_language())
    for name, difference in comparison.figures.items():
        if difference.why is not None:
            print_line(console, Message("{figure}: {why}", figure=name, why=difference.why))
    line = localized(
        "{headline}: {verdict}: {why}",
        headline=comparison.judged_by,
        verdict=comparison.verdict,
        why=comparison.why,
    )
    console.print(line, soft_wrap=True, markup=False)
    if comparison.judged_by != comparison.headline:
        line = localized(
            "runs are compared by {figure}, as one item can outweigh all others in {headline}",
            figure=comparison.judged_by,
            headline=comparison.headline,
        )
        console.print(line, soft_wrap=True, markup=False)
    if comparison.detectable is not None:
        line = localized(
            "{items} items can show a difference of {detectable:.3f} or more, four times in five",
            items=comparison.items,
            detectable=comparison.detectable,
        )
        console.print(line, soft_wrap=True)
    for table in (comparison.field_table, comparison.item_table):
        if table:
            console.print()
            print_table(console, table, current_language(), most=MAX_FIELDS)
