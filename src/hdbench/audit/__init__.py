"""Truth values that good runs of several makers contradict, for a person to look at."""
