"""Work on visitors' files and on recorded runs."""
