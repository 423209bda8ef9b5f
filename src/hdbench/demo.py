"""`hdbench demo`: the whole way once, on the sample, by the calls that a user would make."""

import shutil
import sys
from pathlib import Path

import datasets
import evaluate
from rich.console import Console

from hdbench.benchmark import BenchmarkSpec, read_yaml, validate
from hdbench.building.builder import build, install_metrics
from hdbench.building.recipe import find_recipe
from hdbench.errors import HdbenchError
from hdbench.predictions import Predictions
from hdbench.scoring.result import WORST
from hdbench.tables import print_result

BENCHMARK = "zettelkatalog"


def run_demo(out: Path, console: Console) -> None:
    """Build the sample into `out`, load it, score the sample answers, and print what came of it.

    Raises:
        HdbenchError: `out` holds a benchmark of that name that is not the sample.
    """
    _refuse_to_replace(out / BENCHMARK)
    built = build(find_recipe(BENCHMARK, sample=True), out)
    install_metrics(out)
    name = f"{out}/{BENCHMARK}"
    console.print(f"Built the sample, {built.rows} cards, into {built.folder}.\n")

    datasets.disable_progress_bars()
    console.print(f'[dim]>>>[/] cards = load_dataset("{name}", split="test")')
    cards = datasets.load_dataset(name, split="test")
    console.print('[dim]>>>[/] metric = evaluate.load("hdb/zettel_f1")')
    metric = evaluate.load(f"{out}/zettel_f1")
    console.print('[dim]>>>[/] metric.compute(predictions=…, references=cards["ground_truth"])\n')
    example = built.folder / "example_predictions.jsonl"
    with Predictions(example) as answers:
        predictions = [answers.take(card) for card in cards["id"]]
    result = metric.compute(predictions=predictions, references=cards["ground_truth"], details=True)

    worst = sorted(result["per_item"], key=lambda item: item["f1"])[:WORST]
    worst = [{**item, "id": cards[int(item["id"])]["id"]} for item in worst if item["f1"] < 1]
    fields = result.pop("fields")
    print_result(console, f"{name} (sample), {result['protocol']}", result, fields, worst)
    hdbench = _command()
    console.print(
        f"\n[bold]Where to go next[/]\n"
        f"  look at the cards and their truths:     {built.folder}/images, metadata.jsonl\n"
        f"  score a file of answers:                {hdbench} score {name} {example}\n"
        f"  as the published results were scored:   … --protocol published\n"
        f"  build the real benchmark, 263 cards:    {hdbench} build {BENCHMARK}",
        highlight=False,
        soft_wrap=True,
    )


def _command() -> str:
    """How a person calls hdbench from where they are: it may not be on their PATH."""
    if shutil.which("hdbench"):
        return "hdbench"
    started = Path(sys.argv[0])
    return f"{sys.executable} -m hdbench" if started.name == "__main__.py" else str(started)


def _refuse_to_replace(folder: Path) -> None:
    """Refuse a benchmark that is not the sample, above all the real one."""
    path = folder / "benchmark.yaml"
    if folder.exists() and not (
        path.is_file()
        and validate(BenchmarkSpec, read_yaml(path), path).version.endswith("+sample")
    ):
        raise HdbenchError(
            f"{folder}: is there already and is not the sample, so the demo leaves it as it is: "
            "run the demo in an empty folder"
        )
