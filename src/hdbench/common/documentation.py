"""Where the documentation is."""

import os

SETTING = "HDBENCH_DOCUMENTATION"
"""The environment variable with the address of the documentation site, where it is served."""


def documentation(page: str) -> str | None:
    """Return the address of a page of the documentation; None if nobody has said where the site is.

    Args:
        page: its path in the site, such as `docs/afternoon.html`.
    """
    site = os.environ.get(SETTING, "")
    if not site.startswith(("https://", "http://")):
        return None
    return f"{site.rstrip('/')}/{page}"
