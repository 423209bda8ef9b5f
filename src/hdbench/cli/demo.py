"""Command that shows the whole workflow once, on a sample, with the calls a user would make."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from hdbench.api import score
from hdbench.benchmarks.benchmark import EXAMPLE, load_benchmark
from hdbench.benchmarks.building.builder import build, install_spaces
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.benchmarks.spec import read_spec, recipe_names
from hdbench.cli.arguments import DEFAULT_OUT
from hdbench.cli.score import print_result
from hdbench.common.display.terminal import localized
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import NOT_READ
from hdbench.evaluation.run import RunAnswers


def command(name: Annotated[str, typer.Argument(metavar="BENCHMARK")] = "zettelkatalog") -> None:
    """Build a small sample into ./hdb, load it, and score its example answers.

    Args:
        name: The benchmark whose sample is built.
    """
    import datasets  # noqa: PLC0415  takes seconds, which the help of this command need not
    import evaluate  # noqa: PLC0415

    out, console = DEFAULT_OUT, Console()
    recipe = find_recipe(name, sample=True)
    benchmark = recipe.spec.name
    _refuse_to_replace(out / benchmark)
    built = build(recipe, out)
    install_spaces(out)
    dataset, metric_name = f"{out}/{benchmark}", f"{out}/{recipe.spec.metric}"
    line = localized(
        "Built the sample, {count} items, into {folder}.", count=built.rows, folder=built.folder
    )
    console.print(f"{line}\n")

    datasets.disable_progress_bars()
    split = recipe.spec.split
    console.print(f'[dim]>>>[/] items = load_dataset("{dataset}", split="{split}")')
    items = datasets.load_dataset(dataset, split=split)
    console.print(f'[dim]>>>[/] metric = evaluate.load("{metric_name}")')
    metric = evaluate.load(metric_name)
    options = recipe.spec.protocols.get("documented", {})
    arguments = "".join(f", {option}={value!r}" for option, value in options.items())
    console.print(
        '[dim]>>>[/] metric.compute(predictions=…, references=items["ground_truth"]'
        f"{escape(arguments)})\n",
        soft_wrap=True,
    )
    example = built.folder / EXAMPLE
    with RunAnswers.opened(example, load_benchmark(dataset)) as run:
        answers = run.answers(None)
        answers_in_order = [answers.take(item_id) for item_id in items["id"]]
    predictions = [answer.text or answer.prediction for answer in answers_in_order]
    computed = metric.compute(predictions=predictions, references=items["ground_truth"], **options)

    # The same figures, with the benchmark and its ids.
    result = score(dataset, example).replaced(reading=NOT_READ)
    title = localized("{name} (sample), {protocol}", name=dataset, protocol=computed["protocol"])
    print_result(console, title, result)
    hdbench = _command()
    another = next(
        recipe_name
        for recipe_name in recipe_names()
        if recipe_name != benchmark and find_recipe(recipe_name, sample=True).spec.media != "text"
    )
    steps = {
        localized(
            "look at the items and ground truths:"
        ): f"{built.folder}/README.md, metadata.jsonl",
        localized("score a file of answers:"): f"{hdbench} score {dataset} {example}",
        localized("score as the published results were:"): "… --protocol published",
        localized("see the sample of another benchmark:"): f"{hdbench} demo {another}",
        localized("build the real benchmark:"): f"{hdbench} build {benchmark}",
    }
    width = max(map(len, steps)) + 4
    console.print(f"\n[bold]{localized('Where to go next')}[/]")
    for task, call in steps.items():
        line = f"  {task:{width}}{call}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _command() -> str:
    """Return the command that runs hdbench for the user: it may not be on their PATH."""
    if shutil.which("hdbench"):
        return "hdbench"
    started = Path(sys.argv[0])
    return f"{sys.executable} -P -m hdbench" if started.name == "__main__.py" else str(started)


def _refuse_to_replace(folder: Path) -> None:
    """Refuse a benchmark that is not the sample, above all the real one."""
    path = folder / "benchmark.yaml"
    if folder.exists() and not (path.is_file() and read_spec(path).version.endswith("+sample")):
        raise HdbenchError(
            "{folder}: exists already and is not the sample, so the demo leaves it as it is: run "
            "the demo in an empty folder",
            folder=folder,
        )
