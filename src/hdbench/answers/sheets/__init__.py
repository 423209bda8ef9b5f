"""Tables as people keep them: which column is which field, and what their cells hold."""
