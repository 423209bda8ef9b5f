"""The command that says what a whole collection will cost."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from hdbench.cli.app import TRUST, app
from hdbench.cli.orders import Misplaced, benchmark_first
from hdbench.errors import escaped
from hdbench.trust.forecasting.assumptions import KEYSTROKES_PER_MINUTE, SECONDS_PER_LOOK


@app.command(rich_help_panel=TRUST)
def forecast(
    benchmark: Annotated[
        str, typer.Argument(help="The benchmark: items of the collection that were checked.")
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="What models answered to them, the one that is preferred first.", metavar="RUN…"
        ),
    ],
    *,
    _misplaced: Misplaced = None,
    total: Annotated[
        int | None,
        typer.Option(
            help="How many items the whole collection has; by default what the benchmark says that "
            "it is a sample of.",
            min=1,
            max=10**12,
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="A plan of hdbench trust plan for these runs, whose sample was checked: what its "
            "decision leaves to do.",
            metavar="PLAN",
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            help="A YAML file with a price for each model: input and output (US dollars per "
            "million tokens) or per_hour (US dollars for its hardware), and date and source. "
            "Nothing is fetched.",
            metavar="FILE",
        ),
    ] = None,
    wage: Annotated[
        float | None,
        typer.Option(help="What an hour of a person costs, in US dollars."),
    ] = None,
    keystrokes_per_minute: Annotated[
        float,
        typer.Option(
            help="How fast a person types: 0.28 s for each key, an average typist of the "
            "keystroke-level model (Card, Moran and Newell, 1980). An assumption: measure it.",
        ),
    ] = KEYSTROKES_PER_MINUTE,
    seconds_per_look: Annotated[
        float,
        typer.Option(
            help="How long a person looks at a value: twice 1.35 s of mental preparation in the "
            "same model, to find it on the image and to compare it. An assumption: measure it.",
        ),
    ] = SECONDS_PER_LOOK,
    protocol: Annotated[
        Literal["documented", "published"],
        typer.Option(help="The ground truths and rules: documented, or as they were published."),
    ] = "documented",
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot the costs against the errors that remain, to this .svg or .png.",
            metavar="FILE",
        ),
    ] = None,
    json_out: Annotated[
        Path | None,
        typer.Option("--json", help="Write everything to this file.", metavar="OUT"),
    ] = None,
) -> None:
    """What the whole collection will cost: work and money.

    For each model if a person checks every value, and for the rule of hdbench trust, with which
    nobody looks at values that the models agree on. All with 90 % intervals.
    """
    from hdbench.benchmarks.benchmark import load_benchmark  # noqa: PLC0415  slow to import
    from hdbench.cli.forecast_tables import print_forecast  # noqa: PLC0415
    from hdbench.common.extras import needed  # noqa: PLC0415
    from hdbench.common.jsonio import write_json  # noqa: PLC0415
    from hdbench.trust.forecasting.forecast import Wish  # noqa: PLC0415
    from hdbench.trust.forecasting.forecast import forecast as forecast_of  # noqa: PLC0415
    from hdbench.trust.forecasting.price_list import read_prices  # noqa: PLC0415
    from hdbench.trust.forecasting.work import Pace  # noqa: PLC0415
    from hdbench.trust.sealed import check_replaceable  # noqa: PLC0415

    if json_out:
        check_replaceable(json_out)
    if plot:
        with needed("plots", "plots need"):
            from hdbench.report.forecast_plot import (  # noqa: PLC0415
                check_plot,
                write_forecast_plot,
            )
        check_plot(plot)
    wish = Wish(
        total=total,
        pace=Pace(keystrokes_per_minute, seconds_per_look),
        wage=wage,
        prices=read_prices(prices) if prices else None,
        plan=plan,
        protocol=protocol,
    )
    benchmark, runs = benchmark_first("forecast", benchmark, runs)
    made = forecast_of(load_benchmark(benchmark), runs, wish)
    if json_out:
        write_json(json_out, made.model_dump(mode="json"))
    if plot:
        write_forecast_plot(plot, made)
    print_forecast(Console(), made)
    for path in filter(None, (json_out, plot)):
        typer.echo(escaped(str(path)))
