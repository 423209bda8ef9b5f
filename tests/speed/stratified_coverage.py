"""How often 95% intervals of stratified samples hold the figure of the whole, by simulation.

`PYTHONPATH=tests python -m speed.stratified_coverage [DRAWS]`: it takes some minutes.

Printed are the share of the intervals that hold the true figure, and the bias of the weighted and
of the unweighted figure.
"""

import sys

from helpers.strata import coverage

SIZES = (8000, 3000, 900, 100)
MEANS = (0.9, 0.75, 0.5, 0.3)
DESIGNS = {
    "proportional, 150": (SIZES, MEANS, (100, 37, 11, 2)),
    "equal, 150": (SIZES, MEANS, (38, 38, 37, 37)),
    "reversed, 150": (SIZES, MEANS, (20, 30, 50, 50)),
    "proportional, 40": (SIZES, MEANS, (26, 9, 3, 2)),
    "20 strata of 2": ((600,) * 20, tuple(0.4 + 0.025 * place for place in range(20)), (2,) * 20),
    "20 strata, of which 10 have 1": (
        (600,) * 10 + (60,) * 10,
        tuple(0.4 + 0.025 * place for place in range(20)),
        (5,) * 10 + (1,) * 10,
    ),
    "nearly all right, 150": (SIZES, (0.99, 0.98, 0.97, 0.95), (38, 38, 37, 37)),
}


def main():
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    for name, design in DESIGNS.items():
        found = coverage(*design, draws)
        print(
            f"{name:30s} held {found.held:.4f}, bias {found.bias:+.4f}, "
            f"unweighted {found.bias_unweighted:+.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
