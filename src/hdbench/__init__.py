"""hdbench: benchmarks of the digital humanities, built, loaded and scored."""

__version__ = "0.1.0"
