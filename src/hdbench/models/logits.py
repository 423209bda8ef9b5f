"""Answers held to a schema while they are written, by a logits processor."""

from collections.abc import Collection
from importlib.metadata import version
from typing import Any

import llguidance
import numpy as np
import torch
from llguidance.hf import from_tokenizer

from hdbench.errors import HdbenchError
from hdbench.models.model_files import one_line


class SchemaGrammar:
    """A benchmark's answer schema as a grammar over a model's tokens.

    Source: https://github.com/guidance-ai/llguidance

    Args:
        schema: JSON Schema.
        tokenizer: the model's tokenizer, which must be a fast one.
        ends: tokens that end an answer.

    Raises:
        HdbenchError: llguidance cannot take the schema or the tokenizer.
    """

    def __init__(self, schema: dict[str, Any], tokenizer: Any, ends: Collection[int]) -> None:
        self._ends = frozenset(ends)
        try:
            self._tokenizer = from_tokenizer(tokenizer, eos_token=sorted(ends))
        except ValueError as error:
            raise HdbenchError(
                "answers cannot be held to a schema: {why}", why=one_line(error)
            ) from error
        matcher = llguidance.LLMatcher
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
        return f"llguidance {version('llguidance')}"

    def processor(self, rows: int) -> "SchemaProcessor":
        """Return a logits processor for one batch."""
        matchers = [
            llguidance.LLMatcher(self._tokenizer, self._grammar, log_level=0) for _ in range(rows)
        ]
        return SchemaProcessor(matchers, self._ends)


class SchemaProcessor:
    """A logits processor that leaves each row only the tokens that can continue its answer.

    Tokens that end an answer are left only where the answer is complete.

    Attributes:
        failures: for each row, why it could no longer be held to the schema, if so.
    """

    def __init__(self, matchers: list[Any], ends: frozenset[int]) -> None:
        self._matchers = matchers
        self._ends = ends
        self._begun = False
        self.failures: list[str | None] = [None] * len(matchers)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores, with minus infinity for tokens that the schema forbids."""
        if self._begun:  # what came before the first call is the prompt
            for matcher, token in zip(self._matchers, input_ids[:, -1].tolist(), strict=True):
                if not matcher.is_stopped():
                    matcher.consume_token(token)
        self._begun = True
        # NumPy: torch starts threads for so little, and waits for them longer than for the work.
        forbidden = np.ones(scores.shape, dtype=bool)
        for row in range(len(self._matchers)):
            forbidden[row, self._allowed(row, scores.shape[1])] = False
        on_device = torch.from_numpy(forbidden).to(scores.device)
        return scores.masked_fill(on_device, float("-inf"))

    def _allowed(self, row: int, vocabulary: int) -> Any:
        matcher = self._matchers[row]
        bias = b"" if matcher.is_stopped() else matcher.compute_logit_bias()
        if matcher.is_error():  # it grew too complex
            self.failures[row] = " ".join(matcher.get_error().split())
        if matcher.is_stopped():  # what follows the end is padding
            return sorted(self._ends)
        # A model can have room for more tokens than its tokenizer has, or for fewer.
        return np.frombuffer(bias, dtype=np.uint8)[:vocabulary].nonzero()[0]
