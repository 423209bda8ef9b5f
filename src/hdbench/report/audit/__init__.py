"""Ground-truth values that good runs by several makers contradict, for a person to look at."""
