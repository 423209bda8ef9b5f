"""Files in the order in which a person numbered them."""

import re
from pathlib import Path


def by_numbers(path: Path) -> list[tuple[int, str]]:
    """A key to sort by: `page2` before `page10`.

    Example:
        >>> [path.name for path in sorted(map(Path, ["page10", "Page2"]), key=by_numbers)]
        ['Page2', 'page10']
    """
    parts = re.split(r"(\d+)", path.name.casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
