"""The shards of a run that several processes or machines answer, and how they become one again."""
