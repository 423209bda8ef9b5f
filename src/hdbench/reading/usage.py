"""What a run used: tokens and time, as far as its answers say."""

from hdbench.reading.answer import Answer


class Usage:
    """Adds up what the answers used.

    Attributes:
        known: `input_tokens`, `output_tokens`, `seconds` → `total`, and the number of `items` in
            it.

    Example:
        >>> usage = Usage()
        >>> usage.add(Answer("a", "{}", {}, "clean", {"input": 1196}, 2.5))
        >>> usage.add(Answer("b", "{}", {}, "clean", None, 1.5))
        >>> usage.known["seconds"], usage.known["input_tokens"]
        ({'total': 4.0, 'items': 2}, {'total': 1196, 'items': 1})
    """

    def __init__(self) -> None:
        self.known: dict[str, dict[str, float]] = {}

    def add(self, answer: Answer) -> None:
        """Add one more answer."""
        for name, count in (answer.tokens or {}).items():
            self._add(f"{name}_tokens", count)
        if answer.seconds is not None:
            self._add("seconds", answer.seconds)

    def _add(self, name: str, value: float) -> None:
        sums = self.known.setdefault(name, {"total": 0, "items": 0})
        sums["total"] += value
        sums["items"] += 1
