"""What a server charges, if it says so."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hdbench.running.backend import Backend
from hdbench.running.endpoint_backend import EndpointBackend

MILLION = 1_000_000
MOST = 1e9
"""US dollars per million tokens: whatever asks for more gives no price."""


class Prices(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float

    def of(self, input: float, output: float) -> float:  # noqa: A002  the word of the answers
        """What these tokens cost, in US dollars."""
        return (input * self.input + output * self.output) / MILLION


def prices_of(backend: Backend) -> Prices | None:
    """What the server of a backend charges for its model; None if it does not say."""
    if not isinstance(backend, EndpointBackend):
        return None
    model = backend.settings()["model"]
    return listed_prices(next((each for each in backend.models() if each["id"] == model), {}))


def listed_prices(listed: Mapping[str, Any]) -> Prices | None:
    """The prices that a server lists for a model, or None if it lists none that can be read.

    Servers write them in one of two ways: `prompt` and `completion` are US dollars per token,
    `input` and `output` are US dollars per million tokens.
    """
    pricing = listed.get("pricing")
    if not isinstance(pricing, dict):
        return None
    for names, factor in ((("prompt", "completion"), MILLION), (("input", "output"), 1)):
        try:
            found = [float(pricing[name]) * factor for name in names]
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if all(0 <= price < MOST for price in found):
            return Prices(*found)
    return None
