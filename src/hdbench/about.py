"""What hdbench says of itself: version, year, and where its benchmarks are."""

__version__ = "0.3.0"

YEAR = 2026
"""The year of this version, for citations."""

NAMESPACE = "hdb"
"""Where the benchmarks that hdbench builds are on the Hub, unless another namespace is named."""
