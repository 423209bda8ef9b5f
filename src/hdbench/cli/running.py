"""Commands that ask models: run, eval."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hdbench.cli.app import BENCHMARK, RUN, app, finite, say_error
from hdbench.cli.engines import EngineName, EngineOptions, Tasks, Workers, ask, read_engine
from hdbench.cli.saying import said, say, shown
from hdbench.common.regular_files import not_opened
from hdbench.errors import HdbenchError

if TYPE_CHECKING:
    from hdbench.running.choosing import Choice  # slow to import

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended."""


def _at_once(value: str) -> int | None:
    """A number of requests, or None for `auto`."""
    if value == "auto":
        return None
    if not value.isdecimal() or not int(value):
        raise typer.BadParameter(
            said("{value} is neither auto nor a number from 1 on.", value=value)
        )
    return int(value)


Model = Annotated[
    str,
    typer.Option(
        help="A repository on the Hub, a folder, the name that the server at --endpoint has for "
        "it, or tesseract."
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        help="An OpenAI-compatible server, such as http://localhost:8000/v1; its key is read from "
        "HDBENCH_API_KEY.",
        metavar="URL",
    ),
]
BatchSize = Annotated[
    int, typer.Option(help="Items that a local model is asked for at once.", min=1)
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        help="Maximum requests sent to a server at once: fewer are sent while it is busy or does "
        "not get faster. auto begins with 4.",
        metavar="N|auto",
        parser=_at_once,
        show_default="auto",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(help="Seconds that one request to a server may take.", min=0.1, callback=finite),
]
MaxFailed = Annotated[
    float,
    typer.Option(
        help="Exit with status 1 if a larger share of the items failed, such as 0.05. A run "
        "without any answer always exits with 1.",
        min=0.0,
        max=1.0,
        callback=finite,
    ),
]
MaxNewTokens = Annotated[
    int, typer.Option(help="The longest answer, in tokens; longer ones are cut off.", min=1)
]


