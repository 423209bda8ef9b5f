"""The sample of a plan: drawn at random from the full list, in the order in which it counts."""

from collections.abc import Sequence

import numpy as np

from hdbench.benchmarks import sample
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.datasets.collecting.drawing import draw
from hdbench.datasets.collecting.whole import Whole
from hdbench.errors import HdbenchError, Message


def draw_items(
    benchmark: Benchmark, ids: Sequence[str], number: int, *, by: Sequence[str] = (), seed: int = 0
) -> tuple[sample.Sample, list[str]]:
    """Draw items at random, simple or in proportion to the strata.

    Args:
        benchmark: all items.
        ids: their ids.
        number: how many are drawn.
        by: the columns whose values make the strata.
        seed: the seed of the draw and of the order.

    Returns:
        How they were drawn, and their ids in random order: betting takes them one after the other.

    Raises:
        HdbenchError: there are fewer items; there is no such column; a stratum would get more than
            its share, so that its items would count for more than they are.
    """
    columns = {name: [_cell(value) for value in benchmark.column(name).values()] for name in by}
    whole = Whole(benchmark.id, benchmark.content_hash(), ids, columns, ())
    drawn = draw(whole, number, by=by, seed=seed).sample
    if any(abs(each.items - number * each.of / len(ids)) >= 1 for each in drawn.strata):
        worst = max(drawn.strata, key=lambda each: each.items / each.of)
        named = ", ".join(worst.values.values()) or Message("without a value")
        share = -(-len(ids) // worst.of)
        raise HdbenchError(
            "--by {columns}: {stratum}: {items} of its {of:,} items would be more than its share: "
            "draw at least {least:,} items, choose columns with fewer values, or leave out --by",
            columns=",".join(by),
            stratum=named,
            items=worst.items,
            of=worst.of,
            least=2 * share,
        )
    order = np.random.default_rng([seed, 1]).permutation(number)
    names = sorted(drawn.ids)
    return drawn.design, [names[place] for place in order.tolist()]


def check_drawn(
    benchmark: Benchmark, ids: Sequence[str], design: sample.Sample, drawn: Sequence[str]
) -> None:
    """Refuse a sample that its seed does not draw: somebody chose items, or changed their order.

    What this cannot notice: that several seeds were tried, and the sample was chosen among theirs.

    Args:
        benchmark: all items.
        ids: their ids.
        design: how the sample is said to have been drawn.
        drawn: the sample.

    Raises:
        HdbenchError: another sample is drawn.
    """
    again = draw_items(benchmark, ids, len(drawn), by=design.by, seed=design.seed)
    if again != (design, list(drawn)):
        columns = ", ".join(design.by)
        by = Message(" and the columns {columns}", columns=columns) if columns else ""
        raise HdbenchError(
            "{benchmark}: the sample is not what the seed {seed} draws from its items{by}: items "
            "were chosen, or the plan or the columns changed: nothing can be promised: draw the "
            "sample of a new plan",
            benchmark=benchmark.id,
            seed=design.seed,
            by=by,
        )


def _cell(value: object) -> str:
    return "" if value is None else str(value)
