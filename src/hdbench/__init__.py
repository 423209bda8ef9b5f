"""hdbench: benchmarks of the digital humanities, built, loaded and scored."""

__version__ = "0.2.0"

YEAR = 2026
"""The year of this version, for citations."""

NAMESPACE = "hdb"
"""Where the benchmarks that hdbench builds are on the Hub, unless another namespace is named."""
