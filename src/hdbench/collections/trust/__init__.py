"""Which values of a collection can be accepted unseen, and what the rest will cost."""
