"""Trust that is learned from single values that people checked, and verified by others."""
