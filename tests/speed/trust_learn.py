"""How long a plan of single values takes: `hdbench trust plan`, `learn` and `apply`, which decides.

    PYTHONPATH=tests python -m speed.trust_learn 70000 700000

generates a catalogue and three runs for each number of items, as `speed.trust_apply` does, and
measures, each in a process of its own: the answers as hdbench reads them, side by side, and the
commands. What people would read is the truth. 700,000 items take 20 minutes and 4 GB of disk. Not a
test: nothing here passes or fails by the clock.
"""

import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from speed.scale import measured
from speed.trust_apply import RUNS, write_collection

from hdbench.annotating.checking.checked_values import (
    Reading,
    StageName,
    ValueKey,
)
from hdbench.benchmarks.benchmark import CHECKED_VALUES, load_benchmark
from hdbench.trust.deciding import read_plan
from hdbench.trust.learned.files import read_learned
from hdbench.trust.learned.plan import ValuePlan
from hdbench.trust.runs import planned_fields
from hdbench.trust.values import value_of

PLAN = Path("values/plan.yaml")


def main() -> None:
    """Measure collections of the sizes that were asked for."""
    more = [option for option in sys.argv[1:] if option.startswith("-")]
    for number in (int(size) for size in sys.argv[1:] if not size.startswith("-")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            truths = write_collection(folder, number)
            (folder / PLAN).parent.mkdir()
            runs = [f"{run}.jsonl" for run in RUNS]
            measured(["-m", "speed.trust_apply", "--only", "reading"], folder, "reading", number)
            trust = ["-m", "hdbench", "trust"]
            plan = [*trust, "plan", "hdb/cards", *runs, "-o", str(PLAN), *more]
            measured(plan, folder, "plan", number)
            read_stage(folder, truths, "learn")
            measured([*trust, "learn", str(PLAN)], folder, "learn", number)
            read_stage(folder, truths, "verify")
            measured([*trust, "apply", str(PLAN), "-o", "out"], folder, "apply", number)


def read_stage(folder: Path, truths: list[Any], stage: StageName) -> None:
    """Write what a person who makes no mistakes reads of the values of a stage."""
    plan = read_plan(folder / PLAN)
    assert isinstance(plan, ValuePlan)
    benchmark = load_benchmark(str(folder / plan.benchmark))
    fields = {field.path: field for field in planned_fields(plan, benchmark)}
    values: Iterable[ValueKey] = plan.first_stage
    if stage == "verify":
        values = read_learned(plan, folder / PLAN).second_stage
    with (benchmark.folder / CHECKED_VALUES).open("a") as file:
        for number, key in enumerate(values):
            value = value_of(truths[int(key.item) % len(truths)], fields[key.field])
            reading = Reading(
                id=f"{number:032x}",
                plan=plan.hash(),
                stage=stage,
                item=key.item,
                field=key.field,
                by="anna",
                at=plan.created,
                what="value",
                value=value,
            )
            file.write(json.dumps(reading.model_dump(exclude_unset=True)) + "\n")


if __name__ == "__main__":
    main()
