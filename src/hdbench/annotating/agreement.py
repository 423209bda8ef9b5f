"""`hdbench agreement`: how well the people agree who annotated the same items of a collection."""

from collections.abc import Sequence
from pathlib import Path

from hdbench.annotating.assigned import Annotated
from hdbench.annotating.units import rules_for, units_by_field
from hdbench.benchmarks.agreement import Agreement
from hdbench.benchmarks.spec import read_spec
from hdbench.statistics.agreement import field_agreement
from hdbench.statistics.bootstrap import METHOD
from hdbench.statistics.ceiling import ceiling

RESAMPLES = 10_000
LEVEL = 0.95


def agreement_of(folder: Path, found: Sequence[Annotated], *, seed: int = 0) -> Agreement | None:
    """Return how well people agree, from what each of them entered before anything was settled.

    Args:
        folder: the collection.
        found: the items that several people annotated, and are done with.
        seed: for the random numbers of the intervals.

    Returns:
        None if there are no such items.

    Raises:
        HdbenchError: the collection's `benchmark.yaml` cannot be used.
    """
    if not found:
        return None
    spec = read_spec(folder / "benchmark.yaml")
    metric = spec.make_metric()
    settings = {"resamples": RESAMPLES, "seed": seed}
    records = [each.records for each in found]
    fields = units_by_field([list(each.values()) for each in records], rules_for(metric))
    return Agreement(
        annotators=len({name for each in records for name in each}),
        items=len(found),
        without_truth=sum(None in each.values() for each in records),
        metric=spec.metric,
        method=METHOD,
        level=LEVEL,
        **settings,
        fields={
            name: field_agreement(units, level=LEVEL, **settings) for name, units in fields.items()
        },
        ceiling=ceiling(metric, spec.headline, records, level=LEVEL, **settings),
    )
