"""hdbench: benchmarks of the digital humanities, built, loaded and scored."""

__version__ = "0.1.0"

NAMESPACE = "hdb"
"""Where on the Hub the benchmarks are that hdbench builds, unless another namespace is named."""
