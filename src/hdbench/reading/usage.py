"""What a run used: tokens and time, as far as its answers say."""

from collections.abc import Mapping


class Usage:
    """Adds up what the answers used.

    Attributes:
        known: `input_tokens`, `output_tokens`, `seconds` → `total`, and the number of `items` in
            it.

    Example:
        >>> usage = Usage()
        >>> usage.add({"input": 1196}, 2.5)
        >>> usage.add(None, 1.5)
        >>> usage.known["seconds"], usage.known["input_tokens"]
        ({'total': 4.0, 'items': 2}, {'total': 1196, 'items': 1})
    """

    def __init__(self) -> None:
        self.known: dict[str, dict[str, float]] = {}

    def add(self, tokens: Mapping[str, int] | None, seconds: float | None) -> None:
        """Add the tokens and the seconds of one more answer, as far as they are known."""
        for name, count in (tokens or {}).items():
            self._add(f"{name}_tokens", count)
        if seconds is not None:
            self._add("seconds", seconds)

    def _add(self, name: str, value: float) -> None:
        sums = self.known.setdefault(name, {"total": 0, "items": 0})
        sums["total"] += value
        sums["items"] += 1
