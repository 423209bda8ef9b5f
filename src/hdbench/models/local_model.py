"""One transformers model: its processor, its weights, and how it generates."""

import copy
import hashlib
import json
import re
import threading
from collections.abc import Collection, Sequence
from importlib.metadata import version
from typing import Any

import llguidance
import numpy as np
import torch
import transformers
from llguidance.hf import from_tokenizer
from PIL import Image

from hdbench.common.extras import install_command, missing_packages
from hdbench.common.json_schema import without_references
from hdbench.errors import HdbenchError, Message
from hdbench.models.backend import SILENT, Decoding, Observer, Reply
from hdbench.models.families import family_of, template_of
from hdbench.models.model_files import ModelSource, one_line


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
        # A model can have room for more tokens than its tokenizer has, or for fewer.
        if matcher.is_stopped():  # what follows the end is padding
            return sorted(end for end in self._ends if end < vocabulary)
        return np.frombuffer(bias, dtype=np.uint8)[:vocabulary].nonzero()[0]


_OUT_OF_MEMORY = re.compile(
    "out of memory|not enough memory|can't allocate memory|alloc_failed",  # CUDA, MPS, CPU, cuBLAS
    re.IGNORECASE,
)


class NoMemoryError(HdbenchError):
    """Memory does not suffice: the run stops."""


