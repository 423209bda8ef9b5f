"""Reports of a result for people: a page, a workbook, plots."""
