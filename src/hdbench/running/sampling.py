"""Sampling that is repeatable item by item."""

import hashlib
from collections.abc import Sequence
from typing import Any

from hdbench.running.backend import Decoding
from hdbench.running.model_files import vlm_module


def samplers(decoding: Decoding, ids: Sequence[str], device: Any) -> list[Any]:
    """Logits processors that make the most likely token a sampled one; none if decoding is greedy.

    Args:
        decoding: temperature, top_p and seed.
        ids: ids of the batch's items, in the order of its rows.
        device: the model's device.
    """
    if not decoding.temperature:
        return []
    transformers = vlm_module("transformers")
    nucleus = [transformers.TopPLogitsWarper(decoding.top_p)] if decoding.top_p < 1 else []
    return [
        transformers.TemperatureLogitsWarper(float(decoding.temperature)),
        *nucleus,
        SeededNoise(decoding.seed, ids, device),
    ]


class SeededNoise:
    """Adds Gumbel noise to logits: the largest sum is then a sample of their distribution.

    Each item has its own random numbers, from the seed and its id. So what is drawn for it
    depends neither on the other items of its batch nor on how many were answered before; with
    the single generator that `generate` draws from, it would.

    Source: E. J. Gumbel, Statistical theory of extreme values (1954); "Gumbel-max trick".
    """

    def __init__(self, seed: int, ids: Sequence[str], device: Any) -> None:
        """Make a generator for each row."""
        torch = vlm_module("torch")
        self._generators = [
            torch.Generator(device=device).manual_seed(_seed_of(seed, id_)) for id_ in ids
        ]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores of each row with noise added."""
        noise = scores.new_empty(scores.shape)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        return scores - noise.log()


def _seed_of(seed: int, id_: str) -> int:
    digest = hashlib.sha256(f"{seed} {id_}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # 63 bits, which every device takes
