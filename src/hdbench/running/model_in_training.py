"""A model in training, asked as `hdbench run` asks one, without changing its training."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hdbench.running.local_model import LocalModel
from hdbench.running.model_files import ModelSource


class ModelInTraining(LocalModel):
    """A model that is in memory, and stays as it is: its modes and settings are put back.

    Args:
        model: the model, also in a wrapper such as PEFT's.
        processor: its processor; a copy of it is used.
        name: what the model is called.

    Raises:
        HdbenchError: it cannot be asked; see `LocalModel`.
    """

    def __init__(self, model: Any, processor: Any, name: str) -> None:
        self._in_training, self._its_processor = model, processor
        super().__init__(ModelSource(name, Path(), None, None), str(model.device))
        self.dtype = str(model.dtype).removeprefix("torch.")
        self._model = model

    def _read_config(self) -> Any:
        return self._in_training.config

    def _read_processor(self) -> Any:
        return copy.deepcopy(self._its_processor)

    def _read_generation_config(self) -> Any:
        return self._in_training.generation_config

    @contextmanager
    def _generating(self) -> Iterator[None]:
        model = self._in_training
        modes = {module: module.training for module in model.modules()}
        # In a wrapper, the model that generates is one of the modules.
        configs = {
            module: module.generation_config
            for module in model.modules()
            if "generation_config" in vars(module)
        }
        model.eval()
        for module in configs:
            module.generation_config = self._greedy()
        try:
            # Not `inference_mode`: what a model keeps from it could not be trained with.
            with self._torch.no_grad():
                yield
        finally:
            for module, config in configs.items():
                module.generation_config = config
            for module, is_training in modes.items():  # some may be frozen in evaluation mode
                module.training = is_training
