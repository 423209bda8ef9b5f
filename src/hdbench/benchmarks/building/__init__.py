"""Building dataset repositories: one builder for every benchmark."""
