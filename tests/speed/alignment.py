"""What pairing the items of lists by content changes in the recorded runs.

    PYTHONPATH=tests python -m speed.alignment hdb docs/data

reads the datasets and recorded runs that were built in `hdb`, prints tables, of which
`docs/metrics.md` has one, and writes `alignment.csv` and `alignment.svg` into `docs/data`. It takes
minutes.
Not a test, and not about speed: run by hand like the others here.
"""

import csv
import json
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from speed.plotting import BLUE, GREY, ORANGE, SETTINGS

from hdbench.answers.answer import Answer
from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.evaluation.score import score_items
from hdbench.scoring.metric import Metric
from hdbench.scoring.records import pairing

BENCHMARKS = {"bibliography": "fuzzy", "blacklist": "fuzzy", "companylists": "f1_macro"}
"""Name → what its headline is called in the published results."""

WAYS = ("published", "position", "aligned")
LIMITS = (1001, 800, 700, 600, 500, 400, 300, 200, 100, 0)
"""Thousandths of similarity per field from which two items can be a pair; 1001: only a match."""

SHOWN = 5


@dataclass(frozen=True)
class Run:
    """A recorded run.

    Attributes:
        benchmark: the benchmark's name.
        run: the run's name.
        model: its model.
        prompt: its prompt.
        reproducible: whether its published figures can be computed from its answers.
        complete: whether it was asked all items.
        published: its headline as it was published.
        reproduced: the same under `--protocol published`.
        position: the documented headline with lists by position.
        aligned: the documented headline.
    """

    benchmark: str
    run: str
    model: str
    prompt: str
    reproducible: bool
    complete: bool
    published: float
    reproduced: float
    position: float
    aligned: float


def main() -> None:
    """Print the tables, and write the list of all runs and the plot."""
    hdb, docs = map(Path, sys.argv[1:])
    runs = [run for name in BENCHMARKS for run in scored(hdb, name)]
    of_benchmark = {
        name: [run for run in runs if run.benchmark == name and run.complete] for name in BENCHMARKS
    }
    summary(of_benchmark)
    for name, complete in of_benchmark.items():
        changes(name, complete)
    not_reproducible(runs)
    for name, complete in of_benchmark.items():
        limits(hdb, name, complete)
    write_csv(docs / "alignment.csv", of_benchmark)
    write_plot(docs / "alignment.svg", of_benchmark)


def scored(hdb: Path, name: str) -> list[Run]:
    """The recorded runs of a benchmark with their headlines."""
    benchmark = str(hdb / name)
    headline, items = (
        load_benchmark(benchmark).spec.headline,
        len([*load_benchmark(benchmark).ids()]),
    )
    settings = {
        "reproduced": {"protocol": "published"},
        "position": {"lists": "position"},
        "aligned": {},
    }
    runs = []
    for folder in sorted(path.parent for path in (hdb / "results" / name).glob("*/run.json")):
        about = json.loads((folder / "run.json").read_text())
        figures = {
            way: score(benchmark, folder, **each).figures[headline]
            for way, each in settings.items()
        }
        runs.append(
            Run(
                name,
                about["run"],
                about["model"],
                about["prompt"]["name"],
                about["reproducible"],
                len(about["items"]) == items,
                about["published"][BENCHMARKS[name]],
                **figures,
            )
        )
    return runs


def ranks(runs: Sequence[Run], way: str) -> dict[str, int]:
    """Run → 1 + the number of runs that are better."""
    values = [getattr(run, way) for run in runs]
    return {run.run: 1 + sum(value > getattr(run, way) for value in values) for run in runs}


def best(runs: Sequence[Run], way: str) -> Run:
    return max(runs, key=lambda run: getattr(run, way))


def swapped(runs: Sequence[Run], one: str, other: str) -> float:
    """The share of pairs of runs whose order is the opposite."""
    pairs = [*combinations(runs, 2)]
    opposite = sum(
        (getattr(a, one) - getattr(b, one)) * (getattr(a, other) - getattr(b, other)) < 0
        for a, b in pairs
    )
    return opposite / len(pairs)