@app.command(rich_help_panel=RUN)
def run(
    benchmark: Annotated[str | None, typer.Argument(help=BENCHMARK)] = None,
    *,
    model: Model,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The run's folder; by default a new one below runs/."),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            help="transformers, endpoint or tesseract; by default chosen by --model and --endpoint."
        ),
    ] = None,
    endpoint: Endpoint = None,
    images: Annotated[
        str | None,
        typer.Option(
            help="Your own images instead of a benchmark's items: a folder with one image per "
            "item, or one folder of pages per item; or shards of them, Parquet or tar: a file, a "
            "folder, a pattern such as 'cards/*.tar', or a URL (hf://, s3://, https://).",
            metavar="SOURCE",
        ),
    ] = None,
    as_benchmark: Annotated[
        str | None,
        typer.Option("--as", help="With --images: the benchmark whose prompt is used."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Stop after this many items.")] = None,
    ids: Annotated[
        str | None,
        typer.Option(help="Only these items, separated by commas; or a file with one id per line."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only a fixed subset of 20 items.")
    ] = False,
    prompt: Annotated[
        Path | None,
        typer.Option(help="A prompt to use instead of the benchmark's.", metavar="FILE"),
    ] = None,
    batch_size: BatchSize = 1,
    concurrency: Concurrency = None,
    max_new_tokens: MaxNewTokens = 4096,
    temperature: Annotated[
        float,
        typer.Option(help="The sampling temperature; 0 is greedy.", min=0.0, callback=finite),
    ] = 0.0,
    top_p: Annotated[
        float,
        typer.Option(
            help="The share of the probability that nucleus sampling keeps.",
            min=0.0,
            max=1.0,
            callback=finite,
        ),
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="The seed of the sampling.")] = 0,
    without_media: Annotated[
        bool,
        typer.Option(
            "--without-media",
            help="Ask with the prompt alone, without the image or PDF: what a model scores unseen "
            "is memory or chance, the floor beneath its score.",
        ),
    ] = False,
    schema: Annotated[
        bool | None,
        typer.Option(
            "--schema/--no-schema",
            help="Hold answers to the benchmark's JSON Schema while they are written. By default "
            "a server is asked to, and a local model is not.",
        ),
    ] = None,
    max_side: Annotated[
        int,
        typer.Option(
            help="The maximum length of an image's longer side in pixels; larger images are scaled "
            "down."
        ),
    ] = 2048,
    pages: Annotated[
        int, typer.Option(help="How many pages of a PDF the model is shown.", min=1)
    ] = 5,
    revision: Annotated[
        str | None, typer.Option(help="The model's revision on the Hub: a branch, tag or commit.")
    ] = None,
    trust_remote_code: Annotated[
        bool,
        typer.Option("--trust-remote-code", help="Run Python code from the model's repository."),
    ] = False,
    timeout: Timeout = 300.0,
    max_failed: MaxFailed = 1.0,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Ask again for items where only an error was recorded."
        ),
    ] = False,
    engine: EngineName = None,
    tasks: Tasks = None,
    workers: Workers = None,
    engine_option: EngineOptions = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Ask nothing; print what would be asked, where the images would go, and the "
            "tokens, price and time as far as they are known.",
        ),
    ] = False,
) -> None:
    """Ask a vision model about every item, and keep its answers.

    A run is one model's answers to one benchmark. However it ends, the same command resumes where
    it stopped. The run's folder can then be scored, compared and reported on: hdbench score
    BENCHMARK RUN.

    Exit status 0: done; 1: no item was answered, or too many failed; 2: it could not be done.
    """
    from hdbench.benchmarks.benchmark import load_benchmark  # noqa: PLC0415  slow to import
    from hdbench.running.backend import Asked, Decoding, ImageLimits  # noqa: PLC0415
    from hdbench.running.choosing import named_ids, of_benchmark, own_images  # noqa: PLC0415
    from hdbench.running.dry_run import describe_run  # noqa: PLC0415
    from hdbench.running.planning import RunPlan, run_name  # noqa: PLC0415

    chosen_engine = read_engine(engine, tasks, workers, engine_option)
    if (images is None) == (benchmark is None) or (images is None) != (as_benchmark is None):
        raise HdbenchError("give a benchmark, or --images SOURCE --as BENCHMARK")
    if images is not None and without_media:
        raise HdbenchError("--without-media: own images are the question: leave out one of them")
    media = as_benchmark is None and not without_media
    loaded = load_benchmark(benchmark or as_benchmark or "", media=media)
    if images is not None:
        if loaded.spec.media == "text":
            raise HdbenchError(
                "--images: {benchmark} is asked with texts, not with images", benchmark=loaded.id
            )
        choice = own_images(images, limit=limit)
    else:
        choice = of_benchmark(
            loaded, ids=named_ids(ids), limit=limit, quick=quick, without_media=without_media
        )
    _say_left_out(choice)
    asked = Asked(
        model,
        backend=backend,
        endpoint=endpoint,
        revision=revision,
        decoding=Decoding(max_new_tokens, temperature, top_p, seed),
        schema=schema,
        limits=ImageLimits(max_side, pages),
        batch_size=batch_size,
        concurrency=concurrency,
        timeout=timeout,
        trust_remote_code=trust_remote_code,
    )
    name = run_name(loaded, model) + ("_without-media" if without_media else "")
    folder = out or Path("runs") / name
    plan = RunPlan(loaded, choice, asked, prompt, own_images=images is not None)
    if dry_run:
        for line in describe_run(plan, folder, engine=chosen_engine, retry_failed=retry_failed):
            typer.echo(shown(line))
        if chosen_engine is not None:
            typer.echo(shown(chosen_engine.described(plan, folder)))
        return
    outcome = ask(plan, folder, chosen_engine, retry_failed=retry_failed)
    for line in outcome.lines(folder):
        typer.echo(shown(line))
    if outcome.interrupted:
        raise typer.Exit(INTERRUPTED)
    if trouble := outcome.trouble(max_failed):
        say_error(HdbenchError("{place}: {why}", place=folder, why=trouble))
        raise typer.Exit(1)
    step = "export" if images is not None else f"score {loaded.id}"
    say("next: hdbench {step} {folder}", step=step, folder=folder)


