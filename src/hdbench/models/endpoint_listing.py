"""The models that a server lists: the one that answers, a check that it is the same, its price."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hdbench.errors import HdbenchError

MILLION = 1_000_000
MOST = 1e9
"""US dollars per million tokens: a higher price is not believed."""

_NAMES = ("root", "id")
"""Keys that tell models apart: in vLLM, `root` is the loaded model and `id` the name it serves."""


class Prices(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float

    def of(self, input: float, output: float) -> float:  # noqa: A002  the word of the answers
        """Return the cost of these tokens, in US dollars."""
        return (input * self.input + output * self.output) / MILLION


def listed_prices(listed: Mapping[str, Any]) -> Prices | None:
    """Return the prices that a server lists for a model; None if it lists none that can be read.

    Servers write them in one of two ways: `prompt` and `completion` are US dollars per token,
    `input` and `output` are US dollars per million tokens.
    """
    pricing = listed.get("pricing")
    if not isinstance(pricing, dict):
        return None
    for names, factor in ((("prompt", "completion"), MILLION), (("input", "output"), 1)):
        try:
            rates = [float(pricing[name]) * factor for name in names]
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if all(0 <= price < MOST for price in rates):
            return Prices(*rates)
    return None


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
