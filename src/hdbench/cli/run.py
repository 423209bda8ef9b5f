"""Command that asks a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import finite
from hdbench.cli.terminal import localized, say, say_error, shown
from hdbench.common.extras import needed
from hdbench.common.regular_files import not_opened
from hdbench.errors import HdbenchError
from hdbench.running.backend import Asked, Decoding, ImageLimits
from hdbench.running.choosing import Choice, named_ids, of_benchmark, own_images
from hdbench.running.dry_run import describe_run
from hdbench.running.planning import RunPlan, run_name
from hdbench.running.run import RunOutcome

if TYPE_CHECKING:
    from hdbench.running.cluster.launching import Engine

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended."""


def _at_once(value: str) -> int | None:
    """Read a number of requests; None for `auto`."""
    if value == "auto":
        return None
    if not value.isdecimal() or not int(value):
        raise typer.BadParameter(
            localized("{value} is neither auto nor a number from 1 on.", value=value)
        )
    return int(value)


BatchSize = Annotated[int, typer.Option(min=1)]
Concurrency = Annotated[
    int | None, typer.Option(metavar="N|auto", parser=_at_once, show_default="auto")
]
Timeout = Annotated[float, typer.Option(min=0.1, callback=finite)]
MaxFailed = Annotated[float, typer.Option(min=0.0, max=1.0, callback=finite)]
MaxNewTokens = Annotated[int, typer.Option(min=1)]


def command(
    benchmark: str,
    *,
    model: Annotated[str, typer.Option()],
    out: Annotated[Path | None, typer.Option("-o", "--out")] = None,
    backend: str | None = None,
    endpoint: Annotated[str | None, typer.Option(metavar="URL")] = None,
    images: Annotated[str | None, typer.Option(metavar="SOURCE")] = None,
    limit: int | None = None,
    ids: str | None = None,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    prompt: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    batch_size: BatchSize = 1,
    concurrency: Concurrency = None,
    max_new_tokens: MaxNewTokens = 4096,
    temperature: Annotated[float, typer.Option(min=0.0, callback=finite)] = 0.0,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0, callback=finite)] = 1.0,
    seed: int = 0,
    without_media: Annotated[bool, typer.Option("--without-media")] = False,
    schema: Annotated[bool | None, typer.Option("--schema/--no-schema")] = None,
    max_side: int = 2048,
    pages: Annotated[int, typer.Option(min=1)] = 5,
    revision: str | None = None,
    trust_remote_code: Annotated[bool, typer.Option("--trust-remote-code")] = False,
    timeout: Timeout = 300.0,
    max_failed: MaxFailed = 1.0,
    retry_failed: Annotated[bool, typer.Option("--retry-failed")] = False,
    engine: str | None = None,
    tasks: Annotated[int | None, typer.Option(min=1)] = None,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    engine_option: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
) -> None:
    """Ask a vision model about every item, and keep its answers.

    A run is one model's answers to one benchmark. However it ends, the same command resumes where
    it stopped. The run's folder can then be scored, compared and reported on: hdbench score
    BENCHMARK RUN.

    Exit status 0: done; 1: no item was answered, or too many failed; 2: it could not be done.

    Args:
        benchmark: The benchmark, such as zettelkatalog: built here, or else taken from the Hub.
        out: The run's folder; by default a new one below runs/.
        backend: transformers, endpoint or tesseract; by default chosen by --model and --endpoint.
        images: Your own images instead of the benchmark's items, with its prompt: a folder with one
            image per item, or one folder of pages per item; or shards of them, Parquet or tar: a
            file, a folder, a pattern such as 'cards/*.tar', or a URL (hf://, s3://, https://).
        limit: Stop after this many items.
        ids: Only these items, separated by commas; or a file with one id per line.
        quick: Only a fixed subset of 20 items.
        prompt: A prompt to use instead of the benchmark's.
        temperature: The sampling temperature; 0 is greedy.
        top_p: The share of the probability that nucleus sampling keeps.
        seed: The seed of the sampling.
        without_media: Ask with the prompt alone, without the image or PDF: what a model scores
            unseen is memory or chance, the floor beneath its score.
        schema: Hold answers to the benchmark's JSON Schema while they are written. By default a
            server is asked to, and a local model is not.
        max_side: The maximum length of an image's longer side in pixels; larger images are scaled
            down.
        pages: How many pages of a PDF the model is shown.
        revision: The model's revision on the Hub: a branch, tag or commit.
        trust_remote_code: Run Python code from the model's repository.
        retry_failed: Ask again for items where only an error was recorded.
        engine: Split the run into --tasks and start them with this engine: local (processes of this
            machine), slurm (an array of jobs) or jobs (Hugging Face Jobs, experimental).
        tasks: With --engine: into how many tasks the items are split.
        workers: With --engine: how many tasks run at the same time. By default as many as there is
            room for; with local, one per accelerator, or per core if the model is elsewhere.
        engine_option: With --engine: an option of the engine, such as partition=gpu, time=12:00:00,
            gres=gpu:1 or sbatch.account=NAME; may be repeated.
        dry_run: Ask nothing; print what would be asked, where the images would go, and the tokens,
            price and time as far as they are known.
    """
    chosen_engine = read_engine(engine, tasks, workers, engine_option)
    if images is not None and without_media:
        raise HdbenchError("--without-media: own images are the question: leave out one of them")
    loaded = load_benchmark(benchmark, media=images is None and not without_media)
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
    request = Asked(
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
    plan = RunPlan(loaded, choice, request, prompt, own_images=images is not None)
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
    if images is None:
        say("next: hdbench score {benchmark} {folder}", benchmark=loaded.id, folder=folder)


def _say_left_out(choice: Choice) -> None:
    """Say which files of a folder of images are not among the items."""
    for name in choice.passed_over:
        say("passed over: {name} is not an image", name=name, err=True)
    if choice.not_opened:
        say("note: {note}", note=not_opened(choice.not_opened), err=True)


def ask(plan: RunPlan, folder: Path, engine: "Engine | None", *, retry_failed: bool) -> RunOutcome:
    """Ask in this process or on an engine; it ends here where the engine goes on alone."""
    if engine is None:
        return plan.run(folder, retry_failed=retry_failed)
    from hdbench.running.cluster.launching import Launched, launch  # noqa: PLC0415  an extra

    launched = launch(plan, folder, engine, retry_failed=retry_failed)
    if isinstance(launched, Launched):
        for line in launched.lines():
            typer.echo(shown(line))
        raise typer.Exit
    return launched


def read_engine(
    name: str | None, tasks: int | None, workers: int | None, options: list[str] | None
) -> "Engine | None":
    """Return the engine that was asked for; None for a single process."""
    if name is None:
        cluster_options = {"--tasks": tasks, "--workers": workers, "--engine-option": options}
        if useless := [option for option, value in cluster_options.items() if value]:
            raise HdbenchError(
                "{option} only matters with --engine: choose one, or leave it out",
                option=useless[0],
            )
        return None
    with needed("cluster", "--engine needs"):
        import datatrove  # noqa: F401, PLC0415  named if it is missing

        from hdbench.running.cluster.launching import Engine, read_engine_options  # noqa: PLC0415

    if tasks is None:
        raise HdbenchError(
            "--engine {name}: say with --tasks into how many parts to split the items", name=name
        )
    return Engine(name, tasks, workers, read_engine_options(options or []))
