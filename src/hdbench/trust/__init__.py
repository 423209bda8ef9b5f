"""Which values of a collection can be taken over unseen, and what the rest will cost."""