def largest(runs: Sequence[Run], one: str, other: str) -> int:
    """The largest change of rank."""
    before, after = ranks(runs, one), ranks(runs, other)
    return max(abs(before[run.run] - after[run.run]) for run in runs)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table in Markdown."""
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


def summary(of_benchmark: dict[str, list[Run]]) -> None:
    rows = []
    for name, runs in of_benchmark.items():
        for way in WAYS:
            values = [getattr(run, way) for run in runs]
            first = best(runs, way)
            moved = [f"{largest(runs, way, 'aligned')}", f"{swapped(runs, way, 'aligned'):.0%}"]
            rows.append(
                [
                    f"{name}, {len(runs)} runs",
                    way,
                    f"{statistics.median(values):.3f}",
                    f"{getattr(first, way):.3f} {first.model}",
                    *(moved if way != "aligned" else ["", ""]),
                ]
            )
    table(["benchmark", "lists", "median", "best", "up to … ranks", "pairs swapped"], rows)
    for name, runs in of_benchmark.items():
        higher = sum(run.aligned > run.position + 1e-12 for run in runs)
        lower = sum(run.aligned < run.position - 1e-12 for run in runs)
        print(f"\n{name}: aligned above position {higher}, below {lower}", end="")
        for prompt in sorted({run.prompt for run in runs}):
            same = [run for run in runs if run.prompt == prompt]
            moves = [largest(same, way, "aligned") for way in WAYS[:2]]
            print(f"; {prompt}: {len(same)} runs, moved from {WAYS[:2]} by up to {moves}", end="")
    print()


def changes(name: str, runs: Sequence[Run]) -> None:
    """The runs that move most from position to aligned."""
    by = {way: ranks(runs, way) for way in WAYS}
    moved = sorted(runs, key=lambda run: -abs(by["position"][run.run] - by["aligned"][run.run]))
    print(f"\n{name}")
    table(
        ["model", "run", *WAYS],
        (
            [
                run.model,
                run.run,
                *(f"{getattr(run, way):.3f} ({by[way][run.run]})" for way in WAYS),
            ]
            for run in moved[:SHOWN]
        ),
    )


def not_reproducible(runs: Sequence[Run]) -> None:
    table(
        ["benchmark", "run", "model", "published", "from the answers", "difference"],
        (
            [
                run.benchmark,
                run.run,
                run.model,
                f"{run.published:.3f}",
                f"{run.reproduced:.3f}",
                f"{run.reproduced - run.published:+.4f}",
            ]
            for run in runs
            if not run.reproducible
        ),
    )


def limits(hdb: Path, name: str, runs: Sequence[Run]) -> None:
    """What the similarity from which two items can be a pair changes; answers as published."""
    benchmark = load_benchmark(str(hdb / name))
    ways = {
        way: benchmark.spec.make_metric("documented", **options)
        for way, options in (("position", {"lists": "position"}), ("aligned", {}))
    }

    def figures(metric: Metric) -> list[dict[str, Any]]:
        prepared = {
            item.id: metric.prepare(item.reference(metric.protocol)) for item in benchmark.items()
        }
        found = []
        for run in runs:
            folder = hdb / "results" / name / run.run.replace("/", "_")
            answers = map(json.loads, (folder / "answers.jsonl").open())
            candidates = [(Answer(a["prediction"], id=a["id"]), prepared[a["id"]]) for a in answers]
            found.append(score_items(metric, candidates).figures)
        return found

    by_position = [each["similarity"] for each in figures(ways["position"])]
    rows = [["by position", "", f"{statistics.median(by_position):.3f}", "", "", ""]]
    usual = pairing.ENOUGH
    for limit in LIMITS:
        pairing.ENOUGH = limit
        found = figures(ways["aligned"])
        similarities = [each["similarity"] for each in found]
        rows.append(
            [
                "a match" if limit > 1000 else f"{limit / 1000:.1f}",
                sum(a < p - 1e-12 for a, p in zip(similarities, by_position, strict=True)),
                f"{statistics.median(similarities):.3f}",
                f"{statistics.median(each['f1_micro'] for each in found):.4f}",
                f"{statistics.median(each['f1_records'] for each in found):.3f}",
                sum(each["records_found"] for each in found),
            ]
        )
    pairing.ENOUGH = usual
    print(f"\n{name}")
    table(
        ["limit", "below position", "median similarity", "median F1", "records F1", "found"], rows
    )


def write_csv(path: Path, of_benchmark: dict[str, list[Run]]) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        about = ("benchmark", "run", "model", "prompt", "reproducible")
        rows.writerow([*about, *(name for way in WAYS for name in (way, f"{way}_rank"))])
        for runs in of_benchmark.values():
            by = {way: ranks(runs, way) for way in WAYS}
            for run in sorted(runs, key=lambda run: by["aligned"][run.run]):
                values = (
                    value
                    for way in WAYS
                    for value in (f"{getattr(run, way):.4f}", by[way][run.run])
                )
                rows.writerow([*(getattr(run, name) for name in about), *values])


def write_plot(path: Path, of_benchmark: dict[str, list[Run]]) -> None:
    with rc_context(SETTINGS):
        figure = Figure(figsize=(9, 3.3), layout="constrained")
        for axes, (name, runs) in zip(figure.subplots(1, 3), of_benchmark.items(), strict=True):
            axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
            for prompt, color, marker in (
                ("prompt.txt", BLUE, "o"),
                ("prompt_min.txt", ORANGE, "^"),
            ):
                same = [run for run in runs if run.prompt == prompt]
                if same:
                    axes.scatter(
                        [run.position for run in same],
                        [run.aligned for run in same],
                        s=16,
                        color=color,
                        marker=marker,
                        alpha=0.75,
                        linewidths=0,
                        label=prompt,
                    )
            headline = "F1, mean of pages" if name == "companylists" else "similarity"
            axes.set(title=name, xlabel=f"{headline}, by position", xlim=(0, 1), ylim=(0, 1))
            axes.set_aspect("equal")
            if name == "companylists":
                axes.legend(frameon=False, loc="lower right")
        figure.axes[0].set_ylabel("aligned by content")
        figure.savefig(path, transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
