"""Command that asks a model."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.cli.arguments import read_options
from hdbench.common.display.terminal import say, say_error, shown
from hdbench.common.extras import needed
from hdbench.common.files import not_opened
from hdbench.errors import HdbenchError
from hdbench.evaluation.run import part_folder
from hdbench.models.backend import Asked
from hdbench.models.items import Choice, named_ids, of_benchmark, own_images, part_of
from hdbench.models.run import Price, RunOutcome, RunPlan, run_name

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended."""

ENGINES = ("local", "slurm")


def command(
    benchmark: str,
    *,
    model: Annotated[str, typer.Option()],
    out: Annotated[Path | None, typer.Option("-o", "--out")] = None,
    endpoint: Annotated[str | None, typer.Option(metavar="URL")] = None,
    images: Annotated[Path | None, typer.Option(metavar="FOLDER")] = None,
    limit: Annotated[int | None, typer.Option(min=1)] = None,
    ids: str | None = None,
    prompt: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    as_text: Annotated[bool, typer.Option("--as-text")] = False,
    option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    price: Annotated[tuple[float, float] | None, typer.Option(metavar="IN OUT")] = None,
    without_media: Annotated[bool, typer.Option("--without-media")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed")] = False,
    part: Annotated[str | None, typer.Option(metavar="K/N")] = None,
    engine: str | None = None,
    tasks: Annotated[int | None, typer.Option(min=1, max=99_999)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
) -> None:
    """Ask a vision model about every item, and keep its answers.

    A run is one model's answers to one benchmark. However it ends, the same command resumes where
    it stopped. The run's folder can then be scored, compared and reported on: hdbench score
    BENCHMARK RUN.

    Exit status 0: done; 1: no item was answered; 2: it could not be done.

    Args:
        benchmark: The benchmark, such as zettelkatalog: built here, or else taken from the Hub.
        out: The run's folder; by default a new one below runs/.
        images: Your own images instead of the benchmark's items, with its prompt: a folder with one
            image per item, or one folder of pages per item.
        limit: Stop after this many items.
        ids: Only these items, separated by commas; or a file with one id per line.
        prompt: A prompt to use instead of the benchmark's.
        as_text: Ask for the page's text alone instead of a record, for models that write no JSON,
            where an answer is one text, as in a collection of transcriptions.
        option: An option of the model, such as temperature=0.7; may be repeated. max_new_tokens,
            temperature, top_p, seed: a server is sent only those that you give, and a local model
            answers greedily, with the tokens that its family needs at most (mostly 4096), without
            them; schema: hold answers to the benchmark's JSON Schema (true or false; by default a
            server is asked to); max_side (2048): larger images are scaled down; pages (5) of a PDF;
            timeout (300) of a request, or of an image for Tesseract, in seconds; concurrency (4):
            requests to a server, or images for Tesseract, at once; for local models batch_size (1),
            revision on the Hub, and trust_remote_code (false): run Python code from the model's
            repository.
        price: US dollars per million tokens, those in and those out; where a server says what an
            answer cost, as OpenRouter does, that counts. Without either, no price is shown.
        without_media: Ask with the prompt alone, without the image or PDF: what a model scores
            unseen is memory or chance, the floor beneath its score.
        retry_failed: Ask again for items where only an error was recorded.
        part: Ask only the K-th of N parts of the items, in the folder part-K-of-N below --out; all
            that reads runs reads the folder of the parts as one run.
        engine: Start --part 1/N to N/N as processes of this machine (local) or as an array of jobs
            (slurm); the same command again starts only parts that are not finished.
        tasks: With --engine: how many parts.
        dry_run: Ask nothing; print what would be asked, and where the images would go.
    """
    _check_together(images, part, engine, tasks, without_media=without_media)
    request = Asked.with_options(model, endpoint, read_options(option or ()))
    loaded = load_benchmark(benchmark, media=images is None and not without_media)
    if images is None:
        choice = of_benchmark(loaded, ids=named_ids(ids), limit=limit, without_media=without_media)
    else:
        choice = _own_images(loaded, images, limit)
    name = run_name(loaded, model) + "_as-text" * as_text + "_without-media" * without_media
    run = folder = out or Path("runs") / name
    if part is not None:
        number, of = read_part(part)
        choice, folder = part_of(choice, number, of), part_folder(run, number, of)
    plan = RunPlan(
        loaded,
        choice,
        request,
        prompt,
        own_images=images is not None,
        as_text=as_text,
        price=price and Price.of(price),
    )
    if dry_run:
        for line in plan.described(folder, retry_failed=retry_failed):
            typer.echo(shown(line))
        return
    outcome: RunOutcome | str
    if engine is None or tasks is None:
        outcome = plan.run(folder, retry_failed=retry_failed)
    else:
        arguments = _again(
            {
                "--model": model,
                "--out": run,
                "--endpoint": endpoint,
                "--images": images,
                "--limit": limit,
                "--ids": ids,
                "--prompt": prompt,
                "--as-text": as_text,
                "--option": option,
                "--price": price,
                "--without-media": without_media,
                "--retry-failed": retry_failed,
            }
        )
        with needed("cluster", "--engine needs"):
            from hdbench.models.engines import start_parts  # noqa: PLC0415  an extra
        outcome = start_parts(
            engine, tasks, plan, run, ["run", benchmark, *arguments], again=retry_failed
        )
    if isinstance(outcome, str):
        say("{place}: submitted as {job}", place=run, job=outcome)
        return
    for line in outcome.lines(folder):
        typer.echo(shown(line))
    if outcome.interrupted:
        raise typer.Exit(INTERRUPTED)
    if trouble := outcome.trouble():
        say_error(HdbenchError("{place}: {why}", place=folder, why=trouble))
        raise typer.Exit(1)
    if part is None:
        say("next: hdbench score {benchmark} {folder}", benchmark=loaded.id, folder=folder)


def _again(options: Mapping[str, Any]) -> list[str]:
    """Return options as they are written.

    Example:
        >>> _again({"--model": "m", "--limit": None, "--option": ["pages=2"], "--dry-run": True})
        ['--model=m', '--option=pages=2', '--dry-run']
    """
    words: list[str] = []
    for name, value in options.items():
        if value is True:
            words.append(name)
        elif isinstance(value, tuple):
            words += [name, *map(str, value)]
        elif value not in (None, False):
            words += [f"{name}={each}" for each in (value if isinstance(value, list) else [value])]
    return words


def _own_images(benchmark: Benchmark, folder: Path, limit: int | None) -> Choice:
    """Return the images of a folder; say which files are not among them."""
    if benchmark.spec.media == "text":
        raise HdbenchError(
            "--images: {benchmark} is asked with texts, not with images", benchmark=benchmark.id
        )
    choice = own_images(folder, limit=limit)
    for name in choice.passed_over:
        say("passed over: {name} is not an image", name=name, err=True)
    if choice.not_opened:
        say("note: {note}", note=not_opened(choice.not_opened), err=True)
    return choice


def read_part(text: str) -> tuple[int, int]:
    """Return K and N of `K/N`.

    Raises:
        HdbenchError: it is something else.

    Example:
        >>> read_part("2/16")
        (2, 16)
    """
    match = re.fullmatch(r"([1-9][0-9]{0,4})/([1-9][0-9]{0,4})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise HdbenchError("--part {part}: must be such as 2/16: part 2 of 16", part=text)
    return int(match[1]), int(match[2])


def _check_together(
    images: Path | None,
    part: str | None,
    engine: str | None,
    tasks: int | None,
    *,
    without_media: bool,
) -> None:
    """Refuse options that do not go together.

    Raises:
        HdbenchError: there are some.
    """
    if images is not None and without_media:
        raise HdbenchError("--without-media: own images are the question: leave out one of them")
    if engine is not None and engine not in ENGINES:
        names = ", ".join(ENGINES)
        raise HdbenchError("--engine {name}: choose one of {names}", name=engine, names=names)
    if (engine is None) != (tasks is None):
        raise HdbenchError("--engine and --tasks: give both, or none")
    if engine is not None and part is not None:
        raise HdbenchError("--part: an engine starts all parts: leave out one of them")
