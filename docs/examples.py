"""Our docstrings have an `Example:`, which the site's generator knows as `Examples:`."""

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Renames the section, so that what it holds is shown as code."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Do so in one docstring."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"(?m)^Example:$", "Examples:", obj.docstring.value)
