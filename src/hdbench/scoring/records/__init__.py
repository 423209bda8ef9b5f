"""Records compared field by field, whatever their form, with lists compared by content."""
