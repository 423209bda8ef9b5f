"""What kinds of errors there are, and what is equal in form."""
