"""How fast answers are scored, and in how much memory, from a thousand to 100,000 items.

    PYTHONPATH=tests python -m speed.scale docs/data

writes `scale.json` and `scale.svg` into `docs/data`; it takes three minutes. With a number after
`docs/data`, no more items than that are scored. Each measurement is a process of its own, from its
start to its end. Not a test: nothing here passes or fails by the clock.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from speed.catalogue import write_catalogue, write_copies
from speed.plotting import BLUE, GREY, ORANGE, SETTINGS

SIZES = (1_000, 10_000, 100_000)
MOST = {"json.loads": 100_000, "plain": 100_000, "evaluate": 10_000}
"""Up to how many items the other procedures are measured."""

METRICS = {
    "zettelkatalog": "zettel_f1",
    "avisblatt": "avisblatt_cer",
    "rheinschifffahrt": "letters_f1",
    "sciencemetabench": "sciencemeta_accuracy",
    "bibliography": "record_f1",
    "manuscripts": "text_cer",
}
OF_METRIC = 10_000


def main() -> None:
    """Measure everything, and write the figures and the plot."""
    if sys.argv[1] == "--only":
        globals()[f"only_{sys.argv[2]}"](Path(sys.argv[3]))
        return
    docs = Path(sys.argv[1])
    most = int(sys.argv[2]) if len(sys.argv) > 2 else SIZES[-1]
    rows = [*sizes([size for size in SIZES if size <= most]), *metrics()]
    about = {"processor": processor(), "cores": os.cpu_count(), "python": platform.python_version()}
    (docs / "scale.json").write_text(json.dumps({**about, "measured": rows}, indent=1) + "\n")
    write_plot(docs / "scale.svg", rows)


def sizes(numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Cards of one catalogue after the other: hdbench, beside other ways to the same figures."""
    rows = []
    for number in numbers:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_catalogue(folder, number)
            command = ["-m", "hdbench", "score", "hdb/cards", "answers.jsonl"]
            command += ["--json", "result.json"]
            rows.append(measured(command, folder, "hdbench", number))
            for way, largest in MOST.items():
                if number <= largest:
                    only = ["-m", "speed.scale", "--only", way.replace(".", "_"), str(folder)]
                    rows.append(measured(only, folder, way, number))
    return rows


def metrics() -> list[dict[str, Any]]:
    """Each metric, on copies of the sample of a benchmark that has it."""
    rows = []
    for benchmark, metric in METRICS.items():
        with tempfile.TemporaryDirectory() as name:
            write_copies(benchmark, Path(name), OF_METRIC)
            command = ["-m", "hdbench", "score", f"hdb/{benchmark}", "answers.jsonl"]
            rows.append(measured(command, Path(name), metric, OF_METRIC))
    return rows


def measured(command: list[str], folder: Path, way: str, items: int) -> dict[str, Any]:
    """Seconds, seconds of computing and peak memory of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    row = {
        "way": way,
        "items": items,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "items_per_second": round(items / seconds),
        "cpu_microseconds_per_item": round((used.ru_utime + used.ru_stime) / items * 1e6, 1),
        "peak_mb": round(used.ru_maxrss * 1024 / 1e6),
    }
    print(row, flush=True)
    return row


def only_json_loads(folder: Path) -> None:
    """The floor: parse what there is, and keep nothing."""
    with (folder / "hdb/cards/metadata.jsonl").open() as file:
        for line in file:
            json.loads(json.loads(line)["ground_truth"])
    with (folder / "answers.jsonl").open() as file:
        for line in file:
            try:
                json.loads(json.loads(line)["text"])
            except ValueError:
                continue


def only_plain(folder: Path) -> None:
    """What one would write oneself: everything in memory, valid JSON only, no checks."""
    from hdbench.scoring import make_metric  # noqa: PLC0415  what is not needed is not timed

    metric = make_metric("zettel_f1")
    answers = texts(folder)
    counts = [0, 0, 0]
    with (folder / "hdb/cards/metadata.jsonl").open() as file:
        for line in file:
            item = json.loads(line)
            truth = json.loads(item["ground_truth"])
            try:
                record = json.loads(answers[item["id"]])
            except (KeyError, ValueError):
                record = None
            found = metric.score(record, metric.prepare(truth)).statistics
            for place, name in enumerate(("true_positives", "false_positives", "false_negatives")):
                counts[place] += found[name]
    print(counts)


def texts(folder: Path) -> dict[str, str]:
    """Id → what the model wrote."""
    with (folder / "answers.jsonl").open() as file:
        return {answer["id"]: answer["text"] for answer in map(json.loads, file)}


def only_evaluate(folder: Path) -> None:
    """The same answers by `evaluate.load` and `compute`."""
    import evaluate  # noqa: PLC0415

    metric = evaluate.load(str(Path(__file__).parents[2] / "metrics/zettel_f1"))
    answers = texts(folder)
    predictions, references = [], []
    with (folder / "hdb/cards/metadata.jsonl").open() as file:
        for line in file:
            item = json.loads(line)
            references.append(json.loads(item["ground_truth"]))
            predictions.append(answers.get(item["id"]))
    print(metric.compute(predictions=predictions, references=references)["f1_micro"])


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "")


def write_plot(path: Path, rows: list[dict[str, Any]]) -> None:
    """Items per second and memory, by the number of items."""
    from matplotlib import rc_context  # noqa: PLC0415  only the main process needs it
    from matplotlib.figure import Figure  # noqa: PLC0415

    lines = [
        ("hdbench", "hdbench", BLUE, "o-"),
        ("reading alone (json.loads)", "json.loads", GREY, "s:"),
        ("plain loop", "plain", ORANGE, "^-"),
        ("evaluate", "evaluate", ORANGE, "v:"),
    ]
    with rc_context(SETTINGS):
        figure = Figure(figsize=(9, 3.3), layout="constrained")
        speed, memory = figure.subplots(1, 2)
        for label, way, color, style in lines:
            own = [row for row in rows if row["way"] == way]
            number = [row["items"] for row in own]
            speed.plot(
                number, [row["items_per_second"] for row in own], style, color=color, markersize=4
            )
            memory.plot(
                number,
                [row["peak_mb"] for row in own],
                style,
                color=color,
                markersize=4,
                label=label,
            )
        speed.set(xscale="log", yscale="log", xlabel="items", ylabel="items per second")
        memory.set(xscale="log", yscale="log", xlabel="items", ylabel="peak memory in MB")
        figure.legend(loc="outside upper center", ncols=len(lines), frameon=False)
        figure.savefig(path, transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
