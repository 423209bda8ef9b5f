"""The work list of a decision, whose values people look at in the browser."""
