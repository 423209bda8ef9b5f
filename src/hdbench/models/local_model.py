"""One transformers model: its processor, its weights, and how it generates."""

import copy
import gc
import threading
from collections.abc import Sequence
from typing import Any

from PIL import Image

from hdbench.common.extras import install_command, missing_packages
from hdbench.errors import HdbenchError, Message
from hdbench.models.backend import Decoding, Reply
from hdbench.models.logits import SchemaGrammar, samplers
from hdbench.models.model_files import ModelSource, one_line, vlm_module

_OUT_OF_MEMORY = (
    "out of memory",  # CUDA, MPS
    "not enough memory",  # CPU
    "can't allocate memory",
    "alloc_failed",  # cuBLAS
)

LONGEST = 4096
"""Tokens after which an answer is cut off, unless something else was asked for."""

_TEXT_INPUTS = ("input_ids", "attention_mask")


class LocalModel:
    """A model; its weights are loaded when it first generates.

    Args:
        source: where the model is.
        device: torch's name for it; None is CUDA, else MPS, else the CPU.
        trust_remote_code: run Python code that comes with it.

    Attributes:
        source: where the model is.
        device: where it computes.
        dtype: bfloat16 on CUDA that has it, float32 on a CPU, otherwise float16.
        ends: tokens that end an answer.
        has_own_prompt: whether it is asked with the one prompt that it was trained on.

    Raises:
        HdbenchError: it cannot be used, or needs another device or a missing package.
    """

    def __init__(
        self, source: ModelSource, device: str | None = None, *, trust_remote_code: bool = False
    ) -> None:
        self._torch = vlm_module("torch")
        self._transformers = vlm_module("transformers")
        self.source = source
        self.device = self._torch.device(device or _best_device(self._torch))
        self.dtype = _dtype(self._torch, self.device)
        self._trust_remote_code = trust_remote_code
        config = self._load(self._transformers.AutoConfig).get_text_config()
        self._room = getattr(config, "max_position_embeddings", None)
        self._processor = self._load(self._transformers.AutoProcessor)
        # It takes no instructions, and its processor writes the prompt.
        self.has_own_prompt = isinstance(self._processor, self._transformers.GotOcr2Processor)
        self._check_processor()
        self._processor.tokenizer.padding_side = "left"
        if self._processor.tokenizer.pad_token is None:
            self._processor.tokenizer.pad_token = self._processor.tokenizer.eos_token
        # A tokenizer cannot be used by two threads at once.
        self._encoding = threading.Lock()
        self.tokenizer = copy.deepcopy(self._processor.tokenizer)
        self.ends = self._find_ends()
        self._model: Any = None

    def encode(self, items: Sequence[Sequence[Image.Image]], prompts: Sequence[str]) -> Any:
        """Return what the model gets for items: for each one its images, then its prompt.

        A model with a prompt of its own gets that one.

        Raises:
            HdbenchError: the model cannot take one of them.
        """
        encoded = self._with_own_prompt if self.has_own_prompt else self._as_turns
        try:
            with self._encoding:
                inputs = encoded(items, prompts)
            longest = inputs["attention_mask"].sum(dim=1).max().item()
        except Exception as error:  # each model's processor has errors of its own
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
    ) -> list[Reply]:
        """Return the replies to encoded items.

        The count of output tokens includes the one that ends an answer.

        Raises:
            MemoryError: the items do not fit into the device's memory together.
            HdbenchError: the model cannot be loaded, or fails.
        """
        model = self._loaded()
        constraint = grammar.processor(len(ids)) if grammar else None
        lost: str | None = None
        try:
            with self._torch.inference_mode():
                output = model.generate(
                    **inputs.to(self.device, getattr(self._torch, self.dtype)),
                    max_new_tokens=decoding.max_new_tokens or LONGEST,
                    logits_processor=[
                        *([constraint] if constraint else []),
                        *samplers(decoding, ids, self.device),
                    ],
                )
            new = output[:, inputs["input_ids"].shape[1] :].tolist()
        except Exception as error:
            if not _is_out_of_memory(self._torch, error):
                raise HdbenchError(
                    "{model}: the model fails on {ids}: {kind}: {why}",
                    model=self.source.name,
                    ids=", ".join(ids),
                    kind=type(error).__name__,
                    why=one_line(error),
                ) from error
            lost = one_line(error)
        if lost is not None:  # here, the error that kept the tensors alive is gone
            self._free_memory()
            raise MemoryError(lost)
        input_tokens = inputs["attention_mask"].sum(dim=1).tolist()
        failures = constraint.failures if constraint else [None] * len(ids)
        return [
            self._reply(row, count, failure, constrained=constraint is not None)
            for row, count, failure in zip(new, input_tokens, failures, strict=True)
        ]

    def close(self) -> None:
        """Free the weights' memory."""
        self._model = None
        self._free_memory()

    def _as_turns(self, items: Sequence[Sequence[Image.Image]], prompts: Sequence[str]) -> Any:
        turns = [
            [
                {
                    "role": "user",
                    "content": [
                        *({"type": "image", "image": image} for image in item),
                        {"type": "text", "text": prompt},
                    ],
                }
            ]
            for item, prompt in zip(items, prompts, strict=True)
        ]
        return self._processor.apply_chat_template(
            turns,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        )

    def _with_own_prompt(
        self, items: Sequence[Sequence[Image.Image]], _prompts: Sequence[str]
    ) -> Any:
        """Encode items one by one: GOT-OCR2's processor takes only one item with several pages."""
        if not all(items):
            raise HdbenchError("it takes images only, and no texts")
        inputs_by_item = [
            self._processor(images=[list(item)], multi_page=True, return_tensors="pt")
            if len(item) > 1
            else self._processor(images=list(item), return_tensors="pt")
            for item in items
        ]
        texts = {name: [inputs[name][0] for inputs in inputs_by_item] for name in _TEXT_INPUTS}
        padded = self._processor.tokenizer.pad(texts, padding=True, return_tensors="pt")
        images = self._torch.cat([inputs["pixel_values"] for inputs in inputs_by_item])
        return self._transformers.BatchFeature({**padded, "pixel_values": images})

    def _reply(
        self, row: list[int], input_tokens: int, failure: str | None, *, constrained: bool
    ) -> Reply:
        end = next((position for position, token in enumerate(row) if token in self.ends), None)
        tokens = {"input": input_tokens, "output": len(row) if end is None else end + 1}
        if failure:
            error = Message("the answer could not be held to the schema: {why}", why=failure)
            return Reply(None, tokens, constrained=True, error=error)
        text = self.tokenizer.decode(
            row[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        reason = "length" if end is None else "stop"
        keeps = end is not None if constrained else None
        return Reply(
            text, tokens, finish_reason=reason, constrained=constrained, keeps_schema=keeps
        )

    def _load(self, loader: Any, **options: Any) -> Any:
        # Warnings and bars would tear the run's own progress bar.
        self._transformers.logging.set_verbosity_error()
        self._transformers.logging.disable_progress_bar()
        try:
            return loader.from_pretrained(
                self.source.folder,
                trust_remote_code=self._trust_remote_code,  # never None, which asks at the terminal
                local_files_only=True,
                **options,
            )
        except Exception as error:  # an unknown kind of model, an absent package, a damaged file, …
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
                    packages=_and(missing),
                    command=install_command("vlm"),
                ) from error
            raise HdbenchError(
                "{model}: cannot be loaded: {why}", model=self.source.name, why=one_line(error)
            ) from error

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = self._load(
                self._transformers.AutoModelForImageTextToText,
                dtype=getattr(self._torch, self.dtype),
                device_map=str(self.device),
                use_safetensors=True,  # other formats can run code
            )
            self._model.eval()
            # Only what is recorded: not the model's own repetition penalty, for example.
            self._model.generation_config = self._transformers.GenerationConfig(
                do_sample=False,
                eos_token_id=sorted(self.ends),
                pad_token_id=self._processor.tokenizer.pad_token_id,
            )
        return self._model

    def _check_processor(self) -> None:
        processor = self._processor
        if not (hasattr(processor, "image_processor") and hasattr(processor, "tokenizer")):
            raise HdbenchError(
                "{model}: not a model that takes images and text", model=self.source.name
            )
        if not (processor.chat_template or self.has_own_prompt):
            raise HdbenchError(
                "{model}: its processor has no chat template, so there is no telling how to ask "
                "it: choose an instruction-tuned model",
                model=self.source.name,
            )

    def _find_ends(self) -> frozenset[int]:
        try:
            config = self._transformers.GenerationConfig.from_pretrained(self.source.folder)
            ends = config.eos_token_id
        except OSError:
            ends = None
        if ends is None:
            ends = self.tokenizer.eos_token_id
        if ends is None:
            raise HdbenchError(
                "{model}: no token that ends an answer is known", model=self.source.name
            )
        ends = set(ends if isinstance(ends, list) else [ends])
        if self.has_own_prompt:  # generation_config.json may lack it
            ends.add(self.tokenizer.convert_tokens_to_ids(self._processor.message_end_token))
        return frozenset(ends)

    def _free_memory(self) -> None:
        gc.collect()
        if self.device.type in ("cuda", "mps"):
            getattr(self._torch, self.device.type).empty_cache()


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _dtype(torch: Any, device: Any) -> str:
    if device.type == "cpu":
        return "float32"
    is_cuda = device.type == "cuda"
    has_bfloat16 = is_cuda and torch.cuda.is_bf16_supported(including_emulation=False)
    return "bfloat16" if has_bfloat16 else "float16"


def _and(packages: Sequence[str]) -> str:
    first, *others = packages
    for other in others:
        first = Message("{first} and {second}", first=first, second=other)
    return first


def _is_out_of_memory(torch: Any, error: Exception) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(part in text for part in _OUT_OF_MEMORY)
