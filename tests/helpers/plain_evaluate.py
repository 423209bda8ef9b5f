"""`evaluate` as in an install without the extra `vlm`: it imports transformers if it can."""

import sys

import pytest

with pytest.MonkeyPatch.context() as plain:
    plain.setitem(sys.modules, "transformers", None)
    import evaluate

__all__ = ["evaluate"]
