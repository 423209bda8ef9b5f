"""The dataset of recorded runs, which is not a benchmark; its recipe makes all of it."""

from pathlib import Path

from hdbench.about import installed_folder
from hdbench.benchmarks.building.namespace import writing
from hdbench.benchmarks.building.recipe import SCRIPT, load_script
from hdbench.benchmarks.model_facts import RESULTS
from hdbench.errors import Message, shortened


def build_results(out: Path, source: Path | None) -> list[Message]:
    """Write the dataset into a namespace folder, whole or not at all.

    Args:
        out: the namespace folder, such as `hdb`.
        source: where the runs are; None downloads them.

    Returns:
        What there is to say about it, one line each.

    Raises:
        HdbenchError: the source cannot be read or downloaded, or has no runs.
    """
    script = load_script(installed_folder("dataset_scripts") / RESULTS / SCRIPT)
    with writing(out, RESULTS) as folder:
        built = script.build(folder, source)
    lines = [
        Message(
            "{folder}: {total} runs ({runs}), {answers} answers; not in the source: {missing}"
            if built.missing
            else "{folder}: {total} runs ({runs}), {answers} answers",
            folder=out / RESULTS,
            total=sum(built.runs.values()),
            runs=", ".join(f"{name} {count}" for name, count in built.runs.items()),
            answers=built.answers,
            missing=", ".join(built.missing),
        )
    ]
    if built.left_out:
        lines.append(
            Message(
                "{count:,} run is left out, since files of it are missing or damaged: {names}",
                plural="{count:,} runs are left out, since files of them are missing or damaged: "
                "{names}",
                count=len(built.left_out),
                names=shortened(built.left_out),
            )
        )
    return lines
