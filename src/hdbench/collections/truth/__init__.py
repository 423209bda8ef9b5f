"""Ground truths made by people: what `hdbench annotate` keeps, and how it is edited."""
