"""What reading a whole catalogue with a local model may take, as an estimate.

`PYTHONPATH=tests python -m speed.catalogue_costs`: docs/run.md has rows of the table it prints.

A model's time is the time to read the image and the prompt, which the accelerator's arithmetic
limits, and the time to write the answer, which its memory limits: each token needs all weights
once for the whole batch. The sizes of images, prompts and answers are measured ones; everything
else is assumed, and stands below. What a model really takes on one machine,
`hdbench run --limit 20` says.
"""

from typing import NamedTuple

from tabulate import tabulate

ITEMS = 700_000

# Measured on the 263 cards and the five newspaper pages, and on the 33 and 59 recorded runs.
PROMPT_CHARACTERS = 1764
CARD_MEGAPIXELS, CARD_ANSWER = 0.59, 430
PAGE_MEGAPIXELS, PAGE_ANSWER = 1.06, 4105

PIXELS_PER_TOKEN = 28 * 28
"""Of an image, in Qwen2.5-VL; other families are within a factor of two."""
CHARACTERS_PER_TOKEN = 3.0
"""Of German in JSON."""
OF_PEAK = 0.35
"""Share of the peak arithmetic that is reached while reading."""
OF_BANDWIDTH = 0.5
"""Share of the memory's bandwidth that is reached while writing."""
BATCH = 32
BYTES_PER_WEIGHT = 2


class Accelerator(NamedTuple):
    """An accelerator: dense bfloat16 arithmetic, memory, bandwidth, and a price per hour."""

    name: str
    teraflops: float
    gigabytes: int
    gigabytes_per_second: float
    dollars: float | None


ACCELERATORS = (  # prices: list prices of Hugging Face's hardware in 2026
    Accelerator("L4", 121, 24, 300, 0.80),
    Accelerator("RTX 4090", 165, 24, 1008, None),
    Accelerator("L40S", 362, 48, 864, 1.80),
    Accelerator("A100", 312, 80, 2039, 2.50),
)
PARAMETERS = (2, 4, 8, 32)
"""In billions, all of them active."""


def seconds(billions: float, on: Accelerator, megapixels: float, characters: float) -> float:
    """The seconds that one item takes in a full batch."""
    read = megapixels * 1e6 / PIXELS_PER_TOKEN + PROMPT_CHARACTERS / CHARACTERS_PER_TOKEN
    written = characters / CHARACTERS_PER_TOKEN
    reading = 2 * billions * 1e9 * (read + written) / (on.teraflops * 1e12 * OF_PEAK)
    weights = billions * BYTES_PER_WEIGHT / (on.gigabytes_per_second * OF_BANDWIDTH)
    return reading + written * weights / BATCH


def row(billions: float, on: Accelerator) -> list[str] | None:
    """A row of the table; None if the weights leave too little of the memory free."""
    if billions * BYTES_PER_WEIGHT > on.gigabytes * 0.85:
        return None
    card = seconds(billions, on, CARD_MEGAPIXELS, CARD_ANSWER)
    page = seconds(billions, on, PAGE_MEGAPIXELS, PAGE_ANSWER)
    hours = ITEMS * card / 3600
    price = "" if on.dollars is None else f"${hours * on.dollars:,.0f}"
    shown = [f"{card:.2f} s", f"{page:.1f} s", f"{hours:,.0f}", price]
    return [f"{billions} billion", on.name, *shown]


def main() -> None:
    rows = [found for size in PARAMETERS for on in ACCELERATORS if (found := row(size, on))]
    headers = ["weights", "on one", "a card", "a page", f"hours, {ITEMS:,} cards", "at list price"]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
