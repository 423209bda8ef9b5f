"""Classes of errors, and equality of values in form."""
