"""What a run used: tokens and time, as far as its answers say."""

from collections.abc import Mapping


class Usage:
    """Adds up what the answers used.

    Seconds are kept one by one until the whole run's usage takes them: sums of floats depend on the
    order, and must not depend on how many processes score.

    Example:
        >>> part = Usage()
        >>> part.add({"input": 1196}, 2.5)
        >>> part.add(None, 1.5)
        >>> usage = Usage()
        >>> usage.take(part)
        >>> usage.known
        {'input_tokens': {'total': 1196, 'items': 1}, 'seconds': {'total': 4.0, 'items': 2}}
    """

    def __init__(self) -> None:
        self._tokens: dict[str, list[int]] = {}
        self._seconds: list[float] = []
        self._all_seconds: float = 0
        self._timed = 0

    def add(self, tokens: Mapping[str, int] | None, seconds: float | None) -> None:
        """Add the tokens and the seconds of one more answer, as far as they are known."""
        if tokens:
            for name, count in tokens.items():
                self._add(name, count, 1)
        if seconds is not None:
            self._seconds.append(seconds)

    def take(self, later: "Usage") -> None:
        """Add what answers used that follow those so far."""
        for name, (total, items) in later._tokens.items():
            self._add(name, total, items)
        for seconds in later._seconds:
            self._all_seconds += seconds
        self._timed += len(later._seconds)

    @property
    def known(self) -> dict[str, dict[str, float]]:
        """What was taken: `input_tokens`, `output_tokens`, `seconds` → `total` and `items`."""
        known: dict[str, dict[str, float]] = {
            f"{name}_tokens": {"total": total, "items": items}
            for name, (total, items) in self._tokens.items()
        }
        if self._timed:
            known["seconds"] = {"total": self._all_seconds, "items": self._timed}
        return known

    def _add(self, name: str, total: int, items: int) -> None:
        sums = self._tokens.get(name)
        if sums is None:
            self._tokens[name] = [total, items]
        else:
            sums[0] += total
            sums[1] += items
