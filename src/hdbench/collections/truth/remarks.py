"""What readers of ground truths assumed, for a person to check."""

from collections import defaultdict

from hdbench.errors import Message, shortened


class Remarks:
    """Assumptions that were made, and where: a note for each kind, however many places it has."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = defaultdict(list)

    def add(self, remark: str, place: str) -> None:
        """Keep a remark about a place."""
        self._places[remark].append(place)

    def notes(self) -> list[str]:
        """Return one line for each remark, with its first places."""
        return [
            Message("{remark}: {places}", remark=remark, places=shortened(places))
            for remark, places in self._places.items()
        ]
