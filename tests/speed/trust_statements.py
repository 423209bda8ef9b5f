"""What may be said of a decision: how often it is so, the more of the errors are in whole items.

`PYTHONPATH=tests python -m speed.trust_statements [SAMPLES]`; it needs no data, and takes some
minutes on two cores.

Synthetic catalogues stand for a collection, so that the true share of wrong values is known. Two
statements are tested: that of a decision, with the limit just below the least share of any
threshold, so that whatever is accepted makes it false; and that of a control sample, that at most
the upper bound of the accepted values are wrong, where they are accepted from `THRESHOLD` on.
Each figure is the worst of several rates of errors: how many items that are wrong as a whole a
sample has, and may have, comes in steps.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
from helpers.catalogues import ABOVE, chosen, synthetic

from hdbench.statistics.acceptance import ROUNDING, upper_bound

SAMPLES = 2_000
SIZES = (50, 100, 150, 263)
IN_WHOLE_ITEMS = (0, 0.25, 0.5, 0.75, 1)
ERRORS = (0.02, 0.03, 0.045, 0.06, 0.09, 0.12)
THRESHOLD = 0.9


def measure(share, error, items, samples):
    """How often each statement is true: by the rule, by the exact verdict, of a control sample."""
    catalogue = synthetic(fields=11, error=error).in_whole_items(share)
    limit = catalogue.least_error() / ABOVE
    true = catalogue.true_error(THRESHOLD)
    rng = np.random.default_rng([items, int(100 * share), int(1000 * error)])
    held = np.zeros(3)
    for _ in range(samples):
        scores, wrong = catalogue.drawn(rng, items)
        passes = scores >= THRESHOLD - ROUNDING
        bound = upper_bound(passes.sum(axis=1), (passes & wrong).sum(axis=1))
        held += (
            chosen(scores, wrong, "rule", limit) is None,
            chosen(scores, wrong, "exact", limit) is None,
            bound >= true,
        )
    return held / samples


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    print(f"{samples} samples each: near .90, a standard error of {(0.09 / samples) ** 0.5:.4f}")
    print(
        "errors in whole items, items: true by the rule, by the exact verdict, of a control sample"
    )
    with ProcessPoolExecutor() as pool:
        jobs = {
            cell: [pool.submit(measure, cell[0], error, cell[1], samples) for error in ERRORS]
            for cell in product(IN_WHOLE_ITEMS, SIZES)
        }
        for (share, items), of_cell in jobs.items():
            worst = np.min([job.result() for job in of_cell], axis=0)
            print(f"{share:5.0%} {items:4}   " + "   ".join(f"{each:.3f}" for each in worst))


if __name__ == "__main__":
    main()
