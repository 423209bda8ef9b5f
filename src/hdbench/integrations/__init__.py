"""hdbench in other frameworks: evaluate and Inspect AI."""
