"""Logits processors: sampling that is repeatable item by item, and answers held to a schema."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from hdbench.errors import HdbenchError
from hdbench.models.backend import Decoding
from hdbench.models.model_files import one_line, vlm_module


class SchemaGrammar:
    """A benchmark's answer schema as a grammar over a model's tokens.

    Source: https://github.com/guidance-ai/llguidance

    Args:
        schema: JSON Schema.
        tokenizer: the model's tokenizer, which must be a fast one.
        ends: tokens that end an answer.

    Raises:
        HdbenchError: llguidance is not installed, or cannot take the schema or the tokenizer.
    """

    def __init__(self, schema: dict[str, Any], tokenizer: Any, ends: Collection[int]) -> None:
        self._llguidance = vlm_module("llguidance")
        self._ends = frozenset(ends)
        try:
            self._tokenizer = vlm_module("llguidance.hf").from_tokenizer(
                tokenizer, eos_token=sorted(ends)
            )
        except ValueError as error:
            raise HdbenchError(
                "answers cannot be held to a schema: {why}", why=one_line(error)
            ) from error
        matcher = self._llguidance.LLMatcher
        self._grammar = matcher.grammar_from_json_schema(schema)
        wrong, messages = matcher.validate_grammar_with_warnings(self._grammar, self._tokenizer)
        if wrong:
            raise HdbenchError(
                "answers cannot be held to this answer.schema.json: {why}: change it, or ask "
                "without a schema",
                why=" ".join(" ".join(messages).split()),
            )

    @property
    def version(self) -> str:
        """Return the library that holds answers to the schema, with its version."""
        return f"llguidance {vlm_module('importlib.metadata').version('llguidance')}"

    def processor(self, rows: int) -> "SchemaProcessor":
        """Return a logits processor for one batch."""
        matchers = [
            self._llguidance.LLMatcher(self._tokenizer, self._grammar, log_level=0)
            for _ in range(rows)
        ]
        return SchemaProcessor(matchers, self._ends)


class SchemaProcessor:
    """A logits processor that leaves each row only the tokens that can continue its answer.

    Tokens that end an answer are left only where the answer is complete.

    Attributes:
        failures: for each row, why it could no longer be held to the schema, if so.
    """

    def __init__(self, matchers: list[Any], ends: frozenset[int]) -> None:
        self._torch = vlm_module("torch")
        self._matchers = matchers
        self._ends = ends
        self._ended = [False] * len(matchers)
        self._begun = False
        self.failures: list[str | None] = [None] * len(matchers)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores, with minus infinity for tokens that the schema forbids."""
        if self._begun:  # what came before the first call is the prompt
            for row, token in enumerate(input_ids[:, -1].tolist()):
                self._take(row, token)
        self._begun = True
        # NumPy: torch starts threads for so little, and waits for them longer than for the work.
        forbidden = np.zeros(scores.shape, dtype=bool)
        for row, ended in enumerate(self._ended):
            if not ended:  # what follows the end is padding
                forbidden[row] = True
                forbidden[row, self._allowed(row, scores.shape[1])] = False
        on_device = self._torch.from_numpy(forbidden).to(scores.device)
        return scores.masked_fill(on_device, float("-inf"))

    def _take(self, row: int, token: int) -> None:
        if not self._ended[row]:
            self._ended[row] = token in self._ends
            self._matchers[row].consume_token(token)

    def _allowed(self, row: int, vocabulary: int) -> Any:
        matcher = self._matchers[row]
        bias = matcher.compute_logit_bias()
        if matcher.is_error():  # it grew too complex
            self.failures[row] = " ".join(matcher.get_error().split())
            return sorted(self._ends)
        # A model can have room for more tokens than its tokenizer has, or for fewer.
        return np.frombuffer(bias, dtype=np.uint8)[:vocabulary].nonzero()[0]


def samplers(decoding: Decoding, ids: Sequence[str], device: Any) -> list[Any]:
    """Return processors under which the most likely token is a sampled one; none if greedy.

    Args:
        decoding: temperature, top_p and seed.
        ids: ids of the batch's items, in the order of its rows.
        device: the model's device.
    """
    if not decoding.temperature:
        return []
    transformers = vlm_module("transformers")
    nucleus = []
    if decoding.top_p is not None and decoding.top_p < 1:
        nucleus = [transformers.TopPLogitsWarper(decoding.top_p)]
    return [
        transformers.TemperatureLogitsWarper(float(decoding.temperature)),
        *nucleus,
        SeededNoise(decoding.seed or 0, ids, device),
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
        """Return the scores of each row with noise added."""
        noise = scores.new_empty(scores.shape)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        return scores - noise.log()


def _seed_of(seed: int, id_: str) -> int:
    digest = hashlib.sha256(f"{seed} {id_}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # 63 bits, which every device takes
