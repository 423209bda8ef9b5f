"""What was known of a sample before its plan was made, as far as it can be noticed."""

from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from hdbench.annotating.history import History


def known_before(folder: Path, items: Collection[str], created: str) -> int:
    """Return how many items had a ground truth typed in before a plan was made.

    The histories of `hdbench annotate` in a collection's folder say when it was. A benchmark that
    was built, or whose truth came from a table, has none. Nor is it noticed if somebody looked at
    items without typing anything, set a clock back, or wrote a plan with another date: only the
    hash of the plan can rule that out, if somebody else was given it before.

    Args:
        folder: the benchmark's folder.
        items: the ids of the sample.
        created: when the plan was made.

    Raises:
        HdbenchError: a history cannot be read.
    """
    made = datetime.fromisoformat(created)
    return sum(
        any(
            change.what == "ground_truth"
            and not change.is_base
            and datetime.fromisoformat(change.at) < made
            for change in changes.values()
        )
        for item, changes in History(folder).changes.items()
        if item in items
    )
