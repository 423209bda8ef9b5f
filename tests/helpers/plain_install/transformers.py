"""Stands where transformers would: in an install without the extra `vlm` there is none."""

raise ImportError("not installed")
