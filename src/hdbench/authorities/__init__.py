"""Authority files: names of persons, places and subjects, and their identifiers."""
