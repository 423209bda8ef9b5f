"""Scores of a model while it is trained with `transformers.Trainer`.

Importing this module imports transformers.
"""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from hdbench.answers.folders import OUR_ANSWERS
from hdbench.answers.run_info import RUN_FILE
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.os_errors import write_errors
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.score import Settings, score_loaded
from hdbench.results.result import Result
from hdbench.running.backend import Asked, Decoding, ImageLimits
from hdbench.running.choosing import drawn
from hdbench.running.folder import RunFolder
from hdbench.running.local_model import ModelInTraining
from hdbench.running.model_files import model_name, vlm_module
from hdbench.running.planning import PROMPT, RunPlan, read_prompt
from hdbench.running.run import as_answer
from hdbench.running.transformers_backend import TransformersBackend

_transformers = vlm_module("transformers")


class ScoreCallback(_transformers.TrainerCallback):  # type: ignore[misc,name-defined]
    """Scores a model in training on a sample of a benchmark, every few steps.

    The model is asked as `hdbench run` asks it, with the benchmark's prompt and images, and its
    answers are scored as by `hdbench score`. Its training goes on as it would have without this.
    The trainer logs `hdbench/<benchmark>/<primary metric>` and `hdbench/<benchmark>/answered`, the
    share of the items with an answer that can be scored, so they are also in TensorBoard and so on.

    An item whose answer fails counts as a complete failure, and a step at which nothing can be
    scored logs nothing; either way there is one line of warning. Of several processes, the first
    one asks, while the others wait: see `ddp_timeout` in transformers' `TrainingArguments`.

    Args:
        trainer: the trainer.
        benchmark: the folder of a built benchmark, such as `hdb/zettelkatalog`, or one on the Hub.
        processor: the model's processor; by default the trainer's `processing_class`.
        every: how many steps lie between two scores.
        items: how many items the sample has; at most all that have a ground truth.
        seed: draws the sample from the ids: it is the same at each step and in each training.
        keep: keep each step's answers as a run folder, `hdbench/<benchmark>/step-<number>` in the
            trainer's `output_dir`, which all commands take.
        batch_size: how many items are asked at once.
        max_new_tokens: where an answer is cut off; a model that has not learned yet where answers
            end writes that many tokens for each item.
        max_side: maximum pixels of an image's longer side.

    Raises:
        HdbenchError: the benchmark is unusable, or a number is below 1. When the training begins:
            the model cannot be asked, or is spread over several processes.

    Example:
        >>> trainer.add_callback(ScoreCallback(trainer, "hdb/zettelkatalog", every=500, items=50))
    """

    def __init__(
        self,
        trainer: Any,
        benchmark: str,
        processor: Any = None,
        *,
        every: int = 500,
        items: int = 50,
        seed: int = 0,
        keep: bool = False,
        batch_size: int = 1,
        max_new_tokens: int = Decoding.max_new_tokens,
        max_side: int = ImageLimits.max_side,
    ) -> None:
        for name, number in (("every", every), ("items", items)):
            if number < 1:
                raise HdbenchError(
                    "{name}: must be 1 or more, not {number}", name=name, number=number
                )
        self._trainer, self._every, self._keep = trainer, every, keep
        self._processor = trainer.processing_class if processor is None else processor
        self._benchmark = load_benchmark(benchmark, media=True)
        self._prompt = read_prompt(self._benchmark.file(PROMPT))
        self._choice = drawn(self._benchmark, items, seed)
        self._asked = Asked(
            "",
            "transformers",
            decoding=Decoding(max_new_tokens),
            limits=ImageLimits(max_side),
            batch_size=batch_size,
        )

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Refuse a model that could not be asked later."""
        if self._trainer.is_fsdp_enabled or _transformers.integrations.is_deepspeed_zero3_enabled():
            raise HdbenchError(
                "the weights are spread over several processes (FSDP, ZeRO-3), and one of these "
                "alone cannot ask the model: leave out ScoreCallback, and ask checkpoints with: "
                "hdbench run"
            )
        self._backend(kwargs["model"], state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Score the model after every few steps."""
        step = state.global_step
        if step % self._every or not state.is_world_process_zero:
            return
        try:
            result = self._result(kwargs["model"], step, Path(args.output_dir))
        except HdbenchError as error:
            self._warn(step, error.message)
            return
        name = f"hdbench/{self._benchmark.spec.name}"
        share = result.answered / len(result.ids)
        should_log = control.should_log
        self._trainer.log({f"{name}/{result.headline}": result.value, f"{name}/answered": share})
        control.should_log = should_log  # which `log` resets, so that the loss would not be logged

    def _result(self, model: Any, step: int, output_dir: Path) -> Result:
        """Ask the model, and score its answers.

        Raises:
            HdbenchError: the model gives no answer, or no answer can be recorded.
        """
        with self._folder(step, output_dir) as folder:
            with closing(self._backend(model, step)) as backend:
                errors = self._ask(backend, folder)
            if errors:
                item_id, why = next(iter(errors.items()))
                failed = Message(
                    "no answer to {failed} of {items} items ({place}: {why})",
                    failed=len(errors),
                    items=len(self._choice.questions),
                    place=item_id,
                    why=why,
                )
                if len(errors) == len(self._choice.questions):
                    raise HdbenchError(failed)
                self._warn(step, failed)
            (result,) = score_loaded(self._benchmark, folder, [Settings()])[0].values()
        return result

    def _backend(self, model: Any, step: int) -> TransformersBackend:
        path = model.config.name_or_path  # empty for a new model
        name = f"{model_name(path) if path else 'model'}, step {step}"
        asked_model = ModelInTraining(model, self._processor, name)
        return TransformersBackend(self._asked, self._prompt.text, None, model=asked_model)

    @contextmanager
    def _folder(self, step: int, output_dir: Path) -> Iterator[Path]:
        """Give a folder for a step's run: a temporary one unless it is kept."""
        if not self._keep:
            with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
                yield Path(folder)
            return
        kept = output_dir / "hdbench" / self._benchmark.spec.name / f"step-{step}"
        with write_errors(kept):
            for name in (OUR_ANSWERS, RUN_FILE):  # of a training that was repeated from before
                (kept / name).unlink(missing_ok=True)
        yield kept

    def _ask(self, backend: TransformersBackend, folder: Path) -> dict[str, str]:
        """Ask about the sample, record the answers, and return id → error where there is none."""
        questions = self._choice.questions
        plan = RunPlan(self._benchmark, self._choice, self._asked)
        errors = {}
        with (
            # Its settings belong to all threads, and those that read images change them at once:
            # without this, the program's own warnings could be off from here on.
            warnings.catch_warnings(),
            RunFolder.opened(folder, plan.settings(backend, self._prompt)) as run,
            run.sitting(backend.hardware, items=len(questions)),
            closing(backend.answer(questions)) as replies,
        ):
            for item_id, reply in replies:
                run.answers.add(as_answer(item_id, reply))
                if reply.error is not None:
                    errors[item_id] = reply.error
        return errors

    def _warn(self, step: int, why: str) -> None:
        name = self._benchmark.spec.name
        message = Message("{benchmark}, step {step}: {why}", benchmark=name, step=step, why=why)
        warnings.warn(message, stacklevel=2)
