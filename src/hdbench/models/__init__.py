"""Running models on benchmarks: backends that answer, and the run folder that keeps the answers."""
