"""Commands over several runs: compare, leaderboard, audit."""

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from hdbench.cli.app import (
    COMPARE,
    DEFAULT_OUT,
    TRUST,
    By,
    ErrataChoice,
    Names,
    OfBenchmark,
    Protocol,
    Runs,
    app,
)
from hdbench.cli.board_forms import Form, write_boards
from hdbench.cli.orders import benchmark_apart
from hdbench.cli.rules import Also, beside
from hdbench.cli.saying import say
from hdbench.cli.standard_input import answers_at
from hdbench.common.told import spoken
from hdbench.errors import HdbenchError, Message

if TYPE_CHECKING:
    from hdbench.evaluation.score import Settings
    from hdbench.leaderboard.boards import Board
    from hdbench.results.model_facts import ModelFacts
    from hdbench.results.result import Result


@app.command(rich_help_panel=COMPARE)
def compare(
    runs: Runs,
    *,
    benchmark: OfBenchmark = None,
    name: Names = None,
    protocol: Protocol = "documented",
    errata: ErrataChoice = "accepted",
    by: By = None,
    seed: Annotated[int, typer.Option(help="The seed of the random numbers.")] = 0,
    json_out: Annotated[
        Path | None,
        typer.Option("--json", help="Write the comparisons to this file.", metavar="OUT"),
    ] = None,
) -> None:
    """Compare runs on the same items: can they be told apart?

    Differences have 95 % intervals from a paired bootstrap over items; the headline, or the figure
    that it is compared by, is tested with a paired permutation test, corrected for the number of
    pairs. Below 20 items there are no intervals, and nothing is called separable.

    With --benchmark, a run that is - is a file of answers on standard input.
    """
    from hdbench.cli.group_tables import print_groups  # noqa: PLC0415
    from hdbench.cli.run_tables import print_comparison  # noqa: PLC0415
    from hdbench.common.jsonio import write_json  # noqa: PLC0415  slow to import
    from hdbench.evaluation.by_column import differences_by_column  # noqa: PLC0415
    from hdbench.evaluation.runs import benchmark_of  # noqa: PLC0415
    from hdbench.evaluation.score import Settings  # noqa: PLC0415
    from hdbench.statistics.comparison import compare_runs  # noqa: PLC0415

    runs, benchmark = benchmark_apart(runs, benchmark)
    settings = Settings(protocol, errata=errata)
    loaded = _load_comparable(runs, benchmark, settings, names=name or ())
    first = next(iter(loaded.values()))
    comparisons = compare_runs(
        loaded, headline=first.headline, higher_is_better=first.higher_is_better, seed=seed
    )
    records = [asdict(each) for each in comparisons]
    groups = []
    if by is not None:
        of = benchmark_of(first, benchmark)
        groups = [
            differences_by_column(loaded[each.a], loaded[each.b], of, by, seed=seed)
            for each in comparisons
        ]
        for record, found in zip(records, groups, strict=True):
            record["by"] = found.to_dict()
    if json_out:
        write_json(json_out, {"comparisons": records})
    for position, comparison in enumerate(comparisons):
        if position:
            Console().print()
        print_comparison(Console(), comparison)
        if groups:
            print_groups(Console(), groups[position])


