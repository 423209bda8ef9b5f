"""The commands that say which values need no human."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.cli.app import TRUST, PageLanguage, app
from hdbench.cli.orders import Misplaced, benchmark_first
from hdbench.cli.saying import say
from hdbench.common.told import spoken
from hdbench.errors import escaped


class Right(StrEnum):
    """When a value counts as right."""

    letter = "letter"
    threshold = "threshold"


class Verdict(StrEnum):
    """What decides."""

    rule = "rule"
    exact = "exact"


OfPlan = Annotated[
    str | None,
    typer.Option(
        help="The benchmark, such as zettelkatalog; by default the one that the plan names.",
        metavar="BENCHMARK",
    ),
]

trust = typer.Typer(
    help="Which values can be taken over unseen: plan a sample, check it, decide.",
    no_args_is_help=True,
)
app.add_typer(trust, name="trust", rich_help_panel=TRUST)


@trust.command()
def plan(
    benchmark: Annotated[
        str,
        typer.Argument(
            help="The benchmark with all items; those of the sample need no ground truth yet."
        ),
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="What two or more models answered to all items, or the same model several times; "
            "the one that is preferred first.",
            metavar="RUN…",
        ),
    ],
    *,
    _misplaced: Misplaced = None,
    number: Annotated[
        int, typer.Option("-n", "--number", min=1, help="How many items are to be checked.")
    ] = 150,
    limit: Annotated[
        float, typer.Option(help="The largest share of wrong values among those taken over.")
    ] = 0.05,
    confidence: Annotated[
        float, typer.Option(help="What the verdict is calibrated for; no other is possible.")
    ] = 0.9,
    fields: Annotated[
        str | None,
        typer.Option(
            help="The fields whose values may be taken over, with commas between them; by default "
            "all that an item has one value of.",
            metavar="FIELD,…",
        ),
    ] = None,
    right: Annotated[
        Right,
        typer.Option(
            help="When a value counts as right: to the letter (apart from case and spaces), or by "
            "the benchmark's own threshold."
        ),
    ] = Right.letter,
    verdict: Annotated[
        Verdict,
        typer.Option(
            help="What decides: a rule that lets more through, or a test that assumes nothing "
            "about how errors cluster. The other one is shown beside it."
        ),
    ] = Verdict.rule,
    by: Annotated[
        str | None,
        typer.Option(
            help="Columns of the benchmark: each combination of their values gets its share of "
            "the sample.",
            metavar="COLUMN,…",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the draw.", min=0)] = 0,
    scores: Annotated[
        Path | None,
        typer.Option(
            help="Trust scores of your own instead of the agreement of runs, in CSV, XLSX or "
            "JSONL: a column id, and a column of numbers from 0 to 1 for each field, or one "
            "called score for all of them. One run is then enough.",
            metavar="FILE",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write.")] = Path(
        "plan.yaml"
    ),
) -> None:
    """Draw the sample, and write down what will be decided, and how.

    Do it before anybody looks at the ground truth: what is decided holds for this plan only.
    """
    from hdbench.benchmarks.benchmark import load_benchmark  # noqa: PLC0415  slow to import
    from hdbench.cli.trust_tables import print_plan  # noqa: PLC0415
    from hdbench.trust.plan import make_plan, write_plan  # noqa: PLC0415
    from hdbench.trust.wish import Wish  # noqa: PLC0415

    wish = Wish(
        number=number,
        limit=limit,
        confidence=confidence,
        fields=_names(fields),
        right=right.value,
        verdict=verdict.value,
        by=_names(by),
        seed=seed,
        scores=scores,
    )
    benchmark, runs = benchmark_first("trust plan", benchmark, runs)
    made = make_plan(load_benchmark(benchmark), runs, wish)
    write_plan(out, made)
    print_plan(Console(), made, out)


@trust.command()
def decide(
    plan_file: Annotated[
        Path, typer.Argument(help="The plan; its sample has been checked.", metavar="PLAN")
    ],
    *,
    benchmark: OfPlan = None,
    json_out: Annotated[
        Path | None,
        typer.Option("--json", help="Write everything to this file.", metavar="OUT"),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Write a page with the sentences, the curve and the tables.", metavar="OUT.html"
        ),
    ] = None,
    language: PageLanguage = None,
) -> None:
    """Decide what can be taken over, from the ground truth of the sample.

    That nothing can be is a result as well, and exits with 0.
    """
    from hdbench.benchmarks.benchmark import load_benchmark  # noqa: PLC0415  slow to import
    from hdbench.cli.trust_tables import print_decision  # noqa: PLC0415
    from hdbench.common.jsonio import write_json  # noqa: PLC0415
    from hdbench.trust.decision import decide as decide_by  # noqa: PLC0415
    from hdbench.trust.plan import read_plan  # noqa: PLC0415
    from hdbench.trust.sealed import check_replaceable  # noqa: PLC0415

    if json_out:
        check_replaceable(json_out)
    if page:
        from hdbench.report.trust_page import (  # noqa: PLC0415
            check_page,
            write_decision_page,
        )

        check_page(page)  # before the work
    plan = read_plan(plan_file)
    decision = decide_by(plan, load_benchmark(benchmark or plan.benchmark), plan_file)
    if json_out:
        write_json(json_out, decision.model_dump(mode="json"))
    if page:
        write_decision_page(page, decision, language or spoken())
    print_decision(Console(), decision)
    for written in filter(None, (json_out, page)):
        typer.echo(escaped(str(written)))


@trust.command()
def consensus(
    benchmark: Annotated[str, typer.Argument(help="The benchmark that the runs answer.")],
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="What two or more models answered; the one that is preferred first.",
            metavar="RUN…",
        ),
    ],
    *,
    _misplaced: Misplaced = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="The run folder to write.")],
) -> None:
    """Write what several runs say together as a run of its own.

    Each field has the value that is most similar to those of the other runs. The folder can be
    scored, compared and ranked like that of any model.
    """
    from hdbench.benchmarks.benchmark import load_benchmark  # noqa: PLC0415  slow to import
    from hdbench.trust.consensus import write_consensus  # noqa: PLC0415

    benchmark, runs = benchmark_first("trust consensus", benchmark, runs)
    answered = write_consensus(load_benchmark(benchmark), runs, out)
    say(
        "{out}: {count:,} answer" if answered == 1 else "{out}: {count:,} answers",
        out=out,
        count=answered,
    )


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] if text else []
