"""Which model a server says that it serves, and whether it is still the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from hdbench.errors import HdbenchError

_NAMES = ("root", "id")
"""What tells models apart: vLLM has `root` for what it loaded, and `id` for what it calls that."""


def served_model(models: Sequence[Mapping[str, Any]], model: str) -> Mapping[str, Any]:
    """The listed model that answers; empty if the list does not say it.

    Servers of a single model, such as llama.cpp's, answer with it whatever is asked for.

    Args:
        models: those that a server lists.
        model: what it is asked for.
    """
    named = next((each for each in models if each["id"] == model), None)
    return named or (models[0] if len(models) == 1 else {})


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
        then, here = (each.get(name) if isinstance(each, dict) else None for each in (before, now))
        if then and here:
            if _name(then) != _name(here):
                raise HdbenchError(
                    "the server serves {now}, and the run so far was answered by {before}: serve "
                    "the same model, or choose another folder",
                    now=here,
                    before=then,
                )
            return


def _name(model: object) -> str:
    """A model's name; for a path, which may differ between machines, its last part."""
    text = str(model)
    return text.rstrip("/").rpartition("/")[2] if text.startswith(("/", "./")) else text
