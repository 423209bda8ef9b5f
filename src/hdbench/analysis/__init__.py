"""What kinds of errors there are, and which values are equal in form."""