class LocalModel:
    """A model; its weights are loaded when it first generates.

    Args:
        source: where the model is.
        trust_remote_code: run Python code that comes with it.

    Attributes:
        source: where the model is.
        family: what is known of its family.
        device: where it computes: an accelerator, or the CPU.
        dtype: bfloat16 on CUDA that has it, float32 on a CPU, otherwise float16.
        ends: tokens that end an answer.

    Raises:
        HdbenchError: it cannot be used, or needs another device or a missing package.
    """

    def __init__(self, source: ModelSource, *, trust_remote_code: bool = False) -> None:
        self.source = source
        has_one = torch.accelerator.is_available()
        self.device = torch.accelerator.current_accelerator() if has_one else torch.device("cpu")
        self.dtype = _dtype(self.device)
        self._trust_remote_code = trust_remote_code
        config = self._load(transformers.AutoConfig)
        self.family = family_of(config.model_type, source.name)
        self._room = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._processor = self._load(transformers.AutoProcessor)
        self._check_processor()
        self._template = self.family.template or self._processor.chat_template
        self._processor.tokenizer.padding_side = "left"
        if self._processor.tokenizer.pad_token is None:
            self._processor.tokenizer.pad_token = self._processor.tokenizer.eos_token
        # A tokenizer cannot be used by two threads at once.
        self._encoding = threading.Lock()
        self.tokenizer = copy.deepcopy(self._processor.tokenizer)
        self.ends = self._find_ends()
        self._model: Any = None

    def encode(
        self,
        items: Sequence[Sequence[Image.Image]],
        prompts: Sequence[str],
        schema: dict[str, Any] | None = None,
    ) -> Any:
        """Return what the model gets for items: for each one its images, then its prompt.

        Args:
            items: the images of each.
            prompts: the prompt of each; an empty one is left out.
            schema: the answer schema, for a family that takes it as a template.

        Raises:
            NoMemoryError: memory does not suffice.
            HdbenchError: the model cannot take one of them.
        """
        turns = [
            [
                {
                    "role": "user",
                    "content": [
                        *({"type": "image", "image": image} for image in item),
                        *([{"type": "text", "text": prompt}] if prompt else []),
                    ],
                }
            ]
            for item, prompt in zip(items, prompts, strict=True)
        ]
        variables = dict(self.family.variables)
        if self.family.schema_as and schema is not None:
            filled_in = template_of(without_references(schema))
            variables[self.family.schema_as] = json.dumps(filled_in, indent=4, ensure_ascii=False)
        try:
            with self._encoding:
                inputs = self._processor.apply_chat_template(
                    turns,
                    chat_template=self._template,
                    add_generation_prompt=True,
                    tokenize=True,
                    return_dict=True,
                    return_tensors="pt",
                    processor_kwargs={"padding": True, **self.family.processor},
                    **{name: value for name, value in variables.items() if name in self._template},
                )
            longest = inputs["attention_mask"].sum(dim=1).max().item()
        except Exception as error:  # each model's processor has errors of its own
            self._check_memory(error)
            raise HdbenchError(
                "the model's processor refuses it: {why}", why=one_line(error)
            ) from error
        if self._room and longest >= self._room:
            raise HdbenchError(
                "prompt and images are {tokens} tokens, and the model has room for {room}: show "
                "smaller images or fewer pages",
                tokens=longest,
                room=self._room,
            )
        return inputs

    def generate(
        self,
        ids: Sequence[str],
        inputs: Any,
        decoding: Decoding,
        grammar: SchemaGrammar | None,
        observer: Observer = SILENT,
    ) -> list[Reply]:
        """Return the replies to encoded items.

        The count of output tokens includes the one that ends an answer. What is sampled depends on
        the seed and on the items that are asked together.

        Raises:
            HdbenchError: the model cannot be loaded, or fails; or memory does not suffice.
        """
        if self._model is None:
            observer.loading()
        model = self._loaded()
        constraint = grammar.processor(len(ids)) if grammar else None
        begin = inputs["input_ids"].shape[1]

        def count(input_ids: Any, scores: Any) -> Any:
            observer.writing(input_ids.shape[1] - begin)
            return scores

        sampling: dict[str, Any] = {}
        if decoding.temperature:
            torch.manual_seed(_seed_of(decoding.seed or 0, ids))
            sampling = {"do_sample": True, "temperature": float(decoding.temperature), "top_k": 0}
            sampling["top_p"] = 1.0 if decoding.top_p is None else decoding.top_p
        try:
            with torch.inference_mode():
                output = model.generate(
                    **inputs.to(self.device, getattr(torch, self.dtype)),
                    max_new_tokens=decoding.max_new_tokens,
                    logits_processor=[count, *([constraint] if constraint else [])],
                    **sampling,
                )
        except Exception as error:
            self._check_memory(error)
            raise HdbenchError(
                "{model}: the model fails on {ids}: {kind}: {why}",
                model=self.source.name,
                ids=", ".join(ids),
                kind=type(error).__name__,
                why=one_line(error),
            ) from error
        input_tokens = inputs["attention_mask"].sum(dim=1).tolist()
        failures = constraint.failures if constraint else [None] * len(ids)
        return [
            self._reply(row, count, failure, constrained=constraint is not None)
            for row, count, failure in zip(
                output[:, begin:].tolist(), input_tokens, failures, strict=True
            )
        ]

    def _reply(
        self, row: list[int], input_tokens: int, failure: str | None, *, constrained: bool
    ) -> Reply:
        end = next((position for position, token in enumerate(row) if token in self.ends), None)
        tokens = {"input": input_tokens, "output": len(row) if end is None else end + 1}
        if failure:
            error = Message("the answer could not be held to the schema: {why}", why=failure)
            return Reply(None, tokens, constrained=True, error=error)
        text = self.tokenizer.decode(
            row[:end],
            # Tags can be special tokens: reading needs them.
            skip_special_tokens=self.family.form not in ("doctags", "boxes"),
            clean_up_tokenization_spaces=False,
        )
        reason = "length" if end is None else "stop"
        return Reply(text, tokens, finish_reason=reason, constrained=constrained)

    def _load(self, loader: Any, **options: Any) -> Any:
        # Warnings and bars would tear the run's own progress bar.
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        try:
            return loader.from_pretrained(
                self.source.folder,
                trust_remote_code=self._trust_remote_code,  # never None, which asks at the terminal
                local_files_only=True,
                **options,
            )
        except Exception as error:  # an unknown kind of model, an absent package, a damaged file, …
            self._check_memory(error)
            if "custom code" in str(error):
                raise HdbenchError(
                    "{model}: comes with Python code of its own, which is not run unless "
                    "--option trust_remote_code=true allows it: read it first",
                    model=self.source.name,
                ) from error
            # transformers names the package, if only in the cause, but not how to install it here.
            reason = f"{error} {error.__cause__}".lower()
            if missing := [name for name in missing_packages("vlm") if name.lower() in reason]:
                raise HdbenchError(
                    "{model}: needs {packages}: install what local models need with: {command}",
                    model=self.source.name,
                    packages=", ".join(missing),
                    command=install_command("vlm"),
                ) from error
            raise HdbenchError(
                "{model}: cannot be loaded: {why}", model=self.source.name, why=one_line(error)
            ) from error

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = self._load(
                transformers.AutoModelForImageTextToText,
                dtype=getattr(torch, self.dtype),
                device_map=str(self.device),
                use_safetensors=True,  # other formats can run code
            )
            self._model.eval()
            # Only what is recorded: not the model's own repetition penalty, for example.
            self._model.generation_config = transformers.GenerationConfig(
                do_sample=False,
                eos_token_id=sorted(self.ends) or None,
                pad_token_id=self._processor.tokenizer.pad_token_id,
            )
        return self._model

    def _check_processor(self) -> None:
        processor = self._processor
        takes_both = hasattr(processor, "image_processor") and hasattr(processor, "tokenizer")
        if not (takes_both and (processor.chat_template or self.family.template)):
            raise HdbenchError(
                "{model}: not a model that takes images and text, or without a chat template: "
                "choose an instruction-tuned model with a processor",
                model=self.source.name,
            )

    def _find_ends(self) -> frozenset[int]:
        try:
            config = transformers.GenerationConfig.from_pretrained(self.source.folder)
            ends = config.eos_token_id
        except OSError:
            ends = None
        if ends is None:
            ends = self.tokenizer.eos_token_id
        vocabulary = self.tokenizer.get_vocab()
        known = {vocabulary[stop] for stop in self.family.stops if stop in vocabulary}
        return frozenset(known.union(ends if isinstance(ends, list) else {ends} - {None}))

    def _check_memory(self, error: Exception) -> None:
        """Say what would help where memory does not suffice.

        Raises:
            NoMemoryError: it does not.
        """
        is_runtime = isinstance(error, RuntimeError)
        if isinstance(error, MemoryError) or (is_runtime and _OUT_OF_MEMORY.search(str(error))):
            raise NoMemoryError(
                "{model}: memory does not suffice ({device}: {why}): ask with --option "
                "batch_size=1, show smaller images (--option max_side=N), or take a smaller or "
                "quantised model; the answers so far are kept",
                model=self.source.name,
                device=self.device.type,
                why=one_line(error),
            ) from error


def _dtype(device: Any) -> str:
    if device.type == "cpu":
        return "float32"
    is_cuda = device.type == "cuda"
    has_bfloat16 = is_cuda and torch.cuda.is_bf16_supported(including_emulation=False)
    return "bfloat16" if has_bfloat16 else "float16"


def _seed_of(seed: int, ids: Sequence[str]) -> int:
    text = " ".join([str(seed), *ids])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # 63 bits, which every device takes
