"""The sample of a plan: drawn at random from the full list, in the order in which it counts."""

from collections.abc import Sequence

import numpy as np

from hdbench.benchmarks import sample
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collecting.drawing import draw
from hdbench.collecting.whole import Whole
from hdbench.errors import HdbenchError


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
    for stratum in drawn.strata:
        if abs(stratum.items - number * stratum.of / len(ids)) >= 1:
            named = ", ".join(stratum.values.values()) or "without a value"
            least = -(-len(ids) // stratum.of)
            raise HdbenchError(
                f"--by {','.join(by)}: {named}: {stratum.items} of its {stratum.of:,} items would "
                f"be more than its share: draw at least {2 * least:,} items, divide by columns "
                "with fewer values, or not at all"
            )
    order = np.random.default_rng([seed, 1]).permutation(number)
    names = sorted(drawn.ids)
    return drawn.design, [names[place] for place in order.tolist()]


def _cell(value: object) -> str:
    return "" if value is None else str(value)
