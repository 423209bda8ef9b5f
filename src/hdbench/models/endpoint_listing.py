"""The models that a server lists: the one that answers, and a check that it is the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from hdbench.errors import HdbenchError

_NAMES = ("root", "id")
"""Keys that tell models apart: in vLLM, `root` is the loaded model and `id` the name it serves."""


def listed_model(models: Sequence[Mapping[str, Any]], model: str) -> Mapping[str, Any]:
    """Return what a server says about a model; empty if it does not list it."""
    return next((listed for listed in models if listed["id"] == model), {})


def served_model(models: Sequence[Mapping[str, Any]], model: str) -> Mapping[str, Any]:
    """Return the listed model that answers; empty if the list does not say it.

    Servers of a single model, such as llama.cpp's, answer with it whatever is asked for.

    Args:
        models: those that a server lists.
        model: what it is asked for.
    """
    return listed_model(models, model) or (models[0] if len(models) == 1 else {})


def check_served(before: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> None:
    """Refuse to go on with another model; where a server does not say it, any is taken.

    Args:
        before: what was recorded of the listed model in an earlier sitting.
        now: the same of this one.

    Raises:
        HdbenchError: the server says that it serves another model.

    Example:
        >>> check_served({"root": "/tmp/1/Qwen3-VL-8B"}, {"root": "/tmp/2/Qwen3-VL-8B"})
    """
    for name in _NAMES:
        earlier, current = (
            model.get(name) if isinstance(model, dict) else None for model in (before, now)
        )
        if earlier and current:
            if _name(earlier) != _name(current):
                raise HdbenchError(
                    "the server serves {now}, and the run so far was answered by {before}: serve "
                    "the same model, or choose another folder",
                    now=current,
                    before=earlier,
                )
            return


def _name(model: object) -> str:
    """Return a model's name; for a path, which may differ between machines, its last part."""
    text = str(model)
    return text.rstrip("/").rpartition("/")[2] if text.startswith(("/", "./")) else text
