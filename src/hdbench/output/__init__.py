"""Pages, tables and files made from results, and their publication."""
