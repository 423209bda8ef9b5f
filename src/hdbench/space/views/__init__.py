"""What visitors see, as HTML and files."""
