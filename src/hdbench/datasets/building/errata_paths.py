"""Paths of values in a ground truth, as people write them."""

import re
from collections.abc import Mapping
from typing import Any

from hdbench.datasets.building.errata import holders
from hdbench.scoring.flatten import flatten

_NUMBER = re.compile(r"\.(\d+)(?=\.)")


def with_brackets(field: str, truths: Mapping[str, dict[str, Any]]) -> str:
    """A path with the places of list items in brackets, also where they are between dots.

    It stays as it is if a ground truth has the number as a key.

    Args:
        field: the path.
        truths: the ground truths by id, as far as they are there.

    Example:
        >>> with_brackets("companies.0.city", {})
        'companies[0].city'
    """
    is_key = any(holders(truth, field)[0] for truth in truths.values())
    return field if is_key or "=" in field else _NUMBER.sub(r"[\1]", field)


def paths_of(truths: Mapping[str, dict[str, Any]], item: str) -> list[str]:
    """The paths of the values in an item's ground truth; for `*`, in that of the first item."""
    return list(flatten(next(iter(truths.values()), {}) if item == "*" else truths[item]))