def _say_left_out(choice: "Choice") -> None:
    """Say what of a folder of images is not among the items."""
    for name in choice.passed_over:
        say("passed over: {name} is not an image", name=name, err=True)
    if choice.not_opened:
        say("note: {note}", note=not_opened(choice.not_opened), err=True)


@app.command("eval", rich_help_panel=RUN)
def evaluate(
    names: Annotated[
        list[str] | None, typer.Argument(help="Benchmarks, as for hdbench run.", metavar="[NAME…]")
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Run on every benchmark in hdb/.")] = False,
    model: Model,
    endpoint: Endpoint = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only a fixed subset of 20 items of each.")
    ] = False,
    max_minutes: Annotated[
        float | None,
        typer.Option(
            help="Stop asking after this time; items without an answer by then are unanswered.",
            min=0,
            callback=finite,
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with status 1 if a headline is worse than this, such as "
            "zettelkatalog=0.80; may be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where to make the run folders.")] = Path(
        "runs"
    ),
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the results to this file.", metavar="OUT")
    ] = None,
    batch_size: BatchSize = 1,
    concurrency: Concurrency = None,
    max_new_tokens: MaxNewTokens = 4096,
    timeout: Timeout = 300.0,
    max_failed: MaxFailed = 1.0,
) -> None:
    """Run and score a model on several benchmarks.

    With --all, a benchmark for which Tesseract has no rules is skipped, and a note says so.

    Exit status 0: every benchmark reaches what --fail-under demands; 1: one does not, none of its
    items was answered, or too many failed; 2: it could not be done.
    """
    from rich.console import Console  # noqa: PLC0415  slow to import

    from hdbench.cli.app import DEFAULT_OUT  # noqa: PLC0415
    from hdbench.cli.run_tables import print_evaluations  # noqa: PLC0415
    from hdbench.results.files import write_results  # noqa: PLC0415
    from hdbench.running.backend import Asked, Decoding  # noqa: PLC0415
    from hdbench.running.evaluating import (  # noqa: PLC0415
        Evaluation,
        Skipped,
        find_benchmarks,
        read_demands,
    )
    from hdbench.running.evaluating import (  # noqa: PLC0415
        evaluate as evaluate_model,
    )

    if every == bool(names):
        raise HdbenchError("name benchmarks, or give --all")
    benchmarks = find_benchmarks(DEFAULT_OUT, names or ())
    asked = Asked(
        model,
        endpoint=endpoint,
        decoding=Decoding(max_new_tokens),
        batch_size=batch_size,
        concurrency=concurrency,
        timeout=timeout,
    )
    found = list(
        evaluate_model(
            benchmarks,
            asked,
            out,
            quick=quick,
            minutes=max_minutes,
            demands=read_demands(fail_under or (), benchmarks),
            skip=every,
        )
    )
    for each in found:
        if isinstance(each, Skipped):
            say("note: skipped {name}: {why}", name=each.name, why=each.why, err=True)
    evaluations = [each for each in found if isinstance(each, Evaluation)]
    if not evaluations:
        raise HdbenchError(
            "{model} answers none of the benchmarks in {folder}", model=model, folder=DEFAULT_OUT
        )
    if json_out:
        write_results(json_out, [each.result for each in evaluations])
    print_evaluations(Console(), evaluations)
    troubles = [(each.folder, each.outcome.trouble(max_failed)) for each in evaluations]
    for folder, trouble in troubles:
        if trouble:
            say_error(HdbenchError("{place}: {why}", place=folder, why=trouble))
    if not all(each.passed for each in evaluations) or any(trouble for _, trouble in troubles):
        raise typer.Exit(1)
