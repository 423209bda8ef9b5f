"""From files of one's own to a benchmark's folder: what `hdbench new` does."""
