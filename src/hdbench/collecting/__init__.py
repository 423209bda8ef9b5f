"""From a person's own images, and a ground truth where there is some, to a benchmark's folder."""