@app.command(rich_help_panel=COMPARE)
def leaderboard(
    runs: Runs,
    *,
    benchmark: OfBenchmark = None,
    name: Names = None,
    protocol: Protocol = "documented",
    errata: ErrataChoice = "accepted",
    show_changes: Annotated[
        bool,
        typer.Option(
            "--changes",
            help="Instead show each value and its place three times: under published, under "
            "documented with the answers as they were recorded, and with the answers that "
            "the harness lost also read.",
        ),
    ] = False,
    also: Also = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Rank by the figures in which only valid JSON counts."),
    ] = False,
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="How to write it to standard output. html: one page that needs no network, with "
            "tables that can be sorted.",
        ),
    ] = Form.table,
    language: Annotated[
        Literal["en", "de"] | None,
        typer.Option(
            help="With --format html: the page's language; by default that of hdbench --language."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the random numbers.")] = 0,
    revision: Annotated[
        list[str] | None,
        typer.Option(
            help="A revision of the benchmark on the Hub, such as hdbench-1.0.0; if given more "
            "than once, old and new scores and ranks are shown side by side.",
            metavar="REVISION",
        ),
    ] = None,
) -> None:
    """Rank runs, with intervals and tests.

    A rank is a range, such as 1–3: with 95 % confidence, the true ranks of all models lie in their
    ranges. Runs with different protocols, item sets or prompts are never ranked together: each kind
    has its own table. Several runs of one model are one row with their mean and spread, and a note
    if they are inconsistent. Below 20 items there are figures, but no intervals or ranks.
    """
    from hdbench.evaluation.runs import load_runs, strictly, without_unbuilt  # noqa: PLC0415
    from hdbench.evaluation.score import Settings  # noqa: PLC0415
    from hdbench.leaderboard import formats  # noqa: PLC0415  slow to import
    from hdbench.leaderboard.boards import leaderboards, unplaced  # noqa: PLC0415
    from hdbench.leaderboard.changes import RULES, changes, revisions  # noqa: PLC0415

    runs, benchmark = benchmark_apart(runs, benchmark)
    asked = list(dict.fromkeys(revision or ()))
    side_by_side = {
        "--changes": show_changes,
        "--also": bool(also),
        Message("several revisions"): len(asked) > 1,
    }
    chosen = [name for name, given in side_by_side.items() if given]
    if show_changes and asked:
        raise HdbenchError("--changes and --revision: give only one of them")
    if len(chosen) > 1:
        one, other = chosen
        raise HdbenchError("{one} and {other}: give only one of them", one=one, other=other)
    if chosen and form is not Form.table:
        raise HdbenchError(
            "{option}: cannot be written as {form}: leave out --format",
            option=chosen[0],
            form=form.value,
        )
    if language is not None and form is not Form.html:
        raise HdbenchError("--language: only matters with --format html: leave it out")
    if chosen and strict:
        raise HdbenchError(
            "--strict: does not go with {option}: leave one of them out", option=chosen[0]
        )
    if errata != "accepted" and chosen and not also:
        raise HdbenchError(
            "--errata: does not go with {option}: leave one of them out", option=chosen[0]
        )
    if benchmark is None and not asked:
        runs, missing = without_unbuilt(runs)
        if missing:
            _say_left_out(missing)
    if len(asked) > 1:
        formats.print_revisions(
            Console(),
            revisions(
                runs, asked, benchmark=benchmark, protocol=protocol, models=name or (), seed=seed
            ),
            spoken(),
        )
        return
    settings = Settings(protocol, errata=errata, revision=asked[0] if asked else None)
    if chosen:
        rules = beside(settings, also) if also else RULES
        found = changes(runs, rules, benchmark=benchmark, names=name or (), seed=seed)
        formats.print_changes(Console(), found, spoken())
        return
    loaded = load_runs(runs, benchmark=benchmark, settings=settings, names=name or ())
    results = [strictly(result, name) if strict else result for name, result in loaded.items()]
    boards = leaderboards(results, facts=_facts(runs), seed=seed)
    _say_unseen(unplaced(dict(zip(loaded, results, strict=True)), boards), boards)
    write_boards(boards, form, language or spoken())


def _facts(runs: list[Path]) -> "dict[str, ModelFacts]":
    """What is known about models: in the results dataset that is built here, and in those given."""
    from hdbench.results.model_facts import RESULTS, read_model_facts  # noqa: PLC0415

    facts: dict[str, ModelFacts] = {}
    for folder in (DEFAULT_OUT / RESULTS, *runs):
        facts |= read_model_facts(folder)
    return facts


def _say_unseen(names: list[str], boards: "list[Board]") -> None:
    """Say in one line which runs without media are not shown."""
    if not names:
        return
    told = Message(
        "not ranked: {names}: a run without media stands beside the same model's run with media, "
        "on the same items and with the same prompt",
        names=", ".join(names),
    )
    if not boards:
        raise HdbenchError(told)
    say("note: {note}", note=told, err=True)


def _load_comparable(
    runs: list[Path], benchmark: str | None, settings: "Settings", names: Sequence[str] = ()
) -> "dict[str, Result]":
    """The results of runs on the same items; one line names runs in folders that had others."""
    from hdbench.evaluation.runs import load_runs, with_same_items  # noqa: PLC0415  slow to import

    if runs.count(Path("-")) > 1:
        raise HdbenchError("-: standard input can be read only once: name files for the others")
    with ExitStack() as stack:
        given = [stack.enter_context(answers_at(run)) for run in runs]
        paths = [path for path, _ in given]
        called = {path: name for path, name in given if name is not None}
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


def _say_left_out(missing: dict[str, int]) -> None:
    """Say in one line which benchmarks are not there, and how to build them."""
    count = sum(missing.values())
    build = shlex.join(["hdbench", "build", *(name.rpartition("/")[2] for name in missing)])
    say(
        "note: left out {count} run of {names}, not built here: build with: {build}"
        if count == 1
        else "note: left out {count} runs of {names}, not built here: build with: {build}",
        count=count,
        names=", ".join(missing),
        build=build,
        err=True,
    )


@app.command(rich_help_panel=TRUST)
def audit(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Runs: run folders, folders of them, or results of hdbench score --json "
            "--details; with --benchmark also answers in any form.",
            metavar="RUN…",
        ),
    ],
    *,
    benchmark: OfBenchmark = None,
    protocol: Protocol = "documented",
    json_out: Annotated[
        Path | None,
        typer.Option("--json", help="Write the findings to this file.", metavar="OUT"),
    ] = None,
    csv_out: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            help="Write a work list to this file, with a column for verdicts.",
            metavar="OUT",
        ),
    ] = None,
    html_out: Annotated[
        Path | None,
        typer.Option(
            "--html",
            help="Write a page to this file, with the picture of each item.",
            metavar="OUT",
        ),
    ] = None,
    list_out: Annotated[
        Path | None,
        typer.Option(
            "--list",
            help="Write a list to this file, for second looks with hdbench annotate --review.",
            metavar="OUT",
        ),
    ] = None,
    agreeing: Annotated[
        float,
        typer.Option(
            help="For --list: the share of the values on which ground truth and models agree that "
            "is to be looked at too.",
            min=0,
            max=1,
        ),
    ] = 0.1,
    seed: Annotated[
        int, typer.Option(help="For --list: the seed of that draw, and of the order.")
    ] = 1,
) -> None:
    """Find ground truths that most good models contradict.

    It lists the values that most good runs, from several makers, contradict with the same value. A
    finding is a slip in the ground truth, a convention that the models cannot know, or an error
    that they share: look at the picture. It needs runs from at least three makers, on the same
    items. Of three models by three makers, all are asked, and all have to agree.
    """
    from hdbench.audit.findings import audit as audit_runs  # noqa: PLC0415  slow to import
    from hdbench.audit.lists import print_audit, work_list  # noqa: PLC0415
    from hdbench.common.jsonio import write_json, write_whole  # noqa: PLC0415
    from hdbench.evaluation.score import Settings  # noqa: PLC0415

    runs, benchmark = benchmark_apart(runs, benchmark)
    loaded = _load_comparable(runs, benchmark, Settings(protocol, details=True))
    no_witness = [
        name
        for name, result in loaded.items()
        if result.run.without_media or result.run.consensus_of
    ]
    for name in no_witness:
        del loaded[name]
    if no_witness:
        say("note: left out, as no witness: {names}", names=", ".join(no_witness), err=True)
    found = audit_runs(loaded)
    if json_out:
        write_json(json_out, asdict(found))
    if csv_out:
        write_whole(csv_out, work_list(found))
    if html_out:
        from hdbench.audit.page import audit_page  # noqa: PLC0415
        from hdbench.benchmarks.benchmark import load_benchmark  # noqa: PLC0415

        of = load_benchmark(benchmark or found.benchmark or "", media=True)
        page = audit_page(found, of.spec.title, of.media())
        write_whole(html_out, page.encode(errors="backslashreplace"))
    if list_out:
        from hdbench.annotating.reviewing.review_list import write_review_list  # noqa: PLC0415
        from hdbench.audit.review import review_list  # noqa: PLC0415

        write_review_list(list_out, review_list(found, loaded, agreeing=agreeing, seed=seed))
    print_audit(Console(), found, spoken())
