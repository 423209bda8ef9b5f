"""The views of visitors, as HTML and files."""
